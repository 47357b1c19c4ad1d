"""Run a student's Python; errors name the line of the cell and a likely cause."""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import linecache
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from coursekit.errors import (
    ArgumentError,
    CheckFailed,
    CompileError,
    CourseError,
    LaunchError,
)
from coursekit.exercises.catalogue import Entry

ADVICE = {
    NameError: (
        "The cell of an exercise runs by itself: it knows `ck`, and what it defines "
        "or imports, but nothing of other cells.",
        "Look for a misspelt name; import or define in the cell what it needs.",
    ),
    ModuleNotFoundError: (
        "The package is not installed in the course's environment.",
        "Look for a misspelt name. What **Needs** at the top of the chapter names is "
        "installed by `make setup EXTRAS=dsl` or `make setup EXTRAS=libraries`.",
    ),
    SystemExit: (
        "It ends the whole program.",
        "Leave the function with return.",
    ),
    KeyError: (
        "No value stands under this key: it was never put in, or was taken out before.",
        "Print the keys in the line above, and compare.",
    ),
    ZeroDivisionError: (
        "The line divides by a value that is 0 in this call.",
        "Find out which value that is: an argument may be 0.",
    ),
    RecursionError: (
        "A function calls itself, and never stops to.",
        "Find the case in which it has to return without a call.",
    ),
}
# (what Python says, likely cause, cure), for errors that the kind alone leaves open
SAYS = (
    (
        r"takes .*\barguments?\b|\bexpected .*\barguments?\b|missing \d+ required|"
        r"keyword argument",
        "The function in this line takes other arguments than those given.",
        "Compare the call with the function's parameters: their number, their order, "
        "their names.",
    ),
    (
        r"exceptions must derive",
        "raise takes an exception, and a text is none.",
        "Put the text into one, as in raise RuntimeError(text).",
    ),
    (
        r"(?:iterable argument|arg) is (?:an )?empty",
        "max and min take at least one element, and there is none.",
        "Ask first whether there is one, for example with `if found:`.",
    ),
    (
        r"float' object cannot be interpreted as an integer|not float$|but got float",
        "A length or an index is a whole number. In Python / divides into a float.",
        "Divide with //, which rounds down.",
    ),
    (
        r"index out of range",
        "The list or the text ends before this index, or is empty.",
        "Look at the length there before you take an element.",
    ),
)
OF_TRITON = (
    "Triton compiles a kernel itself, and refused it at the caret. It knows the "
    "functions of `tl`, names of the cell that are constants, and operators; a block "
    "of values has no single truth value.",
    "Correct the line at the caret: for each function of Python or PyTorch there is "
    "one of `tl`, and for an if there is a mask.",
)
SHAPES_OF_TRITON = (
    "The blocks at the caret have axes of different lengths: their shapes do not fit. "
    "i[:, None] has a block's elements down, and i[None, :] has them across.",
    "Write down the shape of each block in the line. tl.dot takes (M, K) and (K, N); "
    "operators take axes that are equal, or 1.",
)
OTHERWISE = (
    "That is your last line on the way to the error.",
    "Look at the values there: print them in the line above.",
)


@dataclass(frozen=True)
class Ran:
    """The result of running an exercise's cell.

    Attributes
    ----------
    names : dict of str to object
        The names that the cell defines.
    value : object
        The value of its last line, if that is an expression.
    source : str
        The text of the cell, without the line of the `%%host`.
    """

    names: dict[str, Any]
    value: Any = None
    source: str = ""


def run(entry: Entry, text: str, *, lines_above: int = 0, file: str = "") -> Ran:
    """Run the text of a solution in a namespace of its own, which has `ck`.

    Parameters
    ----------
    entry : Entry
    text : str
        Python, without the line of the `%%host`.
    lines_above : int
        Lines of the cell above the text, which count in messages.
    file : str
        The name of the text in messages; by default that of the exercise.

    Raises
    ------
    CompileError
        It is no Python.
    CourseError
        What the course raised in it, or CheckFailed in place of another error.
    """
    import coursekit

    file, source = file or _file(entry), "\n" * lines_above + text
    # Tracebacks, and the messages below, read source lines from this cache.
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    body = _parsed(source, file).body
    given = {"__name__": "__main__", "ck": coursekit}
    names, value = dict(given), None
    last = [body.pop()] if body and isinstance(body[-1], ast.Expr) else []
    with _told("The cell", file):
        exec(compile(ast.Module(body, []), file, "exec"), names)
        for expression in last:
            value = eval(compile(ast.Expression(expression.value), file, "eval"), names)
    own = {n: v for n, v in names.items() if given.get(n) is not v and n[:2] != "__"}
    return Ran(own, value, text)


