"""A small table as text and as accessible HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from coursekit.display.listing import TEXT

# JupyterLab's striped rows would cover the background of the panel.
_ROW = '<tr style="background:none">'


@dataclass(frozen=True)
class Table:
    """Rows of texts below a header; the first column names the row.

    Attributes
    ----------
    caption : str
    header : tuple of str
    rows : tuple of tuple of str
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """The rows with aligned columns, without the caption."""
        columns = zip(self.header, *self.rows, strict=True)
        padded = zip(*map(_aligned, columns), strict=True)
        return "\n".join("  ".join(line).rstrip() for line in padded)

    @property
    def html(self) -> str:
        """The table as HTML, with a caption and header cells."""
        styles = list(map(_style, zip(self.header, *self.rows, strict=True)))
        head, *body = (
            f"{_ROW}{''.join(map(_cell, kinds, line, styles))}</tr>"
            for kinds, line in self._lines()
        )
        return (
            f'<table class="ck-plain" style="color:{TEXT["plain"].light};'
            "border-collapse:collapse;font-family:monospace;font-size:13px;"
            'margin:6px 0">'
            f'<caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"
        )

    def _lines(self) -> Iterator[tuple[list[str], tuple[str, ...]]]:
        """Yield the kind of cell and the texts of each line of the table."""
        rest = len(self.header) - 1
        yield ['th scope="col"'] * len(self.header), self.header
        for row in self.rows:
            yield ['th scope="row"', *["td"] * rest], row


def _numbers(column: Sequence[str]) -> bool:
    """Whether all cells of a column, below its heading, are numbers."""
    body = [text for text in column[1:] if text != "-"]
    return all(text[-1:].isdigit() or text in ("inf", "nan") for text in body)


def _aligned(column: Sequence[str]) -> list[str]:
    """Pad to equal widths: numbers to the right, words to the left."""
    width, numbers = max(map(len, column)), _numbers(column)
    return [text.rjust(width) if numbers else text.ljust(width) for text in column]


def _style(column: Sequence[str]) -> str:
    """Align words on the left; JupyterLab aligns every cell on the right."""
    padding = "padding:1px 10px 1px 0"
    return padding if _numbers(column) else f"text-align:left;{padding}"


def _cell(kind: str, text: str, style: str) -> str:
    weight = ";font-weight:bold" if text.startswith("wrong") else ""
    element = kind.partition(" ")[0]
    return f'<{kind} style="{style}{weight}">{escape(text)}</{element}>'
