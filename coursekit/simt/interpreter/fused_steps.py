"""Fuse runs of independent f32 multiply-adds into one step of the interpreter.

The inner loop of a matrix product has dozens of them in a row. One NumPy call for all
takes little longer than a call for one.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.isa.floating import fma32
from coursekit.simt.ptx.ir import BYTES, Register

LANES = 32
SHORTEST = 3


def joined(operations, steps: list[tuple]) -> list:
    """Return the steps of a block, each run replaced by a single step.

    Parameters
    ----------
    operations : mapping of int to isa.Operation
        Lane-wise operations, by index of the instruction.
    steps : list of (Instruction, callable)
    """
    found: list = []
    run: list[tuple] = []
    for instruction, step in steps:
        rows = _rows(operations, instruction)
        if rows is None or _depends(rows, run):
            found += _closed(run)
            run = []
        if rows is None:
            found.append(step)
        else:
            run.append((rows, step))
    return found + _closed(run)


def _rows(operations, instruction) -> tuple[int, ...] | None:
    """Return registers d, a, b, c of a multiply-add; None for anything else."""
    operation = operations.get(instruction.index)
    if operation is None or operation.evaluate is not fma32 or instruction.guard:
        return None
    if not all(isinstance(o, Register) and BYTES[o.type] == 4
               for o in instruction.operands):  # fmt: skip
        return None
    return tuple(register.index for register in instruction.operands)


def _depends(rows, run) -> bool:
    """Whether an instruction reads or writes a register that the run writes."""
    return any(earlier[0] in rows for earlier, _ in run)


def _closed(run) -> list:
    """Return the steps of a run, or one step for all of them."""
    if len(run) < SHORTEST:
        return [step for _, step in run]
    target, *sources = np.array([rows for rows, _ in run], np.intp).T.copy()

    def step(warp):
        values = warp.frame.values[:, : 4 * LANES].view(np.float32)
        a, b, c = (values.take(rows, axis=0) for rows in sources)
        found = fma32(a.ravel(), b.ravel(), c.ravel()).reshape(a.shape)
        if not warp.all:
            found = np.where(warp.mask, found, values.take(target, axis=0))
        values[target] = found

    return [step]
