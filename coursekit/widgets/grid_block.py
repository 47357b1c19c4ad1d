"""Sliders for grid and block that show which thread handles which element."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import traitlets

from coursekit.errors import ArgumentError
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.grid_map import LIMITS, MODES, GridMap

CELL = (42, 36)
LABEL_WIDTH, HEADING_HEIGHT, COLUMNS = 74, 24, 16
WIDTH = LABEL_WIDTH + COLUMNS * CELL[0] + 4
_RECT = f'width="{CELL[0] - 4}" height="{CELL[1] - 4}" rx="3"'
_DEFINITIONS = (
    f'<defs><rect id="cell" {_RECT} stroke="{palette.LINES["line"].light}"/>'
    f'<rect id="chosen" {_RECT} stroke="{palette.LINES["accent"].light}" '
    'stroke-width="3"/></defs>'
)


class GridBlock(CourseWidget, files="grid_block"):
    """A launch in one dimension: its blocks, their threads, and the elements.

    Parameters
    ----------
    n : int
        Number of elements, 1 to 64.
    blocks, threads : int
        The launch ``[blocks, threads]``: 1 to 8 blocks of 1 to 16 threads.
    mode : str
        "guard" (``if (i < n)``, one element per thread) or "grid-stride".
    thread : int
        The chosen thread, by its number in the grid; its index is spelled out.

    Attributes
    ----------
    map : GridMap
        The launch as it is shown now.

    Raises
    ------
    ArgumentError
        If a number is too small, or too large to draw.

    Examples
    --------
    >>> GridBlock(n=20, blocks=3, threads=8)
    GridBlock(n=20, blocks=3, threads=8, mode='guard', thread=0)
    """

    n = traitlets.Int(20, min=1, max=LIMITS["n"]).tag(sync=True)
    blocks = traitlets.Int(3, min=1, max=LIMITS["blocks"]).tag(sync=True)
    threads = traitlets.Int(8, min=1, max=LIMITS["threads"]).tag(sync=True)
    mode = traitlets.Enum(MODES, "guard").tag(sync=True)
    thread = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(
        self,
        n: int = 20,
        blocks: int = 3,
        threads: int = 8,
        *,
        mode: str = "guard",
        thread: int = 0,
    ) -> None:
        total = GridMap(n, blocks, threads, mode).total
        if not 0 <= thread < total:
            raise ArgumentError.explained(
                f"GridBlock got thread={thread!r}, but the launch has {total} threads.",
                cure=f"Give a number from 0 to {total - 1}.",
            )
        super().__init__(n=n, blocks=blocks, threads=threads, mode=mode, thread=thread)

    @property
    def map(self) -> GridMap:
        return GridMap(self.n, self.blocks, self.threads, self.mode)

    @traitlets.observe("blocks", "threads")
    def _keep_thread_in_grid(self, _change: object) -> None:
        self.thread = min(self.thread, self.blocks * self.threads - 1)

    def __repr__(self) -> str:
        return (
            f"GridBlock(n={self.n}, blocks={self.blocks}, threads={self.threads}, "
            f"mode={self.mode!r}, thread={self.thread})"
        )

    def alt_text(self) -> str:
        launch = self.map
        block, inside = launch.place(self.thread)
        return (
            f"Which thread handles which element, mode {self.mode}. "
            f"{launch.summary()} Marked: thread {inside} of block {block}. "
            f"{launch.formula(self.thread)}. {launch.meaning(self.thread)}"
        )

    def static_svg(self) -> str:
        launch = self.map
        rows = -(-self.n // COLUMNS)
        top = HEADING_HEIGHT + CELL[1] * self.blocks + HEADING_HEIGHT
        height = top + CELL[1] * rows + 70
        parts = (
            _DEFINITIONS,
            _text(4, 16, "Threads: threadIdx.x above, i below", font_weight="bold"),
            '<g text-anchor="middle">',
            *_thread_cells(launch, self.thread),
            _label(
                top - 8,
                "Elements: index above, its thread below",
                font_weight="bold",
            ),
            *_element_cells(launch, self.thread, top),
            "</g>",
            _text(4, height - 48, launch.summary()),
            _text(4, height - 28, launch.formula(self.thread)),
            _text(4, height - 8, launch.meaning(self.thread)),
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="sans-serif" font-size="12" '
            f'fill="{palette.INKS["ink"].light}">'
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="4" '
            f'fill="{palette.GROUNDS["panel"].light}" '
            f'stroke="{palette.LINES["line"].light}"/>{"".join(parts)}</svg>'
        )


def _thread_cells(launch: GridMap, chosen: int) -> Iterator[str]:
    for block in range(launch.blocks):
        y = HEADING_HEIGHT + block * CELL[1]
        yield _label(y + 21, f"block {block}")
        for inside in range(launch.threads):
            thread = block * launch.threads + inside
            busy = bool(launch.elements(thread))
            yield _cell(
                (LABEL_WIDTH + inside * CELL[0], y),
                (str(inside), f"i={thread}" if busy else "idle"),
                block if busy else None,
                thread == chosen,
            )


def _element_cells(launch: GridMap, chosen: int, top: int) -> Iterator[str]:
    marked = launch.elements(chosen)
    for element in range(launch.n):
        row, column = divmod(element, COLUMNS)
        y = top + row * CELL[1]
        if column == 0:
            yield _label(y + 21, f"from x[{element}]")
        owner = launch.owner(element)
        block, inside = (None, 0) if owner is None else launch.place(owner)
        yield _cell(
            (LABEL_WIDTH + column * CELL[0], y),
            (str(element), "none" if block is None else f"b{block} t{inside}"),
            block,
            element in marked,
        )


def _label(y: int, text: str, **style: str) -> str:
    return _text(4, y, text, text_anchor="start", **style)


def _cell(
    corner: tuple[int, int], lines: tuple[str, str], block: int | None, chosen: bool
) -> str:
    x, y = corner
    ground = "panel" if block is None else f"block{block % palette.BLOCKS}"
    dashes = ' stroke-dasharray="3 3"' if block is None else ""
    middle = x + CELL[0] / 2
    return (
        f'<use href="#{"chosen" if chosen else "cell"}" x="{x + 2}" y="{y + 2}" '
        f'fill="{palette.GROUNDS[ground].light}"{dashes}/>'
        f'<text x="{middle:g}" y="{y + 16}">{escape(lines[0])}'
        f'<tspan x="{middle:g}" dy="12" font-size="10">{escape(lines[1])}</tspan>'
        "</text>"
    )


def _text(x: float, y: float, text: str, **style: str | int) -> str:
    """Return an SVG text element; in names of attributes _ stands for -."""
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in style.items())
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
