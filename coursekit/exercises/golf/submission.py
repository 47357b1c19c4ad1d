"""A submission as a JSON file: player, hole, source, hash and claimed counts.

    {"schema": 1, "hole": "transpose", "name": "Ada", "sha256": "...",
     "compiler": "nvidia-cuda-nvrtc 13.5.6", "counts": {"sectors": 6144, ...},
     "source": "..."}

Nothing in it is believed: whoever reads it plays the source again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError, CheckFailed, CourseError
from coursekit.exercises.golf import holes, rules
from coursekit.exercises.golf.hole import METRICS
from coursekit.exercises.golf.play import play, sha256
from coursekit.exercises.golf.score import Score
from coursekit.exercises.set_aside import write

SCHEMA = 1
MOST_BYTES = 4 * rules.MOST_BYTES
MOST_NAME = 40
_FIELDS = {
    "schema": int, "hole": str, "name": str, "sha256": str, "compiler": str,
    "counts": dict, "source": str,
}  # fmt: skip


@dataclass(frozen=True)
class Submission:
    """The contents of a submission's file.

    Attributes
    ----------
    hole, name, source, sha256, compiler : str
    counts : dict of str to int
    """

    hole: str
    name: str
    source: str
    sha256: str
    compiler: str
    counts: Mapping[str, int]

    @classmethod
    def of(cls, score: Score, name: str) -> Submission:
        """Make a submission from a score.

        Raises
        ------
        CheckFailed
            The score is none: the kernel is not right.
        ArgumentError
            The name cannot be shown.
        """
        if not score.passed:
            raise CheckFailed.explained(
                f"There is nothing to submit: {score.hole.name} is refused.",
                f"It failed at the stage {score.stage!r}.",
                f'ck.golf("{score.hole.name}", source) says why.',
            ) from score.error
        return cls(
            score.hole.name, checked_name(name), score.source, score.sha256,
            score.compiler, score.claims,
        )  # fmt: skip

    @property
    def file(self) -> str:
        """Name of its file: the hole, the player and the hash."""
        player = re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_") or "player"
        return f"{self.hole}_{player}_{self.sha256[:12]}.json"

    def save(self, folder: Path) -> Path:
        """Write the file into a folder, which is made; return its path.

        Raises
        ------
        ArgumentError
            The folder cannot be written.
        """
        content = {"schema": SCHEMA} | {
            field: getattr(self, field) for field in _FIELDS if field != "schema"
        }
        path = Path(folder) / self.file
        try:
            write(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        except OSError as failure:
            raise ArgumentError.explained(
                f"{path} cannot be written: {failure.strerror}.",
                "The folder of the board is another's, or its disk is full.",
                "Give a folder that you may write.",
            ) from failure
        return path


@dataclass(frozen=True)
class Verified:
    """A submission with the score that playing it on this machine gave.

    Attributes
    ----------
    submission : Submission
    score : Score
    trouble : str
        Why it does not stand; "" where it does.
    note : str
        A harmless difference, such as another compiler.
    """

    submission: Submission
    score: Score
    trouble: str = ""
    note: str = ""

    def __bool__(self) -> bool:
        return not self.trouble


def checked_name(name: str) -> str:
    """Return the name of a player as it is shown.

    Raises
    ------
    ArgumentError
        It is empty, too long, or has letters that cannot be seen.
    """
    shown = " ".join(name.split()) if isinstance(name, str) else ""
    if not 0 < len(shown) <= MOST_NAME or not shown.isprintable():
        raise ArgumentError.explained(
            f"A submission cannot have the name {str(name)[: MOST_NAME + 1]!r}.",
            f"A name has 1 to {MOST_NAME} letters that can be seen.",
            "Give another, for example the name of your team.",
        )
    return shown


def read(path: Path) -> Submission:
    """Read the file of a submission.

    Raises
    ------
    ArgumentError
        It is no submission; the message says in which way.
    """
    try:
        if not path.is_file():
            raise _damaged(path, "there is no such file")
        if path.stat().st_size > MOST_BYTES:
            raise _damaged(path, f"it has more than {MOST_BYTES:,} bytes")
        content = json.loads(paths.read_regular(path))
    except OSError as failure:
        raise _damaged(path, failure.strerror or "it cannot be read") from failure
    except (ValueError, RecursionError) as failure:
        raise _damaged(path, "it is not JSON") from failure
    if not isinstance(content, dict):
        raise _damaged(path, "it holds no fields")
    for field, kind in _FIELDS.items():
        if type(content.get(field)) is not kind:
            raise _damaged(path, f"{field} is missing or no {kind.__name__}")
    if content["schema"] != SCHEMA:
        raise _damaged(path, f"its schema is {content['schema']}, not {SCHEMA}")
    if content["counts"].keys() - {*METRICS, "registers"}:
        raise _damaged(path, "it claims a count that does not exist")
    if any(type(count) is not int for count in content["counts"].values()):
        raise _damaged(path, "a count is no whole number")
    if (
        not content["compiler"].isprintable()
        or len(content["compiler"]) > 2 * MOST_NAME
    ):
        raise _damaged(path, "its compiler cannot be shown")
    fields = {field: content[field] for field in _FIELDS if field != "schema"}
    return Submission(**fields | {"name": checked_name(content["name"])})


def verify(submission: Submission, salt: str = "") -> Verified:
    """Play a submission again, and compare the result with its claims."""
    hole = holes.find(submission.hole)
    source = rules.canonical(submission.source)
    sha = sha256(source)
    if sha != submission.sha256 or source != submission.source:
        trouble = "the hash is not that of the source: the file was changed"
        return Verified(submission, Score(hole, source, sha), trouble)
    score = play(hole, source, salt)
    if not score.passed:
        first = next(iter(str(score.error).split("\n")), "")
        return Verified(submission, score, f"refused ({score.stage}): {first}")
    words = ", ".join(
        f"{name} {submission.counts.get(name, 'none')} -> {count}"
        for name, count in score.claims.items()
        if submission.counts.get(name) != count
    )
    if not words:
        return Verified(submission, score)
    if submission.compiler == score.compiler:
        trouble = f"it claims what the source does not do: {words}"
        return Verified(submission, score, trouble)
    note = f"counted here by {score.compiler}, there by {submission.compiler}: {words}"
    return Verified(submission, score, note=note)


def shown(path: Path) -> str:
    """Return the name of a file without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else "?" for c in path.name)


def _damaged(path: Path, why: str) -> CourseError:
    return ArgumentError.explained(
        f"{shown(path)} is no submission: {why}.",
        "The file was edited, cut off, or is something else.",
        "Write it again: python -m coursekit golf submit HOLE FILE.cu --name NAME.",
    )
