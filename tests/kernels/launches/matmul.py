"""How the tests launch the kernels of kernels/matmul/: one function a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kernel_launches import ROUNDING, Boxes, Launch, blocks, launches, matrices, ramp

from coursekit.benchmarks import pieces, tilings

ANY = [{"M": M, "N": N, "K": K} for M, N, K in ((1, 1, 1), (33, 31, 65), (70, 129, 7))]
OF_FOURS = [
    {"M": M, "N": N, "K": K} for M, N, K in ((1, 4, 4), (35, 132, 20), (131, 68, 12))
]


def product(kernel: str, sizes, block, tile) -> Launch:
    """Launch a grid that covers C with tiles of (rows, columns)."""
    M, N, K = sizes
    A, B, C, wanted = (array[0] for array in matrices(1, M, N, K))
    grid = (blocks(N, tile[1]), blocks(M, tile[0]))
    # K products of values that are not negative, each fused with its sum.
    return Launch(kernel, grid, block, (A, B, C, M, N, K), {2: wanted}, K * ROUNDING)


@launches("matmul/step_01_naive.cu", ANY)
def matmul_naive(M: int, N: int, K: int) -> Launch:
    # x counts rows here: the grid is (rows, columns).
    launch = product("matmul_naive", (M, N, K), (32, 32), (32, 32))
    return replace(launch, grid=launch.grid[::-1])


@launches("matmul/step_02_coalesced.cu", ANY)
def matmul_coalesced(M: int, N: int, K: int) -> Launch:
    return product("matmul_coalesced", (M, N, K), (32, 32), (32, 32))


@launches("matmul/step_03_shared_tiling.cu", ANY)
def matmul_shared_tiling(M: int, N: int, K: int) -> Launch:
    return product("matmul_shared_tiling", (M, N, K), (32, 32), (32, 32))


@launches("matmul/step_04_column.cu", ANY)
def matmul_column(M: int, N: int, K: int) -> Launch:
    return product("matmul_column", (M, N, K), (64, 8), (64, 64))


@launches("matmul/step_05_patch.cu", ANY)
def matmul_patch(M: int, N: int, K: int) -> Launch:
    return product("matmul_patch", (M, N, K), 256, (128, 128))


@launches("matmul/step_06_vectorised.cu", OF_FOURS)
def matmul_vectorised(M: int, N: int, K: int) -> Launch:
    return product("matmul_vectorised", (M, N, K), 256, (128, 128))


@launches("matmul/step_07_conflict_free.cu", OF_FOURS)
def matmul_conflict_free(M: int, N: int, K: int) -> Launch:
    return product("matmul_conflict_free", (M, N, K), 256, (128, 128))


@launches("matmul/step_08_warp_tiles.cu", OF_FOURS)
def matmul_warp_tiles(M: int, N: int, K: int) -> Launch:
    return product("matmul_warp_tiles", (M, N, K), 256, (128, 128))


@launches("matmul/step_09_double_buffered.cu", OF_FOURS)
def matmul_double_buffered(M: int, N: int, K: int) -> Launch:
    return product("matmul_double_buffered", (M, N, K), 256, (128, 128))


# ---------------------------------------------------------------- tensor maps


def boxed(launch: Launch, a_box, b_box, shared_bytes: int) -> Launch:
    """Give the kernel boxes of A and B in place of pointers."""
    A, B, *others = launch.arguments
    swizzle = a_box[1] * A.itemsize
    arguments = (Boxes(A, a_box, swizzle), Boxes(B, b_box), *others)
    return replace(launch, arguments=arguments, shared_bytes=shared_bytes)


def ring(*shapes) -> list[dict[str, int]]:
    """Few sizes: what waits at barriers in shared memory is interpreted."""
    return [dict(zip("MNK", shape, strict=True)) for shape in shapes]


# The fifth tile of a block is the first in a stage that was used before.
@launches("matmul/step_10_tma_ring.cu", ring((129, 132, 4), (35, 68, 68)))
def matmul_tma_ring(M: int, N: int, K: int) -> Launch:
    launch = product("matmul_tma_ring", (M, N, K), 256, (128, 128))
    return boxed(launch, (128, 16), (16, 128), 4 * 16 * 1024)


# One block for all tiles: its fifth step uses the first of four stages again. Then a
# tile that two blocks share, and four teams that share two tiles among three blocks.
@launches(
    "matmul/step_11_tuned.cu",
    [
        {"M": 129, "N": 132, "K": 68},
        {"M": 5, "N": 8, "K": 100, "blocks": 2},
        {"M": 65, "N": 8, "K": 68, "blocks": 3, "teams": 4},
    ],
)
def matmul_tuned(M: int, N: int, K: int, blocks: int = 1, teams: int = 1) -> Launch:
    tiling = tilings.SMALL if teams == 4 else tilings.Tiling()
    rows, cols, depth = tiling.tile
    launch = product("matmul_tuned", (M, N, K), tiling.threads, (rows, cols))
    A, B, C = launch.arguments[:3]
    plan = pieces.plan((M, N, K), tiling.tile, blocks, least=1)
    half, slots = np.float32(0.5), max(plan.slots, 1)
    sums, wanted = np.zeros((slots, rows, cols), np.float32), launch.results[2]
    wanted = {2: half * wanted}
    if plan.slots:
        wanted[6] = half * parts_of(plan.pieces, A, B, (slots, *tiling.tile))
    counters = np.zeros(slots, np.uint32)
    arguments = (A, B, C, M, N, plan.pieces, sums, counters, half)
    launch = replace(
        launch,
        grid=plan.pieces.shape[1],
        arguments=arguments,
        results=wanted,
        rtol=(K + slots) * ROUNDING,
        defines={"DOWN": tiling.down, "ACROSS": tiling.across, "TEAMS": teams},
    )
    return boxed(launch, (rows, depth), (depth, cols), tiling.shared_bytes)


def parts_of(table, A, B, extents) -> np.ndarray:
    """Sums of all parts of cut tiles, slot by slot."""
    slots, rows, cols, depth = extents
    sums = np.zeros((slots, rows, cols))
    for row, col, k, steps, _, parts, part, first in table.ravel().tolist():
        if parts > 1:
            left = A[row : row + rows, k : k + steps * depth].astype(np.float64)
            found = left @ B[k : k + steps * depth, col : col + cols]
            sums[first + part, : found.shape[0], : found.shape[1]] = found
    return sums


# The fifth step of a block uses the first of four stages again.
@launches(
    "matmul/step_12_tf32_split.cu",
    [{"M": 70, "N": 100, "K": 132}, {"K": 1, "N": 1}, {"K": 33, "N": 70}],
)
def matmul_tf32_split(N: int, K: int, M: int = 0) -> Launch:
    return split_product(M, N, K) if M else split_transposed(K, N)


def split_product(M: int, N: int, K: int) -> Launch:
    launch = product("matmul_tf32_split", (M, N, K), 256, (128, 128))
    A, B, *others = launch.arguments
    high, low = (part.T.copy() for part in halves(B))
    boxes = (Boxes(part, (128, 32), 128) for part in (A, high, low))
    # What is lost of two numbers, and by leaving one product out, besides K roundings.
    return replace(
        launch,
        grid=blocks(M, 128) * blocks(N, 128),
        arguments=(*boxes, *others),
        results={3: launch.results[2]},
        rtol=(K + 2 * 2 + 4) * ROUNDING,
        shared_bytes=4 * 48 * 1024,
    )


def split_transposed(K: int, N: int) -> Launch:
    B = ramp(K * N).reshape(K, N) + np.float32(2.0**-12)
    wanted = {place: part.T for place, part in zip((1, 2), halves(B), strict=True)}
    results = (np.full((N, K), np.nan, np.float32) for _ in wanted)
    grid = blocks(N, 32), blocks(K, 32)
    arguments = (B, *results, K, N)
    wanted = {place: part.astype(np.float64) for place, part in wanted.items()}
    return Launch("split_transposed", grid, (32, 8), arguments, wanted)


def halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the high and the low parts of numbers, as step 12 has them."""
    high = tf32(x)
    return high, tf32(x - high)


def tf32(x: np.ndarray) -> np.ndarray:
    """Round to 11 digits, ties away from zero."""
    words = x.view(np.uint32) + np.uint32(0x1000) & np.uint32(0xFFFFE000)
    return words.view(np.float32)
