"""What a program has left when it ended: a `Run`."""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.runtime.programs.findings import ProgramFinding

SHOWN_LINES = 100


@dataclass(frozen=True, repr=False)
class Run:
    """The result of a program's run, shown as a terminal would show it.

    Attributes
    ----------
    command : tuple of str
        Its name, and its arguments.
    returncode : int
        What main returned; minus the number of the signal that ended it.
    stdout, stderr : str
        What it wrote: the first million bytes of each.
    findings : tuple of ProgramFinding
        What went wrong: a limit, a crash, what the sanitizers saw.
    launches : tuple
        Of kernels: none, until CUDA programs run here.
    warnings : tuple of str
        What the compiler has warned of.
    boxes : str
        What `SHOW` of coursekit_boxes.h has written, for `ck.memory_boxes`.
    lost_bytes : tuple of int
        Bytes of stdout and of stderr that were not kept.
    """

    command: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    findings: tuple[ProgramFinding, ...] = ()
    launches: tuple[object, ...] = ()
    warnings: tuple[str, ...] = ()
    boxes: str = ""
    lost_bytes: tuple[int, int] = (0, 0)

    @property
    def stopped(self) -> bool:
        """Whether a limit ended it."""
        return any(finding.kind == "limit" for finding in self.findings)

    def __repr__(self) -> str:
        parts = [f"$ ./{' '.join(self.command)}"]
        parts += _cut(self.stdout, self.lost_bytes[0])
        if self.stderr or self.lost_bytes[1]:
            parts += ["stderr:", *_cut(self.stderr, self.lost_bytes[1])]
        if self.returncode:
            parts.append(f"exit code {self.returncode}")
        for finding in self.findings:
            parts += ["", f"Found: {finding.message}"]
        if self.warnings:
            parts += ["", *(f"The compiler warns: {text}" for text in self.warnings)]
        return "\n".join(parts)


def _cut(text: str, lost: int) -> list[str]:
    """Return the first lines of an output, and how much follows."""
    if not text and not lost:
        return []
    lines = text.removesuffix("\n").split("\n")
    shown = [line[:500] for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        shown.append(f"... and {len(lines) - SHOWN_LINES:,} more lines")
    if lost:
        shown.append(f"... and {lost:,} more bytes, which were not kept")
    return shown
