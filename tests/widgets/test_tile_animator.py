"""Tilings of a matrix product, against the kernels of the ladder that are counted."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons.tiling import BUFFERS, LADDER, LAYOUTS, ORDERS, PIECES, Tiling
from coursekit.widgets import TileAnimator
from coursekit.widgets.tile_words import HEADS, digits, runs, spans

STEPS = {name[:6]: shape for name, shape in LADDER.items()}
KERNELS = {
    "step 3": "step_03_shared_tiling",
    "step 4": "step_04_column",
    "step 5": "step_05_patch",
    "step 6": "step_06_vectorised",
    "step 7": "step_07_conflict_free",
    "step 8": "step_08_warp_tiles",
    "step 9": "step_09_double_buffered",
}
BLOCKS = {"step 3": (32, 32), "step 4": (64, 8)}
# Kernels of the ladder with other constants: (step, edits, what they make different).
EDITED = {
    "tiles of 16": (
        "step 3",
        [("TILE = 32", "TILE = 16")],
        {"rows": 16, "cols": 16, "depth": 16, "down": 2},
    ),
    "patches of 2": (
        "step 5",
        [("TILE = 128", "TILE = 32"), ("PATCH = 8", "PATCH = 2")],
        {"rows": 32, "cols": 32, "patch_rows": 2, "patch_cols": 2},
    ),
    "lanes in rows": (
        "step 8",
        [("lane / 2 % 8 * 4", "lane / 4 * 4"),
         ("(lane % 2 + lane / 16 * 2) * 4", "lane % 4 * 4")],
        {"order": ORDERS[0]},
    ),
    "no swizzle": (
        "step 9",
        [("(quad ^ row / 2 % QUADS)", "quad")],
        {"a_tile": LAYOUTS[0]},
    ),
}  # fmt: skip
EXACT = {**{name: (name, [], {}) for name in STEPS}, **EDITED}
# C begins as the number of the thread that keeps it, and no tile is multiplied.
MARKED = {
    "step 3": ("float sum = 0.0f;", "float sum = y * TILE + x;"),
    "step 4": (
        "float sum[EACH] = {};",
        "float sum[EACH]; for (int i = 0; i < EACH; i++) sum[i] = thread;",
    ),
}
PATCHES = (
    "float sum[PATCH][PATCH] = {};",
    "float sum[PATCH][PATCH]; for (int i = 0; i < PATCH; i++) "
    "for (int j = 0; j < PATCH; j++) sum[i][j] = threadIdx.x;",
)


def kernel_of(step, edits=()):
    module = ck.compile(f"matmul/{KERNELS[step]}.cu")
    source = module.source
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return ck.compile(source)[module.kernels[0]]


def block_of(step, cut):
    across = BLOCKS.get(step, (cut.threads, 1))[0]
    across = cut.rows if step == "step 3" else across
    return across, cut.threads // across


@functools.cache
def counted(name, M=128, N=128, K=32):
    """Return the tiling that a kernel has, and what it counts."""
    step, edits, other = EXACT[name]
    cut = Tiling(**{**STEPS[step], **other, "M": M, "N": N, "K": K})
    shapes = ((M, K), (K, N), (M, N))
    arrays = [np.zeros(shape, np.float32) for shape in shapes]
    args = (*arrays, M, N, K)
    grid, block = cut.grid[::-1], block_of(step, cut)
    return cut, ck.count(kernel_of(step, edits), grid, block, args)


# ---------------------------------------------------------------- counted


@pytest.mark.parametrize("name", EXACT)
def test_values_from_global_memory_are_those_the_simulator_counts(name):
    cut, counts = counted(name)
    assert 8 * counts.global_load_sectors == cut.global_values


@pytest.mark.parametrize("name", EXACT)
def test_reads_of_shared_memory_are_those_the_simulator_counts(name):
    cut, counts = counted(name)
    assert counts.shared_load_requests == sum(cut.requests) * cut.fmas / 32


@pytest.mark.parametrize("name", EXACT)
def test_wavefronts_are_those_the_simulator_counts(name):
    cut, counts = counted(name)
    assert counts.shared_load_wavefronts == sum(cut.wavefronts) * cut.fmas / 32


@pytest.mark.parametrize("name", EXACT)
def test_conflicts_are_those_the_simulator_counts(name):
    cut, counts = counted(name)
    assert counts.shared_load_bank_conflicts == sum(cut.conflicts) * cut.fmas / 32


@pytest.mark.parametrize("name", EXACT)
def test_multiply_adds_are_those_the_simulator_counts(name):
    cut, counts = counted(name)
    assert counts.flops_fp32 == 2 * cut.fmas


@pytest.mark.parametrize("name", ["step 4", "step 8"])
def test_counts_hold_where_tiles_hang_over_the_edges(name):
    cut, counts = counted(name, M=40, N=72, K=40)
    assert 8 * counts.global_load_sectors == cut.global_values
    assert counts.flops_fp32 == 2 * cut.fmas
    assert counts.shared_load_wavefronts == sum(cut.wavefronts) * cut.fmas / 32


@pytest.mark.parametrize("step", STEPS)
def test_shared_bytes_are_those_of_the_kernel(step):
    cut = Tiling(**STEPS[step])
    module = ck.compile(f"matmul/{KERNELS[step]}.cu")
    assert module.resources[module.kernels[0]].shared_bytes == cut.shared_bytes


# ---------------------------------------------------------------- who owns what


@pytest.mark.parametrize("step", STEPS)
def test_each_value_of_c_is_kept_by_the_thread_that_the_tiling_names(step, simulated):
    cut = Tiling(**STEPS[step])
    cut = Tiling(**{**STEPS[step], "M": cut.rows, "N": cut.cols, "K": 32})
    shapes = ((cut.rows, 32), (32, cut.cols), (cut.rows, cut.cols))
    A, B, C = (np.zeros(shape, np.float32) for shape in shapes)
    no_turn = ("k0 < K; k0 +=", "k0 < 0; k0 +=")
    kernel = kernel_of(step, [MARKED.get(step, PATCHES), no_turn])
    kernel[1, block_of(step, cut)](A, B, C, cut.rows, cut.cols, 32)
    owner = np.full_like(C, -1)
    for thread in range(cut.threads):
        owner[np.ix_(cut.rows_of(thread), cut.cols_of(thread))] = thread
    assert np.array_equal(C, owner)


def copied(step, warp):
    """Return the element of A, then of B, that each lane of a warp reads first."""
    cut = Tiling(**{**STEPS[step], "M": 128, "N": 128, "K": 32})
    arrays = [np.zeros(s, np.float32) for s in ((128, 32), (32, 128), (128, 128))]
    args, block = (*arrays, 128, 128, 32), block_of(step, cut)
    found = ck.trace(kernel_of(step), cut.grid[::-1], block, args, (0, 0), warp)
    reads = [one for each in found.steps for one in each.accesses]
    reads = [one for one in reads if one.space == "global" and one.verb == "reads"]
    return cut, [next(r for r in reads if r.array == name).elements for name in "AB"]


@pytest.mark.parametrize("step", ["step 3", "step 4", "step 5", "step 6"])
@pytest.mark.parametrize("warp", [0, 3])
def test_a_thread_copies_what_the_tiling_names(step, warp):
    cut, (a, b) = copied(step, warp)
    first = [(next(cut.brings_a(t)), next(cut.brings_b(t)))
             for t in range(32 * warp, 32 * warp + 32)]  # fmt: skip
    assert list(a) == [row * 32 + k for (row, k), _ in first]
    assert list(b) == [k * 128 + col for _, (k, col) in first]


LEGAL = [
    cut
    for rows, down, patch, pieces, order in product(
        (32, 64), (1, 4, 8), (1, 4, 8), PIECES, ORDERS
    )
    if not (
        cut := Tiling(
            rows=rows, cols=64, down=down, patch_rows=patch, patch_cols=2,
            pieces=pieces, order=order, a_tile=LAYOUTS[2],
        )
    ).problem
]  # fmt: skip


def test_each_value_of_a_tile_has_one_owner():
    assert len(LEGAL) > 20
    for_all = [
        sorted(
            (row, col)
            for thread in range(cut.threads)
            for row in cut.rows_of(thread)
            for col in cut.cols_of(thread)
        )
        for cut in LEGAL
    ]
    assert for_all == [list(product(range(cut.rows), range(64))) for cut in LEGAL]


@pytest.mark.parametrize("step", STEPS)
def test_each_value_of_a_tile_is_brought_once(step):
    cut = Tiling(**STEPS[step])
    found = sorted(
        (row, k + n)
        for thread in range(cut.threads)
        for row, k in cut.brings_a(thread)
        for n in range(cut.copied)
    )
    assert found == list(product(range(cut.rows), range(cut.depth)))


# ---------------------------------------------------------------- step by step


@pytest.mark.parametrize("buffers", BUFFERS)
def test_steps_bring_and_multiply_everything(buffers):
    cut = Tiling(K=40, depth=16, buffers=buffers)
    last = cut.steps - 1
    assert (cut.brought(last), cut.multiplied(last)) == (3, 48)


def test_nothing_is_multiplied_before_it_is_brought():
    cut = Tiling(K=64, buffers=BUFFERS[1])
    assert all(
        cut.multiplied(step) <= cut.depth * cut.brought(step)
        for step in range(cut.steps)
    )


def test_with_two_buffers_one_tile_is_on_its_way():
    cut = Tiling(K=64, buffers=BUFFERS[1])
    ahead = [cut.brought(step) - cut.moment(step)[0] - 1 for step in range(cut.steps)]
    assert ahead == [0] + [1] * 56 + [0] * 8


def test_with_one_buffer_no_tile_is_on_its_way():
    cut = Tiling(K=64)
    assert all(
        cut.brought(step) == cut.moment(step)[0] + 1 for step in range(cut.steps)
    )


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"rows": 32, "cols": 32}, "cannot be cut into warps of 64 x 32"),
        ({"patch_rows": 1, "patch_cols": 1}, "would need 16384 threads"),
        ({"rows": 256, "cols": 256, "depth": 32, "patch_rows": 16, "patch_cols": 8,
          "buffers": BUFFERS[1]}, ""),
        ({"rows": 1024, "cols": 1024, "depth": 32, "patch_rows": 32, "patch_cols": 32,
          "down": 4}, "262144 bytes of shared memory"),
    ],
)  # fmt: skip
def test_shape_that_no_kernel_can_have_says_why(changed, why):
    problem = Tiling(**changed).problem
    assert why in problem
    assert bool(problem) == bool(why)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"like": "step 1"}, "no step of the ladder"),
        ({"like": "step"}, "no step of the ladder"),
        ({"M": 31}, "31"),
        ({"rows": 48}, "48"),
        ({"depth": 8, "tile": 3}, "there is no tile"),
        ({"like": "step 8", "rows": 32}, "cannot be cut"),
        ({"thread": 1024}, "thread is 0 to 1023"),
        ({"step": 66}, "step is 0 to 65"),
    ],
)
def test_animator_of_something_else_is_refused(changed, why):
    with pytest.raises(ck.ArgumentError, match=why):
        ck.tile_animator(**changed)


# ---------------------------------------------------------------- what it says


def test_words_name_owner_and_moment():
    words = ck.tile_animator(512, 384, 64, like="step 8", thread=37, step=13).words
    assert words["told"].startswith("Tile 2 of 8, k = 11: thread 37 takes 8 values")
    assert "rows 8-11, 40-43 and columns 36-39, 52-55" in words["owner"]


def test_costs_of_the_warp_tiles():
    words = ck.tile_animator(512, 384, 64, like="step 8").words
    assert words["table"][2] == [
        "both", "0.015625 an FMA", "0.25 an FMA", "0.0625", "0.125", "0",
    ]  # fmt: skip


def test_place_stays_where_there_is_something_when_the_shape_shrinks():
    widget = ck.tile_animator(512, 512, 64, like="step 3", block=255, thread=1023)
    widget.set_trait("rows", 16)
    widget.M = widget.N = 32
    assert "Thread 511" in widget.words["owner"]


def test_shape_that_the_reader_made_impossible_is_said():
    widget = ck.tile_animator(like="step 8")
    widget.rows = 32
    assert "cannot be cut into warps" in repr(widget)
    assert "cannot be cut into warps" in widget.static_svg()


@pytest.mark.parametrize("step", STEPS)
def test_what_is_stored_is_small(step):
    bundle = ck.tile_animator(1024, 1024, 64, like=step)._repr_mimebundle_()[0]
    assert len(bundle["text/html"] + bundle["text/plain"]) < 15_000


def test_what_is_stored_tells_the_table():
    html = ck.tile_animator(like="step 5").static_html()
    assert all(f"<th scope='col'>{head}</th>" in html for head in HEADS)


def test_new_animator_has_the_shape_of_its_step():
    assert isinstance(ck.tile_animator(like="step 9"), TileAnimator)
    assert ck.tile_animator(like="step 9").cut == Tiling(**STEPS["step 9"])


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (1, "1"), (1605632, "1,605,632"), (0.03125, "0.03125"),
        (0.9999999, "1"), (48.24619, "48.2462"), (1 / 3, "0.333333"),
    ],
)  # fmt: skip
def test_numbers_are_written_without_exponents(number, text):
    assert digits(number) == text


def test_indices_are_written_as_ranges():
    assert runs([0, 1, 5]) == [(0, 2), (5, 1)]
    assert spans([0, 1, 5]) == "0-1, 5"
