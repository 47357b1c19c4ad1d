"""A score: the outcome of a submission, shown as a card."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.exercises.golf import card
from coursekit.exercises.golf.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Score(Outcome):
    """The outcome of a submission, with a card; `Outcome` describes the attributes."""

    def __repr__(self) -> str:
        return card.text(self)

    def _repr_html_(self) -> str:
        return card.html(self)
