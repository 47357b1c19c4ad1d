"""The simulator as a backend: its context, its memory, its launches."""

from __future__ import annotations

import contextvars
import math
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from coursekit import hardware, paths
from coursekit.errors import LaunchError
from coursekit.runtime import terminal
from coursekit.runtime.configuration import Configuration, Extent, Needs
from coursekit.runtime.once import once
from coursekit.runtime.progress_bar import ProgressBar

if TYPE_CHECKING:
    from coursekit.hardware import DeviceProperties
    from coursekit.runtime.arguments.operands import Operand
    from coursekit.runtime.protocols import (
        Buffer,
        CompiledKernel,
        CompiledModule,
        LaunchResult,
        Program,
        Region,
        StagedArguments,
    )
    from coursekit.toolchain.cache import Cache

    _Tokens = tuple[
        contextvars.Token["Simulation | None"],
        contextvars.Token[DeviceProperties | None],
    ]

_active: contextvars.ContextVar[Simulation | None] = contextvars.ContextVar(
    "simulation", default=None
)


@dataclass(frozen=True)
class Simulation:
    """The settings of simulated launches; a context manager that may be re-entered.

    Attributes
    ----------
    device
        Properties of the simulated GPU: its limits hold, and its memory.
    order : "forward", "reverse", int or tuple of int
        The order in which the warps of a block take turns.
    timeout_s : float
        Seconds that one launch may take.
    """

    device: DeviceProperties
    order: str | int | tuple[int, ...] = "forward"
    timeout_s: float = 30.0
    _tokens: list[_Tokens] = field(default_factory=list, repr=False, compare=False)

    def __enter__(self) -> Simulation:
        here = _active.set(self), hardware.simulated_device.set(self.device)
        self._tokens.append(here)
        return self

    def __exit__(self, *error: object) -> None:
        simulation, device = self._tokens.pop()
        hardware.simulated_device.reset(device)
        _active.reset(simulation)

    def __repr__(self) -> str:
        return (
            f"Simulation(device={self.device.name!r}, order={self.order!r}, "
            f"timeout_s={self.timeout_s:g})"
        )

    @property
    def backend(self) -> SimulatorBackend:
        """The backend that launches in this simulation."""
        return SimulatorBackend(self)


def simulator(
    device: str = hardware.DEFAULT_DEVICE,
    order: str | int | Sequence[int] = "forward",
    timeout_s: float = 30,
) -> Simulation:
    """Simulate every launch inside a ``with`` block, on any machine.

    Parameters
    ----------
    device : str
        Name of the simulated GPU, one of ``ck.devices()``.
    order : "forward", "reverse", int or list of int
        The order in which the warps of a block run, each up to its next barrier or
        until it waits: ascending, descending, shuffled from a seed, or as listed
        (warps not listed come last). A correct kernel gives the same result in
        every order.
    timeout_s : float
        Seconds after which a launch raises DeadlockError.

    Raises
    ------
    DeviceError
        No device of this name is known.
    LaunchError
        `order` or `timeout_s` is none of the above.

    Notes
    -----
    What differs from a GPU: memory is never late, so a missing fence shows in
    ``ck.racecheck`` alone; an order is one of whole warps, never of lanes or of the
    two sides of a branch; ordinary launches have no limit of resident blocks; the
    last digits of approximate functions and of tensor cores' sums may differ; a
    missing wait or fence of wgmma goes unnoticed. The README of `coursekit.simt` has
    the whole list.

    Examples
    --------
    >>> with simulator(order="reverse") as simulation:
    ...     print(simulation.order)
    reverse
    """
    return Simulation(
        hardware.device(device), _checked_order(order), _checked_timeout(timeout_s)
    )


def active() -> Simulation | None:
    """Return the innermost simulation that is open; None outside of all."""
    return _active.get()


@once
def default() -> Simulation:
    """Return the simulation used where there is neither a block nor a GPU."""
    return simulator()


def current() -> Simulation:
    """Return the simulation that is open, or else the one with the defaults."""
    return active() or default()


def _is_count(value: Any) -> TypeGuard[int]:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and value >= 0


