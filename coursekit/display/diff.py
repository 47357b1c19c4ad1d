"""The differences between two sources, as a unified diff and as rows of a listing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from coursekit.display.listing import Cell, Row

_KIND = {"-": "removed", "+": "added", " ": ""}
Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Side:
    """One of the two sources.

    Attributes
    ----------
    name : str
        The name of the source in the diff.
    lines, html : sequence of str
        All lines of the file, plain and highlighted.
    start : int
        Index of the first line to compare; those before it are left out.
    """

    name: str
    lines: tuple[str, ...]
    html: tuple[str, ...]
    start: int = 0


@dataclass(frozen=True)
class Comparison:
    """The edits that turn the old source into the new one.

    Attributes
    ----------
    opcodes : tuple
        As difflib gives them, with indices into the whole files.
    context : int or None
        Unchanged lines kept round each change; None keeps all.
    """

    old: Side
    new: Side
    opcodes: tuple[Opcode, ...]
    groups: tuple[tuple[Opcode, ...], ...]

    @classmethod
    def of(cls, old: Side, new: Side, context: int | None) -> Comparison:
        """Compare two sources line by line."""
        bodies = old.lines[old.start :], new.lines[new.start :]
        matcher = SequenceMatcher(None, *bodies, autojunk=False)
        if context is None:
            context = len(old.lines)
        groups = list(matcher.get_grouped_opcodes(context))

        def in_files(opcodes: Iterable[Opcode]) -> tuple[Opcode, ...]:
            i, j = old.start, new.start
            return tuple(
                (tag, i1 + i, i2 + i, j1 + j, j2 + j) for tag, i1, i2, j1, j2 in opcodes
            )

        changed = (g for g in groups if any(tag != "equal" for tag, *_ in g))
        return cls(
            old, new, in_files(matcher.get_opcodes()), tuple(map(in_files, changed))
        )

    @property
    def removed(self) -> int:
        """Number of lines of the old source that the new one lacks."""
        return sum(i2 - i1 for tag, i1, i2, _, _ in self.opcodes if tag != "equal")

    @property
    def added(self) -> int:
        """Number of lines of the new source that the old one lacks."""
        return sum(j2 - j1 for tag, _, _, j1, j2 in self.opcodes if tag != "equal")

    def unified(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        if self.groups:
            yield f"--- {self.old.name}"
            yield f"+++ {self.new.name}"
        for group in self.groups:
            (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
            yield f"@@ -{_hunk_range(i1, i2)} +{_hunk_range(j1, j2)} @@"
            for sign, i, j in _steps(group):
                yield sign + self._line(i, j)[0]

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the listing, with a row where lines are left out."""
        reached = self.old.start
        for group in self.groups:
            yield from _gap(group[0][1] - reached)
            reached = group[-1][2]
            for sign, i, j in _steps(group):
                numbers = (Cell("" if n is None else str(n + 1)) for n in (i, j))
                text, html = self._line(i, j)
                yield Row(
                    (*numbers, Cell(f"{sign} ", "plain")), text, html, _KIND[sign]
                )
        if self.groups:
            yield from _gap(len(self.old.lines) - reached)

    def _line(self, i: int | None, j: int | None) -> tuple[str, str]:
        if j is not None:
            return self.new.lines[j], self.new.html[j]
        return self.old.lines[i], self.old.html[i]


def count_of_lines(number: int, adjective: str = "") -> str:
    """Return a count in words.

    >>> count_of_lines(1), count_of_lines(12, "unchanged")
    ('1 line', '12 unchanged lines')
    """
    noun = "line" if number == 1 else "lines"
    return " ".join(filter(None, (str(number), adjective, noun)))


def _steps(group: Iterable[Opcode]) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield each line's sign and its index in the old and in the new file."""
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            pairs = zip(range(i1, i2), range(j1, j2), strict=True)
            yield from ((" ", i, j) for i, j in pairs)
        else:
            yield from (("-", i, None) for i in range(i1, i2))
            yield from (("+", None, j) for j in range(j1, j2))


def _hunk_range(start: int, stop: int) -> str:
    """Return line number and length as `diff -u` writes them; empty ranges differ."""
    length = stop - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def _gap(count: int) -> Iterator[Row]:
    if count:
        text = f"... {count_of_lines(count, 'unchanged')}"
        yield Row((Cell(""), Cell(""), Cell("  ")), text, text, "gap")
