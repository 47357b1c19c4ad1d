"""Find an exercise by its id: its spec, its starter, its solution, its mutants."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises import specs
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
        label = f"{self.exercise.label}, mutant {name}"
        return self.exercise.mutants[name].text(solution, label)

    @property
    def label(self) -> str:
        """The exercise as messages name it."""
        return f"{self.exercise.label}, {self.exercise.title}"

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
    chapter = f"{id_text.partition('.')[0]}_"
    # Only the chapter's own specs are read: errors in others do no harm.
    for spec in (root / "exercises").glob("*/spec*.py"):
        for entry in _entries(spec) if spec.parent.name.startswith(chapter) else ():
            if entry.id == id_text:
                return entry
    raise _unknown(id_text, entries(root))


def _entries(spec: Path) -> list[Entry]:
    topic = spec.parent
    return [
        Entry(exercise, topic.parent.parent, topic.name)
        for exercise in specs.load(spec).exercises
    ]


def _unknown(id_text: str, listed_entries: list[Entry]) -> ArgumentError:
    names = [entry.id for entry in listed_entries]
    chapter = id_text.partition(".")[0].zfill(2)
    near = [id for id in names if id.startswith(chapter + ".")]
    near = near or difflib.get_close_matches(id_text, names, n=5, cutoff=0.4)
    titles = {entry.id: entry.exercise.title for entry in listed_entries}
    listed = "; ".join(f"{id} {titles[id]}" for id in near)
    return ArgumentError.explained(
        f"There is no exercise {id_text!r}.",
        'An id is the chapter, a dot and a number, as text: "05.1"; inside of '
        'sections it has a letter: "05.a".',
        f"Near it: {listed}." if listed else "ck.progress() lists all of them.",
    )