def function(entry: Entry, candidate: Any) -> Callable:
    """Return the student's function, whose errors explain themselves.

    Parameters
    ----------
    entry : Entry
    candidate : callable, Ran, str or CourseError
        The function; what a cell has left; its text; or why there is none.
    """
    name = entry.exercise.function
    if isinstance(candidate, CourseError):
        raise candidate.with_traceback(None)
    if isinstance(candidate, str):
        candidate = run(entry, candidate)
    if isinstance(candidate, Ran):
        candidate = _defined(candidate, name)
    if not callable(candidate):
        raise ArgumentError.explained(
            f"check got {type(candidate).__name__}, which is no function.",
            "Without a second argument it takes what the exercise's cell defines.",
            f'Write ck.check("{entry.id}"), or give a function.',
        )
    return _guarded(candidate, name, _file(entry))


def _defined(ran: Ran, name: str) -> Callable:
    if callable(ran.names.get(name)):
        return ran.names[name]
    state = f"the cell defines {', '.join(ran.names) or 'nothing'}"
    if name in ran.names:
        state = f"{name} is {type(ran.names[name]).__name__}"
    raise CheckFailed.explained(
        f"There is no function {name}; {state}.",
        "It was renamed, overwritten, or indented into another function.",
        f"Begin the function with `def {name}` at the left margin.",
    )


def require_magic(entry: Entry, magic: str) -> None:
    """Refuse a cell that begins with the magic of the other language."""
    if entry.exercise.magic != magic:
        raise LaunchError.explained(
            f"{entry.label}, is no exercise for {magic}.",
            f"Its answer is a {entry.exercise.answer}.",
            f"Begin the cell with {entry.exercise.first_line}.",
        )


def require_code(entry: Entry, code: str, results: dict[str, Any]) -> None:
    """Refuse a cell without code, and let no check use what stood there before.

    Parameters
    ----------
    entry : Entry
    code : str
        The text of the cell, without comments.
    results : dict
        The result of the last cell of each exercise; it receives the error.

    Raises
    ------
    ArgumentError
    """
    if not code.strip():
        results[entry.id] = empty(entry)
        raise empty(entry, ArgumentError)


def empty(entry: Entry, kind: type[CourseError] = CheckFailed) -> CourseError:
    """Return the error for a cell that has no code, of the class `kind`."""
    exercise = entry.exercise
    return kind.explained(
        f"The cell is empty: below {exercise.first_line} it has no code.",
        "The text was deleted, or only the first line was copied.",
        f"Write the {exercise.answer} there, or copy the starter that "
        f'ck.reset("{entry.id}") shows.',
    )


def _file(entry: Entry) -> str:
    return f"exercise_{entry.id}.py"


def _parsed(source: str, file: str) -> ast.Module:
    try:
        return ast.parse(source, file)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        code = source.splitlines()[line - 1 : line]
        caret = " " * ((getattr(error, "offset", None) or 1) - 1) + "^"
        shown = "".join(f"\n    {text}" for text in [*code, caret])
        raise CompileError.explained(
            f"{file}:{line}: {getattr(error, 'msg', error)}{shown}",
            "Python reads the cell before it runs any of it.",
            "Correct the line, or the one above it: a bracket or a colon may be "
            "missing there.",
        ) from None


def _guarded(function: Callable, name: str, file: str) -> Callable:
    @functools.wraps(function)
    def call(*arguments, **keywords):
        with _told(name, file):
            return function(*arguments, **keywords)

    return call


@contextlib.contextmanager
def _told(who: str, file: str) -> Iterator[None]:
    """Turn errors of the cell into errors of the course that name the cell's line."""
    try:
        yield
    except CourseError as error:
        error.add_note(f"  Raised by {who}{_line(error, file)}")
        raise
    except (Exception, SystemExit) as error:
        raise CheckFailed.explained(
            f"{who} raised {_named(error)}{_line(error, file)}",
            *_advice(error),
        ) from error


def _advice(error: BaseException) -> tuple[str, str]:
    """Return the likely cause of an error of Python, and what to do."""
    if type(error).__module__.startswith("triton.compiler"):
        shapes = re.search(r"dimensions|shape_compatible|broadcast", str(error))
        return SHAPES_OF_TRITON if shapes else OF_TRITON
    for kind, advice in ADVICE.items():
        if isinstance(error, kind):
            return advice
    for pattern, cause, cure in SAYS:
        if re.search(pattern, str(error)):
            return cause, cure
    return OTHERWISE


def _named(error: BaseException) -> str:
    """Return the kind of an error and its message, with the name that comes near."""
    said = f"{type(error).__name__}: {error}"
    if not isinstance(error, AttributeError) or error.name is None:
        return said
    near = difflib.get_close_matches(error.name, dir(error.obj), 1)
    return f"{said}. Did you mean {near[0]}?" if near else said


def _line(error: BaseException, file: str) -> str:
    """Return the last line of the student's file in the traceback of an error."""
    frames = [
        number
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == file
    ]
    if not frames:
        return ""
    return f"\n    line {frames[-1]}:  {linecache.getline(file, frames[-1]).strip()}"
