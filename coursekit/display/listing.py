"""Lines of code with columns beside them, as text and as accessible HTML.

The HTML has to survive JupyterLab's cleaning of untrusted notebooks, which keeps
elements, classes and most inline styles, but drops ``<style>`` blocks, ARIA
attributes and `user-select`. So the inline styles are complete by themselves (a
light panel with its own background, readable in a dark theme too), and a
``<style>`` block only adds the dark panel. Nothing is told by colour alone.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from coursekit.toolchain import cuda_source


@dataclass(frozen=True, slots=True)
class Shade:
    """A colour in the light theme and its counterpart in the dark one."""

    light: str
    dark: str


# A test requires a contrast of at least 4.5 of every text on every background.
TEXT = {
    "plain": Shade("#1f2328", "#e6edf3"),
    "number": Shade("#59636e", "#a8b1bb"),
    "comment": Shade("#4d5763", "#b1bac4"),
    "keyword": Shade("#a40e26", "#ff9d94"),
    "type": Shade("#0550ae", "#8ecaff"),
    "literal": Shade("#0a3069", "#b6dcff"),
    "directive": Shade("#6639ba", "#dcbdff"),
}
GROUND = {
    "panel": Shade("#f6f8fa", "#161b22"),
    "marked": Shade("#fff3c4", "#3d3000"),
    "added": Shade("#dafbe1", "#0f3620"),
    "removed": Shade("#ffebe9", "#4a1518"),
    "gap": Shade("#eaeef2", "#22272e"),
}
WIDTH_PIXELS = 940  # of every box in a notebook: 76 columns of code and what is beside
_ELEMENT = {"added": "ins", "removed": "del"}
_FONT = "font-family:monospace;font-size:13px;line-height:1.4"


@dataclass(frozen=True, slots=True)
class Cell:
    """A field beside a line of code; `shade` is a key of TEXT."""

    text: str
    shade: str = "number"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of code, the cells to its left, and the kind of its background.

    Attributes
    ----------
    cells : tuple of Cell
        Line number first; a listing aligns each column by itself.
    text, html : str
        The code without its line end, plain and highlighted.
    kind : str
        "" or a key of GROUND.
    """

    cells: tuple[Cell, ...]
    text: str
    html: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows that are hidden behind their summary until the reader opens them."""

    summary: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, repr=False)
class Listing:
    """Code with a caption; `text` is shown in a terminal."""

    caption: str
    text: str
    rows: tuple[Row, ...]
    folds: tuple[Fold, ...] = field(default=())

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        folds = "".join(_fold_html(fold) for fold in self.folds)
        caption = f'<div style="margin-bottom:4px"><b>{escape(self.caption)}</b></div>'
        return panel(caption + folds + _code_html(self.rows, self.caption))


@dataclass(frozen=True, repr=False)
class Card:
    """A short message below a cell: a title and a text.

    Attributes
    ----------
    title, body : str
    copied : str
        A text below the body, with a button that copies it.
    """

    title: str
    body: str
    copied: str = ""

    def __repr__(self) -> str:
        separator = ":" if self.body.startswith("\n") else ": "
        copied = ["", *self.copied.split("\n")] if self.copied else []
        return "\n  ".join([f"{self.title}{separator}{self.body}", *copied])

    def _repr_html_(self) -> str:
        body = escape(self.body.strip("\n"))
        return panel(
            f"<b>{escape(self.title)}</b>"
            f'<pre class="ck-plain" style="{_pre_style("pre-wrap")}">{body}</pre>'
            f"{_copied_html(self.copied)}"
        )


# A page that is not trusted drops the button, and keeps the text.
_COPY = (
    "navigator.clipboard.writeText(this.nextElementSibling.textContent)"
    ".then(() => { this.textContent = 'Copied'; })"
)


def _copied_html(text: str) -> str:
    """Return a text as HTML, below a button that copies it."""
    if not text:
        return ""
    style = f"{_pre_style('pre')};overflow-x:auto;margin-top:4px"
    return (
        f'<button type="button" style="margin-top:4px" onclick="{escape(_COPY)}">Copy'
        f'</button><pre class="ck-plain" tabindex="0" style="{style}">'
        f"{escape(text)}</pre>"
    )


def highlighted(source: str, *, python: bool = False) -> list[str]:
    """Return the HTML of each line of CUDA C++, or of Python."""
    lines: list[list[str]] = [[]]
    split = tokens if python else cuda_source.tokens
    for kind, text in split(source):
        for index, part in enumerate(text.split("\n")):
            if index:
                lines.append([])
            if part:
                lines[-1].append(_span(kind, part))
    return ["".join(line) for line in lines]


def aligned(rows: Sequence[Row]) -> list[list[str]]:
    """Return the texts of each row's cells, padded on the left to equal widths.

    All rows have the same number of cells.
    """
    columns = zip(*(row.cells for row in rows), strict=True)
    widths = [max(len(cell.text) for cell in column) for column in columns]
    return [
        [cell.text.rjust(width) for cell, width in zip(row.cells, widths, strict=True)]
        for row in rows
    ]


def plain(rows: Sequence[Row]) -> list[str]:
    """Return each row as a line of text, its cells first."""
    return [
        " ".join([*cells, row.text]).rstrip()
        for row, cells in zip(rows, aligned(rows), strict=True)
    ]


def panel(content: str) -> str:
    """Put HTML on a background of its own, which keeps it readable in every theme."""
    colours = f"background-color:{GROUND['panel'].light};color:{TEXT['plain'].light}"
    border = "border:1px solid #848d97;border-radius:4px;padding:6px 10px"
    style = f"{colours};{border};max-width:{WIDTH_PIXELS}px;box-sizing:border-box"
    return (
        f"<style>{_dark_styles(content)}</style>"
        f'<div class="ck-panel ck-plain" style="{style}">{content}</div>'
    )


def _dark_styles(content: str) -> str:
    """Return the dark theme's rules for the classes in use, to keep panels small."""
    dark = 'body[data-jp-theme-light="false"] .ck-'
    rules = [(k, f"color:{s.dark}") for k, s in TEXT.items()]
    rules += [(k, f"background-color:{s.dark}") for k, s in GROUND.items()]
    return "".join(
        f"{dark}{kind}{{{rule}!important}}"
        for kind, rule in rules
        if kind in ("plain", "panel") or f"ck-{kind}" in content
    )


