"""The fused step: its kernels, its device arrays, and its launches."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.hardware import device
from coursekit.lessons.mnist.fused.layout import (
    PRECISIONS,
    require_network,
    require_precision,
)
from coursekit.lessons.mnist.fused.plan import (
    BLOCK,
    PATCHES,
    PHASES,
    ROWS,
    PhaseLaunch,
    Plan,
    pixel_scale,
)
from coursekit.lessons.mnist.fused.tuned import Float32Plan, TunedPlan
from coursekit.lessons.mnist.network import FULL, Network
from coursekit.runtime.arrays import DeviceArray, empty, to_device, to_host
from coursekit.runtime.compiler import compile as compiled

KERNELS, PERSISTENT, TUNED = FORMS = "kernels", "persistent", "tuned"


def plan_of(form: str, precision: str) -> type[Plan]:
    """Return the class of plan for a form and a precision."""
    if form != TUNED:
        return Plan
    return Float32Plan if precision == "fp32" else TunedPlan


@functools.cache
def modules(network: Network, precision: str, form: str) -> dict:
    """Compile the kernels of a form, and the kernel that reorders the weights."""
    first, second = network.channels
    defines = {"PRECISION": PRECISIONS[precision]}
    if form != TUNED:
        defines |= {"NET_SIDE": network.side, "NET_C1": first, "NET_C2": second}
    files = ("persistent",) if form == PERSISTENT else PHASES
    plan = plan_of(form, precision)
    by_file = {
        file: compiled(plan.file(file), defines=defines, arch=plan.arch(file))
        for file in files
    }
    return by_file | {"gather": compiled("mnist_fast/gather.cu", defines=defines)}


class FusedStep:
    """Weights and arrays on the device, and training steps with batches on the device.

    Parameters
    ----------
    network : Network
    batch : int
        The most pictures of a step.
    precision : str
        "tf32" or "fp32".
    form : str
        "kernels", "persistent", or "tuned", which is for the full network alone and,
        in float32, for Hopper (sm_90a).
    rate, mean, deviation : float
        As `Trainer` takes them.
    sm_count : int, optional
        Multiprocessors to make a plan for; those of the GPU by default.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
    kernels : dict of str to Kernel
    plan : Plan
        The plan of a whole batch.
    early : bool
        Whether kernels that can may begin before the one in front has ended.
    """

    def __init__(
        self,
        network: Network,
        batch: int,
        *,
        precision: str = "tf32",
        form: str = KERNELS,
        rate: float = 0.1,
        mean: float = 0.0,
        deviation: float = 1.0,
        sm_count: int | None = None,
    ):
        require_network(network)
        require_precision(precision)
        _require_form(form, network)
        self.network, self.precision, self.form = network, precision, form
        self.scale, self.shift = pixel_scale(mean, deviation)
        self.rate = np.float32(rate)
        forward = 2 if precision == "tf32" and form != PERSISTENT else 1
        multiprocessors = sm_count or device().sm_count
        kind = plan_of(form, precision)
        self.plan = kind(batch, network, multiprocessors, forward)
        self.layout, self.early = self.plan.layout, False
        self.modules = modules(network, precision, form)
        self.kernels = {
            name: module[name]
            for module in self.modules.values()
            for name in module.kernels
        }
        self.arrays = {
            name: empty(size, np.dtype(kind))
            for name, (size, kind) in self.plan.arrays.items()
        }
        for name in (*PATCHES, "sums", "barrier"):
            size, kind = self.plan.arrays[name]
            self.arrays[name] = to_device(np.zeros(size, kind))
        self._launches: dict[tuple, list[PhaseLaunch]] = {}
        self._row = empty(self.layout.weights)
        self._into = to_device(self.layout.into)
        self._out_of = to_device(self.layout.out_of)

    # ------------------------------------------------------------ weights

    def load(self, row: DeviceArray, stream=None) -> None:
        """Load weights from a row in PyTorch's order."""
        self._gather(row, self._into, self.arrays["params"], stream)

    def store(self, row: DeviceArray, stream=None) -> None:
        """Write the weights to a row in PyTorch's order."""
        self._gather(self.arrays["params"], self._out_of, row, stream)

    def _gather(self, source, places, target, stream) -> None:
        rounded = self.layout.rounded if places is self._into else (0, 0)
        grid = -(-places.size // BLOCK)
        self.kernels["gather"][grid, BLOCK, 0, stream](
            source, places, target, places.size, *rounded
        )

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Copies of the weights, by PyTorch's names."""
        self.store(self._row)
        return self.layout.named(to_host(self._row))

    @weights.setter
    def weights(self, weights: dict[str, np.ndarray]) -> None:
        self.load(to_device(self.layout.row(weights)))

    @property
    def loss(self) -> float:
        """The mean loss of the last batch; NaN where the training has diverged."""
        return float(to_host(self.arrays["loss"])[0])

    # ------------------------------------------------------------ steps

    def launches(self, count: int | None = None, side: int = 0) -> list[PhaseLaunch]:
        """Return the launches of a step of `count` pictures, by default a batch.

        `side` says which of two arrays has the sums over patches, 0 or 1.
        """
        count = self.plan.batch if count is None else count
        if (count, side) not in self._launches:
            plan, numbers = _of(self.plan, count), (self.scale, self.shift, self.rate)
            persistent = self.form == PERSISTENT
            made = [plan.persistent(*numbers)] if persistent else None
            self._launches[count, side] = made or plan.launches(*numbers, side)
        return self._launches[count, side]

    def run(
        self, images, labels, count: int | None = None, *, stream=None, side=0, begun=0
    ) -> None:
        """Run a step with a batch that is on the device.

        Parameters
        ----------
        images, labels : DeviceArray
            Bytes.
        count : int, optional
            The number of pictures to use; by default the whole batch.
        stream : cupy.cuda.Stream, optional
            Queue it there, and do not wait.
        side, begun : int
            The array with the sums over patches, and the number of launches made by
            `begin`.
        """
        given = {**self.arrays, "images": images, "labels": labels}
        for launch in self.launches(count, side)[begun:]:
            self.launch(launch, given, stream)

    def begin(self, images, stream, side: int) -> int:
        """Launch what needs only the bytes of a batch; return the launches made."""
        if self.form == PERSISTENT:
            return 0
        first = self.launches(side=side)[0]
        self.launch(first, {**self.arrays, "images": images}, stream)
        return 1

    def launch(self, launch: PhaseLaunch, given: dict, stream=None) -> None:
        """Make one launch, whose arrays are given by name."""
        kernel, shared = self.kernels[launch.kernel], launch.shared_bytes
        arguments = (given[a] if isinstance(a, str) else a for a in launch.arguments)
        early = self.early and launch.early
        if early or self.form == PERSISTENT:
            kernel.launch(
                launch.grid, launch.block, *arguments, shared_bytes=shared,
                stream=stream, cooperative=self.form == PERSISTENT, early=early,
            )  # fmt: skip
        else:
            kernel[launch.grid, launch.block, shared, stream](*arguments)


def _of(plan: Plan, count: int) -> Plan:
    """Return the plan of a smaller batch that uses the arrays of a larger one."""
    if count == plan.batch:
        return plan
    rows = -(-count // ROWS)
    return replace(plan, batch=count, dw1_parts=min(plan.dw1_parts, rows), roles=0)


def _require_form(form: str, network: Network) -> None:
    if form not in FORMS:
        raise ArgumentError.explained(
            f"The fused step got form={form!r}.",
            "It is seven kernels, one with barriers between its phases, or seven that "
            "were tuned for the full network.",
            f"Take one of {', '.join(FORMS)}.",
        )
    if form == TUNED and network != FULL:
        raise ArgumentError.explained(
            f"The tuned step has no kernels for {network}.",
            "They are written for the full network's sizes.",
            f'Take form="{KERNELS}".',
        )
