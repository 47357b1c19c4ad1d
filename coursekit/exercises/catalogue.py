"""Find an exercise by its id: its spec, its starter, its solution, its mutants."""

from __future__ import annotations

import difflib
import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises.any_exercise import AnyExercise


@dataclass(frozen=True)
class Entry:
    """An exercise and where its files are.

    Attributes
    ----------
    exercise : AnyExercise
    root : Path
        Folder that holds exercises/ and solutions/.
    topic : str
        Folder of its chapter: 05_first_kernels.
    """

    exercise: AnyExercise
    root: Path
    topic: str

    @property
    def id(self) -> str:
        return self.exercise.id

    @property
    def starter(self) -> Path:
        """The file with the text that the student starts from."""
        return self.root / "exercises" / self.topic / self.exercise.file

    @property
    def solution(self) -> Path:
        """The file with the course's own solution, which passes the check."""
        return self.root / "solutions" / self.topic / self.exercise.file

    def mutant(self, name: str) -> str:
        """Text of one wrong solution.

        Raises
        ------
        ArgumentError
            An edit of the mutant does not fit the solution.
        """
        solution = self.solution.read_text(encoding="utf-8")
        label = f"Exercise {self.id}, mutant {name}"
        return self.exercise.mutants[name].text(solution, label)

    @property
    def label(self) -> str:
        """The exercise as messages name it."""
        return f"Exercise {self.id}, {self.exercise.title}"

    def __str__(self) -> str:
        return self.id


def entries(root: Path | None = None) -> list[Entry]:
    """Return every exercise in the order of the ids.

    Parameters
    ----------
    root : Path, optional
        Folder that holds exercises/ and solutions/; `paths.exercises()`.
    """
    root = root or paths.exercises()
    all_entries = [
        entry
        for spec in (root / "exercises").glob("*/spec*.py")
        for entry in _entries(spec)
    ]
    return sorted(
        all_entries,
        key=lambda entry: (entry.exercise.chapter, entry.exercise.number),
    )


def find(id: str, root: Path | None = None) -> Entry:
    """Return the exercise of this id.

    Raises
    ------
    ArgumentError
        There is none; the message names the ones near it.
    """
    root, id_text = root or paths.exercises(), str(id)
    # Only the chapter's own specs are read: errors in others do no harm.
    for spec in (root / "exercises").glob(f"{id_text.partition('.')[0]}_*/spec*.py"):
        for entry in _entries(spec):
            if entry.id == id_text:
                return entry
    raise _unknown(id_text, entries(root))


def _entries(spec: Path) -> list[Entry]:
    topic = spec.parent
    exercises = _load(spec, spec.stat().st_mtime_ns)
    return [Entry(exercise, topic.parent.parent, topic.name) for exercise in exercises]


@functools.lru_cache(maxsize=256)
def _load(spec: Path, changed_ns: int) -> tuple[AnyExercise, ...]:
    """Read the EXERCISES of a spec; `changed_ns` tells an edited file apart."""
    name = f"coursekit_exercises_{spec.parent.name}_{spec.stem}"
    module_spec = importlib.util.spec_from_file_location(name, spec)
    module = importlib.util.module_from_spec(module_spec)
    # exec_module would use cached bytecode, whose time stamp has whole seconds only.
    exec(compile(spec.read_text(encoding="utf-8"), spec, "exec"), module.__dict__)
    exercises = getattr(module, "EXERCISES", None)
    if not isinstance(exercises, tuple) or not all(
        isinstance(exercise, AnyExercise) for exercise in exercises
    ):
        raise ArgumentError.explained(
            f"{spec.parent.name}/{spec.name} has no tuple EXERCISES of Exercise.",
            cure="End it with EXERCISES = (Exercise(...),).",
        )
    return exercises


def _unknown(id_text: str, listed_entries: list[Entry]) -> ArgumentError:
    names = [entry.id for entry in listed_entries]
    chapter = id_text.partition(".")[0].zfill(2)
    near = [id for id in names if id.startswith(chapter + ".")]
    near = near or difflib.get_close_matches(id_text, names, n=5, cutoff=0.4)
    titles = {entry.id: entry.exercise.title for entry in listed_entries}
    listed = "; ".join(f"{id} {titles[id]}" for id in near)
    return ArgumentError.explained(
        f"There is no exercise {id_text!r}.",
        'An id is the chapter, a dot and a number, as text: "05.1".',
        f"Near it: {listed}." if listed else "ck.progress() lists all of them.",
    )
