"""The rule for cells that only assert a claim, which have the tag `claim`.

The tests run such a cell. The student's copy, slides and exports leave it out, so no
other cell may need what it defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cell_names import names
from execute import CLAIM, is_claim, is_only_asserts, is_section
from nbformat import NotebookNode


def claims(notebook: NotebookNode) -> Iterator[str]:
    """Tag the cells that only assert a claim; have one a section, at its end.

    There may be one more only where a cell between the two changes what the first
    is about.
    """
    for section in _sections(notebook):
        marked = [n for n, cell in enumerate(section) if is_claim(cell)]
        for cell in section:
            if is_only_asserts(cell) and not is_claim(cell):
                yield f"{cell.id}: only asserts, without the tag {CLAIM}"
        for number in marked:
            yield from _alone(section, number)
        for first, second in pairwise(marked):
            if not _changed_between(section, first, second):
                yield (
                    f"{section[first].id} and {section[second].id}: two claims in one "
                    "section that may be one, at the place of the second"
                )


def _sections(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """Return the cells of each section; those above the first are one, too."""
    found: list[list[NotebookNode]] = [[]]
    for cell in notebook.cells:
        if is_section(cell):
            found.append([])
        found[-1].append(cell)
    return found


def _alone(section: list[NotebookNode], number: int) -> Iterator[str]:
    """Require that a claim asserts, shows nothing, and defines nothing for others."""
    cell = section[number]
    if "assert" not in cell.source:
        yield f"{cell.id}: a claim that asserts nothing"
    if cell.get("outputs"):
        yield f"{cell.id}: a claim that shows something, which copies would lack"
    made = names(cell).defines | names(cell).changes
    for other in section[number + 1 :]:
        needed = set() if is_claim(other) else made & names(other).reads
        if needed:
            yield f"{other.id}: needs {sorted(needed)[0]} of the claim {cell.id}"
        made -= names(other).defines


def _changed_between(section: list[NotebookNode], first: int, second: int) -> bool:
    """Tell whether a cell between two claims changes what the first reads."""
    claim = names(section[first])
    between = [names(cell) for cell in section[first + 1 : second]]
    return any(
        claim.reads & (each.defines | each.changes)
        or claim.defines & (each.defines | each.reads)
        for each in between
    )
