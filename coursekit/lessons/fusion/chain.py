"""A chain of operations on tensors, read from lines such as ``u = a + t``."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError, CourseError

REDUCTIONS = ("sum", "max", "min", "mean")
_ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.operator,
    ast.unaryop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """Name, shape and bytes an element of a tensor."""

    name: str
    shape: tuple[int, ...]
    itemsize: int

    @property
    def nbytes(self) -> int:
        """Bytes that the whole tensor takes."""
        return math.prod(self.shape) * self.itemsize


@dataclass(frozen=True)
class Operation:
    """One line of a chain.

    Attributes
    ----------
    text : str
        The line as it was written.
    result : Tensor
    reads : tuple of Tensor
        Each once, in the order of the line.
    extent : tuple of int
        Shape of the elements that it goes through.
    reduces : str
        "" for elements, "rows" or "all" for reductions.
    """

    text: str
    result: Tensor
    reads: tuple[Tensor, ...]
    extent: tuple[int, ...]
    reduces: str = ""

    @property
    def name(self) -> str:
        """The name of its result."""
        return self.result.name


def operations(
    chain: str | Sequence[str], shapes: Mapping[str, Any], dtypes: Any
) -> tuple[Operation, ...]:
    """Read the lines of a chain and find the shape of every result."""
    given = chain.splitlines() if isinstance(chain, str) else chain
    several = isinstance(given, (list, tuple)) and isinstance(shapes, Mapping)
    if not several or not all(isinstance(line, str) for line in given):
        raise ArgumentError.explained(
            f"fusion got {type(chain).__name__} and {type(shapes).__name__}.",
            "It takes lines of text, and the shape of each input by its name.",
            'Write for example ck.fusion(["y = a + b"], {"a": 1024, "b": 1024}).',
        )
    lines = list(given)
    lines = [line.strip() for line in lines if line.strip()]
    tensors = {
        name: Tensor(name, _shape(name, shape), _itemsize(dtypes, name))
        for name, shape in shapes.items()
    }
    parsed: list[Operation] = []
    for line in lines:
        operation = _operation(line, tensors, dtypes)
        tensors[operation.name] = operation.result
        parsed.append(operation)
    if not parsed:
        raise _unreadable("", "it has no line")
    return tuple(parsed)


def outputs(chain: Sequence[Operation]) -> set[str]:
    """Return the results that no other line reads: the outputs of the chain."""
    used = {tensor.name for operation in chain for tensor in operation.reads}
    return {operation.name for operation in chain} - used


def _operation(line: str, tensors: Mapping[str, Tensor], dtypes: Any) -> Operation:
    target, value = _parsed(line)
    if target in tensors:
        raise _unreadable(line, f"{target} has a value already")
    reduces = ""
    if _is_reduction(value):
        reduces, value = _reduction(line, value)
    names = list(dict.fromkeys(_names(line, value)))
    unknown = [name for name in names if name not in tensors]
    if unknown:
        raise _unreadable(line, f"{unknown[0]} is neither an input nor computed before")
    if not names:
        raise _unreadable(line, "it reads no tensor")
    reads = tuple(tensors[name] for name in names)
    try:
        extent = np.broadcast_shapes(*(tensor.shape for tensor in reads))
    except ValueError:
        shown = ", ".join(f"{t.name} {t.shape}" for t in reads)
        raise _unreadable(line, f"the shapes do not broadcast: {shown}") from None
    shape = {"": extent, "rows": (*extent[:-1], 1), "all": ()}[reduces]
    if reduces == "rows" and not extent:
        raise _unreadable(line, "a single value has no rows")
    result = Tensor(target, shape, _itemsize(dtypes, target))
    return Operation(line, result, reads, extent, reduces)


def _parsed(line: str) -> tuple[str, ast.expr]:
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        raise _unreadable(line, "it is no assignment") from None
    simple = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not simple or not isinstance(statement.targets[0], ast.Name):
        raise _unreadable(line, "it is no assignment to one name")
    return statement.targets[0].id, statement.value


def _is_reduction(value: ast.expr) -> bool:
    named = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
    return named and value.func.id in REDUCTIONS and len(value.args) == 1


def _reduction(line: str, call: ast.Call) -> tuple[str, ast.expr]:
    given = {word.arg: word.value for word in call.keywords}
    axis = given.pop("axis", None)
    if given or (axis is not None and ast.unparse(axis) != "-1"):
        raise _unreadable(line, "a reduction knows axis=-1, or no axis, and no more")
    return ("rows" if axis is not None else "all"), call.args[0]


def _names(line: str, value: ast.expr) -> Iterator[str]:
    """Yield the tensors of an expression of elements, from left to right."""
    if not isinstance(value, _ALLOWED):
        raise _unreadable(line, f"{ast.unparse(value)} is no operation on elements")
    if isinstance(value, ast.Call):
        named = isinstance(value.func, ast.Name)
        if not named or value.keywords or _is_reduction(value):
            raise _unreadable(line, "a reduction needs a line of its own")
        for argument in value.args:
            yield from _names(line, argument)
    elif isinstance(value, ast.Name):
        yield value.id
    else:
        for part in ast.iter_child_nodes(value):
            yield from _names(line, part)


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    whole = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if any(not isinstance(n, int | np.integer) or n < 1 for n in whole):
        raise ArgumentError.explained(
            f"ck.fusion: the shape of {name} is {shape!r}.",
            cure="Give whole numbers of 1 or more, for example (1024, 768).",
        )
    return tuple(map(int, whole))


def _itemsize(dtypes: Any, name: str) -> int:
    chosen = dtypes.get(name, "float32") if isinstance(dtypes, Mapping) else dtypes
    return 2 if chosen == "bfloat16" else np.dtype(chosen).itemsize


def _unreadable(line: str, why: str) -> CourseError:
    return ArgumentError.explained(
        f"ck.fusion cannot read {line!r}: {why}.",
        "A chain has a line for each operation, and every line names its result.",
        'Write for example ["t = b * c", "u = a + t", "y = sigmoid(u)"].',
    )
