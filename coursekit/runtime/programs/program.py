"""A C or C++ program: `ck.program(path).run(...)`."""

from __future__ import annotations

import os

from coursekit.errors import ArgumentError
from coursekit.runtime.programs import findings, sandbox, sanitizers
from coursekit.runtime.programs.limits import Limits
from coursekit.runtime.programs.result import Run
from coursekit.toolchain import host_compiler, host_source


def program(
    source_or_path: str | os.PathLike[str], sanitize: bool = False, *, name: str = ""
) -> Program:
    """Compile a C or C++ program with the system's compiler.

    Parameters
    ----------
    source_or_path : str or Path
        A file that ends in .c, .cc, .cpp or .cxx, or a Makefile, as given or below
        `kernels/`; or the source text.
    sanitize : bool
        Check each access to memory, leaks, and undefined behaviour while it runs.
    name : str
        The name for text; its suffix tells the language. ``program.cpp`` by default.

    Returns
    -------
    Program
        ``.run(*args)`` runs it.

    Raises
    ------
    CompileError
        The compiler refuses it; the message has line and caret.
    UnsupportedError
        There is no compiler, or it is a CUDA file.
    LaunchError
        There is no such file.

    Examples
    --------
    >>> program("int main() { return 3; }").run().returncode
    3
    """
    return Program(host_source.read(source_or_path, name), sanitize)


class Program:
    """A compiled program, which runs as often as it is asked to.

    Attributes
    ----------
    source : HostSource
    sanitize : bool
    warnings : tuple of str
        What the compiler has warned of: "file:line: warning".
    commands : str
        What make has run, a command a line; "" without a Makefile.
    name : str
        The name of the program.
    """

    def __init__(self, source: host_source.HostSource, sanitize: bool = False) -> None:
        self.source, self.sanitize = source, sanitize
        built = host_compiler.build(source, sanitize=sanitize)
        self.warnings, self.commands = built.warnings, built.commands
        self.name = built.name
        self._executable = built.executable

    def run(
        self,
        *args: object,
        stdin: str = "",
        timeout_s: float = 10.0,
        limits: Limits | None = None,
    ) -> Run:
        """Run the program in a folder of its own, which is removed afterwards.

        Parameters
        ----------
        *args : object
            Its arguments, written as text.
        stdin : str
            What it can read from its standard input.
        timeout_s : float
            Seconds of computing after which it is stopped.
        limits : Limits, optional
            All limits, in place of the seconds: also memory, processes, files.

        Returns
        -------
        Run
            A program that crashes or is stopped has findings; nothing is raised.

        Raises
        ------
        ArgumentError
            An argument holds a zero byte, or the time is not positive.
        """
        command = (self.name, *map(str, args))
        _require(command, timeout_s)
        limits = limits or Limits(seconds=timeout_s)
        outcome = sandbox.run(self._executable, command, stdin, limits)
        stderr, report = outcome.stderr, outcome.report
        if self.sanitize:
            stderr, own = sanitizers.parted(stderr)
            report = own + report
        return Run(
            command,
            outcome.status,
            outcome.stdout,
            stderr,
            self._found(outcome, report, limits),
            warnings=self.warnings,
            boxes=outcome.boxes,
            lost_bytes=outcome.lost[:2],
        )

    def _found(
        self, outcome: sandbox.Outcome, report: str, limits: Limits
    ) -> tuple[findings.ProgramFinding, ...]:
        found = sanitizers.findings(report, self.source)
        limit = findings.of_limits(outcome, limits)
        if limit is not None:
            return (*found, limit)
        crash = findings.of_signal(outcome, self.sanitize)
        return (*found, crash) if crash and not found else tuple(found)

    def __repr__(self) -> str:
        checks = ", with sanitizers" if self.sanitize else ""
        return f"Program {self.name} ({self.source.name}{checks})"


def _require(command: tuple[str, ...], timeout_s: float) -> None:
    if any("\0" in word for word in command):
        raise ArgumentError.explained(
            "An argument of the program holds a zero byte.",
            "A zero byte ends a string in C, so no program can receive one.",
            "Pass the data through stdin.",
        )
    if not timeout_s > 0:
        raise ArgumentError.explained(
            f"timeout_s is {timeout_s}, which is not positive.",
            "It is the computing time after which the program is stopped.",
            "Give seconds above 0, or leave it out for 10.",
        )
