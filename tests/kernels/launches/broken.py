"""How the tests launch the files of kernels/broken: one function a defect.

Results are what the kernel would leave without its defect.
"""

from __future__ import annotations

import numpy as np
from kernel_launches import (
    ROUNDING,
    Launch,
    blank,
    blocks,
    launches,
    matrices,
    picture,
    ramp,
)

from launches import first, start, synchronisation

launches("broken/vec_add_no_guard.cu")(start.vec_add)
launches("broken/rotate_missing_barrier.cu", [{"n": 128, "by": 32}])(
    synchronisation.rotate
)
launches("broken/heat_one_barrier.cu", synchronisation.RODS[:1])(
    synchronisation.heat_block
)
launches("broken/message_plain.cu", [{"n": 4}])(synchronisation.message)


@launches("broken/matmul_missing_first_barrier.cu", [{"n": 32}])
@launches("broken/matmul_missing_second_barrier.cu", [{"n": 32}])
def matmul_tiled(n: int) -> Launch:
    A, B, C, wanted = (array[0] for array in matrices(1, n, n, n))
    grid = (n // 16, n // 16)
    arguments = (A, B, C, n)
    return Launch("matmul_tiled", grid, (16, 16), arguments, {2: wanted}, n * ROUNDING)


@launches("broken/shift_in_place.cu", [{"n": 1000}])
def shift(n: int) -> Launch:
    x = ramp(n)
    wanted = np.append(x[1:], x[-1]).astype(np.float64)
    return Launch("shift", blocks(n, 256), 256, (x, n), {0: wanted})


@launches("broken/vec_add_off_by_one.cu", [{"n": 1000}])
def vec_add_off_by_one(n: int) -> Launch:
    return first.vector_sum("vec_add", n, blocks(n, 256), 256)


@launches("broken/vec_add_endless.cu", [{"n": 100}])
def vec_add_endless(n: int) -> Launch:
    return first.vector_sum("vec_add", n, 1, 64)


@launches("broken/block_sum_unset_tile.cu", [{"n": 1000}])
@launches("broken/block_sum_missing_barrier.cu", [{"n": 1024}])
@launches("broken/block_sum_barrier_in_branch.cu", [{"n": 1024}])
def block_sum(n: int) -> Launch:
    x = picture(1, n)[0]
    parts = np.pad(x, (0, -n % 256)).astype(np.float64).reshape(-1, 256)
    arguments = (x, blank(len(parts)), n)
    # A tree of 256 values that are not negative has 8 levels.
    return Launch(
        "block_sum", len(parts), 256, arguments, {1: parts.sum(1)}, 8 * ROUNDING
    )


@launches("broken/reverse_runs_missing_wait.cu", [{"n": 512}])
@launches("broken/reverse_early_return.cu", [{"n": 900}])
def reverse_runs(n: int) -> Launch:
    x = ramp(n)
    runs = [x[start : start + 256][::-1] for start in range(0, n, 256)]
    wanted = np.concatenate(runs).astype(np.float64)
    arguments = (x, blank(n), n)
    return Launch("reverse_runs", blocks(n, 256), 256, arguments, {1: wanted})


@launches("broken/transpose_wrong_stride.cu", [{"rows": 31, "cols": 65}])
def transpose(rows: int, cols: int) -> Launch:
    x = picture(rows, cols)
    grid, arguments = (blocks(cols, 32), blocks(rows, 8)), (x, blank(x.size))
    wanted = x.T.astype(np.float64).reshape(-1)
    return Launch("transpose", grid, (32, 8), (*arguments, rows, cols), {1: wanted})


@launches("broken/smooth_aliased.cu", [{"n": 1000}])
def smooth(n: int) -> Launch:
    x = picture(1, n)[0]
    wide = x.astype(np.float64)
    wanted = wide.copy()
    wanted[1:-1] = (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return Launch("smooth", blocks(n, 256), 256, (x, x, n), {1: wanted}, 3 * ROUNDING)


@launches("broken/scatter_index_overflow.cu", [{"n": 1000, "step": 10000019}])
def scatter(n: int, step: int) -> Launch:
    x = ramp(n)
    wanted = np.empty(n)
    wanted[np.arange(n) * step % n] = x
    arguments = (x, blank(n), n, step)
    return Launch("scatter", blocks(n, 256), 256, arguments, {1: wanted})


@launches("broken/warp_sum_wrong_mask.cu", [{"n": 128}])
@launches("broken/warp_sum_shuffle_in_branch.cu", [{"n": 128}])
@launches("broken/warp_sum_no_syncwarp.cu", [{"n": 128}])
def warp_sum(n: int) -> Launch:
    x = picture(1, n)[0]
    wanted = x.astype(np.float64).reshape(-1, 32).sum(1)
    arguments = (x, blank(n // 32), n)
    return Launch("warp_sum", n // 64, 64, arguments, {1: wanted}, 5 * ROUNDING)


@launches("broken/warp_sum_absent_lanes.cu", [{"n": 20}])
def warp_sum_absent_lanes(n: int) -> Launch:
    x = picture(1, n)[0]
    wanted = np.array([x.astype(np.float64).sum()])
    return Launch("warp_sum", 1, n, (x, blank(1)), {1: wanted}, 5 * ROUNDING)


@launches("broken/lock_never_free.cu", [{"n": 2}])
def lock_never_free(n: int) -> Launch:
    wanted = np.full(n, 64.0)
    return Launch("count_threads", n, 64, (np.zeros(n, np.int32),), {0: wanted})


@launches("broken/lock_without_fences.cu", [{"n": 2}])
def lock_without_fences(n: int) -> Launch:
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    return Launch("count_threads", n, 64, (lock, total), {1: np.array([64.0 * n])})


@launches("broken/sum_zeroed_too_late.cu", [{"n": 1000}])
def sum_zeroed_too_late(n: int) -> Launch:
    x = np.arange(n, dtype=np.int32) % 7
    arguments = (x, np.full(1, -1, np.int32), n)
    wanted = np.array([x.sum(dtype=np.float64)])
    return Launch("sum", blocks(n, 256), 256, arguments, {1: wanted})


@launches("broken/difference_past_row.cu", [{"rows": 7, "cols": 33}])
def difference(rows: int, cols: int) -> Launch:
    x = picture(rows, cols)
    wanted = np.full((rows, cols), np.nan)
    wanted[:, :-1] = np.diff(x.astype(np.float64), axis=1)
    grid, y = (blocks(cols, 32), blocks(rows, 8)), np.full_like(x, np.nan)
    arguments = (x, y, rows, cols)
    return Launch("difference", grid, (32, 8), arguments, {1: wanted}, ROUNDING)


@launches("broken/reverse_too_little_shared.cu", [{"n": 256}])
def reverse(n: int) -> Launch:
    x = ramp(n)
    wanted = x[::-1].astype(np.float64)
    return Launch("reverse", 1, n, (x,), {0: wanted}, shared_bytes=n)


@launches("broken/copy_misaligned.cu", [{"n": 1000, "first": 1}])
def copy_part(n: int, first: int) -> Launch:
    x = ramp(n + first)
    wanted = x[first:].astype(np.float64)
    arguments = (x, blank(n), first, n)
    return Launch("copy_part", blocks(n // 4, 64), 64, arguments, {1: wanted})


@launches("broken/add_bias_null.cu", [{"rows": 7, "cols": 33}])
def add_bias(rows: int, cols: int) -> Launch:
    x = picture(rows, cols)
    grid, y = (blocks(cols, 32), blocks(rows, 8)), np.full_like(x, np.nan)
    arguments = (x, None, y, rows, cols)
    return Launch("add_bias", grid, (32, 8), arguments, {2: x.astype(np.float64)})


@launches("broken/histogram_not_atomic.cu", [{"n": 1000}])
def histogram(n: int) -> Launch:
    x = np.random.default_rng(0).integers(0, 16, n).astype(np.int32)
    wanted = np.bincount(x, minlength=16).astype(np.float64)
    arguments = (x, np.zeros(16, np.int32), n)
    return Launch("histogram", blocks(n, 256), 256, arguments, {1: wanted})


@launches("broken/dot_unset_total.cu", [{"n": 1000}])
def dot(n: int) -> Launch:
    a, b = picture(1, n)[0], picture(n, 1)[::-1, 0].copy()
    wanted = np.array([a.astype(np.float64) @ b])
    arguments = (a, b, blank(1), n)
    return Launch("dot", blocks(n, 256), 256, arguments, {2: wanted}, n * ROUNDING)


@launches("broken/median_unset_local.cu", [{"n": 100}])
def median(n: int) -> Launch:
    x = ramp(n)
    wanted = [sorted(x[max(i - 2, 0) : i + 3]) for i in range(n)]
    middle = np.array([window[len(window) // 2] for window in wanted], np.float64)
    return Launch("median", blocks(n, 64), 64, (x, blank(n), n), {1: middle})


@launches("broken/total_without_fence.cu", [{"n": 256}])
def total(n: int) -> Launch:
    x = picture(1, n)[0]
    wide = x.astype(np.float64).reshape(-1, 64).sum(1)
    tickets = np.zeros(1, np.uint32)
    arguments = (x, blank(n // 64), tickets, blank(1))
    results = {1: wide, 2: np.array([n // 64.0]), 3: np.array([wide.sum()])}
    return Launch("total", n // 64, 64, arguments, results, n * ROUNDING)


@launches("broken/conv_image_in_one_block.cu", [{"rows": 33, "cols": 32}])
def conv_relu(rows: int, cols: int) -> Launch:
    # Small whole numbers of both signs, so that every sum is exact.
    values = np.random.default_rng(0).permutation(rows * cols) - rows * cols // 3
    x = values.astype(np.float32).reshape(rows, cols)
    w = np.array([[3, -1, 4], [-5, 9, -2], [6, -7, 8]], np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3))
    wanted = np.maximum((windows * w).sum((2, 3)), 0)
    arguments = (x, w, np.full_like(wanted, np.nan, np.float32), rows, cols)
    return Launch("conv_relu", 1, 256, arguments, {2: wanted})


@launches("broken/relu_backward_unset_output.cu", [{"n": 1000}])
def relu_backward(n: int) -> Launch:
    x, dy = ramp(n), ramp(n, seed=1)
    wanted = np.where(x > 0, dy, 0).astype(np.float64)
    arguments = (x, blank(n), dy, blank(n), n)
    return Launch("relu_backward", blocks(n, 256), 256, arguments, {3: wanted})


@launches("broken/bad_launch.cu")
def bad_launch(n: int) -> Launch:
    x = ramp(n)
    wanted = x.astype(np.float64) ** 2
    return Launch("square", 1, n, (x,), {0: wanted}, ROUNDING)
