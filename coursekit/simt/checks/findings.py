"""Findings of a checker, sorted by severity, with a short summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from html import escape

from coursekit.errors import KernelError

ERROR, WARNING, NOTE = "error", "warning", "note"
_RANK = {ERROR: 0, WARNING: 1, NOTE: 2}
# Findings that are shown whole, and in a line each; the rest is counted.
WHOLE, BRIEF = 3, 6


@dataclass(frozen=True)
class Finding:
    """One defect at one place of the source, whichever threads have it.

    Attributes
    ----------
    severity : str
        "error" where hardware hangs, or the result is undefined; "warning" where only
        luck makes it work; "note" where the result is right all the same.
    error : KernelError
        As it would be raised; it holds the message.
    count : int
        How often it was seen in the launch.
    """

    severity: str
    error: KernelError
    count: int

    @property
    def level(self) -> str:
        """The severity: "error", "warning" or "note"."""
        return self.severity

    @property
    def message(self) -> str:
        """The message: what happened, the lines, the likely cause and the cure."""
        return str(self.error)

    @property
    def kind(self) -> str:
        """The name of the error's class."""
        return type(self.error).__name__

    @property
    def thread(self) -> tuple[int, int, int] | None:
        """The index in its block of the first thread with the defect."""
        return self.error.thread

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The index of that thread's block."""
        return self.error.block

    @property
    def file(self) -> str | None:
        """Source file."""
        return self.error.file

    @property
    def line(self) -> int | None:
        """Source line."""
        return self.error.line

    @property
    def title(self) -> str:
        """Severity, class and count."""
        times = f", {self.count:,} times" if self.count > 1 else ""
        return f"{self.severity}: {self.kind}{times}"

    def __str__(self) -> str:
        return f"{self.title}\n  {self.message}"


@dataclass(frozen=True)
class Findings:
    """The result of a checker: a sequence of findings.

    Attributes
    ----------
    checker, kernel : str
    items : tuple of Finding
        Errors, then warnings, each in the order of their first appearance.
    notes : tuple of Finding
        What is worth knowing, but does no harm; not counted.
    engine : str
        Which engine of the simulator looked: "interpreter", or "compiled", which can
        only say that there is nothing.
    """

    checker: str
    kernel: str
    items: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    engine: str = field(default="interpreter", compare=False)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def joined(self, other: Findings) -> Findings:
        """Merge with the findings of another check on lines that have none yet."""
        known = {(one.file, one.line) for one in (*self.items, *self.notes)}
        more, notes = (
            tuple(one for one in some if (one.file, one.line) not in known)
            for some in (other.items, other.notes)
        )
        return replace(self, items=self.items + more, notes=self.notes + notes)

    def only(self, kind: str, files) -> Findings:
        """Return the findings of one class of error in some files, without notes."""
        items = (one for one in self.items if one.kind == kind and one.file in files)
        return replace(self, items=tuple(items), notes=())

    def raise_first(self) -> None:
        """Raise the first finding that is an error; warnings do not count."""
        for one in self.items:
            if one.severity == ERROR:
                raise one.error

    @property
    def headline(self) -> str:
        """The summary in one line: checker, kernel, and number of findings."""
        found = _number(len(self.items), "finding") if self.items else "no findings"
        notes = f", {_number(len(self.notes), 'note')}" if self.notes else ""
        return f"{self.checker} of {self.kernel}: {found}{notes}"

    def __repr__(self) -> str:
        whole, brief, rest = self._shown()
        lines = [self.headline, *map(str, whole)]
        lines += [f"{one.title}: {one.error.what.splitlines()[0]}" for one in brief]
        return "\n".join([*lines, *rest])

    def _repr_html_(self) -> str:
        whole, brief, rest = self._shown()
        rows = [
            f"<dt><strong>{escape(one.title)}</strong></dt>"
            f'<dd><pre style="white-space:pre-wrap">{escape(one.message)}</pre></dd>'
            for one in whole
        ]
        rows += [
            f"<dt><strong>{escape(one.title)}</strong></dt>"
            f"<dd>{escape(one.error.what.splitlines()[0])}</dd>"
            for one in brief
        ]
        more = "".join(f"<p>{escape(line)}</p>" for line in rest)
        listed = f"<dl>{''.join(rows)}</dl>" if rows else ""
        return f"<div><p>{escape(self.headline)}</p>{listed}{more}</div>"

    def _shown(self) -> tuple:
        """Return findings to show whole, others to show in a line, and a last line."""
        everything = (*self.items, *self.notes)
        whole, brief = everything[:WHOLE], everything[WHOLE : WHOLE + BRIEF]
        left = len(everything) - len(whole) - len(brief)
        return whole, brief, [f"... and {left} more."] if left else []


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@dataclass
class _Entry:
    severity: str
    error: KernelError
    count: int


@dataclass
class Collector:
    """Collects findings during a launch, one for each place of the source."""

    _entries: dict[object, _Entry] = field(default_factory=dict)

    def add(self, severity: str, key, count: int, make: Callable) -> None:
        """Add `count` occurrences; `make` builds the error of the first.

        Occurrences of one key become one finding, of the worst severity.
        """
        entry = self._entries.get(key)
        if entry is None or _RANK[severity] < _RANK[entry.severity]:
            self._entries[key] = _Entry(severity, make(), count)
        elif severity == entry.severity:
            entry.count += count

    def stop(self, error: KernelError) -> None:
        """Add the error that ended the launch."""
        place = type(error), error.file, error.line
        self.add(ERROR, place, 1, lambda: error)

    def findings(self, checker: str, kernel: str) -> Findings:
        """Return all findings."""
        entries = sorted(self._entries.values(), key=lambda one: _RANK[one.severity])
        made = [Finding(one.severity, one.error, one.count) for one in entries]
        return Findings(
            checker,
            kernel,
            tuple(one for one in made if one.severity != NOTE),
            tuple(one for one in made if one.severity == NOTE),
        )
