"""Launch a submission at every size, and require the right result of each launch."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from coursekit.analysis.counting import counted
from coursekit.errors import CheckFailed, CourseError
from coursekit.exercises import complaints
from coursekit.exercises.golf.hole import Draw, Hole
from coursekit.exercises.golf.shape import Shape
from coursekit.exercises.trial import Trial
from coursekit.runtime.launching import Kernel
from coursekit.simt import Counters

TIMEOUT_S = 30.0
MOST_THREADS = 1 << 20


@dataclass
class Bench:
    """A submission with its compiled kernel and counters, filled in by the stages."""

    hole: Hole
    source: str
    sha256: str
    salt: str = ""
    kernel: Kernel | None = None
    shape: Shape | None = None
    tallies: tuple = ()
    counters: Counters | None = None

    def __post_init__(self) -> None:
        draw = Draw(f"{self.hole.name} {self.sha256} {self.salt}")
        number = int(self.sha256, 16)
        self.hole = replace(self.hole, number=number)
        self.ragged = (self.hole.ragged(draw), self.hole.ragged(draw))
        self.round = self.hole.scored
        while self.round == self.hole.scored:
            self.round = self.hole.round(draw)

    def trial(self, size, order="forward") -> Trial:
        """Work out the launch of a size, and refuse one that is far too large."""
        trial = Trial.of(self.hole, size, self.hole.launch(self.shape), order)
        threads = math.prod(trial.grid) * math.prod(trial.block)
        if threads > MOST_THREADS:
            raise CheckFailed.explained(
                f"{trial}: {threads:,} threads.",
                f"Count Golf launches at most {MOST_THREADS:,} of them.",
                "Launch about as many threads as there are elements, or fewer.",
            )
        return trial

    def run(self, size, order="forward"):
        """Launch, require the right result, and return the counters."""
        trial = self.trial(size, order)
        with seen_with(trial), counted() as counters:
            outcome = trial.run(self.kernel, TIMEOUT_S)
        complaints.require_values(self.kernel, outcome, complaints.values)
        if (changed := outcome.changed()) is not None:
            raise complaints.changed(outcome, *changed)
        return counters[0]


@contextlib.contextmanager
def seen_with(trial: Trial) -> Iterator[None]:
    """Add a note to an error that names the launch in which it occurred."""
    try:
        yield
    except CourseError as error:
        error.add_note(f"  Seen with {trial}.")
        raise
