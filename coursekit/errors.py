"""Every error that coursekit raises, in one tree.

::

    CourseError
    ├── CompileError            the compiler refused the source
    ├── LaunchError             missing file or kernel, impossible launch
    ├── ArgumentError           wrong count, type, layout or value of an argument
    ├── DeviceError             host access, lost context, out of memory
    ├── UnsupportedError        something the simulator or this machine lacks
    ├── CheckFailed             an exercise or an expectation was not met
    ├── DataError               pictures or weights are missing or damaged
    └── KernelError             the kernel did something wrong while it ran
        ├── OutOfBoundsError        past an array's end, through null, misaligned
        ├── DataRaceError           two unordered accesses, one of them a write
        ├── UninitializedReadError  a read of memory that nothing wrote
        ├── BarrierError            a barrier that live threads never reach
        ├── DeadlockError           no thread can go on, or the time is up
        ├── IllegalInstructionError trap or a failed assert
        └── DivisionByZeroError     integer division by zero (simulator only)

A message has three parts: what happened and where, with the values; the
likely cause; what to do. `CourseError.explained` puts them together.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class CourseError(Exception):
    """Base of all errors of this package."""

    what: str
    cause: str
    cure: str

    @classmethod
    def explained(cls, what: str, cause: str = "", cure: str = "") -> Self:
        """Build the error from its three parts.

        Parameters
        ----------
        what : str
            What happened, where, and the values involved.
        cause : str
            The likely cause, a sentence.
        cure : str
            What to do about it, a sentence.
        """
        details = "".join(f"\n  {part}" for part in (cause, cure) if part)
        error = cls(what + details)
        error.what, error.cause, error.cure = what, cause, cure
        return error

    def _render_traceback_(self) -> list[str]:
        """Tell IPython what to show: the message, not forty library frames."""
        return render_traceback(self)


class CompileError(CourseError):
    """The compiler refused the source; the message holds line and caret."""

    file: str | None
    line: int | None
    log: str
    count: int


class LaunchError(CourseError):
    """The launch cannot work: missing file or kernel, or a bad configuration."""

    file: str
    line: int | None
    log: str


class UnknownNameError(LaunchError, AttributeError):
    """A module has no kernel of this name."""


class ArgumentError(CourseError):
    """A kernel argument has the wrong count, type, layout or value."""


class DeviceError(CourseError):
    """Device memory was touched from the host, is exhausted, or its context is lost."""


class HostAccessError(DeviceError, AttributeError):
    """NumPy arrays have this attribute, arrays in device memory do not."""


class UnsupportedError(CourseError):
    """The simulator or this machine lacks what was asked for."""


class CheckFailed(CourseError):
    """A result is not what the exercise or the expectation asks for."""


class DataError(CourseError):
    """Pictures or weights are missing, damaged, or not what they should be."""


class KernelError(CourseError):
    """The kernel did something wrong while it ran.

    Attributes
    ----------
    thread, block : tuple of int or None
        Index of the thread in its block and of the block in the grid, (x, y, z).
    file, line : str, int
        Source position, when the code carries line information.
    """

    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    file: str | None = None
    line: int | None = None


class OutOfBoundsError(KernelError):
    """An access past the end of an array, through null, or misaligned."""


class DataRaceError(KernelError):
    """Unordered accesses to one place, one a write, not both atomic for each other."""


class UninitializedReadError(KernelError):
    """A read of memory that nothing wrote."""


class BarrierError(KernelError):
    """A barrier that some threads of the block never reach, though they are alive.

    Threads that have exited are excused, as by hardware since Volta. A barrier with a
    count of threads excuses nobody.
    """


class DeadlockError(KernelError):
    """No thread can go on, or the launch ran longer than it may."""


class IllegalInstructionError(KernelError):
    """The kernel executed a trap or failed an assert."""


class DivisionByZeroError(KernelError):
    """Integer division by zero; hardware returns a value, the simulator raises."""


def render_traceback(error: BaseException) -> list[str]:
    """Return the lines that IPython shows for an error, without library frames.

    ``%xmode Verbose`` brings IPython's whole traceback back; `error.__traceback__`
    is complete in any case. This never raises: an error here would reach the reader
    in place of the real one, and nbval would not see the cell fail.
    """
    summary = traceback.format_exception_only(error)
    # format_exception_only writes the module's name, which a student has not typed.
    summary[0] = summary[0].removeprefix(f"{type(error).__module__}.")
    try:
        return _full(error) or [*_cell_lines(error), "".join(summary).rstrip("\n")]
    except Exception:
        return ["".join(summary).rstrip("\n")]


def _full(error: BaseException) -> list[str] | None:
    """IPython's own traceback, when the reader asked for the verbose one."""
    from IPython import get_ipython

    handler = get_ipython().InteractiveTB
    if handler.mode != "Verbose":
        return None
    lines: list[str] = handler.structured_traceback(
        type(error), error, error.__traceback__
    )
    return lines


def _cell_lines(error: BaseException) -> Iterator[str]:
    """Name each line of a notebook cell on the way to the error.

    A `%%magic` cell is left out: its Python line is not one that anybody wrote.
    """
    from IPython import get_ipython

    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        cell = get_ipython().compile.format_code_name(file)
        text = linecache.getline(file, line).strip()
        if cell is not None and "run_cell_magic(" not in text:
            yield f"{' '.join(cell)}, line {line}:  {text}"
