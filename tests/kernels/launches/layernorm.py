"""How the tests launch the ladder of kernels/layernorm/: one function a step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernel_launches import ROUNDING, Launch, blocks, launches, picture

from coursekit.benchmarks.rows import RowShape
from launches.softmax import (
    ANY_ROWS,
    CLUSTERS,
    RINGS,
    ROWS,
    ROWS_OF_QUADS,
    SHARED_ROWS,
    parts_of,
    ring_launch,
    terms,
)

EPSILON = 2.0**-10


def layernorm_inputs(rows: int, cols: int) -> tuple:
    """Return x, gamma, beta and the result in float64.

    beta keeps all results between 4 and 12, so that a relative tolerance bounds the
    error of the normalised value, which may be 0, by an absolute one.
    """
    x = picture(rows, cols)
    gamma, beta = 0.5 + picture(1, cols)[0], 8 + picture(1, cols)[0, ::-1]
    gamma, beta = gamma.astype(np.float32), beta.astype(np.float32)
    exact = x.astype(np.float64)
    mean = exact.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt(exact.var(axis=1, keepdims=True) + EPSILON)
    return x, gamma, beta, (exact - mean) * scale * gamma + beta


# A mean rounds once an addition, and the variance twice as often. The values of x are
# at most 1, which is at most 32 times 1 / scale, and results are 4 at least: 32 / 4 = 8
# times that for the mean. The variance moves the normalised value, 2 at most, by half
# its own error; ten more operations are left.
def rounded(cols: int) -> float:
    return (8 * terms(cols) + terms(cols) + 10) * ROUNDING


def layernorm_of(kernel: str, rows: int, cols: int, grid: int, *, block=256, **changes):
    x, gamma, beta, wanted = layernorm_inputs(rows, cols)
    sizes = (rows, cols) if changes.get("with_rows") else (cols,)
    arguments = (x, gamma, beta, np.full_like(x, np.nan), *sizes, EPSILON)
    return Launch(kernel, grid, block, arguments, {3: wanted}, rounded(cols))


@launches("layernorm/step_01_two_passes.cu", ROWS)
def layernorm_two_passes(rows: int, cols: int) -> Launch:
    return layernorm_of("layernorm_two_passes", rows, cols, rows)


@launches("layernorm/step_02_one_pass.cu", ROWS)
def layernorm_one_pass(rows: int, cols: int) -> Launch:
    return layernorm_of("layernorm_one_pass", rows, cols, rows)


@launches("layernorm/step_03_registers.cu", ROWS_OF_QUADS)
def layernorm_registers(rows: int, cols: int) -> Launch:
    return layernorm_of("layernorm_registers", rows, cols, rows, block=64)


@launches("layernorm/step_04_warp.cu", ROWS_OF_QUADS)
def layernorm_warp(rows: int, cols: int) -> Launch:
    grid = blocks(rows, 8)
    return layernorm_of("layernorm_warp", rows, cols, grid, with_rows=True)


@launches("layernorm/step_05_many_blocks.cu", SHARED_ROWS)
def layernorm_many_blocks(rows: int, cols: int, share: int, groups: int) -> Launch:
    x, gamma, beta, wanted = layernorm_inputs(rows, cols)
    pieces = x.reshape(rows, share, -1).astype(np.float64)
    squares = pieces.var(axis=2) * (cols / share)
    pairs = np.stack([pieces.mean(axis=2), squares], axis=2)
    parts = parts_of(rows, share, groups, pairs)
    arguments = (
        x,
        gamma,
        beta,
        np.full_like(x, np.nan),
        np.zeros(parts.shape, np.float32),
        np.zeros(groups, np.uint32),
        rows,
        cols,
        share,
        EPSILON,
    )
    return Launch(
        "layernorm_many_blocks",
        groups * share,
        64,
        arguments,
        {3: wanted, 4: parts},
        rounded(cols),
        shared_bytes=8 * cols // share,
        cooperative=True,
    )


@launches("layernorm/step_06_cluster.cu", CLUSTERS)
def layernorm_cluster(rows: int, cols: int, share: int) -> Launch:
    block = 32 * blocks(cols // share, 1024)
    launch = layernorm_of("layernorm_cluster", rows, cols, rows * share, block=block)
    return replace(launch, defines={"SHARE": share})


@launches("layernorm/step_07_any_length.cu", ANY_ROWS)
def layernorm_any_length(rows: int, cols: int) -> Launch:
    shape = RowShape.of(cols)
    launch = layernorm_of(
        "layernorm_any_length",
        rows,
        cols,
        shape.grid(rows),
        block=shape.block,
        with_rows=True,
    )
    return replace(launch, defines=shape.defines)


@launches("layernorm/step_08_pipeline.cu", RINGS)
def layernorm_pipeline(**sizes: int) -> Launch:
    x, gamma, beta, wanted = layernorm_inputs(sizes["rows"], sizes["cols"])
    arrays, rtol = (x, gamma, beta, np.full_like(x, np.nan)), rounded(sizes["cols"])
    return ring_launch(
        "layernorm_pipeline", arrays, sizes, (EPSILON,), wanted=wanted, rtol=rtol
    )
