"""Benchmarks of the layernorm ladder, for short rows and for long ones."""

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
    HELD,
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

EPSILON = 1e-5  # added to the variance of a row
LONGEST_OF_STEP_7 = 16384  # values; the ring of step 8 is faster behind it


def layernorm_cases() -> dict[str, Callable]:
    """Return all steps for short rows."""
    warp = ck.compile("layernorm/step_04_warp.cu").layernorm_warp

    def by_warps(x, gamma, beta, y, copied, rows, cols):
        warp[cover(rows, 8), 256](x, gamma, beta, y, rows, cols, EPSILON)

    steps = long_layernorm_cases()
    del steps["cluster"]  # of one block
    return {**steps, "warp": by_warps}


def long_layernorm_cases() -> dict[str, Callable]:
    """Return the steps for long rows; several blocks share a row too long for one."""
    passes = ck.compile("layernorm/step_01_two_passes.cu").layernorm_two_passes
    one_pass = ck.compile("layernorm/step_02_one_pass.cu").layernorm_one_pass
    clusters = by_clusters("layernorm/step_06_cluster.cu", "layernorm_cluster")

    def cluster(x, gamma, beta, y, copied, rows, cols):
        clusters(rows, cols, x, gamma, beta, y, cols, EPSILON)

    return {
        "copy": copy_case(),
        "two passes": _layernorm(passes, 256),
        "one pass": _layernorm(one_pass, 256),
        "registers": _layernorm_registers(),
        "cluster": cluster,
    }


def any_length_cases() -> dict[str, Callable]:
    """Return steps 7 and 8, one of which takes a row by its length, and the copy."""
    held = of_any_length(
        "layernorm/step_07_any_length.cu", "layernorm_any_length", LONGEST_OF_STEP_7
    )
    ring = through_a_ring(
        "layernorm/step_08_pipeline.cu",
        "layernorm_pipeline",
        [cols for cols in LENGTHS if cols > LONGEST_OF_STEP_7],
    )

    def any_length(x, gamma, beta, y, copied, rows, cols):
        if cols <= LONGEST_OF_STEP_7:
            held(rows, cols, x, gamma, beta, y, rows, cols, EPSILON)
        else:
            ring(rows, cols, (x, gamma, beta, y), (EPSILON,))

    return {"copy": copy_case(), "any length": any_length}


def _layernorm(kernel, block: int) -> Callable:
    def case(x, gamma, beta, y, copied, rows, cols):
        kernel[rows, block](x, gamma, beta, y, cols, EPSILON)

    return case


def _layernorm_registers() -> Callable:
    kept = ck.compile("layernorm/step_03_registers.cu").layernorm_registers
    many = ck.compile("layernorm/step_05_many_blocks.cu").layernorm_many_blocks
    block = SHARING_BLOCK
    held = 8 * HELD * block  # bytes of gamma and beta that a block keeps
    shared = Group(many, block, held)
    scratch = drawn.zeros()

    def registers(x, gamma, beta, y, copied, rows, cols):
        if cols <= LONGEST_OF_A_BLOCK:
            kept[rows, threads_of(cols)](x, gamma, beta, y, cols, EPSILON)
            return
        share, grid = shared.of(rows, cols)
        parts = scratch("parts", (2 * grid, 2))
        arrived = scratch("arrived", grid // share, np.uint32)
        many.launch(
            grid, block, x, gamma, beta, y, parts, arrived, rows, cols, share, EPSILON,
            shared_bytes=held, cooperative=True,
        )  # fmt: skip

    return registers


def layernorm_rows(cols: int) -> tuple:
    """Draw rows, gamma and beta; room for the result, and for a copy."""
    x, y, copied, rows, cols = normal_rows(cols)
    return x, drawn.normal(cols), drawn.normal(cols), y, copied, rows, cols


def is_layernorm(x, gamma, beta, y, copied, rows: int, cols: int) -> bool:
    """Compare with the normalised rows in float64, or the copy with x.

    Values, and results before gamma, are at most 8; mean and variance have the error
    of their sums, and ten more operations round.
    """
    xp, x, gamma, beta, y, copied = drawn.viewed(x, gamma, beta, y, copied)
    if xp.array_equal(copied, x):
        return True
    expected = x.astype(xp.float64)
    expected -= expected.mean(axis=1, keepdims=True)
    expected /= xp.sqrt((expected**2).mean(axis=1, keepdims=True) + EPSILON)
    expected = expected * gamma + beta
    allowed = 8 * (terms(cols) + 10) * ROUNDING * float(abs(gamma).max())
    compare(y, expected, 2 * ROUNDING, allowed)
    return True


def _torch_layernorm(torch, x, gamma, beta, y, copied, rows, cols):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, EPSILON)


def _compiled_layernorm(torch, x, gamma, beta, y, copied, rows, cols):
    y.copy_(_torch_layernorm(torch, x, gamma, beta, y, copied, rows, cols))


_layernorm_of_rows = functools.partial(
    Definition,
    setup=layernorm_rows,
    verify=is_layernorm,
    bytes_moved=lambda cols: 4 * cols * (2 * rows_of(cols) + 2),
    count_size=128,
    peers={
        "torch": lambda: peers.torch(_torch_layernorm, into=3),
        "torch.compile": lambda: peers.torch(_compiled_layernorm, compiled=True),
    },
)
DEFINITIONS = (
    _layernorm_of_rows(key="layernorm/short", cases=layernorm_cases, sizes=SHORT),
    _layernorm_of_rows(key="layernorm/long", cases=long_layernorm_cases, sizes=LONG),
    _layernorm_of_rows(
        key="layernorm/lengths",
        cases=any_length_cases,
        sizes=LENGTHS,
        peers={"torch": lambda: peers.torch(_torch_layernorm, into=3)},
    ),
)
