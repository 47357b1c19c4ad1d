"""The compiled view as a static picture: three listings with their source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from coursekit.analysis.compiled_lines import CompiledLines, Line
from coursekit.display.listing import TEXT
from coursekit.toolchain.cuda_source import tokens
from coursekit.widgets import palette
from coursekit.widgets.compiled_words import parts
from coursekit.widgets.panel import panel

WIDTH, LINE, MOST = 900, 17, 26
_LETTER = 6.7  # width of a monospace letter of 11 pixels, and a bit
_BAR = 40
_STYLE = "".join(
    (
        "<style>.code{font:11px monospace}",
        *(f".{kind}{{fill:{shade.light}}}" for kind, shade in TEXT.items()),
        "</style>",
    )
)


def words(lines: CompiledLines) -> str:
    """Return a description of the picture."""
    code = sum(line.live is not None for line in lines.ptx)
    machine = sum(not line.text.endswith(":") for line in lines.sass)
    said = (
        f"The kernel {lines.kernel}: {len(lines.source)} source lines became {code} "
        f"instructions of PTX, with at most {lines.most_live} live registers."
    )
    if lines.why:
        return f"{said} Machine code cannot be shown: there is no disassembler."
    return (
        f"{said} They became {machine} machine instructions for {lines.arch}, with "
        f"{lines.registers} registers per thread."
    )


def svg(lines: CompiledLines) -> str:
    """Draw the source on top, and PTX and machine code side by side below it."""
    source = lines.source[:MOST]
    below = 60 + LINE * len(source) + 30
    rows = min(MOST, max(len(lines.ptx), len(lines.sass)))
    middle = WIDTH // 2
    body = [
        _STYLE,
        _text(12, 22, f"Kernel {lines.kernel}", font_weight="bold", font_size=15),
        _text(12, 46, "Source", font_weight="bold"),
        *_source(lines, source),
        _text(12, below, f"PTX, and its live registers (most: {lines.most_live})",
              font_weight="bold"),
        _text(middle, below, _heading(lines), font_weight="bold"),
        *_listing(lines.ptx[:MOST], "ptx", 12, below + 8, middle - 20),
        *_listing(lines.sass[:MOST], "sass", middle, below + 8, WIDTH - 12),
    ]  # fmt: skip
    more = max(len(lines.ptx), len(lines.sass)) - rows
    if more:
        body.append(_text(12, below + LINE * rows + 30, f"... and {more} more lines"))
    return panel(WIDTH, below + LINE * rows + (42 if more else 24), body)


def _heading(lines: CompiledLines) -> str:
    if lines.why:
        return "No machine code: there is no disassembler here"
    return f"Machine code for {lines.arch}, {lines.registers} registers"


def _source(lines: CompiledLines, shown: Sequence[str]) -> Iterator[str]:
    used = {line.source for line in (*lines.ptx, *lines.sass)}
    for row, text in enumerate(shown):
        number, y = lines.first + row, 60 + LINE * row
        yield from _row(12, y, number if number in used else 0, 0)
        yield _code(52, y + 12, [*tokens(text)], 120)


def _listing(
    lines: Sequence[Line], language: str, x: float, top: float, end: float
) -> Iterator[str]:
    most = max([line.live or 0 for line in lines], default=0) or 1
    code_at = x + (92 if language == "ptx" else 40)
    room = int((end - code_at) / _LETTER)
    for row, line in enumerate(lines):
        y = top + LINE * row
        yield from _row(x, y, line.source, line.live or 0, most)
        yield _code(code_at, y + 12, parts(line.text, language), room)


def _row(x: float, y: float, source: int, live: int, most: int = 1) -> Iterator[str]:
    """Draw the source line's number on its colour, and the bar of live registers."""
    if source:
        ground = palette.GROUNDS[f"block{source % palette.BLOCKS}"].light
        yield (f'<rect x="{x:g}" y="{y:g}" width="30" height="{LINE - 1}" '
               f'fill="{ground}"/>')  # fmt: skip
        yield _text(x + 26, y + 12, str(source), text_anchor="end", font_size=11)
    if live:
        wide = _BAR * live / most
        heat = palette.LINES["heat"].light
        yield (f'<rect x="{x + 34:g}" y="{y + 3:g}" width="{wide:.1f}" height="10" '
               f'fill="{heat}" fill-opacity="0.35"/>')  # fmt: skip
        yield _text(x + 50, y + 12, str(live), text_anchor="end", font_size=11)


def _code(x: float, y: float, pieces, room: int) -> str:
    """Draw a line of code, cut off where there is no room."""
    shown = []
    for kind, text in pieces:
        text = text[: max(0, room)].replace("\t", "    ")
        room -= len(text)
        if text:
            escaped = escape(text, quote=False)
            plain = kind == "plain"
            shown.append(
                escaped if plain else f'<tspan class="{kind}">{escaped}</tspan>'
            )
    return (
        f'<text xml:space="preserve" class="code" x="{x:g}" y="{y:g}">'
        f"{''.join(shown)}</text>"
    )


def _text(x: float, y: float, text: str, **style: str | float) -> str:
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in style.items())
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
