"""Counting what a launch does, on the simulator."""

from __future__ import annotations

from coursekit import simulation
from coursekit.arguments.staging import stage
from coursekit.configuration import check, configure
from coursekit.simt.counters import Counters


def count(kernel, grid, block, args, shared_bytes: int = 0) -> Counters:
    """Count memory requests, conflicts, instructions and more of one launch.

    The launch is simulated on any machine, in the simulation that is open or in
    one with the defaults. It works on copies: the arguments stay as they are.

    Parameters
    ----------
    kernel : Kernel
    grid, block : int or tuple of int
        Blocks and threads a block, (x, y, z).
    args : sequence
        One for each parameter of the kernel.
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
    return backend.launch(kernel, configuration, staged, counters=True).counters
