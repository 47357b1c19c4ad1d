"""Counts of what a launch does, from the simulator."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from coursekit.analysis.machine_code import plans
from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.launching import Kernel, Launcher, simulate, simulated_by
from coursekit.simt import FIELDS, LANES, Counters

if TYPE_CHECKING:
    from coursekit.runtime.arguments.signature import Staged
    from coursekit.runtime.configuration import Configuration, Shape
    from coursekit.runtime.protocols import LaunchResult
    from coursekit.runtime.simulator import SimulatorBackend

_P = ParamSpec("_P")
_R = TypeVar("_R")


def spelt(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a count or a check refuse arguments that are spelt as for a launch."""
    name = function.__name__
    call: Callable[..., _R] = function
    most = function.__code__.co_argcount - 1

    @functools.wraps(function)
    def checked(kernel: Any, *given: Any, **named: Any) -> _R:
        configuration = None
        if isinstance(kernel, Launcher):
            kernel, configuration = kernel.kernel, kernel.configuration
        if not isinstance(kernel, Kernel):
            raise _no_kernel(name, kernel)
        args = named.get("args", given[2] if len(given) > 2 else ())
        if configuration or len(given) > most or not isinstance(args, (tuple, list)):
            shape = configuration.written if configuration else _shape(given, named)
            raise _misspelt(name, kernel, shape)
        return call(kernel, *given, **named)

    return cast("Callable[_P, _R]", checked)


def _shape(given: tuple[Any, ...], named: dict[str, Any]) -> str:
    spelt_out = dict(zip(("grid", "block"), given, strict=False)) | named
    return f"{spelt_out.get('grid', 'grid')}, {spelt_out.get('block', 'block')}"


def _no_kernel(name: str, given: object) -> CourseError:
    return ArgumentError.explained(
        f"{name} got {type(given).__name__}, which is no kernel.",
        "The first argument is a kernel of a compiled module.",
        f"Write ck.{name}(kernel, grid, block, (a, b, n)).",
    )


def _misspelt(name: str, kernel: Kernel, shape: str) -> CourseError:
    names = kernel.signature.names
    comma = "," if len(kernel.parameters) == 1 else ""
    return ArgumentError.explained(
        f"{name} cannot tell the arguments of {kernel.name} from its own.",
        "Its first three are kernel, grid and block; the kernel's own are one tuple.",
        f"Write ck.{name}({kernel.name}, {shape}, ({names}{comma})).",
    )


@spelt
def count(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    shared_bytes: int = 0,
    *,
    cooperative: bool = False,
) -> Counters:
    """Count memory requests, conflicts, instructions and more of one launch.

    The launch is simulated on any machine, in the simulation that is open or in
    one with the defaults. It works on copies: the arguments stay as they are.

    Parameters
    ----------
    kernel : Kernel
    grid, block : int or tuple of int
        Blocks and threads per block, (x, y, z).
    args : tuple or list
        One for each parameter of the kernel, together in a tuple.
    shared_bytes : int
        Dynamic shared memory of each block.
    cooperative : bool
        Make all blocks resident at once, for grid-wide barriers.

    Returns
    -------
    Counters

    Raises
    ------
    LaunchError, ArgumentError, KernelError
        As a launch does.
    """
    launched = simulate(
        kernel,
        grid,
        block,
        args,
        shared_bytes=shared_bytes,
        cooperative=cooperative,
        counters=True,
        plan=plans.plan,
    )
    counts = _counters(launched.result)
    labels = _labels(counts, kernel.module.ptx, launched.configuration.block)
    return replace(counts, labels=labels, device=launched.device.name)


@contextlib.contextmanager
def counted() -> Iterator[list[Counters]]:
    """Count every launch on the simulator inside the ``with`` block.

    Yields
    ------
    list of Counters
        One for each launch, in order; filled while the block runs.
    """
    counts: list[Counters] = []

    def launch(
        backend: SimulatorBackend,
        kernel: Kernel,
        configuration: Configuration,
        staged: Staged,
    ) -> None:
        plan = plans.plan(kernel, backend.device)
        launched = backend.launch(
            kernel, configuration, staged, counters=True, plan=plan
        )
        counts.append(replace(_counters(launched), device=backend.device.name))

    with simulated_by(launch):
        yield counts


def _counters(result: LaunchResult | None) -> Counters:
    """Return the counters of a launch that was to be counted, and reached its end."""
    if result is None or result.counters is None:
        raise TypeError("a launch was not counted")
    return result.counters


def _labels(counts: Counters, ptx: str, block: tuple[int, int, int]) -> dict[str, str]:
    """Return the labels; the wavefronts of shared atomics may be the PTX's alone.

    Where several warps of a block use one word, an H200 needs more wavefronts than the
    addresses say: 129 to 131, not 125, in the histogram that counts by warps. It also
    counts an atomic on a generic address there, as in `grid.sync()`, wherever it goes.
    """
    labels = dict(counts.labels)
    meet = counts.shared_atomic_requests and math.prod(block) > LANES
    if meet or _has_generic_atomic(ptx):
        labels["shared_atomic_wavefronts"] = "ptx"
    return labels


_GENERIC_ATOMIC = re.compile(
    r"^[^/\n]*\batom(?!\S*\.(?:global|shared))\.", re.MULTILINE
)


@functools.lru_cache(maxsize=64)
def _has_generic_atomic(ptx: str) -> bool:
    """Return whether PTX has an atomic on a generic address."""
    return _GENERIC_ATOMIC.search(ptx) is not None


_WEAKEST = ("ptx", "ncu", "sass", "exact")


def added(counts: Sequence[Counters]) -> Counters:
    """Add up the counts of launches that run one after the other.

    A sum has the weakest label of its parts. The longest warp is that of all launches.
    """
    values = {name: sum(getattr(each, name) for each in counts) for name in FIELDS}
    longest = (each.longest_warp_instructions for each in counts)
    values["longest_warp_instructions"] = max(longest, default=0)
    labels = {
        name: min((each.label(name) for each in counts), key=_WEAKEST.index)
        for name in FIELDS
        if counts
    }
    sources = dict.fromkeys(each.source for each in counts)
    devices = ", ".join(dict.fromkeys(each.device for each in counts if each.device))
    return Counters(values, ", ".join(sources) or "simulator", labels, device=devices)
