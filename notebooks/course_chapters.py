"""Write what follows from the chapters' files: minutes, links, the README's table.

    python notebooks/course_chapters.py [NOTEBOOK ...]

The minutes of each section and of the whole follow from the rule in
chapter_minutes.py. Title and last cell link to the chapters before and after. The
section *Next* ends with a cell that shows the exercises done. Where only some notebooks
are named, the others get new links only; README.md's table of chapters has them all.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import chapter_minutes
import nbformat
from execute import FOLDER, code_hash, is_section, normalise, to_text
from nbformat import NotebookNode

README = FOLDER.parent / "README.md"
CLOSING = ("What you can now say", "Exercises", "Next", "Sources")
MAXIMUM_MINUTES = 75
FILE = re.compile(r"(?P<number>\d\d)(?P<letter>[a-z]?)_(?P<name>\w+)\.ipynb")
TIME = re.compile(r"(?<=\*\*Time\*\* )(\d+)?.*")
GOALS = re.compile(r"\*\*After this chapter you can\*\* (.+?)\.?$", re.MULTILINE)
TABLE = re.compile(r"\| Chapter \| You can then \|.*?(?=\n## )", re.DOTALL)
ROW = re.compile(
    r"^\| \[[^]]*\]\(notebooks/(?P<file>[^)]+)\) \| (?P<goals>.*?) \| \d+ \| "
    r"(?P<tiers>.*?) \|$",
    re.MULTILINE,
)
HEADER = "| Chapter | You can then | Minutes | |\n|---|---|---|---|\n"
PAGES = """\
Beside the chapters there are pages: [the ecosystem](notebooks/ecosystem.md) of CUDA,
[errata](notebooks/errata.md), [reading sources](notebooks/reading_sources.md) and
[llm.c](notebooks/reading_llm_c.md), [what next](notebooks/what_next.md), one
[for instructors](notebooks/instructor.md), and a
[glossary](notebooks/glossary.md).
"""
BADGES = {"simulated": "S", "compiled": "C", "gpu": "G"}


@dataclass(frozen=True)
class Chapter:
    """A notebook of the course, and what its file name says."""

    path: Path

    @property
    def label(self) -> str:
        """Number and letter, as in "10a"."""
        match = FILE.fullmatch(self.path.name)
        return match["number"] + match["letter"]

    @property
    def number(self) -> str:
        """The two digits that the ids of its exercises begin with."""
        return self.label[:2]

    @cached_property
    def notebook(self) -> NotebookNode:
        return nbformat.from_dict(_read(self.path, self.path.stat().st_mtime_ns))

    @property
    def title(self) -> str:
        return f"{self.label} {chapter_minutes.heading(self.notebook.cells[0])}"

    @property
    def link(self) -> str:
        return f"[{self.title}]({self.path.name})"

    @property
    def minutes(self) -> int:
        """The minutes that its first cell states."""
        return int(TIME.search(self.notebook.cells[0].source)[1])

    @property
    def tiers(self) -> str:
        """The letters of the badges on its sections, as in "S C"."""
        heads = (cell.source for cell in self.notebook.cells if is_section(cell))
        text = "\n".join(heads)
        return " ".join(v for k, v in BADGES.items() if f"badge_{k}.svg" in text)


@functools.lru_cache(maxsize=64)
def _read(path: Path, changed_ns: int) -> dict:
    """Read a notebook; `changed_ns` tells an edited file apart."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        for output in cell.get("outputs", []):
            joined(output)
    return notebook


def joined(output: dict) -> None:
    """Join the lines of an output's texts, as nbformat does."""
    if isinstance(output.get("text"), list):
        output["text"] = "".join(output["text"])
    for kind, value in output.get("data", {}).items():
        if isinstance(value, list):
            output["data"][kind] = "".join(value)


def chapters(folder: Path = FOLDER) -> list[Chapter]:
    """Return the chapters in the order of the course: 09, 10a, 10b, 11."""
    found = [Chapter(p) for p in folder.glob("*.ipynb") if FILE.fullmatch(p.name)]
    return sorted(found, key=lambda chapter: chapter.label)


def navigation(chapter: Chapter, order: list[Chapter]) -> str:
    """Return the line that links a chapter to the one before and the one after."""
    place = [other.path.name for other in order].index(chapter.path.name)
    links = []
    if place > 0:
        links.append(f"**Previous** {order[place - 1].link}")
    if place + 1 < len(order):
        links.append(f"**Next** {order[place + 1].link}")
    return " · ".join(links)


def complete(chapter: Chapter, order: list[Chapter]) -> NotebookNode:
    """Give a notebook its links, its cell with the progress, and its minutes."""
    notebook = chapter.notebook
    link(notebook, navigation(chapter, order))
    show_progress(notebook, chapter.number)
    state_minutes(notebook)
    return normalise(notebook)


