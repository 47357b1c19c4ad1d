"""A wrong solution as data: edits of the right one, and the error that they cause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.errors import ArgumentError

Failure = tuple[type[Exception], str]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A mistake that a student would make, and how the check reports it.

    Attributes
    ----------
    mistake : str
        A sentence that says what is wrong; the mutant's first line, as a comment.
    edits : sequence of (str, str)
        A text that stands exactly once in the solution, below its first line, and the
        text that replaces it. Each edit is made in what the edits before it left.
    fails : (class, str)
        Class of the error, and text in its message.
    """

    mistake: str
    edits: Sequence[tuple[str, str]]
    fails: Failure

    def __post_init__(self) -> None:
        if not self.edits or not all(map(_is_edit, self.edits)):
            raise ArgumentError.explained(
                f"The mutant {self.mistake!r} has the edits {self.edits!r}.",
                "Each edit is a pair: a text of the solution, and another text that "
                "replaces it.",
                'Write for example edits=[("i < n", "i <= n")].',
            )

    def text(self, solution: str, label: str = "A mutant") -> str:
        """Return the mutant's text.

        Parameters
        ----------
        solution : str
        label : str
            The name of the mutant in messages.

        Raises
        ------
        ArgumentError
            The text that an edit replaces stands nowhere, or more than once.
        """
        head, _, body = solution.partition("\n")
        mark = head.partition(" ")[0]
        for number, (old, new) in enumerate(self.edits, 1):
            lines = _lines(old, body)
            if len(lines) != 1:
                where = f"{label}, edit {number} of {len(self.edits)}"
                raise _refused(where, old, lines)
            body = body.replace(old, new)
        return f"{mark} {self.mistake}\n{body}"


def _is_edit(edit: object) -> bool:
    return (
        isinstance(edit, tuple)
        and len(edit) == 2
        and all(isinstance(text, str) for text in edit)
        and edit[0] not in ("", edit[1])
    )


def _lines(old: str, body: str) -> list[int]:
    """Return the line number of each place where a text begins in the solution."""
    places = re.finditer(f"(?={re.escape(old)})", body)
    return [body.count("\n", 0, place.start()) + 2 for place in places]


def _refused(where: str, old: str, lines: list[int]) -> ArgumentError:
    if not lines:
        return ArgumentError.explained(
            f"{where}: the solution has no {old!r}.",
            "The solution has changed, or an edit before this one replaced the text. "
            "The first line of the solution is not edited.",
            "Copy the text from the solution, with its spaces.",
        )
    return ArgumentError.explained(
        f"{where}: {old!r} stands {len(lines)} times in the solution, in lines "
        f"{', '.join(map(str, lines))}.",
        "An edit replaces a text that stands there exactly once.",
        "Lengthen the text by what stands before or behind it.",
    )
