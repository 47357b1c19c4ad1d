"""The tile animator: who computes what in a matrix product, and what is loaded when."""

from __future__ import annotations

from html import escape
from typing import Any

import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons.tiling import BUFFERS, LADDER, LAYOUTS, ORDERS, PIECES, Tiling
from coursekit.widgets import tile_picture
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.tile_words import HEADS, describe

LEAST, MOST = 32, 1024
TILES, DEPTHS = (16, 32, 64, 128, 256), (4, 8, 16, 32)
LANES_DOWN, PATCHES = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16)
START = "step 3: shared tiles"


def tile_animator(
    M: int = 256,
    N: int = 256,
    K: int = 64,
    *,
    like: str = START,
    **changes: Any,
) -> TileAnimator:
    """Go through a matrix product in tiles, and see who loads and reads what.

    Parameters
    ----------
    M, N, K : int
        A is M x K, B is K x N, C is M x N; 32 to 1024.
    like : str
        The kernel of the ladder to begin with: "step 3" to "step 9".
    **changes
        What is other than there: `rows`, `cols`, `depth` of a block's tiles, `down`
        (rows of lanes in a warp), `patch_rows`, `patch_cols`, `pieces`, `order`,
        `a_tile`, `buffers`, `copied`; and where to begin: `block`, `thread`, `step`.

    Returns
    -------
    TileAnimator
        A widget; stored, it is a picture and a table.

    Raises
    ------
    ArgumentError
        There is no such step, shape or place.

    Examples
    --------
    ``ck.tile_animator(512, 512, 64, like="step 8", step=12)``
    """
    steps = [name for name in LADDER if name.startswith(like)]
    if len(steps) != 1:
        raise ArgumentError.explained(
            f"tile_animator got like={like!r}, which is no step of the ladder.",
            cure=f"Take one of {', '.join(repr(name[:6]) for name in LADDER)}.",
        )
    try:
        return TileAnimator(**{"M": M, "N": N, "K": K, **LADDER[steps[0]], **changes})
    except traitlets.TraitError as error:
        raise ArgumentError.explained(
            f"tile_animator cannot be set so: {error}",
            cure="See ck.tile_animator? for what there is to choose.",
        ) from error


class TileAnimator(CourseWidget, files="tile_animator"):
    """A product in tiles whose shape and moment the reader chooses.

    Attributes
    ----------
    M, N, K, rows, cols, depth, down, patch_rows, patch_cols : int
    pieces, order, a_tile, buffers : str
    copied : int
        As for `coursekit.lessons.tiling.Shape`.
    block, thread, step : int
        The block, the thread and the step that are shown.
    cut : Tiling
        The present tiling, with its counts.
    """

    M = traitlets.Int(256, min=LEAST, max=MOST).tag(sync=True)
    N = traitlets.Int(256, min=LEAST, max=MOST).tag(sync=True)
    K = traitlets.Int(64, min=LEAST, max=MOST).tag(sync=True)
    rows = traitlets.Enum(TILES, 128).tag(sync=True)
    cols = traitlets.Enum(TILES, 128).tag(sync=True)
    depth = traitlets.Enum(DEPTHS, 8).tag(sync=True)
    down = traitlets.Enum(LANES_DOWN, 8).tag(sync=True)
    patch_rows = traitlets.Enum(PATCHES, 8).tag(sync=True)
    patch_cols = traitlets.Enum(PATCHES, 8).tag(sync=True)
    pieces = traitlets.Enum(PIECES, PIECES[0]).tag(sync=True)
    order = traitlets.Enum(ORDERS, ORDERS[0]).tag(sync=True)
    a_tile = traitlets.Enum(LAYOUTS, LAYOUTS[0]).tag(sync=True)
    buffers = traitlets.Enum(BUFFERS, BUFFERS[0]).tag(sync=True)
    copied = traitlets.Enum((1, 4), 1).tag(sync=True)
    block = traitlets.Int(0, min=0).tag(sync=True)
    thread = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    ladder = traitlets.Dict().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        unknown = sorted(set(state) - set(self.trait_names()))
        if unknown:
            raise traitlets.TraitError(f"there is no {', '.join(unknown)}.")
        plain = {"pieces": PIECES[0], "order": ORDERS[0], "a_tile": LAYOUTS[0]}
        plain |= {"buffers": BUFFERS[0], "copied": 1}
        super().__init__(
            **state, ladder={name: plain | more for name, more in LADDER.items()}
        )
        cut = self.cut
        if cut.problem:
            raise traitlets.TraitError(cut.problem)
        for name, most in zip(("block", "thread", "step"), _most(cut), strict=True):
            if getattr(self, name) >= most:
                raise traitlets.TraitError(f"{name} is 0 to {most - 1}.")

    @property
    def cut(self) -> Tiling:
        shape = Tiling.__dataclass_fields__
        return Tiling(**{name: getattr(self, name) for name in shape})

    @property
    def words(self) -> dict[str, Any]:
        """The sentences about the present state, by kind."""
        return describe(self.cut, *self._place)

    @property
    def _place(self) -> tuple[int, int, int]:
        places = (self.block, self.thread, self.step)
        return tuple(map(min, places, (most - 1 for most in _most(self.cut))))

    def __repr__(self) -> str:
        words = self.words
        if words["problem"]:
            return f"Tile animator: {words['problem']}"
        table = "\n".join("  " + "; ".join(row) for row in (HEADS, *words["table"]))
        told = "\n".join(words[key] for key in ("told", "so_far", "owner"))
        return f"Tile animator: {words['summary']}\n{told}\n{table}\n  {words['cost']}"

    def alt_text(self) -> str:
        words = self.words
        keys = ("problem", "summary", "told", "so_far", "owner")
        return " ".join(words.get(key, "") for key in keys).strip()

    def static_svg(self) -> str:
        return tile_picture.svg(self.cut, *self._place)

    def static_html(self) -> str:
        words, cell = self.words, "<td style='text-align:left'>"
        if words["problem"]:
            return super().static_html()
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in HEADS)
        rows = "".join(
            f"<tr><th scope='row'>{name}</th>"
            + "".join(f"{cell}{escape(text)}</td>" for text in row)
            + "</tr>"
            for name, *row in words["table"]
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"{super().static_html()}{table}<p>{escape(words['cost'])}</p>"


def _most(cut: Tiling) -> tuple[int, int, int]:
    """Return the numbers of blocks, threads and steps."""
    return cut.grid[0] * cut.grid[1], max(cut.threads, 1), cut.steps
