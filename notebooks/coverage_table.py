"""The table of topics in coverage.md: where the course teaches each of them.

coverage.toml names the topics, their chapters and the words to look for. The place of a
topic is the section that has these words most often; `make chapters` writes the table.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import chapter_minutes
from course_chapters import CLOSING, FOLDER, Chapter, chapters
from execute import is_section
from nbformat import NotebookNode

DATA = FOLDER / "coverage.toml"
PAGE = FOLDER / "coverage.md"
# Sections that name topics of other chapters, and those that only repeat or practise.
PASSING = ("Next", "Sources")
REPEATING = (*CLOSING, "True or false")
HEAD = """\
# What the course covers

Where each topic is taught. `make chapters` makes this page of `coverage.toml`; a test
looks for each topic in the section that stands here.

"""
SUMMARY = (
    "{taught} of {all} topics are taught, {later} wait for their chapter, "
    "{missing} are missing.\n"
)
ROWS = "\n| Topic | Where |\n|---|---|\n"
MISSING = "**missing** in chapter "
LATER = "not written yet: "


@dataclass(frozen=True)
class Course:
    """The chapters that exist, by number, and those that are planned."""

    order: tuple[Chapter, ...]
    planned: dict[str, str]
    root: Path = FOLDER.parent

    @cached_property
    def sections(self) -> dict[str, list[tuple[Chapter, str, str]]]:
        """Chapter, heading and text of each section, by the chapter's number."""
        found: dict[str, list[tuple[Chapter, str, str]]] = {}
        for chapter in self.order:
            own = found.setdefault(chapter.number, [])
            own += [(chapter, *section) for section in sections(chapter.notebook)]
        return found


@dataclass(frozen=True)
class Topic:
    """A topic, the chapters or files that should have it, and the words to look for."""

    name: str
    places: tuple[str, ...]
    words: str

    def count(self, text: str) -> int:
        """Count the words in a text; a pattern without capitals ignores case."""
        plain = re.sub(r"\\.", "", self.words)
        flags = 0 if re.search("[A-Z]", plain) else re.IGNORECASE
        return len(re.findall(self.words, text, flags))

    def found(self, course: Course) -> str:
        """Return the link to the place with the topic, "" where it is nowhere."""
        for place in self.places:
            if is_file(place) and self.count((course.root / place).read_text("utf-8")):
                return f"[{place}]({relative(place)})"
            best = max(course.sections.get(place, []), key=self.weight, default=None)
            if best and self.count(best[2]):
                return section_link(*best[:2])
        return ""

    def weight(self, section: tuple[Chapter, str, str]) -> tuple[bool, int]:
        """Return what ranks sections: those that teach it, then how often it occurs."""
        _, heading, text = section
        count = self.count(text)
        return count > 0 and heading not in REPEATING, count

    def where(self, course: Course) -> str:
        """Return what the table says: a link, a planned chapter, or that it misses."""
        if link := self.found(course):
            return link
        later = [p for p in self.places if p in course.planned]
        if later:
            return LATER + planned(later[0], course)
        return MISSING + self.places[0]


def is_file(place: str) -> bool:
    """Tell a file from the number of a chapter."""
    return not re.fullmatch(r"\d\d|[a-z]+", place)


def relative(place: str) -> str:
    """Return a path from notebooks/ to a file of the repository."""
    return place.removeprefix("notebooks/") if "notebooks/" in place else f"../{place}"


def planned(place: str, course: Course) -> str:
    """Return the name of a chapter or page that is not there yet."""
    title = course.planned[place]
    return f"chapter {place}, {title}" if place.isdigit() else title


def section_link(chapter: Chapter, heading: str) -> str:
    """Return a link to a section, as JupyterLab makes its anchor."""
    anchor = heading.replace(" ", "-").replace("(", "%28").replace(")", "%29")
    return f"[{chapter.title}: {heading}]({chapter.path.name}#{anchor})"


def sections(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return heading and text of the opening and the sections; code counts, too."""
    found: list[tuple[str, list[str]]] = []
    for number, cell in enumerate(notebook.cells):
        if number == 0 or is_section(cell):
            found.append((chapter_minutes.heading(cell), []))
        shown = chapter_minutes.listed(cell) if cell.cell_type == "code" else []
        found[-1][1].extend([cell.source, *shown])
    return [(head, "\n".join(text)) for head, text in found if head not in PASSING]


def topics(data: dict) -> dict[str, list[Topic]]:
    """Return the topics of each group."""
    return {
        group: [
            Topic(name, tuple(places.split()), words[0] if words else re.escape(name))
            for name, places, *words in rows
        ]
        for group, rows in data["topics"].items()
    }


def load() -> tuple[dict[str, list[Topic]], Course]:
    """Read the topics, and the course as it is."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    course = Course(tuple(chapters()), data["planned"])
    return topics(data), course


def page() -> str:
    """Return the text of coverage.md."""
    groups, course = load()
    tables, all_places = [], []
    for group, rows in groups.items():
        places = [topic.where(course) for topic in rows]
        all_places += places
        pairs = zip(rows, places, strict=True)
        lines = "".join(f"| {cell(t.name)} | {place} |\n" for t, place in pairs)
        tables.append(f"\n## {group}\n{ROWS}{lines}")
    later = sum(place.startswith(LATER) for place in all_places)
    missing = sum(place.startswith(MISSING) for place in all_places)
    taught = len(all_places) - later - missing
    counted = {"taught": taught, "later": later, "missing": missing}
    return HEAD + SUMMARY.format(all=len(all_places), **counted) + "".join(tables)


def cell(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return re.sub(r"([<>_*|])", r"\\\1", text)


def main() -> int:
    """Write coverage.md."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
