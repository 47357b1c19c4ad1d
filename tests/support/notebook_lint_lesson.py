"""Rules for a chapter as a lesson: minutes, links, what the student does, slides.

Each rule is a function from a chapter to complaints. lint_notebooks.py counts them;
tests/notebooks/prose_baseline.toml says how many of each are left.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

import course_chapters
from chapter_minutes import NAVIGATION, exercise_of, is_claim, until_own_code, words
from course_chapters import MAXIMUM_MINUTES, Chapter
from execute import asks
from nbformat import NotebookNode
from notebook_lint import (
    CLOSING,
    code_cells,
    lines,
    markdown_cells,
    sections,
    tags,
    title,
)

Complaints = Iterator[str]

MINUTES_UNTIL_OWN_CODE = 5
LEAST_PIECES = 5
LEAST_DONE = 8
LEAST_DRAWINGS = 3
SETUP_LINES = 3
SLIDE_LINES = 12
SLIDE_WORDS = 90
NOTE_WORDS = 50
# The path that every student takes; the other chapters go into depth.
CORE_PATH = {"00", "02", "05", "06", "07", "08", "09", "10"}
CORE_PATH |= {"12", "17", "21", "26", "27"}
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
DRAWING = re.compile(r"\.\./assets/(?!badge_)[\w/]+\.svg|<svg\b")


# ---------------------------------------------------------------- the whole


def minutes(chapter: Chapter) -> Complaints:
    """State the minutes that the rule gives for each section, and their sum."""
    found = course_chapters.computed(chapter.notebook)
    for head, computed in found:
        stated = head.metadata.get("minutes", 0)
        if stated != computed:
            yield (
                f"{head.id}: metadata.minutes is {stated}, the rule gives {computed}; "
                "run `make chapters`"
            )
    total = sum(computed for _, computed in found)
    if chapter.minutes != total:
        yield f"Time says {chapter.minutes} minutes, the rule gives {total}"


def length(chapter: Chapter) -> Complaints:
    """Take at most 75 minutes, exercises included."""
    total = sum(minutes for _, minutes in course_chapters.computed(chapter.notebook))
    if total > MAXIMUM_MINUTES:
        yield f"{total} minutes, above {MAXIMUM_MINUTES}; split the chapter"


def links(chapter: Chapter) -> Complaints:
    """Link the chapters before and after, and show the progress in its exercises."""
    line = course_chapters.navigation(
        chapter, course_chapters.chapters(chapter.path.parent)
    )
    cells = chapter.notebook.cells
    for cell, place in (cells[0], "first"), (cells[-1], "last"):
        if line not in cell.source.split("\n"):
            yield f"{cell.id}: the {place} cell lacks {line!r}; run `make chapters`"
    if not any(c.source.startswith("ck.progress(") for c in cells):
        yield "no cell shows ck.progress(); run `make chapters`"


# ---------------------------------------------------------------- the student


def first_code(chapter: Chapter) -> Complaints:
    """Let the student write code within the first five minutes."""
    spent = until_own_code(chapter.notebook)
    if math.isinf(spent):
        yield "the student writes no code"
    elif spent > MINUTES_UNTIL_OWN_CODE:
        yield (
            f"the first cell that the student writes comes after {spent:.0f} minutes, "
            f"above {MINUTES_UNTIL_OWN_CODE}"
        )


def own_code(chapter: Chapter) -> Complaints:
    """Have eight pieces of code and predictions on the core path, five of them code."""
    if chapter.number not in CORE_PATH:
        return
    written, asked = pieces(chapter.notebook), predictions(chapter.notebook)
    if written < LEAST_PIECES:
        yield f"the student writes {written} pieces of code, below {LEAST_PIECES}"
    if written + asked < LEAST_DONE:
        yield f"{written + asked} pieces and predictions, below {LEAST_DONE}"


def pieces(notebook: NotebookNode) -> int:
    """Count the cells that the student writes."""
    return sum(1 for cell in code_cells(notebook) if exercise_of(cell))


def predictions(notebook: NotebookNode) -> int:
    """Count the cells that ask before they tell."""
    return sum(1 for cell in code_cells(notebook) if asks(cell))


def watched(chapter: Chapter) -> Complaints:
    """End each section but the first and the last with code or a prediction."""
    taught = [
        s for s in sections(chapter.notebook) if title(s) not in course_chapters.CLOSING
    ]
    for section in taught[1:-1]:
        if not any(exercise_of(cell) or asks(cell) for cell in section):
            yield f"section {title(section)!r} asks nothing of the student"


# ---------------------------------------------------------------- cells


def asserts(chapter: Chapter) -> Complaints:
    """Assert only in cells tagged `claim`, which copies and slides leave out."""
    for cell in code_cells(chapter.notebook):
        if "claim" in tags(cell) or exercise_of(cell):
            continue
        if any(isinstance(step, ast.Assert) for step in steps(cell)):
            yield f"{cell.id}: asserts in view; tag a cell of its own `claim`"


def claims(chapter: Chapter) -> Complaints:
    """Have at most one cell of claims a section."""
    for section in sections(chapter.notebook):
        found = [c.id for c in section if c.cell_type == "code" and is_claim(c)]
        for extra in found[1:]:
            yield f"{extra}: one more cell of claims in section {title(section)!r}"


def answers(chapter: Chapter) -> Complaints:
    """Keep the answer of a question in the chapter's spec, not in the cell."""
    for cell in filter(asks, code_cells(chapter.notebook)):
        calls = (step for step in steps(cell) if isinstance(step, ast.Call))
        if any(word.arg == "answer" for call in calls for word in call.keywords):
            yield f"{cell.id}: the cell has the answer; ask by id, ck.guess('05.name')"