def link(notebook: NotebookNode, line: str) -> None:
    """Put the links under the title and at the end, in place of older ones."""
    first, last = notebook.cells[0], notebook.cells[-1]
    title, _, rest = without_links(first.source).partition("\n")
    first.source = f"{title}\n\n{line}\n\n{rest.strip()}"
    last.source = f"{without_links(last.source)}\n\n{line}"


def without_links(text: str) -> str:
    """Return a cell's text without the links to other chapters."""
    return chapter_minutes.NAVIGATION.sub("", text).strip()


def show_progress(notebook: NotebookNode, number: str) -> None:
    """End the section *Next* with a cell that shows which exercises are done."""
    has_exercises = any(map(chapter_minutes.exercise_of, notebook.cells))
    source = f'ck.progress("{number}")' if has_exercises else "ck.progress()"
    if any(cell.source == source for cell in notebook.cells):
        return
    before = code_hash(notebook)
    cell = nbformat.v4.new_code_cell(source)
    heads = [chapter_minutes.heading(cell) for cell in notebook.cells]
    notebook.cells.insert(heads.index("Sources"), cell)
    count_as_run(notebook, cell, before)


def count_as_run(notebook: NotebookNode, cell: NotebookNode, before: str) -> None:
    """Keep the outputs valid: the last code cell alone is new, and stores none."""
    code = [other for other in notebook.cells if other.cell_type == "code"]
    stored = notebook.metadata["coursekit"]["executed_sha256"]
    if code[-1] is cell and stored == before:
        cell.execution_count = len(code)
        notebook.metadata["coursekit"]["executed_sha256"] = code_hash(notebook)


def state_minutes(notebook: NotebookNode) -> None:
    """Write the minutes of each section, and their sum as the Time of the chapter."""
    state_time(notebook, 0)  # its words are read, too
    found = computed(notebook)
    for head, minutes in found:
        head.metadata.pop("minutes", None)
        if minutes:
            head.metadata["minutes"] = minutes
    state_time(notebook, sum(minutes for _, minutes in found))


def state_time(notebook: NotebookNode, minutes: int) -> None:
    """Write the minutes of the whole into the first cell."""
    text = f"{minutes} minutes, exercises included."
    notebook.cells[0].source = TIME.sub(text, notebook.cells[0].source, count=1)


def computed(notebook: NotebookNode) -> list[tuple[NotebookNode, int]]:
    """Return the first cells of the opening and of the sections, with whole minutes."""
    return [
        (head, chapter_minutes.rounded(head, minutes, CLOSING))
        for head, minutes in chapter_minutes.by_section(notebook)
    ]


def table(order: list[Chapter], readme: str) -> str:
    """Return the README's table of chapters, with what you can then as it was."""
    kept = {match["file"]: match for match in ROW.finditer(readme)}
    rows = []
    for chapter in order:
        row = kept.get(chapter.path.name) or described(chapter)
        place = f"[{chapter.title}](notebooks/{chapter.path.name})"
        rows.append(
            f"| {place} | {row['goals']} | {chapter.minutes} | {row['tiers']} |\n"
        )
    text = "The minutes follow from the words, the code and the exercises of a chapter."
    if any(chapter.minutes > MAXIMUM_MINUTES for chapter in order):
        text += f" Chapters above {MAXIMUM_MINUTES} minutes will be split."
    text += "\nMore chapters follow; this table lists the ones that are here.\n"
    text += "[What the course covers](notebooks/coverage.md) has every topic.\n"
    text += PAGES
    return f"{HEADER}{''.join(rows)}\n{text}"


def described(chapter: Chapter) -> dict[str, str]:
    """Return goals and tiers of a chapter that README.md does not have yet."""
    goals = GOALS.search(chapter.notebook.cells[0].source)[1]
    return {"goals": goals, "tiers": chapter.tiers}


def updated(chapter: Chapter, order: list[Chapter], named: set[str]) -> NotebookNode:
    """Complete a named notebook; renew the links of another that has some."""
    if not named or chapter.path.name in named:
        return complete(chapter, order)
    if chapter_minutes.NAVIGATION.search(chapter.notebook.cells[0].source):
        link(chapter.notebook, navigation(chapter, order))
    return chapter.notebook


def main(arguments: list[str] | None = None) -> int:
    """Complete the named notebooks, all when none is named, and README.md's table."""
    parser = argparse.ArgumentParser(description="Write minutes and links.")
    parser.add_argument("notebooks", nargs="*", type=Path)
    named = {path.name for path in parser.parse_args(arguments).notebooks}
    order = chapters()
    for chapter in order:
        before = chapter.path.read_text(encoding="utf-8")
        notebook = updated(chapter, order, named)
        if to_text(notebook) == before:
            continue
        chapter.path.write_text(to_text(notebook), encoding="utf-8")
        stale = code_hash(notebook) != notebook.metadata["coursekit"]["executed_sha256"]
        print(chapter.path, "run `make notebooks` for it" if stale else "")
    readme = README.read_text(encoding="utf-8")
    new = TABLE.sub(lambda _: table(order, readme), readme)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
