"""`triton_simulator`: Triton's own launches run on the simulator, and are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coursekit.analysis.checking import memcheck, synccheck, tile_racecheck
from coursekit.analysis.counting import counted
from coursekit.errors import ArgumentError, LaunchError
from coursekit.runtime import simulator
from coursekit.runtime.launching import Kernel
from coursekit.runtime.triton_driver import (
    SimulatorDriver,
    TritonLaunch,
    imported,
)
from coursekit.toolchain import targets

if TYPE_CHECKING:
    from coursekit.simt import Counters, Findings

ARCH = "sm_80"
Cost = Callable[["Counters"], float]


def clock_cycles(counts: Counters) -> float:
    """Return how many clock cycles the busiest unit of one SM would work for a launch.

    In a clock cycle an SM issues 4 warp instructions, its L1 cache answers 4 sectors,
    and its shared memory serves 1 wavefront. Caches, occupancy and waits are left out.
    """
    sectors = (
        counts.global_load_sectors
        + counts.global_store_sectors
        + counts.global_atomic_sectors
    )
    wavefronts = (
        counts.shared_load_wavefronts
        + counts.shared_store_wavefronts
        + counts.shared_atomic_wavefronts
    )
    return float(max(counts.warp_instructions / 4, sectors / 4, wavefronts))


def triton_simulator(
    arch: str | int = ARCH, *, cost: Cost = clock_cycles
) -> TritonSimulator:
    """Let Triton launch on the simulator: ``kernel[grid](cpu_tensors)`` runs anywhere.

    It is turned on at once, and stays on until ``off()``, or to the end of a ``with``
    block.

    Parameters
    ----------
    arch : str or int
        The architecture that Triton compiles for: "sm_80", or for example "sm_90",
        whose matrix products are wgmma.
    cost : callable
        What ``triton.autotune`` compares in place of times: ``cost(counters)`` returns
        a number. By default the clock cycles of an SM's busiest unit.

    Returns
    -------
    TritonSimulator
        Its ``counts`` and ``findings`` are those of the last launch.

    Raises
    ------
    UnsupportedError
        Triton is not installed, or another version.
    """
    if not callable(cost):
        raise ArgumentError.explained(
            f"triton_simulator got cost={cost!r}.",
            "Autotuning compares the numbers that a function makes of counters.",
            "Pass a function, as in cost=lambda counts: counts.warp_instructions.",
        )
    return TritonSimulator(arch, cost)


class TritonSimulator:
    """The simulator as Triton's device; `triton_simulator` makes it.

    Attributes
    ----------
    last : TritonLaunch or None
        The last launch: kernel, grid, block, arguments as they were before it, and
        bytes of shared memory.
    """

    def __init__(self, arch: str | int, cost: Cost):
        triton = imported()
        self.arch = targets.target(arch)
        self.last: TritonLaunch | None = None
        self._counts: Counters | None = None
        self._cost = cost
        self._states = triton.runtime.driver
        self._before = self._states._active
        device = simulator.current().device
        self._driver = SimulatorDriver(
            self.arch.number, device, self._launch, self._benchmark
        )
        self._states.set_active(self._driver)

    @property
    def counts(self) -> Counters:
        """Counters of the last launch.

        Raises
        ------
        LaunchError
            Nothing was launched, or the launch ended in an error.
        """
        if self._counts is None:
            raise self._nothing("counts")
        return self._counts

    @property
    def findings(self) -> Findings:
        """What memcheck, racecheck and synccheck find in the last launch.

        It is launched again for them, with the arguments as they were.
        """
        if self.last is None:
            raise self._nothing("findings")
        launch = self._as_arguments()
        found = memcheck(*launch)
        for each in (tile_racecheck(*launch), synccheck(*launch)):
            found = found.joined(each)
        # Notes are about what the compiler does.
        return replace(found, checker="memcheck, racecheck and synccheck", notes=())

    @property
    def kernel(self) -> Kernel:
        """The last kernel, for ``ck.show``, ``ck.occupancy`` and ``ck.trace``."""
        if self.last is None:
            raise self._nothing("kernel")
        return self.last.kernel

    def off(self) -> None:
        """Give Triton back the device that it had before."""
        if self._states._active is self._driver:
            self._states._active = self._before

    def __enter__(self) -> TritonSimulator:
        self._states.set_active(self._driver)
        return self

    def __exit__(self, *error: object) -> None:
        self.off()

    def __repr__(self) -> str:
        on = "on" if self._states._active is self._driver else "off"
        last = self.last.kernel.name if self.last else "nothing"
        return (
            f"<TritonSimulator for {self.arch.real_name}, {on}: last launched {last}>"
        )

    def _launch(self, launch: TritonLaunch) -> None:
        """Run a launch on the tensors themselves, and keep it with copies of them."""
        self.last = replace(launch, args=tuple(map(_copied, launch.args)))
        self._counts = None
        with simulator.current(), counted() as counts:
            launch.kernel.launch(
                launch.grid,
                launch.block,
                *launch.args,
                shared_bytes=launch.shared_bytes,
                cooperative=launch.cooperative,
            )
        self._counts = counts[-1]

    def _benchmark(
        self, call: Callable[[], Any], quantiles: Sequence[float] = (0.5,), **_: Any
    ) -> list[float]:
        """Launch once; return the cost for every quantile that autotuning asks for."""
        call()
        return [self._cost(self.counts)] * len(quantiles)

    def _as_arguments(self) -> tuple[Any, ...]:
        assert self.last is not None  # noqa: S101
        last = self.last
        return last.kernel, last.grid, last.block, last.args, last.shared_bytes

    def _nothing(self, what: str) -> LaunchError:
        if self.last is None:
            cause, cure = "Nothing was launched yet.", "Launch a kernel first."
        else:
            cause = f"{self.last.kernel.name} did not reach its end."
            cure = "Look at `findings`, mend the kernel, and launch it again."
        return LaunchError.explained(f"There are no {what}.", cause, cure)


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value
