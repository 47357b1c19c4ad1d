"""The terms on which an answer is judged."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """The limits of one answer.

    Attributes
    ----------
    seconds : float
        Of computing.
    memory_bytes : int
    wait_seconds : float or None
        Of waiting, computing included; None: a minute and four times `seconds`.
    """

    seconds: float = 300.0
    memory_bytes: int = 4 << 30
    wait_seconds: float | None = None

    @property
    def longest_wait(self) -> float:
        """The seconds after which the process is ended, whatever it does."""
        wait = self.wait_seconds
        return 60 + 4 * self.seconds if wait is None else wait


@dataclass(frozen=True)
class Terms:
    """The terms on which an answer is judged.

    Attributes
    ----------
    limits : Limits
    seed : str
        What the variant of a student is drawn from; "" for no variant.
    extra : str
        Path of a file with more checks, which the students do not have; or "".
    strict : bool
        Whether an answer that reaches outside its exercise is held back.
    """

    limits: Limits = field(default_factory=Limits)
    seed: str = ""
    extra: str = ""
    strict: bool = False