def _checked_order(order: Any) -> str | int | tuple[int, ...]:
    if isinstance(order, str) and order in ("forward", "reverse"):
        return order
    if _is_count(order):
        return int(order)
    if isinstance(order, (list, tuple)) and all(map(_is_count, order)):
        if len(set(order)) == len(order):
            return tuple(int(warp) for warp in order)
        cause = "The list names a warp twice."
    else:
        cause = "It is neither a name, nor a seed of 0 or more, nor a list of warps."
    raise LaunchError.explained(
        f"The simulator cannot use order={order!r}.",
        cause,
        'Pass "forward", "reverse", a seed such as 7, or a list such as [2, 0, 1].',
    )


def _checked_timeout(timeout_s: Any) -> float:
    number = isinstance(timeout_s, (int, float)) and not isinstance(timeout_s, bool)
    if number and timeout_s > 0:
        return float(timeout_s)
    raise LaunchError.explained(
        f"The simulator cannot use timeout_s={timeout_s!r}.",
        "It is the number of seconds that a launch may take.",
        "Pass a positive number, for example timeout_s=30.",
    )


class SimulatedBuffer:
    """A run of bytes in simulated memory, freed with the last reference to it."""

    __slots__ = ("__weakref__", "region")
    space = "simulator"

    def __init__(self, region: Region):
        self.region = region

    @property
    def address(self) -> int:
        return self.region.address

    @property
    def nbytes(self) -> int:
        return self.region.nbytes

    def read(self, offset: int, nbytes: int) -> np.ndarray:
        """Copy bytes out, as a fresh array of uint8."""
        return self.region.data[offset : offset + nbytes].copy()

    def write(self, offset: int, data: np.ndarray) -> None:
        """Copy an array of uint8 in."""
        self.region.data[offset : offset + data.size] = data
        self.region.filled |= data.size == self.region.nbytes


class SimulatedMemory:
    """The memory of the simulated device, and the programs loaded into it.

    Python may free buffers and modules at any moment, even during an allocation. Their
    regions therefore wait in a list until memory is next used.
    """

    def __init__(self) -> None:
        from coursekit.simt import Memory

        self.memory = Memory()
        self._lock = threading.RLock()
        self._dead: deque[Any] = deque()
        self._programs: weakref.WeakKeyDictionary[CompiledModule, Program] = (
            weakref.WeakKeyDictionary()
        )
        self._needs: weakref.WeakKeyDictionary[CompiledKernel, Needs] = (
            weakref.WeakKeyDictionary()
        )

    def allocate(self, nbytes: int, capacity: int, **labels: Any) -> SimulatedBuffer:
        """Reserve memory on a device that has `capacity` bytes."""
        with self._lock:
            self.sweep()
            self.memory.capacity = capacity
            region = self.memory.allocate(nbytes, **labels)
        buffer = SimulatedBuffer(region)
        weakref.finalize(buffer, self._dead.append, region).atexit = False
        return buffer

    def sweep(self) -> None:
        """Free the regions whose buffers are gone."""
        while self._dead:
            self.memory.free(self._dead.popleft())

    def name(self, arrays: list[tuple[int, str, Operand]]) -> None:
        """Name arrays as the kernel's parameters, for the messages of a launch."""
        with self._lock:
            self.sweep()
            self.memory.name_arguments(
                (name, address, operand.nbytes, operand.shape, operand.dtype)
                for address, name, operand in arrays
            )

    def program(self, module: CompiledModule) -> Program:
        """Return the program of a compiled module, which is loaded once."""
        with self._lock:
            program = self._programs.get(module)
            if program is None:
                from coursekit.simt import load

                self.sweep()
                program = load(module.ptx, self.memory, sources=module.sources)
                self._programs[module] = program
                variables = list(program.variables.values())
                weakref.finalize(module, self._dead.extend, variables).atexit = False
            return program

    def needs(self, kernel: CompiledKernel) -> Needs:
        """Return what a kernel asks of a launch, read once from its program."""
        with self._lock:
            needs = self._needs.get(kernel)
            if needs is None:
                needs = needs_of(self.program(kernel.module), kernel.lowered_name)
                self._needs[kernel] = needs
            return needs


