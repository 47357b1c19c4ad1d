"""How many minutes a chapter takes, computed from what stands in its notebook.

A reader takes 130 words and 12 lines of new code per minute, and 2 minutes per
prediction. A piece of code that the student writes takes 2 minutes, and 1.5 per line
that the solution adds to the starter. Claims and sources are not read, and a self-test
that takes the place of another chapter is not counted in its own.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from execute import asks, is_only_asserts, is_section
from nbformat import NotebookNode

if TYPE_CHECKING:
    from coursekit.exercises.guess import Guess

WORDS_PER_MINUTE = 130
LINES_PER_MINUTE = 12
PREDICTION = 2.0
PIECE = 2.0
PER_LINE_WRITTEN = 1.5
NOT_READ = ("Sources",)
# A test that takes the place of a chapter, and whose text says how long it takes.
INSTEAD = ("00.skip_01",)
EXERCISE_TAG = re.compile(r"exercise-(\d\d\.(?:\d+|[a-z]))")
BY_ID = re.compile(r"\bck\.(guess|quiz)\(\s*[\"'](\d\d\.\w+)[\"']")
NAVIGATION = re.compile(r"^\*\*(?:Previous|Next)\*\* \[.*\n?", re.MULTILINE)
FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SOLUTION = re.compile(r"<details><summary>Solution</summary>(.*?)</details>", re.DOTALL)
NO_WORDS = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]+>")
WORD = re.compile(r"\S*\w\S*")
LISTED = re.compile(r"^[> ]*\d+(?:  ?(.*))?$")


class Reader:
    """A student who reads a notebook from the top and knows the lines already read."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def minutes(self, cell: NotebookNode) -> float:
        """Return the minutes of the next cell."""
        if cell.cell_type == "markdown":
            return self.prose(cell.source)
        if exercise := exercise_of(cell):
            starter, solution = texts(exercise)
            return self.lines(cell.source.split("\n")) + piece(starter, solution)
        if is_claim(cell):
            return 0.0
        if asks(cell):
            return PREDICTION * predictions(cell)
        return self.lines(cell.source.split("\n")) + self.lines(listed(cell))

    def prose(self, text: str) -> float:
        """Count words, code between fences, and solutions that are folded away."""
        spent = 0.0
        for solution in SOLUTION.findall(text):
            written = "\n".join(FENCE.findall(solution)).split("\n")
            spent += PIECE + PER_LINE_WRITTEN * sum(map(is_read, written))
        text = SOLUTION.sub("", NAVIGATION.sub("", text))
        for code in FENCE.findall(text):
            spent += self.lines(code.split("\n"))
        return spent + len(words(text)) / WORDS_PER_MINUTE

    def lines(self, code: list[str]) -> float:
        """Count the lines that were not read before in this notebook."""
        new = {line.strip() for line in code if is_read(line)} - self.seen
        self.seen |= new
        return len(new) / LINES_PER_MINUTE


def words(text: str) -> list[str]:
    """Return the words of Markdown that a reader reads: no code block, no address."""
    return WORD.findall(NO_WORDS.sub(" ", FENCE.sub(" ", text)))


def is_read(line: str) -> bool:
    """Tell whether a line of code holds more than brackets."""
    return bool(re.search(r"\w", line))


def exercise_of(cell: NotebookNode) -> str:
    """Return the id of the exercise or "your turn" in a cell, "" where it is none."""
    found = map(EXERCISE_TAG.fullmatch, cell.metadata.get("tags", []))
    return next((match[1] for match in found if match), "")


def is_claim(cell: NotebookNode) -> bool:
    """Tell whether a cell only asserts what the text claims."""
    return "claim" in cell.metadata.get("tags", []) or is_only_asserts(cell)


def texts(exercise: str) -> tuple[str, str]:
    """Return the starter and the solution of an exercise."""
    from coursekit.exercises import catalogue

    entry = catalogue.find(exercise)
    files = entry.starter, entry.solution
    starter, solution = (file.read_text(encoding="utf-8") for file in files)
    return starter, solution


def piece(starter: str, solution: str) -> float:
    """Return the minutes to write a piece of code: what the starter does not have."""
    changes = difflib.ndiff(starter.split("\n"), solution.split("\n"))
    written = [line for line in changes if line.startswith("+ ") and is_code(line[2:])]
    return PIECE + PER_LINE_WRITTEN * max(1, len(written))


def is_code(line: str) -> bool:
    """Tell whether a line is neither a comment nor only brackets."""
    return is_read(line) and not line.strip().startswith(("//", "#"))


def predictions(cell: NotebookNode) -> int:
    """Count the questions of a cell with `ck.guess` or `ck.quiz`."""
    if any(name in cell.source for name in INSTEAD):
        return 0
    named = asked_by_id(cell)
    steps = ast.walk(ast.parse(cell.source))
    calls = (ast.unparse(s.func) for s in steps if isinstance(s, ast.Call))
    written = sum(name.endswith("Question") for name in calls)
    return len(named) or written or 1


def asked_by_id(cell: NotebookNode) -> list[Guess]:
    """Return the questions that a cell asks by their id in the chapter's spec."""
    found = []
    for kind, name in BY_ID.findall(cell.source):
        found += of_spec(kind, name)
    return found


def of_spec(kind: str, name: str) -> Sequence[Guess]:
    """Return the question of a guess, or those of a quiz, from the chapter's spec."""
    from coursekit.exercises import predictions

    if kind == "quiz":
        return predictions.find_quiz(name)
    return (predictions.find_guess(name),)


def listed(cell: NotebookNode) -> list[str]:
    """Return the lines of CUDA C++ that `ck.show` or `ck.show_diff` shows in a cell."""
    if not re.search(r"\bck\.show(?:_diff)?\(", cell.source):
        return []
    shown = [o.get("data", {}).get("text/plain", "") for o in cell.outputs]
    return [line for text in shown for line in listing_lines(text)]


def listing_lines(text: str) -> Iterator[str]:
    """Yield the code of a listing or of a diff's new side, without the header."""
    lines = text.split("\n")[1:]
    if any(line.startswith("@@") for line in lines):
        new = (line for line in lines if line.startswith("+"))
        yield from (line[1:] for line in new if not line.startswith("+++"))
        return
    numbered = (LISTED.match(line) for line in lines)
    code = [match[1] or "" for match in numbered if match]
    while code and (not code[0].strip() or code[0].startswith("//")):
        code.pop(0)
    yield from code


def by_section(notebook: NotebookNode) -> list[tuple[NotebookNode, float]]:
    """Return the first cell of the opening and of each section, with its minutes."""
    reader, found = Reader(), []
    for number, cell in enumerate(notebook.cells):
        if number == 0 or is_section(cell):
            found.append((cell, 0.0))
        head, spent = found[-1]
        if heading(head) not in NOT_READ:
            found[-1] = head, spent + reader.minutes(cell)
    return found


def rounded(head: NotebookNode, minutes: float, closing: tuple[str, ...]) -> int:
    """Return whole minutes: a section with a lesson takes at least one."""
    whole = math.floor(minutes + 0.5)
    return max(whole, 1) if is_section(head) and heading(head) not in closing else whole


def heading(cell: NotebookNode) -> str:
    """Return the heading that a cell begins with."""
    return cell.source.split("\n")[0].lstrip("#").strip()


def until_own_code(notebook: NotebookNode) -> float:
    """Return the minutes from the start to the first cell that the student writes."""
    reader, spent = Reader(), 0.0
    for cell in notebook.cells:
        if exercise_of(cell):
            return spent
        spent += reader.minutes(cell)
    return math.inf
