"""Benchmarks of the softmax ladder, for short rows and for long ones."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers
from coursekit.benchmarks.rows import (
    LENGTHS,
    LONG,
    LONGEST_OF_A_BLOCK,
    ROUNDING,
    SHARING_BLOCK,
    SHORT,
    Group,
    by_clusters,
    compare,
    copy_case,
    normal_rows,
    of_any_length,
    rows_of,
    terms,
    threads_of,
    through_a_ring,
)

# The longest row that step 8 takes, and the longest that is no multiple of four values:
# behind them the ring of step 9 is faster.
LONGEST_OF_STEP_8, LONGEST_ODD = 262144, 131072


def softmax_cases() -> dict[str, Callable]:
    """Return all steps for short rows."""
    thread = ck.compile("softmax/step_01_thread.cu").softmax_thread
    warp = ck.compile("softmax/step_05_warp.cu").softmax_warp

    def by_threads(x, y, copied, rows, cols):
        thread[cover(rows, 128), 128](x, y, rows, cols)

    def by_warps(x, y, copied, rows, cols):
        warp[cover(rows, 8), 256](x, y, rows, cols)

    steps = long_softmax_cases()
    copy = {"copy": steps.pop("copy")}
    del steps["cluster"]  # of one block
    return {**copy, "thread": by_threads, **steps, "warp": by_warps}


def long_softmax_cases() -> dict[str, Callable]:
    """Return the steps for long rows; several blocks share a row too long for one."""
    block = ck.compile("softmax/step_02_block.cu").softmax_block
    online = ck.compile("softmax/step_03_online.cu").softmax_online
    kept = ck.compile("softmax/step_04_registers.cu").softmax_registers
    many = ck.compile("softmax/step_06_many_blocks.cu").softmax_many_blocks
    shared = Group(many, SHARING_BLOCK)
    scratch = drawn.zeros()

    def registers(x, y, copied, rows, cols):
        if cols <= LONGEST_OF_A_BLOCK:
            kept[rows, threads_of(cols)](x, y, cols)
            return
        share, grid = shared.of(rows, cols)
        parts = scratch("parts", (2 * grid, 2))
        arrived = scratch("arrived", grid // share, np.uint32)
        many.launch(
            grid, SHARING_BLOCK, x, y, parts, arrived, rows, cols, share,
            cooperative=True,
        )  # fmt: skip

    clusters = by_clusters("softmax/step_07_cluster.cu", "softmax_cluster")
    return {
        "copy": copy_case(),
        "block": lambda x, y, copied, rows, cols: block[rows, 256](x, y, cols),
        "online": lambda x, y, copied, rows, cols: online[rows, 256](x, y, cols),
        "registers": registers,
        "cluster": lambda x, y, copied, rows, cols: clusters(rows, cols, x, y, cols),
    }


def any_length_cases() -> dict[str, Callable]:
    """Return steps 8 and 9, one of which takes a row by its length, and the copy."""
    held = of_any_length(
        "softmax/step_08_any_length.cu", "softmax_any_length", LONGEST_OF_STEP_8
    )
    ring = through_a_ring(
        "softmax/step_09_pipeline.cu",
        "softmax_pipeline",
        filter(_takes_ring, LENGTHS),
    )

    def any_length(x, y, copied, rows, cols):
        if _takes_ring(cols):
            ring(rows, cols, (x, y))
        else:
            held(rows, cols, x, y, rows, cols)

    return {"copy": copy_case(), "any length": any_length}


def _takes_ring(cols: int) -> bool:
    return cols > (LONGEST_ODD if cols % 4 else LONGEST_OF_STEP_8)


def is_softmax(x, y, copied, rows: int, cols: int) -> bool:
    """Compare with the softmax in float64, or the copy with x.

    Values lie within 16 of each other: an argument of exp is rounded by 16 ROUNDING,
    twice where a part is corrected, and exp by 4 more. One thread adds a short row.
    """
    xp, x, y, copied = drawn.viewed(x, y, copied)
    if xp.array_equal(copied, x):
        return True
    expected = x.astype(xp.float64)
    expected -= expected.max(axis=1, keepdims=True)
    xp.exp(expected, out=expected)
    expected /= expected.sum(axis=1, keepdims=True)
    additions = max(terms(cols), cols if cols in SHORT else 0)
    compare(y, expected, (additions + 2 * (16 + 4)) * ROUNDING, absolute=0)
    return True


def _torch_softmax(torch, x, y, copied, rows, cols):
    torch.softmax(x, 1, out=y)


def _compiled_softmax(torch, x, y, copied, rows, cols):
    y.copy_(torch.softmax(x, 1))


_softmax = functools.partial(
    Definition,
    setup=normal_rows,
    verify=is_softmax,
    bytes_moved=lambda cols: 2 * 4 * rows_of(cols) * cols,
    count_size=128,
    peers={
        "torch": lambda: peers.torch(_torch_softmax),
        "torch.compile": lambda: peers.torch(_compiled_softmax, compiled=True),
    },
)
DEFINITIONS = (
    _softmax(key="softmax/short", cases=softmax_cases, sizes=SHORT),
    _softmax(key="softmax/long", cases=long_softmax_cases, sizes=LONG),
    _softmax(
        key="softmax/lengths",
        cases=any_length_cases,
        sizes=LENGTHS,
        peers={"torch": lambda: peers.torch(_torch_softmax)},
    ),
)
