"""Find a guess or a quiz by its id, in the spec of its chapter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises import specs
from coursekit.exercises.guess import Guess

_ID = re.compile(r"\d\d\.[a-z][a-z0-9_]*")


def is_id(text: Any) -> bool:
    """Tell whether a text is an id such as 05.sectors, and no question."""
    return isinstance(text, str) and re.fullmatch(r"\d+\w?\.\w+", text) is not None


def guesses(root: Path | None = None) -> dict[str, Guess]:
    """Return every guess by its id: 05.sectors.

    Parameters
    ----------
    root : Path, optional
        Folder that holds exercises/ and solutions/; `paths.exercises()`.
    """
    return _all("guesses", root or paths.exercises(), "*")


def quizzes(root: Path | None = None) -> dict[str, tuple[Guess, ...]]:
    """Return every quiz by its id: 05.review.

    Parameters
    ----------
    root : Path, optional
        Folder that holds exercises/ and solutions/; `paths.exercises()`.
    """
    return _all("quizzes", root or paths.exercises(), "*")


def find_guess(id: str) -> Guess:
    """Return the guess of this id.

    Raises
    ------
    ArgumentError
        There is none; the message names the ones near it.
    """
    return _find("guesses", id)


def find_quiz(id: str) -> tuple[Guess, ...]:
    """Return the questions of the quiz of this id.

    Raises
    ------
    ArgumentError
        There is none; the message names the ones near it.
    """
    return _find("quizzes", id)


def _find(kind: str, id: str) -> Any:
    # Only the chapter's own specs are read: errors in others do no harm.
    chapter = id.partition(".")[0]
    found = _all(kind, paths.exercises(), chapter if chapter.isalnum() else "*")
    if id in found:
        return found[id]
    raise _unknown(kind, id)


def _all(kind: str, root: Path, chapter: str) -> dict[str, Any]:
    """Return the guesses or quizzes of a chapter, or of all, by id."""
    found: dict[str, Any] = {}
    for spec in sorted((root / "exercises").glob(f"{chapter}_*/spec*.py")):
        of_spec: Mapping[str, Any] = getattr(specs.load(spec), kind)
        prefix = spec.parent.name.partition("_")[0]
        for name, asked in of_spec.items():
            id = f"{prefix}.{name}"
            if not _ID.fullmatch(id) or id in found:
                raise ArgumentError.explained(
                    f"{spec.parent.name}/{spec.name}: {name!r} is no name for one of "
                    f"the {kind}, or is there twice.",
                    cure="Write a name in snake_case that the chapter has once.",
                )
            found[id] = asked
    return found


def _unknown(kind: str, id: str) -> ArgumentError:
    one = {"guesses": "guess", "quizzes": "quiz"}[kind]
    ids = list(_all(kind, paths.exercises(), "*"))
    chapter = re.sub(r"\D.*", "", id).zfill(2)
    near = difflib.get_close_matches(id, ids, n=5, cutoff=0.6)
    near += [other for other in ids if other.startswith(chapter + ".")]
    listed = ", ".join(dict.fromkeys(near[:8]))
    return ArgumentError.explained(
        f"There is no {one} {id!r}.",
        "An id is the chapter's two digits, a dot and a name of its spec: "
        '"05.sectors".',
        f"Near it: {listed}." if listed else f"Its chapter has no {one} at all.",
    )
