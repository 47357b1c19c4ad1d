"""The parameters of a kernel: Python values checked one by one, turned to bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.arguments.complaints import Context, summary
from coursekit.runtime.arguments.pointers import ArrayOf, Untyped
from coursekit.runtime.arguments.scalars import by_value
from coursekit.toolchain.signature import Parameter


@dataclass(frozen=True, slots=True)
class Rule:
    """How one parameter takes its argument.

    Attributes
    ----------
    code : str
        Of the module struct; the packed width.
    convert : callable
        Checks a value and returns what is packed; of a pointer, the Operand or None.
    """

    parameter: Parameter
    code: str
    convert: Callable

    @property
    def is_output(self) -> bool:
        """Whether the kernel may write through this pointer."""
        target = self.parameter.type.pointee
        return target is None or not target.const


class Signature:
    """The parameters of one kernel, ready to check and pack arguments.

    Parameters
    ----------
    kernel_name : str
        For messages.
    parameters : sequence of Parameter
    """

    def __init__(self, kernel_name: str, parameters):
        self.kernel_name = kernel_name
        self.parameters = tuple(parameters)
        self.rules = tuple(_rule(kernel_name, each) for each in self.parameters)
        self.layout = struct.Struct(_layout(self.rules))

    def __str__(self) -> str:
        return f"{self.kernel_name}({', '.join(map(str, self.parameters))})"

    @property
    def names(self) -> str:
        """Names of the parameters, as one would pass variables of these names."""
        return ", ".join(each.name for each in self.parameters)

    def convert(self, arguments) -> list:
        """Check every argument; arrays become Operands, the rest is ready to pack.

        Raises
        ------
        ArgumentError
            There are too few or too many arguments, or one does not fit.
        """
        if len(arguments) != len(self.rules):
            raise self._wrong_count(arguments)
        return [
            rule.convert(value)
            for rule, value in zip(self.rules, arguments, strict=True)
        ]

    def pack(self, values) -> bytes:
        """Lay the values out as the kernel reads them; pointers are addresses."""
        return self.layout.pack(*values)

    def _wrong_count(self, arguments) -> CourseError:
        expected, given = len(self.parameters), len(arguments)
        if given < expected:
            missing = ", ".join(each.name for each in self.parameters[given:])
            detail = f"nothing is left for {missing}"
        else:
            detail = f"{summary(arguments[expected])} has no parameter"
        noun = "argument" if expected == 1 else "arguments"
        return ArgumentError.explained(
            f"{self.kernel_name} takes {expected} {noun}, got {given}: {detail}.",
            "The arguments of a launch are the parameters of the kernel, in its order.",
            f"The kernel is declared as {self}.",
        )


def _layout(rules: tuple[Rule, ...]) -> str:
    """Format string with the padding that the parameters' offsets ask for."""
    parts, end = ["<"], 0
    for rule in rules:
        parts.append(f"{rule.parameter.offset - end}x{rule.code}")
        end = rule.parameter.offset + rule.parameter.size
    return "".join(parts)


def _rule(kernel_name: str, parameter: Parameter) -> Rule:
    ctype = parameter.type
    context = Context(kernel_name, parameter)
    if ctype.is_pointer:
        return Rule(parameter, "Q", ArrayOf(context, ctype.pointee))
    if ctype.kind == "unknown":
        code = "Q" if parameter.size == 8 else f"{parameter.size}s"
        return Rule(parameter, code, Untyped(context))
    return Rule(parameter, *by_value(context))
