"""Counting what a launch does, on the simulator."""

from __future__ import annotations

import functools
from collections.abc import Callable

from coursekit import simulation
from coursekit.arguments.staging import stage
from coursekit.configuration import check, configure
from coursekit.errors import ArgumentError, CourseError
from coursekit.launching import Kernel, Launcher
from coursekit.reconciliation import plans
from coursekit.simt.counters import Counters


def _spelt(function: Callable[..., Counters]) -> Callable[..., Counters]:
    """Refuse the arguments of a launch where those of a count belong."""

    @functools.wraps(function)
    def spelt(kernel, *given, **named) -> Counters:
        configuration = None
        if isinstance(kernel, Launcher):
            kernel, configuration = kernel.kernel, kernel.configuration
        if not isinstance(kernel, Kernel):
            raise _no_kernel(kernel)
        args = named.get("args", given[2] if len(given) > 2 else ())
        if configuration or len(given) > 4 or not isinstance(args, (tuple, list)):
            shape = configuration.written if configuration else _shape(given, named)
            raise _misspelt(kernel, shape)
        return function(kernel, *given, **named)

    return spelt


def _shape(given: tuple, named: dict) -> str:
    known = dict(zip(("grid", "block"), given, strict=False)) | named
    return f"{known.get('grid', 'grid')}, {known.get('block', 'block')}"


def _no_kernel(given) -> CourseError:
    return ArgumentError.explained(
        f"count got {type(given).__name__}, which is no kernel.",
        "The first argument is a kernel of a compiled module.",
        "Write ck.count(kernel, grid, block, (a, b, n)).",
    )


def _misspelt(kernel: Kernel, shape: str) -> CourseError:
    names = kernel.signature.names
    comma = "," if len(kernel.parameters) == 1 else ""
    return ArgumentError.explained(
        f"count cannot tell the arguments of {kernel.name} from its own.",
        "Its first three are kernel, grid and block; the kernel's own are one tuple.",
        f"Write ck.count({kernel.name}, {shape}, ({names}{comma})).",
    )


@_spelt
def count(kernel, grid, block, args, shared_bytes: int = 0) -> Counters:
    """Count memory requests, conflicts, instructions and more of one launch.

    The launch is simulated on any machine, in the simulation that is open or in
    one with the defaults. It works on copies: the arguments stay as they are.

    Parameters
    ----------
    kernel : Kernel
    grid, block : int or tuple of int
        Blocks and threads a block, (x, y, z).
    args : tuple or list
        One for each parameter of the kernel, together in a tuple.
    shared_bytes : int
        Dynamic shared memory of each block.

    Returns
    -------
    Counters

    Raises
    ------
    LaunchError, ArgumentError, KernelError
        As a launch does.
    """
    backend = (simulation.active() or simulation.default()).backend
    configuration = configure(kernel.name, grid, block, shared_bytes=shared_bytes)
    values = kernel.signature.convert(args)
    check(kernel.name, configuration, backend.needs(kernel), backend.device)
    staged = stage(backend, kernel.signature.rules, values, isolate=True)
    plan = plans.plan(kernel, backend.device)
    launched = backend.launch(kernel, configuration, staged, counters=True, plan=plan)
    return launched.counters
