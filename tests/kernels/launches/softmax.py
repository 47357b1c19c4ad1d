"""How the tests launch the ladders of kernels/: transpose, sums, softmax, scans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernel_launches import (
    PICTURES,
    RAGGED,
    ROUNDING,
    Launch,
    blank,
    blocks,
    launches,
    picture,
    ramp,
)

# ---------------------------------------------------------------- transpose

QUADS = [{"n": n} for n in (4, 128, 132, 4092, 4100)]
OF_FOURS = [
    {"rows": rows, "cols": cols} for rows, cols in ((4, 4), (64, 64), (36, 132))
]


@launches("transpose/step_00_copy.cu", QUADS)
def copy(n: int) -> Launch:
    x = ramp(n)
    wanted = {1: x.astype(np.float64)}
    return Launch("copy", blocks(n, 1024), 256, (x, blank(n), n), wanted)


def transposed(
    kernel: str, rows: int, cols: int, block=(32, 8), tile=(32, 32)
) -> Launch:
    x = ramp(rows * cols).reshape(rows, cols)
    out = np.full((cols, rows), np.nan, np.float32)
    grid = (blocks(cols, tile[0]), blocks(rows, tile[1]))
    wanted = {1: x.T.astype(np.float64)}
    return Launch(kernel, grid, block, (x, out, rows, cols), wanted)


@launches("transpose/step_01_naive.cu", PICTURES)
def transpose_naive(rows: int, cols: int) -> Launch:
    return transposed("transpose_naive", rows, cols, tile=(32, 8))


@launches("transpose/step_02_tiled.cu", PICTURES)
def transpose_tiled(rows: int, cols: int) -> Launch:
    return transposed("transpose_tiled", rows, cols)


@launches("transpose/step_03_padded.cu", PICTURES)
def transpose_padded(rows: int, cols: int) -> Launch:
    return transposed("transpose_padded", rows, cols)


@launches("transpose/step_04_swizzled.cu", PICTURES)
def transpose_swizzled(rows: int, cols: int) -> Launch:
    return transposed("transpose_swizzled", rows, cols)


@launches("transpose/step_05_vectorised.cu", OF_FOURS)
def transpose_vectorised(rows: int, cols: int) -> Launch:
    launch = transposed("transpose_vectorised", rows, cols, block=256, tile=(64, 64))
    return replace(launch, grid=launch.grid[::-1])  # down the rows of x first


IMAGES = [
    {"N": n, "C": c, "HW": hw} for n, c, hw in ((1, 1, 1), (2, 3, 35), (3, 33, 40))
]


def channels_last(kernel: str, down: int, N: int, C: int, HW: int) -> Launch:
    x = ramp(N * C * HW).reshape(N, C, HW)
    out = np.full((N, HW, C), np.nan, np.float32)
    grid = (blocks(HW, 32), blocks(C, down), N)
    wanted = {1: x.transpose(0, 2, 1).astype(np.float64)}
    return Launch(kernel, grid, (32, 8), (x, out, C, HW), wanted)


@launches("transpose/nchw_nhwc_naive.cu", IMAGES)
def nchw_nhwc_naive(N: int, C: int, HW: int) -> Launch:
    return channels_last("nchw_nhwc_naive", 8, N, C, HW)


@launches("transpose/nchw_nhwc_tiled.cu", IMAGES)
def nchw_nhwc_tiled(N: int, C: int, HW: int) -> Launch:
    return channels_last("nchw_nhwc_tiled", 32, N, C, HW)


# ---------------------------------------------------------------- reduction


def whole(n: int) -> np.ndarray:
    """Return n whole numbers; float32 adds up to 2^15 exactly, in any order."""
    return (np.random.default_rng(0).permutation(n) % 801 - 300).astype(np.float32)


def added(kernel: str, n: int, covered: int) -> Launch:
    x = whole(n)
    wanted = 1 + x.sum(dtype=np.float64, keepdims=True)
    arguments = (x, np.ones(1, np.float32), n)
    return Launch(kernel, blocks(n, covered), 256, arguments, {1: wanted})


@launches("reduction/step_01_atomic.cu")
def sum_atomic(n: int) -> Launch:
    return added("sum_atomic", n, 256)


@launches("reduction/step_02_tree.cu")
def sum_tree(n: int) -> Launch:
    return added("sum_tree", n, 256)


@launches("reduction/step_03_packed.cu")
def sum_packed(n: int) -> Launch:
    return added("sum_packed", n, 256)


@launches("reduction/step_04_halves.cu")
def sum_halves(n: int) -> Launch:
    return added("sum_halves", n, 256)


@launches("reduction/step_05_shuffle.cu")
def sum_shuffle(n: int) -> Launch:
    return added("sum_shuffle", n, 256)


@launches("reduction/step_06_vectorised.cu", QUADS)
def sum_vectorised(n: int) -> Launch:
    return added("sum_vectorised", n, 4096)


@launches(
    "reduction/step_07_persistent.cu",
    [{"n": n, "grid": g} for n, g in ((4, 1), (132, 3), (4092, 1), (20000, 2))],
)
def sum_persistent(n: int, grid: int) -> Launch:
    # Whole tiles of 4096 go to the blocks in turn; the rest does by 256 quads.
    x, end = whole(n), n // 4096 * 4096
    owner = np.append(np.arange(end) // 4096, np.arange(n - end) // 1024) % grid
    parts = np.bincount(owner, weights=x, minlength=grid)
    arguments = (x, blank(grid), np.zeros(1, np.uint32), blank(1), n)
    wanted = {1: parts, 3: parts.sum(keepdims=True)}
    return Launch("sum_persistent", grid, 256, arguments, wanted)


# ---------------------------------------------------------------- histogram

COUNTED = [{"n": n, "grid": g} for n, g in ((1, 1), (33, 3), (4100, 2))]


def counted(kernel: str, n: int, grid: int) -> Launch:
    """Count random bytes, so that threads meet at counters; only one begins with 0."""
    x = np.random.default_rng(0).integers(0, 256, n).astype(np.uint8)
    counts = np.arange(256, dtype=np.uint32)
    wanted = {1: counts + np.bincount(x, minlength=256).astype(np.float64)}
    return Launch(kernel, grid, 256, (x, counts, n), wanted)


@launches("histogram/step_01_global.cu", COUNTED)
def histogram_global(n: int, grid: int) -> Launch:
    return counted("histogram_global", n, grid)


@launches("histogram/step_02_shared.cu", COUNTED)
def histogram_shared(n: int, grid: int) -> Launch:
    return counted("histogram_shared", n, grid)


@launches("histogram/step_03_warps.cu", COUNTED)
def histogram_warps(n: int, grid: int) -> Launch:
    return counted("histogram_warps", n, grid)


@launches("histogram/step_04_lanes.cu", COUNTED)
def histogram_lanes(n: int, grid: int) -> Launch:
    return counted("histogram_lanes", n, grid)


@launches("histogram/step_05_vectorised.cu", [*COUNTED, {"n": 17000, "grid": 1}])
def histogram_vectorised(n: int, grid: int) -> Launch:
    return counted("histogram_vectorised", n, grid)


# ---------------------------------------------------------------- softmax

ROWS = [{"rows": r, "cols": c} for r, c in ((1, 1), (3, 33), (2, 300))]
ROWS_OF_QUADS = [{"rows": r, "cols": c} for r, c in ((1, 4), (3, 36), (2, 1000))]
SHARED_ROWS = [
    {"rows": r, "cols": c, "share": s, "groups": g}
    for r, c, s, g in ((1, 8, 2, 1), (5, 120, 3, 2), (2, 1160, 2, 1))
]
SPAN = 8.0  # between the largest and the smallest value of a row
LARGE = 200.0  # neither exp of it nor of -200 is a float32: the maximum has to come off


def spread(rows: int, cols: int) -> np.ndarray:
    """Return rows of values near LARGE and near -LARGE in turn."""
    level = np.where(np.arange(rows) % 2, -LARGE, LARGE)[:, None]
    return (SPAN * picture(rows, cols) + level).astype(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    """Return the softmax of each row, in float64."""
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def terms(cols: int) -> int:
    """Bound the additions on the way of a value where at least a warp adds a row."""
    return blocks(cols, 32) + 16


def tolerance(additions: int) -> float:
    """Bound the relative error of a softmax.

    Two arguments of exp are rounded, at most SPAN times each, and exp itself twice a
    place; a sum of terms that are not negative rounds once an addition; a product and
    a quotient are left. Merging rescales a sum eleven times at most.
    """
    return (2 * SPAN + additions + 11 * (SPAN + 4) + 8) * ROUNDING


def softmax_of(kernel: str, rows: int, cols: int, grid: int, *, block=256, **changes):
    x = spread(rows, cols)
    arguments = (x, np.full_like(x, np.nan), cols)
    if changes.get("with_rows"):
        arguments = (*arguments[:2], rows, cols)
    wanted = {1: softmax(x)}
    rtol = tolerance(changes.get("additions", terms(cols)))
    return Launch(kernel, grid, block, arguments, wanted, rtol)


@launches("softmax/step_01_thread.cu", [*ROWS, {"rows": 130, "cols": 5}])
def softmax_thread(rows: int, cols: int) -> Launch:
    grid = blocks(rows, 128)
    return softmax_of(
        "softmax_thread", rows, cols, grid, block=128, with_rows=True, additions=cols
    )


@launches("softmax/step_02_block.cu", ROWS)
def softmax_block(rows: int, cols: int) -> Launch:
    return softmax_of("softmax_block", rows, cols, rows)


@launches("softmax/step_03_online.cu", ROWS)
def softmax_online(rows: int, cols: int) -> Launch:
    return softmax_of("softmax_online", rows, cols, rows)


@launches("softmax/step_04_registers.cu", ROWS_OF_QUADS)
def softmax_registers(rows: int, cols: int) -> Launch:
    return softmax_of("softmax_registers", rows, cols, rows, block=64)


@launches("softmax/step_05_warp.cu", ROWS_OF_QUADS)
def softmax_warp(rows: int, cols: int) -> Launch:
    grid = blocks(rows, 8)
    return softmax_of("softmax_warp", rows, cols, grid, with_rows=True)


def parts_of(rows: int, share: int, groups: int, parts: np.ndarray) -> np.ndarray:
    """Place what each block of each row stores as the kernel does: row, then member."""
    stored = np.zeros((2, groups, share, parts.shape[-1]))
    for row in range(rows):
        stored[row // groups % 2, row % groups] = parts[row]
    return stored


@launches("softmax/step_06_many_blocks.cu", SHARED_ROWS)
def softmax_many_blocks(rows: int, cols: int, share: int, groups: int) -> Launch:
    x = spread(rows, cols)
    pieces = x.reshape(rows, share, -1).astype(np.float64)
    largest = pieces.max(axis=2)
    sums = np.exp(pieces - largest[..., None]).sum(axis=2)
    parts = parts_of(rows, share, groups, np.stack([largest, sums], axis=2))
    arguments = (
        x,
        np.full_like(x, np.nan),
        np.zeros(parts.shape, np.float32),
        np.zeros(groups, np.uint32),
        rows,
        cols,
        share,
    )
    wanted = {1: softmax(x), 2: parts}
    grid, rtol = groups * share, tolerance(terms(cols))
    return Launch(
        "softmax_many_blocks", grid, 64, arguments, wanted, rtol, cooperative=True
    )


CLUSTERS = [{"rows": r, "cols": c, "share": 1} for r, c in ((1, 4), (3, 36), (2, 2100))]


@launches("softmax/step_07_cluster.cu", CLUSTERS)
def softmax_cluster(rows: int, cols: int, share: int) -> Launch:
    block = 32 * blocks(cols // share, 1024)
    launch = softmax_of("softmax_cluster", rows, cols, rows * share, block=block)
    return replace(launch, defines={"SHARE": share})


# ---------------------------------------------------------------- layernorm

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


# ---------------------------------------------------------------- scan


def numbers(n: int) -> np.ndarray:
    """Return n whole numbers so large that their sums leave 32 bits."""
    return np.random.default_rng(0).integers(-(2**31), 2**31, n).astype(np.int32)


def wrapped(sums: np.ndarray) -> np.ndarray:
    """Return whole numbers modulo 2^32, with sign, in float64."""
    return sums.astype(np.int32).astype(np.float64)


def scanned(kernel: str, n: int, segment: int, block: int) -> Launch:
    x, count = numbers(n), blocks(n, segment)
    padded = np.pad(x, (0, count * segment - n)).reshape(count, segment)
    sums = padded.cumsum(axis=1, dtype=np.int64)
    y, totals = np.full(n, -1, np.int32), np.full(count, -1, np.int32)
    wanted = {1: wrapped(sums.reshape(-1)[:n]), 2: wrapped(sums[:, -1])}
    return Launch(kernel, count, block, (x, y, totals, n), wanted)


@launches("scan/step_01_rounds.cu")
def scan_rounds(n: int) -> Launch:
    return scanned("scan_rounds", n, 1024, 1024)


@launches("scan/step_02_sweeps.cu")
def scan_sweeps(n: int) -> Launch:
    return scanned("scan_sweeps", n, 1024, 512)


@launches("scan/step_03_registers.cu", QUADS)
def scan_registers(n: int) -> Launch:
    return scanned("scan_registers", n, 4096, 256)


@launches(
    "scan/step_04_three_kernels.cu",
    [{"n": n, "segment": s} for n in RAGGED for s in (32, 1024)],
)
def add_totals(n: int, segment: int) -> Launch:
    y, totals = numbers(n), numbers(blocks(n, segment) + 1)[1:]
    wanted = y.astype(np.int64)
    wanted[segment:] += np.repeat(totals, segment)[: max(n - segment, 0)]
    arguments = (y, totals, segment, n)
    return Launch("add_totals", blocks(n, 256), 256, arguments, {0: wrapped(wanted)})


@launches("scan/step_05_look_back.cu", [*QUADS, {"n": 12000}, {"tiles": 300}])
def scan_look_back(n: int = 0, tiles: int = 0) -> Launch:
    if tiles:  # what makes ready for the next scan
        states, tickets = np.arange(1, 401, dtype=np.uint64), np.ones(1, np.uint32)
        wanted = {0: np.where(np.arange(400) < tiles, 0.0, states), 1: np.zeros(1)}
        return Launch(
            "forget", blocks(tiles, 256), 256, (states, tickets, tiles), wanted
        )
    x, tiles = numbers(n), blocks(n, 4096)
    sums = x.cumsum(dtype=np.int64)
    ends = np.append(sums[4095 : 4096 * (tiles - 1) : 4096], sums[-1])
    # In the end every tile has published the sum of all up to its end, and state 2.
    states = (2 << 32) + (ends & 0xFFFFFFFF)
    arguments = (
        x,
        np.full(n, -1, np.int32),
        np.zeros(tiles, np.uint64),
        np.zeros(1, np.uint32),
        n,
    )
    wanted = {
        1: wrapped(sums),
        2: states.astype(np.float64),
        3: np.array([float(tiles)]),
    }
    return Launch("scan_look_back", tiles, 256, arguments, wanted)


@launches(
    "scan/step_06_ahead.cu",
    [
        {"n": n, "grid": g}
        for n, g in ((4, 1), (132, 3), (16388, 2), (65536, 2), (90000, 2))
    ],
)
def scan_ahead(n: int, grid: int) -> Launch:
    # The sums of the tiles, and the tickets, are 0 again in the end.
    x = numbers(n)
    sums, arrived = np.zeros(4 * grid, np.uint64), np.zeros(1, np.uint32)
    arguments = (x, np.full(n, -1, np.int32), sums, arrived, n)
    wanted = {1: wrapped(x.cumsum(dtype=np.int64)), 2: 0.0 * sums, 3: np.zeros(1)}
    return Launch(
        "scan_ahead",
        grid,
        512,
        arguments,
        wanted,
        shared_bytes=3 * 4 * 16384,
        cooperative=True,
    )
