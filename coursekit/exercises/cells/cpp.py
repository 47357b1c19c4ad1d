"""The `%%cpp` cell: it compiles a C++ program, runs it, and shows what it prints."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from coursekit.errors import ArgumentError, CourseError

USAGE = '%%cpp [NAME] [--args "3 4"] [--exercise 01.a]'


@magics_class
class CppMagics(Magics):
    """The `%%cpp` magic; `exercises` has the program of the last cell of each id."""

    def __init__(self, shell: InteractiveShell, exercises: dict[str, Any]) -> None:
        super().__init__(shell)
        self.exercises = exercises

    @cell_magic
    def cpp(self, line: str, cell: str) -> None:
        """Compile and run a C++ program: %%cpp [NAME] [--args "3 4"] [--exercise 01.a].

        It is compiled with sanitizers and runs in a sandbox. Its run is shown, and is
        bound to NAME. --exercise saves the text below `work/` for `ck.check`.
        """
        from coursekit.runtime.programs.program import program

        options = Options.parse(line)
        if options.exercise:
            self._exercise(options, cell)
            return
        if not cell.strip():
            raise _refused("got a cell without code")
        name = options.name or "program"
        ran = program("\n" + cell, sanitize=True, name=f"{name}.cpp").run(*options.args)
        self._show(options, ran)

    def _exercise(self, options: Options, cell: str) -> None:
        from coursekit.exercises import (
            catalogue,
            host_running,
            program_stages,
            saved,
        )
        from coursekit.toolchain.cuda_source import code_only

        entry = catalogue.find(options.exercise)
        host_running.require_magic(entry, "%%cpp")
        host_running.require_code(entry, code_only(cell), self.exercises)
        saved.save(entry, cell)
        try:
            answer = program_stages.compiled(entry, "\n" + cell)
        except CourseError as failure:
            self.exercises[entry.id] = failure  # so that no check uses an older result
            raise
        self.exercises[entry.id] = answer
        case = program_stages.cases(entry)[0]
        if options.args:
            self._show(options, answer.run(*options.args))
        else:
            self._show(options, program_stages.run(entry, answer, case))

    def _show(self, options: Options, ran: Any) -> None:
        if options.name and self.shell is not None:
            self.shell.push({options.name: ran}, interactive=True)
        display(ran)


@dataclass
class Options:
    """The name and the options on the line of a `%%cpp` cell."""

    name: str = ""
    args: tuple[str, ...] = ()
    exercise: str = ""

    @classmethod
    def parse(cls, line: str) -> Options:
        """Read the options of a cell; ArgumentError names the one that is wrong."""
        try:
            words = shlex.split(re.sub(r"(--\w+)=", r"\1 ", line))
        except ValueError as problem:
            raise _refused(f"cannot read {line!r}: {problem}") from problem
        options = cls()
        while words:
            word = words.pop(0)
            if word in ("--args", "--exercise"):
                if not words:
                    raise _refused(f"needs a value after {word}")
                value = words.pop(0)
                if word == "--args":
                    options.args = tuple(shlex.split(value))
                else:
                    options.exercise = value
            elif options.name or not word.isidentifier() or iskeyword(word):
                raise _refused(f"cannot take {word!r}")
            else:
                options.name = word
        return options


def _refused(what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"%%cpp {what}.",
        "What follows %%cpp on its line are options; the program begins below it.",
        f"Usage: {USAGE}",
    )
