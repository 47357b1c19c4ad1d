"""Four checkers of a launch: races, uninitialised values, barriers and bounds."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from coursekit.analysis import unset_variables
from coursekit.analysis.counting import spelt
from coursekit.errors import CourseError, KernelError
from coursekit.runtime import simulator
from coursekit.runtime.arguments.signature import Staged
from coursekit.runtime.configuration import Shape
from coursekit.runtime.launching import Kernel, simulate
from coursekit.simt import Findings

# Kernel, grid, block, args, shared_bytes, cooperative
_Launch = tuple[Kernel, Shape, Shape, Sequence[Any], int, bool]


@spelt
def racecheck(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
    raise_: bool = False,
) -> Findings:
    """Look for data races of one launch.

    Two accesses to the same bytes by different threads race when one of them is a
    write, not both are atomic for each other's scope, and nothing orders them: no
    barrier of the block, no ``__syncwarp``, no atomic with a ``__threadfence`` on each
    side. Shuffles, votes and ``__activemask`` order no memory. Shared and global
    memory are watched, within and between blocks. A race is found in whatever order
    the threads happen to run here, also where only a GPU's memory would be late. It
    is a warning within one warp, which older GPUs ran in step, and where only the
    reader's fence is missing. A missing wait or fence of wgmma is not noticed. Long
    launches are checked in compiled code first, and interpreted only if that cannot
    rule races out; `engine` of the findings says which it was.

    Parameters
    ----------
    kernel, grid, block, args, shared_bytes
        As for ``ck.count``; the launch is simulated and works on copies.
    cooperative : bool
        Make all blocks resident at once, for grid-wide barriers.
    raise_ : bool
        Raise the first error instead of returning findings; warnings do not count.

    Returns
    -------
    Findings
        A KernelError that ends the launch is the last of them.

    Raises
    ------
    DataRaceError
        The first finding, with `raise_`.
    LaunchError, ArgumentError
        As a launch does.
    """
    from coursekit.simt import RaceCheck

    launch = (kernel, grid, block, args, shared_bytes, cooperative)
    return _observed("racecheck", RaceCheck(), launch, raise_)


@spelt
def tile_racecheck(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
) -> Findings:
    """Do as `racecheck`, for a kernel of Triton, whose compiler repeats loads.

    Where a tile has fewer elements than the block has threads, several threads load an
    element and one stores it: no race, for the copies of the others reach no result.
    """
    from coursekit.simt import RaceCheck

    launch = (kernel, grid, block, args, shared_bytes, cooperative)
    return _observed("racecheck", RaceCheck(tiles=True), launch, False)


@spelt
def initcheck(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
    raise_: bool = False,
) -> Findings:
    """Look for values that are used although nothing wrote them.

    Watched are shared memory, the threads' own variables, and device memory that
    ``ck.empty`` reserved and nobody filled. Copying such values is a note; computing
    with them, or passing them on to an array in global memory, is an error. Where the
    source declares variables without a value, the first and the last blocks run again,
    in a build that keeps them in memory; not so in cooperative launches.

    Parameters
    ----------
    kernel, grid, block, args, shared_bytes, cooperative, raise_
        As for `racecheck`.

    Raises
    ------
    UninitializedReadError
        The first finding, with `raise_`.
    LaunchError, ArgumentError
        As a launch does.
    """
    from coursekit.simt import InitCheck

    launch = (kernel, grid, block, args, shared_bytes, cooperative)
    names = unset_variables.names(kernel)
    findings = _observed("initcheck", InitCheck(names), launch, False)
    if all(item.kind == "UninitializedReadError" for item in findings):
        findings = findings.joined(_of_variables(names, launch))
    if raise_:
        findings.raise_first()
    return findings


def _of_variables(names: frozenset[str], launch: _Launch) -> Findings:
    """Look at variables of threads, in a build that keeps them in memory."""
    from coursekit.simt import Enough, VariableCheck

    kernel, cooperative = launch[0], launch[-1]
    watched = None if cooperative else unset_variables.kept(kernel)
    simulation_here = simulator.current()
    findings = Findings("initcheck", kernel.name)
    if watched is None:
        return findings
    for order in ("forward", "reverse"):
        observer = VariableCheck(names)
        there = replace(simulation_here, order=order, _tokens=[])
        silent = contextlib.redirect_stdout(io.StringIO())
        with there, silent, contextlib.suppress(CourseError, Enough):
            _observed("initcheck", observer, (watched, *launch[1:]), False)
        seen = observer.found.findings("initcheck", kernel.name)
        reads = seen.only("UninitializedReadError", kernel.module.sources)
        findings = findings.joined(reads)
        if not observer.left_out:
            break
    return findings


@spelt
def synccheck(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
    raise_: bool = False,
) -> Findings:
    """Look for barriers, warp functions and copies that threads do not wait for.

    Found are barriers that live threads never reach, lanes and warps that meet at
    different barriers, shuffles from lanes that do not take part, and shared memory
    that is used while an asynchronous copy to it has not been waited for. The level of
    a finding is "error" where hardware hangs or the result is undefined, and "warning"
    where it is right by luck. A barrier that threads do not reach because they have
    exited is a note: since Volta it does not wait for them.

    Parameters
    ----------
    kernel, grid, block, args, shared_bytes, cooperative, raise_
        As for `racecheck`.

    Raises
    ------
    BarrierError
        The first error, with `raise_`; DeadlockError where a launch never ends.
    LaunchError, ArgumentError
        As a launch does.
    """
    from coursekit.simt import SyncCheck

    launch = (kernel, grid, block, args, shared_bytes, cooperative)
    return _observed("synccheck", SyncCheck(), launch, raise_)


@spelt
def memcheck(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
    raise_: bool = False,
) -> Findings:
    """List every line that accesses memory which it may not touch.

    A launch raises at the first such access. Here the access is skipped and the
    launch goes on, so that each line is found, and how often.

    Parameters
    ----------
    kernel, grid, block, args, shared_bytes, cooperative, raise_
        As for `racecheck`.

    Raises
    ------
    OutOfBoundsError
        The first finding, with `raise_`.
    LaunchError, ArgumentError
        As a launch does.
    """
    from coursekit.simt import MemCheck

    launch = (kernel, grid, block, args, shared_bytes, cooperative)
    return _observed("memcheck", MemCheck(), launch, raise_)


def _observed(
    checker: str, observer: Any, launch: _Launch, raise_: bool, engine: str = "auto"
) -> Findings:
    """Run a launch on copies of its arguments, and return what an observer found."""
    kernel, grid, block, args, shared_bytes, cooperative = launch

    def note_fresh_memory(staged: Staged) -> None:
        observer.fresh = _fresh(staged)

    launched = simulate(
        kernel,
        grid,
        block,
        args,
        shared_bytes=shared_bytes,
        cooperative=cooperative,
        before=note_fresh_memory,
        keep=(KernelError,),
        observer=observer,
        engine=engine,
    )
    if launched.error is not None:
        observer.found.stop(launched.error)
    ran = launched.result.engine if launched.result else "interpreter"
    findings: Findings = replace(
        observer.found.findings(checker, kernel.name), engine=ran
    )
    if raise_:
        findings.raise_first()
    return findings


def _fresh(staged: Staged) -> list[Any]:
    """Return the regions of copied device arrays that the host has not filled."""
    memory = simulator.simulated_memory().memory
    regions = {}
    for item, buffer, _ in staged.copies:
        if not isinstance(buffer, simulator.SimulatedBuffer):
            raise TypeError(f"{buffer!r} lies in no simulated memory")
        if item.operand.space == "simulator":
            source = memory.find(item.operand.address)
            if source is None or not source.filled:
                regions[id(buffer)] = buffer.region
        elif item.operand.space == "gpu":
            regions[id(buffer)] = buffer.region
    return list(regions.values())
