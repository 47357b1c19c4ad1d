"""The glossary, and the terms that a notebook links to it.

A notebook marks a term where it first uses it: `[**warps**](glossary.md#warp)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "glossary.md"
ENTRY = re.compile(r"^## (?P<term>.+)\n\n(?P<text>(?:(?!## ).*\n?)*)", re.MULTILINE)
LINK = re.compile(
    r"\[(?P<shown>[^\]]*)\]\((?P<page>[^)#\s]*glossary\.md)(?P<anchor>[^)]*)\)"
)


@dataclass(frozen=True)
class Entry:
    """A term of the glossary and its explanation."""

    term: str
    text: str

    @property
    def anchor(self) -> str:
        """What a link to the term ends with.

        JupyterLab puts hyphens for the spaces of a heading; GitHub also makes small
        letters and drops punctuation. For the terms here that is the same.
        """
        return self.term.replace(" ", "-")


def entries(text: str) -> list[Entry]:
    """Return the entries of a glossary page, in its order."""
    return [Entry(m["term"], m["text"].strip()) for m in ENTRY.finditer(text)]


def anchors() -> set[str]:
    """Return the anchors of the course's glossary."""
    return {entry.anchor for entry in entries(PATH.read_text(encoding="utf-8"))}


def unknown_terms(notebook: NotebookNode, known: set[str]) -> Iterator[str]:
    """Complain of links to the glossary that lead nowhere or are not in its form."""
    first = set()
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for link in LINK.finditer(cell.source):
            anchor = link["anchor"].removeprefix("#")
            where = f"{cell.id}: {link.group()}"
            if anchor and anchor not in known:
                yield f"{where}: the glossary has no such term"
            if anchor and not re.fullmatch(r"\*\*[^*]+\*\*", link["shown"]):
                yield f"{where}: a term is bold, [**{link['shown']}**](...)"
            if link["page"] != "glossary.md":
                yield f"{where}: the glossary lies beside the notebooks"
            if anchor in first:
                yield f"{where}: link a term at its first use only"
            first |= {anchor} - {""}
