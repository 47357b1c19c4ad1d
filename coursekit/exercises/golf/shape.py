"""The launch of a submission, read from a line of its source.

    // golf: grid = ceil(cols / 32), ceil(rows / 32); block = 32, 8; shared = 0

`grid` and `block` are one to three numbers, `shared` is the dynamic shared memory of a
block in bytes. Numbers are computed from the sizes of the hole.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coursekit.errors import CourseError, LaunchError

_LINE = re.compile(r"^[ \t]*//[ \t]*golf:(.*)$", re.MULTILINE)
_PARTS = ("grid", "block", "shared")
_MOST_LENGTH = 200
_MOST = 1 << 31
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}


@dataclass(frozen=True)
class Shape:
    """Grid, block and shared memory as expressions of the sizes.

    Attributes
    ----------
    text : str
        The declaration as it was written, without the comment's beginning.
    """

    text: str
    parts: Mapping[str, ast.expr]

    @classmethod
    def of(cls, text: str) -> Shape:
        """Read a shape.

        Raises
        ------
        LaunchError
            It is not of the form above.
        """
        parts = {}
        for part in filter(str.strip, text.split(";")):
            name, equals, value = part.partition("=")
            if name.strip() not in _PARTS or not equals or name.strip() in parts:
                raise _unreadable(text, f"{part.strip()!r} is none of its parts.")
            parts[name.strip()] = _parsed(text, value.strip())
        if missing := {"grid", "block"} - parts.keys():
            raise _unreadable(text, f"It does not say the {min(missing)}.")
        return cls(" ".join(text.split()), parts)

    def at(self, sizes: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
        """Return grid, block and shared bytes for a problem.

        Raises
        ------
        LaunchError
            An expression has no whole number as its value.
        """
        grid, block = (self._numbers(name, sizes) for name in ("grid", "block"))
        shared = self._numbers("shared", sizes) if "shared" in self.parts else (0,)
        if len(shared) > 1:
            raise _unreadable(self.text, "shared is one number of bytes.")
        return grid, block, shared

    def _numbers(self, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
        given = {size: Fraction(number) for size, number in sizes.items()}
        node = self.parts[name]
        entries = node.elts if isinstance(node, ast.Tuple) else [node]
        numbers = []
        for entry in entries:
            try:
                number = Fraction(_value(entry, given))
            except (ArithmeticError, ValueError, TypeError) as failure:
                raise _unreadable(self.text, f"{name}: {failure}.") from None
            if number.denominator != 1 or abs(number) > _MOST:
                raise _unreadable(
                    self.text, f"{name} = {ast.unparse(entry)} is {float(number):g}."
                )
            numbers.append(int(number))
        return tuple(numbers)


def find(source: str) -> Shape | None:
    """Return the shape that a source declares; None where it declares none.

    Raises
    ------
    LaunchError
        It declares two, or one that cannot be read.
    """
    lines = _LINE.findall(source)
    if len(lines) > 1:
        raise LaunchError.explained(
            f"The source has {len(lines)} lines that begin with `// golf:`.",
            "A submission has one launch.",
            "Keep one of them.",
        )
    return Shape.of(lines[0]) if lines else None


def with_launch(source: str, launch: str) -> str:
    """Add the line of a launch to a source that has none.

    Raises
    ------
    LaunchError
        The source has such a line, or this one cannot be read.
    """
    if not isinstance(launch, str) or "\n" in launch:
        raise _unreadable(f" {launch!r}", "A launch is one line of text.")
    if find(source) is not None:
        raise LaunchError.explained(
            f"golf got launch={launch!r}, but the source says how it is launched.",
            "It has a line that begins with `// golf:`.",
            "Change that line, or leave launch= out.",
        )
    Shape.of(launch)
    return f"{source.rstrip()}\n\n// golf: {launch.strip()}\n"


def _parsed(text: str, value: str) -> ast.expr:
    if len(value) > _MOST_LENGTH:
        raise _unreadable(text, "An expression is too long.")
    try:
        return ast.parse(value, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _unreadable(text, f"{value!r} is no expression.") from None


def _value(node: ast.expr, sizes: Mapping[str, Fraction]):
    """Compute an expression; it has numbers, sizes, + - * / // % and four functions."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Fraction(number)
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            pair = _value(left, sizes), _value(right, sizes)
            return Fraction(_OPERATORS[type(op)](*pair))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if args:
            if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(_value(argument, sizes) for argument in args))
    allowed = ", ".join((*sizes, *_FUNCTIONS))
    raise ValueError(f"{ast.unparse(node)} is none of {allowed}, + - * / // %")


def _unreadable(text: str, why: str) -> CourseError:
    return LaunchError.explained(
        f"The launch `// golf:{text}` cannot be used.",
        why,
        "Write for example `// golf: grid = ceil(n / 256); block = 256`.",
    )
