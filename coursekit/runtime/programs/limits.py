"""The limits of a program that runs in a sandbox."""

from __future__ import annotations

from dataclasses import asdict, dataclass

MEBIBYTE = 1 << 20
# Waiting is only the time in which no thread could compute, whatever else runs.
WAITING_PER_SECOND = 6


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a program may use before it is stopped.

    Attributes
    ----------
    seconds : float
        Of computing, all its processes together; it may wait six times as long.
    memory_bytes : int
        Of memory in use, all its processes together.
    tasks : int
        The largest number of processes and threads at a time.
    output_bytes : int
        Kept of stdout, and of stderr; what follows is only counted.
    file_bytes, files : int
        The total size, and the number, of files in its folder.
    """

    seconds: float = 10.0
    memory_bytes: int = 1024 * MEBIBYTE
    tasks: int = 64
    output_bytes: int = 1_000_000
    file_bytes: int = 64 * MEBIBYTE
    files: int = 1000

    @property
    def waiting_s(self) -> float:
        """The seconds of waiting after which it is stopped."""
        return WAITING_PER_SECOND * self.seconds

    def as_task(self) -> dict[str, float]:
        """Return the limits as plain numbers, for the process that watches."""
        return asdict(self) | {"waiting_s": self.waiting_s}
