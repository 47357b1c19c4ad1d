"""The tile animator as a static picture: whole matrices and one block's tiles."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from html import escape

from coursekit.lessons.tiling import Tiling
from coursekit.lessons.tiling.shape import LANES
from coursekit.widgets import palette
from coursekit.widgets.panel import panel
from coursekit.widgets.tile_words import describe, runs

WIDTH, TOP, LEFT, RIGHT, GAP = 760, 30, 12, 380, 10
ALL, TILE = 318, 350  # pixels available to the matrices and to the tiles
SLIM = 56  # least pixels of a tile along k
BOTTOM = TOP + TILE + 2 * GAP
_LINE, _INK = palette.LINES["line"].light, palette.INKS["ink"].light
_ACCENT, _HEAT = palette.LINES["accent"].light, palette.LINES["heat"].light
_BAND, _NOW = palette.GROUNDS["block0"].light, palette.GROUNDS["block4"].light


def svg(cut: Tiling, block: int, thread: int, step: int) -> str:
    """Draw a step of a block, with its sentences."""
    words = describe(cut, block, thread, step)
    if cut.problem:
        return panel(WIDTH, 40, [_text(12, 24, cut.problem)])
    body = [
        _text(LEFT, 20, f"A, B and C; block {block}", weight="bold"),
        _text(RIGHT, 20, f"Its tiles; thread {thread}", weight="bold"),
        *_matrices(cut, block, step),
        *_tiles(cut, thread, step),
    ]
    y = BOTTOM + 10
    for sentence in ("told", "so_far", "owner", "summary"):
        for line in textwrap.wrap(words[sentence], 112):
            body.append(_text(LEFT, y, line))
            y += 17
    return panel(WIDTH, y, body)


def _matrices(cut: Tiling, block: int, step: int) -> Iterator[str]:
    """Draw A, B and C, the parts that the block reads, and the tiles of this step."""
    scale = (ALL - GAP) / (cut.K + max(cut.M, cut.N))
    x, y = LEFT + cut.K * scale + GAP, TOP + cut.K * scale + GAP
    turn, k = cut.moment(step)
    row, col = (
        n * size
        for n, size in zip(
            divmod(block, cut.grid[1]), (cut.rows, cut.cols), strict=True
        )
    )
    high, wide = (n * scale for n in cut.inside(block))
    for left, top, width, height in (
        (LEFT, y, cut.K, cut.M), (x, TOP, cut.N, cut.K), (x, y, cut.N, cut.M),
    ):  # fmt: skip
        yield _rect(left, top, width * scale, height * scale)
    yield _rect(LEFT, y + row * scale, cut.K * scale, high, _BAND)
    yield _rect(x + col * scale, TOP, wide, cut.K * scale, _BAND)
    rows = range(cut.rows, cut.M, cut.rows)
    cols = range(cut.cols, cut.N, cut.cols)
    lines = [f"M{x:.1f} {y + r * scale:.1f}h{cut.N * scale:.1f}" for r in rows]
    lines += [f"M{x + c * scale:.1f} {y:.1f}v{cut.M * scale:.1f}" for c in cols]
    yield f'<path d="{"".join(lines)}" stroke="{_LINE}"/>'
    for n in range(turn, cut.brought(step)):
        first = n * cut.depth
        deep = min(cut.depth, cut.K - first) * scale
        look = (_NOW, _INK, "") if n == turn else ("none", _HEAT, "4 3")
        yield _rect(LEFT + first * scale, y + row * scale, deep, high, *look)
        yield _rect(x + col * scale, TOP + first * scale, wide, deep, *look)
    yield _rect(x + col * scale, y + row * scale, wide, high, _BAND, _ACCENT)
    yield _text(LEFT + 2, y - 3, "A")
    yield _text(x - 10, TOP + 10, "B")
    yield _text(x + 4, y + 14, "C")


def _tiles(cut: Tiling, thread: int, step: int) -> Iterator[str]:
    """Draw the two tiles, the warps, and the accesses of the thread."""
    side = max(cut.rows, cut.cols)
    deep = max(SLIM, (TILE - GAP) * cut.depth / (cut.depth + side))
    scale, along = (TILE - GAP - deep) / side, deep / cut.depth
    x, y = RIGHT + deep + GAP, TOP + deep + GAP
    height, width = (n * scale for n in cut.warp_tile)
    for warp in range(cut.threads // LANES):
        row, col = (n * scale for n in cut.corner(warp))
        ground = palette.GROUNDS[f"block{warp % palette.BLOCKS}"].light
        yield _rect(x + col, y + row, width, height, ground)
        if width > 40 and height > 16:
            yield _text(x + col + 3, y + row + 12, f"warp {warp}", size=10)
    high, wide = cut.rows * scale, cut.cols * scale
    yield _rect(RIGHT, y, deep, high)
    yield _rect(x, TOP, wide, deep)
    rows, cols = (runs(own(thread)) for own in (cut.rows_of, cut.cols_of))
    _, k = cut.moment(step)
    a = [(r, c, 1, cut.copied) for r, c in cut.brings_a(thread)]
    b = [(r, c, 1, cut.copied) for r, c in cut.brings_b(thread)]
    if k is not None:
        yield _rect(RIGHT + k * along, y, along, high, _NOW)
        yield _rect(x, TOP + k * along, wide, along, _NOW)
        a = [(r, k, n, 1) for r, n in rows]
        b = [(k, c, 1, n) for c, n in cols]
    fill = _ACCENT if k is None else _HEAT
    yield _path((RIGHT, y), (along, scale), a, fill)
    yield _path((x, TOP), (scale, along), b, fill)
    owned = [(r, c, down, beside) for r, down in rows for c, beside in cols]
    yield _path((x, y), (scale, scale), owned, _HEAT)


def _path(
    corner: tuple[float, float],
    scales: tuple[float, float],
    places: Iterable[tuple[int, int, int, int]],
    fill: str,
) -> str:
    """Draw rectangles (row, column, rows, columns) of a matrix."""
    (x, y), (across, down) = corner, scales
    parts = (
        f"M{x + col * across:.1f} {y + row * down:.1f}h{wide * across:.1f}"
        f"v{high * down:.1f}h{-wide * across:.1f}z"
        for row, col, high, wide in places
    )
    return f'<path d="{"".join(parts)}" fill="{fill}"/>'


def _rect(x, y, width, height, fill="none", stroke=_LINE, dashes="") -> str:
    dashed = f' stroke-dasharray="{dashes}" stroke-width="2"' if dashes else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" stroke="{stroke}"{dashed}/>'
    )


def _text(x: float, y: float, text: str, *, weight: str = "", size: int = 0) -> str:
    extra = f' font-weight="{weight}"' if weight else ""
    extra += f' font-size="{size}"' if size else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(text)}</text>'
