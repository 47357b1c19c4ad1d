"""The `%%host` cell: it runs the Python of an exercise and keeps its definitions."""

from __future__ import annotations

import shlex
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from coursekit.errors import ArgumentError, CourseError

USAGE = "%%host --exercise 06.1"


@magics_class
class HostMagics(Magics):
    """The `%%host` magic; `exercises` has the result of the last cell of each id."""

    def __init__(self, shell: InteractiveShell, exercises: dict[str, Any]) -> None:
        super().__init__(shell)
        self.exercises = exercises

    @cell_magic
    def host(self, line: str, cell: str) -> None:
        """Run the Python of an exercise: %%host --exercise 06.1.

        The text is saved below `work/` and runs in a namespace of its own, which has
        `ck`; what it defines is then bound in the notebook, and is what `ck.check`
        looks at. A last line that is an expression is shown.
        """
        from coursekit.exercises import catalogue, host_running, saved

        entry = catalogue.find(exercise_id(line))
        host_running.require_magic(entry, "%%host")
        host_running.require_code(entry, cell, self.exercises)
        saved.save(entry, cell)
        try:
            ran = host_running.run(entry, cell, lines_above=1)
        except CourseError as failure:
            self.exercises[entry.id] = failure  # so that no check uses an older result
            raise
        self.exercises[entry.id] = ran
        self.shell.push(ran.names, interactive=True)
        if ran.value is not None:
            display(ran.value)


def exercise_id(line: str) -> str:
    """Read the id after `%%host`; ArgumentError says what is wrong with the line."""
    try:
        words = shlex.split(line.replace("=", " ", 1))
    except ValueError as problem:
        raise _refused(f"cannot read {line!r}: {problem}") from problem
    if len(words) != 2 or words[0] != "--exercise":
        raise _refused(f"needs --exercise and one id, and got {line.strip()!r}")
    return words[1]


def _refused(what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"%%host {what}.",
        "It is for exercises in Python; any other Python needs no magic.",
        f"Usage: {USAGE}",
    )
