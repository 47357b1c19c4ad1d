"""Write ecosystem.md and errata.md of the texts in coursekit/lessons/companion.

`make chapters` runs it. Each error links to the section that shows it, found as
coverage_table.py finds a topic's.
"""

from __future__ import annotations

import sys

import coverage_table
from course_chapters import FOLDER
from coverage_table import Course, Topic, cell

from coursekit.lessons import companion
from coursekit.lessons.companion import Erratum, Name

ECOSYSTEM, ERRATA = FOLDER / "ecosystem.md", FOLDER / "errata.md"
ECOSYSTEM_HEAD = """\
# The ecosystem around CUDA

Names that a CUDA engineer meets, what each is, and how it stood on {day}. Versions are
those on PyPI on that day. In a notebook, `ck.ecosystem()` shows the same table with a
field to search. `make chapters` makes this page of
[its texts](../coursekit/lessons/companion/ecosystem.toml).
"""
ERRATA_HEAD = """\
# Errata: what material on CUDA often gets wrong

Try each error yourself: what is wrong with it? Each has what is true, how we know, and
the section that shows it. The last group has errors that this course
had itself. In a notebook, `ck.errata()` shows the same table with a field to search.
`make chapters` makes this page of
[its texts](../coursekit/lessons/companion/errata.toml).
"""


def ecosystem_page() -> str:
    """Return the text of ecosystem.md."""
    day, groups = companion.ecosystem()
    course = coverage_table.load()[1]
    head = "| Name | What it is | State | Chapter |\n|---|---|---|---|\n"
    tables = [
        f"\n## {group}\n\n{head}{''.join(_name(row, course) for row in rows)}"
        for group, rows in groups.items()
    ]
    return ECOSYSTEM_HEAD.format(day=day) + "".join(tables)


def _name(row: Name, course: Course) -> str:
    chapter = chapter_link(row.chapter, course) if row.chapter else ""
    texts = cell(row.what), cell(row.state), chapter
    return f"| [{cell(row.name)}]({row.source}) | {' | '.join(texts)} |\n"


def chapter_link(number: str, course: Course) -> str:
    """Return a link to a chapter, or its name where it is not there yet."""
    for chapter in course.order:
        if chapter.number == number:
            return chapter.link
    return coverage_table.LATER + coverage_table.planned(number, course)


def errata_page() -> str:
    """Return the text of errata.md."""
    course = coverage_table.load()[1]
    head = (
        "| No. | One reads | True is | Evidence | Shown in |\n|---|---|---|---|---|\n"
    )
    tables = [
        f"\n## {group}\n\n{head}{''.join(_erratum(row, course) for row in rows)}"
        for group, rows in companion.errata().items()
    ]
    return ERRATA_HEAD + "".join(tables)


def shown_in(row: Erratum, course: Course) -> str:
    """Return a link to the place that shows an error, or the chapter that will."""
    return Topic(row.number, tuple(row.places.split()), row.words).where(course)


def _erratum(row: Erratum, course: Course) -> str:
    source = row.evidence.startswith("https://")
    evidence = f"[source]({row.evidence})" if source else row.evidence
    texts = cell(row.says), cell(row.true), evidence, shown_in(row, course)
    return f"| {row.number} | {' | '.join(texts)} |\n"


def main() -> int:
    """Write both pages."""
    ECOSYSTEM.write_text(ecosystem_page(), encoding="utf-8")
    ERRATA.write_text(errata_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