def _span(kind: str, text: str, extra: str = "") -> str:
    if kind == "plain":
        return escape(text, quote=False)
    return (
        f'<span class="ck-{kind}" style="color:{TEXT[kind].light}{extra}">'
        f"{escape(text, quote=False)}</span>"
    )


def _pre_style(white_space: str) -> str:
    colours = f"color:{TEXT['plain'].light};background-color:transparent"
    if white_space == "pre-wrap":  # JupyterLab breaks its lines inside of words
        white_space += ";word-break:normal;overflow-wrap:anywhere"
    return f"{_FONT};{colours};white-space:{white_space};margin:0;padding:0;border:0"


def _code_html(rows: Sequence[Row], label: str) -> str:
    lines = "".join(
        _row_html(row, cells) for row, cells in zip(rows, aligned(rows), strict=True)
    )
    return (
        f'<pre class="ck-plain" tabindex="0" role="region" aria-label="{escape(label)}"'
        f' style="{_pre_style("pre")};overflow-x:auto">'
        f'<span style="display:inline-block;min-width:100%">{lines}</span></pre>'
    )


def _row_html(row: Row, cells: Sequence[str]) -> str:
    """Return a line as HTML; its cells cannot be selected, so only code is copied."""
    fields = "".join(
        _span(cell.shade, f"{text} ", ";user-select:none")
        for cell, text in zip(row.cells, cells, strict=True)
    )
    line = f"{fields}{row.html}\n"
    if not row.kind:
        return line
    element = _ELEMENT.get(row.kind, "span")
    style = f"display:block;background-color:{GROUND[row.kind].light}"
    decoration = ";text-decoration:none" if element != "span" else ""
    return (
        f'<{element} class="ck-{row.kind}" style="{style}{decoration}">'
        f"{line}</{element}>"
    )


def _fold_html(fold: Fold) -> str:
    code = _code_html(fold.rows, fold.summary)
    return (
        '<details style="margin-bottom:4px">'
        f'<summary style="cursor:pointer">{escape(fold.summary)}</summary>'
        f"{code}</details>"
    )


_KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "literal"}
_KINDS[tokenize.NUMBER] = "literal"


def tokens(source: str) -> list[tuple[str, str]]:
    """Split a source into (kind, text), for colouring.

    Kinds are plain, comment, keyword and literal; the texts put together are the
    source. What is no Python is plain.

    >>> tokens("x = 1  # one")
    [('plain', 'x = '), ('literal', '1'), ('plain', '  '), ('comment', '# one')]
    """
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    coloured, place = [], 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind = _KINDS.get(token.type, "plain")
            if keyword.iskeyword(token.string):
                kind = "keyword"
            start, end = (
                begins[row - 1] + col for row, col in (token.start, token.end)
            )
            if kind != "plain":
                coloured += [("plain", source[place:start]), (kind, source[start:end])]
                place = end
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return [(k, t) for k, t in [*coloured, ("plain", source[place:])] if t]
