"""A small table as text and as accessible HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from coursekit.listing import GROUND, TEXT

# Colours of its own: JupyterLab's stripes would come through otherwise.
_ROW = (
    f'<tr class="ck-panel ck-plain" style="color:{TEXT["plain"].light};'
    f'background-color:{GROUND["panel"].light}">'
)


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
        """A table with a caption and header cells."""
        head = "".join(_cell("th", text, "col") for text in self.header)
        body = "".join(
            f"{_ROW}{_cell('th', row[0], 'row')}"
            f"{''.join(_cell('td', text) for text in row[1:])}</tr>"
            for row in self.rows
        )
        return (
            '<table class="ck-plain" style="border-collapse:collapse;'
            'font-family:monospace;font-size:13px;margin:6px 0">'
            f'<caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead>{_ROW}{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _aligned(column: Sequence[str]) -> list[str]:
    """Pad to equal widths: numbers to the right, words to the left."""
    width = max(map(len, column))
    body = [text for text in column[1:] if text != "-"]
    numbers = all(text[-1:].isdigit() or text in ("inf", "nan") for text in body)
    return [text.rjust(width) if numbers else text.ljust(width) for text in column]


def _cell(element: str, text: str, scope: str = "") -> str:
    weight = ";font-weight:bold" if text.startswith("wrong") else ""
    kind = f' scope="{scope}"' if scope else ""
    style = f"text-align:left;padding:1px 10px 1px 0{weight}"
    return f'<{element}{kind} style="{style}">{escape(text)}</{element}>'
