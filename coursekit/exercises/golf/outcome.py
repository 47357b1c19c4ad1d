"""The counts of a submission beside the ideals, and its medal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from coursekit.errors import CourseError
from coursekit.exercises.golf.hole import Hole

# Medal: the largest multiple of the ideal that its worst count may have.
MEDALS = {"gold": Fraction(1), "silver": Fraction(6, 5), "bronze": Fraction(2)}
_WORST_FIRST = ("", "bronze", "silver", "gold")


@dataclass(frozen=True)
class Tally:
    """The counts of one launch, beside their ideals.

    Attributes
    ----------
    size : tuple of int
    counts, ideals : dict of str to int
        Counts by the names of METRICS; ideals where the hole has a par.
    inexact : frozenset of str
        Counts that are labelled "ptx": comparable with each other, not with hardware.
    """

    size: tuple[int, ...]
    counts: Mapping[str, int]
    ideals: Mapping[str, int]
    inexact: frozenset[str] = frozenset()

    def ratio(self, name: str) -> Fraction:
        """Return a count as a multiple of its ideal."""
        return Fraction(self.counts[name], self.ideals[name])

    @property
    def worst(self) -> str:
        """The name of the count with the largest multiple of its ideal."""
        return max(self.ideals, key=self.ratio)

    @property
    def medal(self) -> str:
        """The medal that the worst count earns."""
        ratio = self.ratio(self.worst)
        return next((name for name, most in MEDALS.items() if ratio <= most), "")


@dataclass(frozen=True)
class Line:
    """The most expensive line of a submission.

    Attributes
    ----------
    number : int
    text, metric : str
    cost : int
        The amount of the metric that the line counts.
    """

    number: int
    text: str
    metric: str
    cost: int


@dataclass(frozen=True, repr=False)
class Outcome:
    """The result of playing a submission.

    Attributes
    ----------
    hole : Hole
    source, sha256, compiler : str
    error : CourseError or None
        The reason why it is refused.
    stage : str
        The stage that raised the error.
    scored, hidden : Tally or None
        Counts at the size of the hole, and at one drawn from the hash.
    registers, local_bytes : int
        Registers, and bytes of local memory, per thread.
    costs : dict of int to int
        The part of each source line in the worst count.
    """

    hole: Hole
    source: str
    sha256: str
    compiler: str = ""
    error: CourseError | None = None
    stage: str = ""
    scored: Tally | None = None
    hidden: Tally | None = None
    registers: int = 0
    local_bytes: int = 0
    costs: Mapping[int, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether the kernel is right, with or without a medal."""
        return self.error is None

    @cached_property
    def medal(self) -> str:
        """The medal of the worst count: "gold", "silver", "bronze" or ""."""
        if not self.passed or self.local_bytes:
            return ""
        return min(self.scored.medal, self.hidden.medal, key=_WORST_FIRST.index)

    @property
    def next_medal(self) -> str:
        """The medal above this one; "" above gold."""
        place = _WORST_FIRST.index(self.medal) + 1
        return _WORST_FIRST[place] if place < len(_WORST_FIRST) else ""

    @property
    def deciding(self) -> Tally:
        """The tally with the worse medal; of equal ones the scored one."""
        ranks = {id(t): _WORST_FIRST.index(t.medal) for t in (self.scored, self.hidden)}
        lower = ranks[id(self.hidden)] < ranks[id(self.scored)]
        return self.hidden if lower else self.scored

    @property
    def costliest(self) -> Line | None:
        """The most expensive line, the first of equals; None where all are free."""
        number = max(self.costs, key=self.costs.get, default=None)
        if number is None:
            return None
        text = self.source.split("\n")[number - 1].strip()
        return Line(number, text, self.scored.worst, self.costs[number])

    @property
    def claims(self) -> dict[str, int]:
        """The counts that a submission states, by name."""
        return {**self.scored.counts, "registers": self.registers}

    @property
    def rank(self) -> tuple:
        """A key for sorting: the smaller one is better, and equal ones are tied.

        The medal, the worst multiple of an ideal, then the counts themselves.
        """
        counts = self.scored.counts
        return (
            -_WORST_FIRST.index(self.medal),
            self.scored.ratio(self.scored.worst),
            *(counts[name] for name in self.scored.ideals),
            counts["wavefronts"],
            counts["barriers"],
            self.registers,
        )

    @property
    def advice(self) -> str:
        """The advice of the worst count on the way to the next medal."""
        if not self.passed:
            return ""
        if self.local_bytes:
            return (
                "Variables of a thread lie in local memory, whose traffic is not "
                "counted: no medal before they fit in registers."
            )
        if not self.next_medal:
            return "Nothing is left over: fewer barriers or registers break a tie."
        deciding, place = self.deciding, _WORST_FIRST.index(self.next_medal) - 1
        words = self.hole.pars[deciding.worst].advice[place]
        if deciding is self.hidden:
            where = " x ".join(map(str, deciding.size))
            words = f"At {where}, drawn from the hash, it counts more. {words}"
        return words
