"""Values of the index expressions of a source line, for one thread of a launch."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

_C_SIGNS = (("&&", " and "), ("||", " or "), ("/", "//"))
_NOT = re.compile(r"!(?!=)")
_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
_MEMBER = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*([xyz])\b")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b(?:\s*\.\s*[xyz]\b)?")
_CHANGES = (
    r"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*{name}\b"
    r"|\b{name}\s*(?:\+\+|--)|(?<=[=(,])\s*&\s*{name}\b"
)
_DECLARED = (
    r"\b(?:int|unsigned|size_t|long)\s+(?:[^;=(]*=[^;]*?,\s*)?{name}"
    r"\s*=\s*(?P<value>[^;,]+)[;,]"
)

Number = int | bool
NO_VALUE = (SyntaxError, ArithmeticError, LookupError, ValueError, RecursionError)


def _quotient(a: int, b: int) -> int:
    """Divide as C does, towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: _quotient,
    ast.Mod: lambda a, b: a - _quotient(a, b) * b,
    ast.LShift: lambda a, b: operator.lshift(a, b % 64),
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARED: dict[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Values:
    """The names of a kernel whose values for one thread its text tells.

    Parameters
    ----------
    code : str
        The kernel's text, without comments.
    known : mapping of str to int
        Scalar parameters, and the built-in variables, such as `threadIdx.x`.
    """

    def __init__(self, code: str, known: Mapping[str, int]):
        self._code, self._known = code, dict(known)
        self._taken: dict[str, int] = {}
        self._declared: dict[str, int] = {}
        self._asked: set[str] = set()

    def of(self, expression: str) -> int | None:
        """Return the value of an integer expression; None where the text has none."""
        text = _MEMBER.sub(r"\1_dot_\2", _SUFFIX.sub(r"\1", expression))
        for sign, word in _C_SIGNS:
            text = text.replace(sign, word)
        try:
            tree = ast.parse(_NOT.sub(" not ", text).strip(), mode="eval")
            return int(self._value(tree.body))
        except NO_VALUE:
            return None

    def take(self, name: str, value: int) -> None:
        """Take a variable to have a value that its text does not tell: a loop's."""
        self._taken[name] = value

    def listed(self, expression: str) -> str:
        """Write the values of the names in an expression: `i = 0, n = 8`."""
        # What differs from thread to thread first, then the kernel's parameters.
        names = sorted(self.names(expression), key=self.is_parameter)
        values = {name: self.of(name) for name in names}
        return ", ".join(f"{n} = {v}" for n, v in values.items() if v is not None)

    def names(self, expression: str) -> list[str]:
        """Return the names in an expression: `i`, `n`, `threadIdx.x`."""
        found = (re.sub(r"\s", "", match[0]) for match in _WORD.finditer(expression))
        return list(dict.fromkeys(found))

    def is_parameter(self, name: str) -> bool:
        """Whether every thread gets the same value from the launch."""
        return name in self._known and "." not in name

    def declaration(self, name: str) -> str | None:
        """Return the expression that a variable is declared with, if nothing else."""
        changes = len(re.findall(_CHANGES.format(name=re.escape(name)), self._code))
        found = re.search(_DECLARED.format(name=re.escape(name)), self._code)
        return found["value"].strip() if found and changes == 1 else None

    def _value(self, node: ast.AST) -> Number:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return self._name(node.id.replace("_dot_", "."))
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand)
            return not value if isinstance(node.op, ast.Not) else -value
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](
                self._value(node.left), self._value(node.right)
            )
        if isinstance(node, ast.BoolOp):
            parts = (bool(self._value(part)) for part in node.values)
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return _COMPARED[type(node.ops[0])](left, right)
        raise ValueError(node)

    def _name(self, name: str) -> int:
        """Return a variable's value, if nothing changes it after its declaration."""
        if name in self._taken:
            return self._taken[name]
        changes = len(re.findall(_CHANGES.format(name=re.escape(name)), self._code))
        if name in self._known and not changes:
            return self._known[name]
        if name not in self._declared:
            declared = re.search(_DECLARED.format(name=re.escape(name)), self._code)
            if declared is None or changes != 1 or name in self._asked:
                raise ValueError(name)
            self._asked.add(name)
            value = self.of(declared["value"])
            if value is None:
                raise ValueError(name)
            self._declared[name] = value
        return self._declared[name]
