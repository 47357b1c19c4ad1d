"""How the tests launch the ladder of kernels/softmax/: one function a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from kernel_launches import ROUNDING, Launch, blocks, launches, picture

from coursekit.benchmarks.rows import RingShape, RowShape

ROWS = [{"rows": r, "cols": c} for r, c in ((1, 1), (3, 33), (2, 300))]
ANY_ROWS = [
    {"rows": r, "cols": c}
    for r, c in ((1, 1), (3, 2), (19, 7), (3, 255), (9, 1021), (5, 1027), (3, 2050))
]
ROWS_OF_QUADS = [{"rows": r, "cols": c} for r, c in ((1, 4), (3, 36), (2, 1000))]
SHARED_ROWS = [
    {"rows": r, "cols": c, "share": s, "groups": g}
    for r, c, s, g in ((1, 8, 2, 1), (5, 120, 3, 2), (2, 1160, 2, 1))
]
RINGS = [
    {"rows": r, "cols": c, "share": s, "slots": n, "teams": t}
    for r, c, s, n, t in (
        (1, 1, 1, 2, 1), (7, 333, 3, 2, 2), (11, 1021, 2, 3, 1), (3, 80, 33, 2, 1)
    )
]  # fmt: skip
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


CLUSTERS = [
    {"rows": r, "cols": c, "share": s}
    for r, c, s in ((1, 4, 1), (3, 36, 1), (2, 2100, 1), (2, 2400, 4))
]


@launches("softmax/step_07_cluster.cu", CLUSTERS)
def softmax_cluster(rows: int, cols: int, share: int) -> Launch:
    block = 32 * blocks(cols // share, 1024)
    launch = softmax_of("softmax_cluster", rows, cols, rows * share, block=block)
    return replace(launch, defines={"SHARE": share})


@launches("softmax/step_08_any_length.cu", ANY_ROWS)
def softmax_any_length(rows: int, cols: int) -> Launch:
    shape = RowShape.of(cols)
    launch = softmax_of(
        "softmax_any_length",
        rows,
        cols,
        shape.grid(rows),
        block=shape.block,
        with_rows=True,
    )
    return replace(launch, defines=shape.defines)


def ring_launch(
    kernel: str, arrays: tuple, sizes: dict[str, int], numbers: tuple, **compared: Any
) -> Launch:
    """Launch a kernel with a ring of slots; its results are the last array."""
    share, teams = sizes["share"], sizes["teams"]
    shape = RingShape(share, blocks(sizes["cols"], share), sizes["slots"], workers=2)
    places = np.zeros(shape.places(teams), np.uint64)
    ended = np.zeros(1, np.uint32)
    return Launch(
        kernel,
        share * teams,
        shape.block,
        (*arrays, places, ended, sizes["rows"], sizes["cols"], *numbers),
        {len(arrays) - 1: compared["wanted"]},
        compared["rtol"],
        defines=shape.defines,
        shared_bytes=shape.shared_bytes,
        cooperative=True,
    )


@launches("softmax/step_09_pipeline.cu", RINGS)
def softmax_pipeline(**sizes: int) -> Launch:
    x = spread(sizes["rows"], sizes["cols"])
    arrays, rtol = (x, np.full_like(x, np.nan)), tolerance(terms(sizes["cols"]))
    return ring_launch(
        "softmax_pipeline", arrays, sizes, (), wanted=softmax(x), rtol=rtol
    )
