"""The commands: ``python -m coursekit COMMAND``.

Each is a module with `main(arguments) -> exit code`, imported when it is asked for.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from collections.abc import Sequence

from coursekit.errors import CourseError
from coursekit.runtime.terminal import Terminal

# Command: (module, what it does).
COMMANDS = {
    "doctor": ("coursekit.runtime.doctor", "say what works on this machine"),
    "export-slides": (
        "coursekit.exercises.cells.handouts",
        "write slides as files that need no network",
    ),
    "golf": (
        "coursekit.exercises.golf.command",
        "play Count Golf, and keep its boards",
    ),
    "grade": (
        "coursekit.exercises.grading.command",
        "check exercises, one's own or a class's",
    ),
    "new-exercise": ("coursekit.exercises.skeleton", "start writing an exercise"),
    "record": (
        "coursekit.benchmarks.command",
        "measure on a GPU what is recorded",
    ),
    "report": (
        "coursekit.benchmarking.nsight.reports.command",
        "record a report of Nsight Compute",
    ),
    "reset": ("coursekit.exercises.resetting", "put a starter or a notebook back"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code, 1 after an error of the course.

    What it writes is escaped: it may quote the source of people one does not know.
    """
    with (
        contextlib.redirect_stdout(Terminal(sys.stdout)),
        contextlib.redirect_stderr(Terminal(sys.stderr, kept="\n\t\r")),
    ):
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    width = max(map(len, COMMANDS))
    parser = argparse.ArgumentParser(
        prog="python -m coursekit",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n"
        + "\n".join(
            f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()
        )
        + "\n\n`python -m coursekit COMMAND --help` tells a command's options.",
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(given)
    module = importlib.import_module(COMMANDS[options.command][0])
    try:
        return module.main(options.arguments)
    except CourseError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
