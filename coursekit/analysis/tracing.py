"""A trace follows one warp of a launch, step by step, on the simulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from numbers import Integral
from typing import Any, overload

from coursekit.analysis.counting import spelt
from coursekit.analysis.machine_code import plans
from coursekit.errors import ArgumentError, KernelError
from coursekit.runtime.configuration import Extent, Shape, configure
from coursekit.runtime.launching import Kernel, simulate
from coursekit.simt import LANES, MemoryAccess, Step

MOST_STEPS = 2000


@dataclass(frozen=True)
class Trace:
    """The steps of one warp, in the order in which it took them.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    grid, block : tuple of int
        Shape of the launch, (x, y, z).
    block_index : tuple of int
        The block that was followed.
    warp : int
        The warp of that block.
    steps : tuple of Step
        What it did; lanes that parted take turns.
    full : bool
        Whether the warp would have gone on after the last step.
    error : KernelError or None
        What ended the launch early; the last steps show how it came to it.
    sources : mapping of str to str
        Text of each source file.
    parameters : tuple of str
        Names of the kernel's parameters.
    device : str
        The GPU that was simulated.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    block_index: tuple[int, int, int]
    warp: int
    steps: tuple[Step, ...]
    full: bool
    error: KernelError | None = None
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    parameters: tuple[str, ...] = ()
    device: str = ""

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @overload
    def __getitem__(self, number: int) -> Step: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, number: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[number]

    def at_line(self, line: int, file: str | None = None) -> tuple[Step, ...]:
        """Return the steps of one source line."""
        return tuple(
            step
            for step in self.steps
            if step.line == line and file in (None, step.file)
        )

    def accesses(self) -> Iterator[tuple[int, Step, MemoryAccess]]:
        """Yield (number of the step, step, access) for each access in order."""
        for number, step in enumerate(self.steps):
            for access in step.accesses:
                yield number, step, access

    def __repr__(self) -> str:
        lines = [self.summary, *_table(self)]
        return "\n".join(lines)

    @property
    def summary(self) -> str:
        """One line that names the warp, its number of steps, and how it ended."""
        many = "step" if len(self.steps) == 1 else "steps"
        return (
            f"Trace of {self.kernel}: warp {self.warp} of block {self.block_index}, "
            f"{len(self.steps):,} {many}; {self.ending}"
        )

    @property
    def ending(self) -> str:
        """How the trace ended, in words."""
        if self.error is not None:
            first = str(self.error).splitlines()[0]
            return f"stopped by {type(self.error).__name__}: {first}"
        if self.full:
            return "it goes on after that"
        return "then the warp left the kernel"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _table(trace: Trace, most: int = 24) -> Iterator[str]:
    """Yield a line of text for each run of steps of one source line."""
    runs: list[list[Step]] = []
    for step in trace.steps:
        if runs and runs[-1][0].line == step.line and runs[-1][0].file == step.file:
            runs[-1].append(step)
        else:
            runs.append([step])
    for run in runs[:most]:
        first = run[0]
        text = _line(trace, first)
        touched = [
            f"{access.verb} {access.array}" for s in run for access in s.accesses
        ]
        arrays = f"  ({', '.join(dict.fromkeys(touched))})" if touched else ""
        lanes = max(step.lanes for step in run)
        count = f"{len(run)} step{'s' if len(run) > 1 else ''}"
        place = f"line {first.line}" if first.line else "no line"
        yield f"  {place:>9}  {count:>9}  {lanes:>2} lanes  {text}{arrays}"
    if len(runs) > most:
        yield f"  ... and {len(runs) - most:,} more stretches"


def _line(trace: Trace, step: Step) -> str:
    lines = trace.sources.get(step.file, "").splitlines()
    return lines[step.line - 1].strip() if 0 < step.line <= len(lines) else ""


@spelt
def trace(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    block_index: Shape = 0,
    warp: int = 0,
    *,
    shared_bytes: int = 0,
    steps: int = MOST_STEPS,
) -> Trace:
    """Write down every step of one warp of a launch.

    The launch is simulated on copies of the arguments, and ends with the warp.
    Blocks that do not talk to the one that is followed are not run.

    Parameters
    ----------
    kernel, grid, block, args
        As for ``ck.count``.
    block_index : int or tuple of int
        The block to follow, (x, y, z).
    warp : int
        The warp of that block: threads 32 * warp to 32 * warp + 31.
    shared_bytes : int
        Dynamic shared memory of each block.
    steps : int
        How many steps to write down, 1 to 2,000.

    Returns
    -------
    Trace
        Where the kernel does something wrong, the trace ends there, and its `error`
        says what it was.

    Raises
    ------
    LaunchError, ArgumentError
        As a launch does; ArgumentError also for a block or warp that does not exist.
    KernelError
        The launch failed before the warp took a step.

    Examples
    --------
    ``ck.trace(kernel, 4, 128, (a, b, n), block_index=1, warp=0)``
    """
    from coursekit.simt import Enough, Tracer

    configuration = configure(kernel.name, grid, block, shared_bytes=shared_bytes)
    place = _place(block_index, configuration.grid)
    _check_warp(warp, configuration.block)
    _check_steps(steps)
    tracer = Tracer(place, int(warp), int(steps))
    launched = simulate(
        kernel,
        configuration.grid,
        configuration.block,
        args,
        shared_bytes=shared_bytes,
        keep=(KernelError, Enough),
        plan=plans.plan,
        counters=True,
        observer=tracer,
    )
    error = launched.error if isinstance(launched.error, KernelError) else None
    if error is not None and not tracer.steps:
        raise error
    return Trace(
        kernel.name, configuration.grid, configuration.block, place, int(warp),
        tuple(tracer.close()), tracer.full, error, dict(kernel.module.sources),
        tuple(parameter.name for parameter in kernel.parameters), launched.device.name,
    )  # fmt: skip


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _place(block_index: Any, grid: Extent) -> tuple[int, int, int]:
    given = block_index if isinstance(block_index, (tuple, list)) else (block_index,)
    place = (*given, 0, 0)[: max(len(given), 3)]
    fits = len(place) == 3 and all(
        _whole(at) and 0 <= at < extent for at, extent in zip(place, grid, strict=False)
    )
    if not fits:
        raise ArgumentError.explained(
            f"trace got block_index={block_index!r}, but the grid is {grid}.",
            "Blocks are numbered from 0 along x, y and z.",
            f"Give a block below {grid}.",
        )
    x, y, z = map(int, place)
    return x, y, z


def _check_warp(warp: int, block: Extent) -> None:
    count = -(-block[0] * block[1] * block[2] // LANES)
    if not _whole(warp) or not 0 <= warp < count:
        raise ArgumentError.explained(
            f"trace got warp={warp!r}, but a block of {block} threads has {count} "
            f"warp{'s' if count > 1 else ''}.",
            "A warp is 32 threads; warps are numbered from 0 in each block.",
            f"Give a whole number from 0 to {count - 1}.",
        )


def _check_steps(steps: int) -> None:
    if not _whole(steps) or not 1 <= steps <= MOST_STEPS:
        raise ArgumentError.explained(
            f"trace got steps={steps!r}.",
            "A trace that can be looked at has an end.",
            f"Give a whole number from 1 to {MOST_STEPS:,}.",
        )