def needs_of(program: Program, lowered_name: str) -> Needs:
    """Return what a kernel of a loaded program asks of a launch."""
    directives = program.kernel(lowered_name).directives
    shared = program.shared_variables(lowered_name, 0)
    bounds = directives.get("maxntid") or directives.get("reqntid")
    cluster = directives.get("reqnctapercluster")
    return Needs(
        sum(nbytes for _, nbytes, _ in shared),
        math.prod(bounds) if bounds else None,
        _extent(cluster) if cluster else None,
    )


def _extent(lengths: tuple[int, ...]) -> Extent:
    x, y, z = (*lengths, 1, 1)[:3]
    return x, y, z


@once
def simulated_memory() -> SimulatedMemory:
    """Return the one simulated memory of this process."""
    return SimulatedMemory()


def machine_code() -> Cache:
    """Return the cache of the simulator's machine code of kernels."""
    from coursekit.toolchain.cache import Cache

    return Cache(paths.cache() / "simulator")


class SimulatorBackend:
    """A backend that allocates simulated memory and launches on the simulator."""

    space = "simulator"

    def __init__(self, simulation: Simulation):
        self.simulation = simulation
        self.device = simulation.device

    def allocate(
        self,
        nbytes: int,
        *,
        name: str = "",
        shape: tuple[int, ...] | None = None,
        dtype: np.dtype | None = None,
    ) -> SimulatedBuffer:
        """Reserve memory, filled with the poison pattern.

        Raises
        ------
        DeviceError
            The simulated device, or this machine, has not enough memory.
        """
        return simulated_memory().allocate(
            nbytes, self.device.memory_bytes, name=name, shape=shape, dtype=dtype
        )

    def duplicate(self, buffer: Buffer, name: str) -> SimulatedBuffer:
        """Copy the whole allocation of an array in simulated memory."""
        if not isinstance(buffer, SimulatedBuffer):
            raise TypeError(f"{buffer!r} does not lie in simulated memory.")
        old = buffer.region
        new = self.allocate(old.nbytes, name=name, shape=old.shape, dtype=old.dtype)
        new.write(0, old.data)
        new.region.filled = old.filled
        return new

    def needs(self, kernel: CompiledKernel) -> Needs:
        """Return static shared bytes, launch bounds and clusters of a kernel."""
        return simulated_memory().needs(kernel)

    def launch(
        self,
        kernel: CompiledKernel,
        configuration: Configuration,
        staged: StagedArguments,
        *,
        wait: bool = True,
        counters: bool = False,
        **options: Any,
    ) -> LaunchResult:
        """Run a kernel to its end, whatever `wait` is; return the LaunchResult.

        `options` go to the simulator.

        Raises
        ------
        KernelError
            The kernel did something wrong.
        UnsupportedError
            It does something that the simulator lacks.
        """
        memory = simulated_memory()
        memory.name(staged.arrays)
        with ProgressBar(kernel.name) as progress:
            return self._run(kernel, configuration, staged, progress, counters, options)

    def _run(
        self,
        kernel: CompiledKernel,
        configuration: Configuration,
        staged: StagedArguments,
        progress: ProgressBar,
        counters: bool,
        options: dict[str, Any],
    ) -> LaunchResult:
        from coursekit.simt import launch

        return launch(
            simulated_memory().program(kernel.module),
            kernel.lowered_name,
            configuration.grid,
            configuration.block,
            kernel.signature.pack(staged.values),
            shared_bytes=configuration.shared_bytes,
            order=self.simulation.order,
            timeout_s=self.simulation.timeout_s,
            counters=counters,
            multiprocessors=self.device.sm_count,
            cooperative=configuration.cooperative,
            cluster=configuration.cluster or self.needs(kernel).cluster,
            write=terminal.write,
            cache=machine_code,
            progress=progress,
            notice=_notice(kernel.name, progress),
            **options,
        )


def _notice(name: str, progress: ProgressBar) -> Callable[[int], None]:
    """Return what says that a kernel compiles; compiled code keeps it, so no kernel."""
    return lambda count: progress.say(
        f"compiling {name} for the simulator: {count:,} instructions ..."
    )