def imports(chapter: Chapter) -> Complaints:
    """Import coursekit as ck and nothing below it."""
    for cell in code_cells(chapter.notebook):
        for step in steps(cell):
            names = []
            if isinstance(step, ast.Import):
                names = [alias.name for alias in step.names]
            elif isinstance(step, ast.ImportFrom):
                names = [f"{step.module}.{alias.name}" for alias in step.names]
            for name in names:
                if name.startswith("coursekit."):
                    yield f"{cell.id}: imports {name}, which is below ck"


def set_up(chapter: Chapter) -> Complaints:
    """Set up in three lines."""
    cell = code_cells(chapter.notebook)[0]
    if lines(cell) > SETUP_LINES:
        yield f"{cell.id}: set-up takes {lines(cell)} lines, above {SETUP_LINES}"


def steps(cell: NotebookNode) -> list[ast.AST]:
    """Return the nodes of a cell's Python; none of a cell in C++."""
    source = cell.source.partition("\n")[2] if cell.source[:2] == "%%" else cell.source
    if cell.source.startswith(("%%cuda", "%%cpp")):
        return []
    source = re.sub(r"^%.*$", "", source, flags=re.MULTILINE)
    try:
        return list(ast.walk(ast.parse(source)))
    except SyntaxError:  # notebook_lint.no_escapes names it
        return []


# ---------------------------------------------------------------- slides, drawings


def slides(chapter: Chapter) -> Complaints:
    """Hold at most 12 lines of code and 90 words on a slide."""
    for slide in slides_of(chapter.notebook):
        code = sum(lines(cell) for cell in slide if shows_code(cell))
        prose = [spoken_text(c) for c in slide if c.cell_type == "markdown"]
        spoken = sum(len(words(text)) for text in prose)
        if code > SLIDE_LINES or spoken > SLIDE_WORDS:
            yield f"{slide[0].id}: a slide of {code} lines of code and {spoken} words"


def slides_of(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """Return the cells of each slide, those left out that a deck does not show."""
    found: list[list[NotebookNode]] = []
    for number, cell in enumerate(notebook.cells):
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if number == 0 or kind in ("slide", "subslide"):
            found.append([])
        if kind not in ("skip", "notes"):
            found[-1].append(cell)
    return [slide for slide in found if slide]


def notes(chapter: Chapter) -> Complaints:
    """Give the presenter a note for each section, of at most 50 words."""
    for section in sections(chapter.notebook):
        said = section[0].metadata.get("notes", "")
        if not said and title(section) not in CLOSING:
            yield f"{section[0].id}: a section without notes for the presenter"
        if len(words(said)) > NOTE_WORDS:
            yield f"{section[0].id}: notes of {len(words(said))} words"


def spoken_text(cell: NotebookNode) -> str:
    """Return the Markdown that a slide shows: nothing folded away, no links on."""
    return FOLDED.sub("", NAVIGATION.sub("", cell.source))


def shows_code(cell: NotebookNode) -> bool:
    """Tell whether a slide shows the source of a cell."""
    return cell.cell_type == "code" and not asks(cell) and not is_claim(cell)


def drawings(chapter: Chapter) -> Complaints:
    """Have at least three drawings."""
    found = drawings_of(chapter.notebook)
    if found < LEAST_DRAWINGS:
        yield f"{found} drawings, below {LEAST_DRAWINGS}"


def drawings_of(notebook: NotebookNode) -> int:
    """Count the drawings in the text, badges left out, each file once."""
    text = "\n".join(cell.source for cell in markdown_cells(notebook))
    named = DRAWING.findall(text)
    return len(set(named) - {"<svg"}) + named.count("<svg")


RULES = (
    minutes,
    length,
    links,
    first_code,
    own_code,
    watched,
    asserts,
    claims,
    answers,
    imports,
    set_up,
    slides,
    notes,
    drawings,
)
