"""Launches, bytes and operations of a training step, counted before it is timed.

Each kernel counts every array that it reads or writes once; caching between kernels is
ignored. Operations are those of the convolutions, of the linear layers and of the
patches' moments; a multiply-add is two.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from coursekit.lessons.mnist.fused.layout import CLASSES, HIDDEN, TAPS
from coursekit.lessons.mnist.fused.plan import MOMENTS, Plan
from coursekit.lessons.mnist.initial import initial_weights
from coursekit.lessons.mnist.network import FULL, Network
from coursekit.lessons.mnist.trainer import Trainer

# The large parts of the parameter array that each phase reads or writes.
USED = {
    "forward_convolutions": ("forward",),
    "forward_hidden": ("fc1",),
    "head": ("fc2.weight",),
    "backward_hidden": ("fc1",),
    "backward_convolution": ("backward",),
    "update": ("fc1", "fc1", "exact", "exact", "forward", "backward"),
}


@dataclass(frozen=True)
class Work:
    """The bytes and operations of one kernel.

    Attributes
    ----------
    kernel : str
    bytes_moved : int
    lane_flops, tensor_flops : int
        On the lanes for float32, and on the tensor cores.
    """

    kernel: str
    bytes_moved: int
    lane_flops: int = 0
    tensor_flops: int = 0


@dataclass(frozen=True)
class Rung:
    """One way to run a step.

    Attributes
    ----------
    name : str
    host_calls : int
        Calls of the host in a step, including those that copy the batch.
    kernels : int
    barriers : int
        Points in a step at which all blocks wait for each other.
    bytes_moved : int
    exposed_bytes : int
        Copied from the host while nothing is computed.
    lane_flops, tensor_flops : int
    """

    name: str
    host_calls: int
    kernels: int
    barriers: int
    bytes_moved: int
    exposed_bytes: int
    lane_flops: int
    tensor_flops: int


def ladder(batch: int, network: Network = FULL) -> tuple[Rung, ...]:
    """Return the ways to run a step, each with less work or less waiting."""
    layers, copied = by_layers(batch, network), batch * (network.side**2 + 1)
    phases = {
        precision: by_phases(Plan(batch, network), products)
        for precision, products in (("fp32", 3), ("tf32", 1))
    }
    barriers = len(phases["tf32"]) - 1  # as the persistent kernel has, too

    def rung(name, work, host_calls, kernels=None, exposed=copied) -> Rung:
        kernels = kernels or len(work)
        waits = barriers if kernels == 1 else kernels - 1
        return Rung(
            name, host_calls, kernels, waits, _total(work, "bytes_moved"), exposed,
            _total(work, "lane_flops"), _total(work, "tensor_flops"),
        )  # fmt: skip

    exact, rounded = phases["fp32"], phases["tf32"]
    return (
        rung("a kernel for each thing", layers, len(layers) + 2),
        rung("the same in a graph", layers, 1),
        rung("seven kernels, fp32", exact, len(exact) + 2),
        rung("seven kernels, fp32, in a graph", exact, 1),
        rung("seven kernels, tf32, in a graph", rounded, 1),
        rung("copies beside the step before", rounded, 1, exposed=0),
        rung("one persistent kernel", rounded, 1, kernels=1, exposed=0),
    )


def _total(work, name: str) -> int:
    return sum(getattr(kernel_work, name) for kernel_work in work)


# ---------------------------------------------------------------- seven kernels


def by_phases(plan: Plan, products: int = 1) -> list[Work]:
    """Return the work of each phase; `products` multiplies its tensor operations."""
    lanes, tensor = _phase_flops(plan)
    return [
        Work(
            launch.kernel,
            _phase_bytes(plan, launch),
            lanes.get(launch.kernel, 0),
            products * tensor.get(launch.kernel, 0),
        )
        for launch in plan.launches(1, 0, 0)
    ]


def _phase_bytes(plan: Plan, launch) -> int:
    sizes = plan.layout.sizes
    nbytes = 4 * sum(sizes[part] for part in USED.get(launch.kernel, ()))
    for name in launch.arguments:
        if name == "images":
            nbytes += plan.batch * plan.network.side**2
        elif name == "labels":
            nbytes += plan.batch
        elif isinstance(name, str) and name != "params":
            count, kind = plan.arrays[name]
            nbytes += count * np.dtype(kind).itemsize
    return nbytes


def _phase_flops(plan: Plan) -> tuple[dict[str, int], dict[str, int]]:
    """Return operations by phase, of the lanes and of the tensor cores."""
    n, network = plan.batch, plan.network
    (first, second), sides = network.channels, network.sides
    pixels, middle = n * sides[0] ** 2, n * sides[1] ** 2
    conv2 = 2 * TAPS * first * second * middle
    hidden = 2 * n * network.features * HIDDEN
    lanes = {
        "moments": pixels * (TAPS + 2 * (MOMENTS - TAPS)),
        "forward_convolutions": 2 * TAPS * first * pixels,
        "head": 3 * 2 * n * HIDDEN * CLASSES,
        "backward_convolution": (2 * TAPS + 1) * first * middle,
    }
    tensor = {
        "forward_convolutions": conv2,
        "forward_hidden": hidden,
        "backward_hidden": 2 * hidden,
        "backward_convolution": 2 * conv2,
    }
    return lanes, tensor


# ---------------------------------------------------------------- a kernel a layer


def by_layers(batch: int, network: Network = FULL) -> list[Work]:
    """Return what each kernel of `Trainer` does in a step.

    The kernels are those that it launches for one and for two pictures; of more, each
    has in proportion more to do.
    """
    of_one, of_two = (_recorded(count, network) for count in (1, 2))
    return [
        Work(
            small.kernel,
            small.bytes_moved + (batch - 1) * (large.bytes_moved - small.bytes_moved),
            small.lane_flops + (batch - 1) * (large.lane_flops - small.lane_flops),
        )
        for small, large in zip(of_one, of_two, strict=True)
    ]


class _Recorder(Trainer):
    """A trainer that records its launches in place of making them."""

    def _launch(self, kernel: str, grid, *arguments) -> None:
        arrays = [a for a in arguments if getattr(a, "shape", ())]
        moved = sum(array.nbytes for array in arrays)
        whole = [a for a in arguments if type(a) is int]
        self.noted.append(Work(kernel, moved, _layer_flops(kernel, whole)))


@functools.lru_cache(maxsize=8)
def _recorded(count: int, network: Network) -> tuple[Work, ...]:
    trainer = _Recorder(network, initial_weights(network), count)
    trainer.noted = []
    images = np.zeros((count, network.side, network.side), np.uint8)
    trainer.step(images, np.zeros(count, np.uint8))
    return tuple(trainer.noted)


def _layer_flops(kernel: str, numbers: list[int]) -> int:
    """Multiply-adds of a layer: the product of its sizes, times the taps."""
    if kernel in ("conv_forward", "conv_dx", "conv_dw"):
        return 2 * TAPS * math.prod(numbers)
    if kernel in ("linear_forward", "linear_dx", "linear_dw"):
        return 2 * math.prod(numbers)
    return 0
