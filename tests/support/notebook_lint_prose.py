"""Rules for the English of a chapter: units, words to avoid, numbers per sentence.

Each rule is a function from a chapter to complaints, as in notebook_lint_lesson.py. The
text is that of Markdown cells, code left out, and of the questions in code cells.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator

from chapter_minutes import FENCE, NAVIGATION, asked_by_id
from course_chapters import Chapter
from execute import asks
from nbformat import NotebookNode

Complaints = Iterator[str]

MOST_NUMBERS = 2
INSTEAD = {
    r"simply": "leave it out",
    r"just": "leave it out",
    r"bring(?:s|ing)?|brought": "load, read, fetch, cause",
    r"mend(?:s|ed|ing)?": "fix",
    r"dear(?:er|est|ly)?": "expensive",
}
UNITS = (
    "accesses|additions|adds|atomics|barriers|bits?|blocks|bytes?|B|KiB|MiB|KB|MB|GB|"
    "clocks?|conflicts?|cycles?|elements?|floats?|FLOPs?|FMAs?|instructions?|launches|"
    "loads|locks?|microseconds?|milliseconds?|ms|multiplications|multiply-adds|ns|"
    "operations?|pictures?|points?|products?|reads|registers?|requests?|roundings?|"
    "rows?|seconds?|sectors?|sums?|tiles?|"
    "shuffles?|stores|s|threads?|times|turns?|us|values?|warps?|wavefronts?|words?|"
    "writes"
)
THINGS = (
    "access|add|address|array|bank|batch|block|call|chunk|clock|column|copy|cycle|day|"
    "digit|element|fetch|FMA|frame|iteration|kernel|lane|launch|line|load|minute|"
    "multiply-add|op|operation|page|pass|patch|picture|pixel|place|request|round|row|"
    "second|sector|SM|stage|step|store|thread|tile|turn|update|value|warp|wavefront|"
    "word|write"
)
COUNT = (
    r"(?:\d[\d,.]*|half|one|two|three|four|five|six|seven|eight|nine|ten|sixteen|"
    r"thirty-two|how many|as many|fewer|more)"
)
UNIT = re.compile(
    rf"\b{COUNT}\W+(?:[\w-]+\s+)?(?:{UNITS})\s+(?:an?|each)\s+(?:{THINGS})\b"
    rf"|\b(?:{UNITS}|load|read)\s+an\s+FMA\b",
    re.IGNORECASE,
)
TURN = re.compile(
    r"\b(?:an?|the|each|every|per|this|that|same|first|last|next|other|single|"
    rf"which|whose|many|{COUNT})\s+turns?\b(?!\s+to\b)|\bturns? \d|"
    rf"\bturns an? (?:{THINGS})\b",
    re.IGNORECASE,
)
INLINE_CODE = re.compile(r"`[^`]*`")
ADDRESS = re.compile(r"(?<=\])\([^)]*\)|<[^>]+>")
NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*")
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.)\s?)")


def prose(chapter: Chapter) -> Iterator[tuple[str, str]]:
    """Yield (cell id, text) of what a chapter says in sentences."""
    for cell in chapter.notebook.cells:
        if cell.cell_type == "markdown":
            text = FENCE.sub("\n\n", NAVIGATION.sub("", cell.source))
            yield cell.id, ADDRESS.sub("", INLINE_CODE.sub("code", text))
        elif asks(cell):
            yield cell.id, INLINE_CODE.sub("code", "\n\n".join(asked(cell)))


def asked(cell: NotebookNode) -> Iterator[str]:
    """Yield the texts of a cell's questions, in the cell or in the chapter's spec."""
    for step in ast.walk(ast.parse(cell.source)):
        if isinstance(step, ast.Constant) and isinstance(step.value, str):
            yield step.value
    for guess in asked_by_id(cell):
        yield from (guess.question, guess.hint, guess.because)
        yield from map(str, guess.options or ())


def sentences(text: str) -> list[str]:
    """Split a text at full stops, blank lines and items of lists."""
    return [" ".join(part.split()) for part in SENTENCE.split(text) if part.strip()]


def units(chapter: Chapter) -> Complaints:
    """Write "per": 4 bytes per thread, not "4 bytes a thread"."""
    for cell_id, text in prose(chapter):
        for match in UNIT.finditer(text):
            yield f"{cell_id}: {one_line(match)!r} needs a 'per'"


def turns(chapter: Chapter) -> Complaints:
    """Say iteration, wavefront or queue: "turn" would mean all three."""
    for cell_id, text in prose(chapter):
        for match in TURN.finditer(text):
            if not re.search(r"\byour turn\b", match.group(), re.IGNORECASE):
                yield f"{cell_id}: {one_line(match)!r}: iteration, wavefront or queue?"


def plain_words(chapter: Chapter) -> Complaints:
    """Use the field's words, and no filler."""
    for cell_id, text in prose(chapter):
        for word, instead in INSTEAD.items():
            for match in re.finditer(rf"\b(?:{word})\b", text, re.IGNORECASE):
                yield f"{cell_id}: {match.group()!r}; instead: {instead}"


def numbers(chapter: Chapter) -> Complaints:
    """Have at most two numbers in a sentence; more stand in a table."""
    for cell_id, text in prose(chapter):
        for sentence in sentences(text):
            found = len(NUMBER.findall(sentence))
            if found > MOST_NUMBERS and "|" not in sentence:
                yield f"{cell_id}: {found} numbers: {sentence[:70]}"


def median_words(chapter: Chapter) -> int:
    """Return the median number of words of a sentence; headings and tables are none."""
    found = [s for _, text in prose(chapter) for s in sentences(text)]
    counts = [len(s.split()) for s in found if not s.startswith(("#", "|", "!"))]
    return round(statistics.median(counts)) if counts else 0


def one_line(match: re.Match[str]) -> str:
    """Return what was matched, in one line."""
    return " ".join(match.group().split())


RULES = (units, turns, plain_words)
# Counted and shown; no test holds their number.
WARNINGS = (numbers,)
