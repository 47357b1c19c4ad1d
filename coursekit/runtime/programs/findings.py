"""What went wrong in a program, as findings in three parts: what, why, what to do."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from coursekit.runtime.programs.limits import MEBIBYTE, WAITING_PER_SECOND, Limits
from coursekit.runtime.programs.sandbox import Outcome


@dataclass(frozen=True)
class ProgramFinding:
    """A defect of a program, seen while it ran.

    Attributes
    ----------
    kind : str
        The name that the sanitizer gives it, "limit" or "crash".
    what, cause, cure : str
        What happened and where; the likely cause; what to do.
    file : str or None
    line : int or None
        The place in the source, where it is known.
    """

    kind: str
    what: str
    cause: str
    cure: str
    file: str | None = None
    line: int | None = None

    @property
    def level(self) -> str:
        """How bad it is: always "error"."""
        return "error"

    @property
    def message(self) -> str:
        """The three parts, a line each."""
        return "\n  ".join(part for part in (self.what, self.cause, self.cure) if part)

    def __str__(self) -> str:
        return self.message


def _mebibytes(count: float) -> str:
    return f"{count / MEBIBYTE:,.0f} MiB"


# The cause and the cure for each limit.
ADVICE = {
    "seconds": (
        "Often a loop whose condition never becomes false.",
        "Look at what changes in the loop. If it needs more time, give it more: "
        "run(..., timeout_s=60).",
    ),
    "waiting": (
        "It sleeps, or waits for another process or thread that never answers.",
        "Look for sleep, wait, join, and for locks that nobody opens.",
    ),
    "memory": (
        "An allocation is too large, or stands in a loop and is never freed.",
        "Compute the bytes that it needs; free what a loop allocates in the loop.",
    ),
    "tasks": (
        "fork() or a new thread stands in a loop, and each copy runs the loop.",
        "Start a fixed number, and let only the first process start others.",
    ),
    "files": (
        "A file is created in a loop that does not end.",
        "Look at what ends the loop.",
    ),
    "file_bytes": (
        "It writes to a file in a loop that does not end.",
        "Look at what ends the loop.",
    ),
}
# Limits that Linux itself keeps, by the signal that it sends.
LIMITED = {int(signal.SIGXFSZ): "file_bytes", int(signal.SIGXCPU): "seconds"}
# What C says of EAGAIN, which Linux returns where a user has too many processes.
REFUSED = "Resource temporarily unavailable"


def of_limits(outcome: Outcome, limits: Limits) -> ProgramFinding | None:
    """Return the finding for a program that was stopped, None where it was not."""
    stopped = outcome.stopped or LIMITED.get(-outcome.status, "")
    if stopped:
        cause, cure = ADVICE[stopped]
        what = f"The program was stopped: it {_stopped(stopped, outcome, limits)}."
        return ProgramFinding("limit", what, cause, cure)
    if outcome.status and REFUSED in outcome.stderr:
        what = "The program ended because it was refused another process or thread: "
        return ProgramFinding(
            "limit", f"{what}it may have {limits.tasks}.", *ADVICE["tasks"]
        )
    return None


def _stopped(limit: str, outcome: Outcome, limits: Limits) -> str:
    """Return what a program did when it was stopped, with the values."""
    waiting = WAITING_PER_SECOND * limits.seconds
    had, files = f"{outcome.amount:,.0f}", _mebibytes(limits.file_bytes)
    memory = f"{_mebibytes(outcome.amount)} of memory, above "
    return {
        "seconds": f"had not ended after {limits.seconds:g} s of computing",
        "waiting": f"had not ended after {waiting:g} s of waiting",
        "memory": f"used {memory}{_mebibytes(limits.memory_bytes)}",
        "tasks": f"had {had} processes and threads, above {limits.tasks}",
        "files": f"had made more than {limits.files:,} files",
        "file_bytes": f"had made files of more than {files}",
    }[limit]


# What a signal means, where no sanitizer says it better: (what, cause).
SIGNALS = {
    signal.SIGSEGV: (
        "it used an address where it has no memory",
        "A null pointer, an index far outside, or a recursion that never ends.",
    ),
    signal.SIGBUS: (
        "it used an address that cannot be used",
        "A pointer that was never set, or is not aligned.",
    ),
    signal.SIGFPE: ("it divided an integer by zero", "A divisor can be 0."),
    signal.SIGABRT: (
        "it aborted",
        "A failed assert, an exception that nobody caught, or a heap that was damaged.",
    ),
    signal.SIGILL: ("it executed an instruction that does not exist", ""),
    signal.SIGKILL: (
        "something outside ended it",
        "Perhaps the machine had no memory.",
    ),
}


def of_signal(outcome: Outcome, sanitized: bool) -> ProgramFinding | None:
    """Return the finding for a program that a signal ended, None where none did."""
    if outcome.status >= 0:
        return None
    try:
        number = signal.Signals(-outcome.status)
    except ValueError:
        return None
    what, cause = SIGNALS.get(number, ("a signal ended it", ""))
    cure = "Look at the last thing that it printed: the defect comes after it."
    if not sanitized:
        cure = "Run it with sanitize=True, which names the line."
    return ProgramFinding(
        "crash", f"The program crashed: {what} ({number.name}).", cause, cure
    )
