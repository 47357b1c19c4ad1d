"""Read a chapter's spec: its exercises, guesses and quizzes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from coursekit.errors import ArgumentError
from coursekit.exercises.any_exercise import AnyExercise
from coursekit.exercises.guess import Guess


@dataclass(frozen=True)
class Spec:
    """What one spec.py, or spec_NAME.py, of a chapter holds.

    Attributes
    ----------
    exercises : tuple of AnyExercise
    guesses : dict of str to Guess
    quizzes : dict of str to tuple of Guess
    """

    exercises: tuple[AnyExercise, ...]
    guesses: Mapping[str, Guess]
    quizzes: Mapping[str, tuple[Guess, ...]]


def load(spec: Path) -> Spec:
    """Read a spec; an edited file is read again.

    Raises
    ------
    ArgumentError
        It holds none of EXERCISES, GUESSES and QUIZZES, or one of another form.
    """
    return _load(spec, spec.stat().st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _load(spec: Path, changed_ns: int) -> Spec:
    """Read a spec; `changed_ns` tells an edited file apart."""
    module = ModuleType(f"coursekit_exercises_{spec.parent.name}_{spec.stem}")
    # An import would use cached bytecode, whose time stamp has whole seconds only.
    exec(compile(spec.read_text(encoding="utf-8"), spec, "exec"), module.__dict__)
    label = f"{spec.parent.name}/{spec.name}"
    found = _parts(module)
    if not module.__dict__.keys() & {"EXERCISES", "GUESSES", "QUIZZES"}:
        raise _refused(
            f"{label} has no tuple EXERCISES, nor GUESSES, nor QUIZZES",
            "EXERCISES = (Exercise(...),)",
        )
    if not _all_are(AnyExercise, found.exercises):
        raise _refused(
            f"{label} has no tuple EXERCISES of Exercise",
            "EXERCISES = (Exercise(...),)",
        )
    if not _all_ask(found.guesses, found.quizzes):
        raise _refused(
            f"{label} has GUESSES that are no dict of Guess, or QUIZZES that are no "
            "dict of tuples of Guess",
            'GUESSES = {"name": Guess(...)}; QUIZZES = {"name": (Guess(...),)}',
        )
    _require_whole(label, found)
    return found


def _parts(module: ModuleType) -> Spec:
    return Spec(
        getattr(module, "EXERCISES", ()),
        getattr(module, "GUESSES", {}),
        getattr(module, "QUIZZES", {}),
    )


def _all_are(kind: type, values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(each, kind) for each in values)


def _all_ask(guesses: object, quizzes: object) -> bool:
    if not (isinstance(guesses, dict) and isinstance(quizzes, dict)):
        return False
    return _all_are(Guess, tuple(guesses.values())) and all(
        _all_are(Guess, asked) and asked for asked in quizzes.values()
    )


def _require_whole(label: str, spec: Spec) -> None:
    """Require what makes a second try, and the answer, worth while."""
    in_quizzes = [asked for quiz in spec.quizzes.values() for asked in quiz]
    for asked in [*spec.guesses.values(), *in_quizzes]:
        for part in ("hint", "because"):
            if not getattr(asked, part).strip():
                raise _refused(
                    f"{label}: {asked.question!r} has no {part}",
                    f'Guess(..., {part}="a sentence")',
                )
        if asked.answer is None:
            raise _refused(
                f"{label}: {asked.question!r} has no answer", "Guess(..., answer=...)"
            )


def _refused(what: str, example: str) -> ArgumentError:
    return ArgumentError.explained(f"{what}.", cure=f"Write {example}.")
