"""Errors that a notebook raises on purpose."""

from __future__ import annotations

import re
from types import TracebackType

from coursekit.display.listing import Card
from coursekit.errors import ArgumentError, CheckFailed


class expect_error:  # noqa: N801 (used like a function: `with ck.expect_error(...):`)
    """Context manager that shows an expected error and fails without it.

    Parameters
    ----------
    *types : exception classes
        What may be raised; an exception of another type passes through unchanged.
    match : str, optional
        A regular expression that must be found in the message.

    Attributes
    ----------
    error : Exception or None
        The exception that was raised, after the block.

    Raises
    ------
    CheckFailed
        If the block raises nothing, or the message does not match.
    ArgumentError
        If a type is no exception class, or the pattern is no regular expression.

    Examples
    --------
    >>> with expect_error(ZeroDivisionError) as caught:
    ...     1 // 0
    As expected: ZeroDivisionError: integer division or modulo by zero
    >>> type(caught.error).__name__
    'ZeroDivisionError'
    """

    def __init__(self, *types: type[Exception], match: str | None = None) -> None:
        for given in types:
            if not (isinstance(given, type) and issubclass(given, Exception)):
                raise _no_type(f"got {given!r}, which is no exception class")
        if not types:
            raise _no_type("needs at least one exception class")
        self.error: Exception | None = None
        self._types = types
        self._pattern = _compiled(match)

    def __enter__(self) -> expect_error:
        self.error = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        names = " or ".join(expected.__name__ for expected in self._types)
        if error is None:
            raise CheckFailed.explained(
                f"Expected {names}, but nothing was raised.",
                "The code in the `with` block does not contain the mistake any more.",
                "Put the mistake back, or remove the `with ck.expect_error` line.",
            )
        if not isinstance(error, self._types):
            return False
        self.error = error
        if self._pattern is not None and not self._pattern.search(str(error)):
            raise CheckFailed.explained(
                f"Expected {names} with a message that matches "
                f"{self._pattern.pattern!r}, but the message is: {error}",
                cure="Correct the pattern, or the mistake in the `with` block.",
            ) from error
        _display(Card(f"As expected: {type(error).__name__}", str(error)))
        return True


def _display(card: Card) -> None:
    from IPython.display import display

    display(card)


def _compiled(match: str | None) -> re.Pattern[str] | None:
    try:
        return None if match is None else re.compile(match)
    except re.error as problem:
        raise ArgumentError.explained(
            f"expect_error got match={match!r}, which is no regular expression: "
            f"{problem}.",
            cure="Put a backslash before characters such as ( [ * that stand for "
            "themselves.",
        ) from problem


def _no_type(what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"expect_error {what}.",
        "It passes only when the code raises an error of the class given here.",
        "Write for example `with ck.expect_error(ck.OutOfBoundsError):`.",
    )
