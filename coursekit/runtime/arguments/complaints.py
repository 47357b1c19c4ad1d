"""Errors about one kernel argument, which name the parameter and its type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError, CourseError
from coursekit.toolchain.signature import CType, Parameter

WRONG_ORDER = "Often two arguments are in the wrong order."


def summary(value: object) -> str:
    """Describe a value by its type and the beginning of its repr."""
    text = repr(value)
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"{type(value).__name__} {shown}"


@dataclass(frozen=True, slots=True)
class Context:
    """A parameter of a kernel, for errors about the argument that it got."""

    kernel_name: str
    parameter: Parameter

    @property
    def ctype(self) -> CType:
        return self.parameter.type

    def error(self, got: str, cause: str, cure: str) -> CourseError:
        """Build the error for an argument that is `got`."""
        where = f"{self.kernel_name}: parameter {self.parameter.name} ({self.ctype})"
        return ArgumentError.explained(f"{where} got {got}.", cause, cure)

    def about(self, problem: CourseError) -> CourseError:
        """Build the error for an argument that no kernel can take."""
        got = problem.what[:1].lower() + problem.what[1:].removesuffix(".")
        return self.error(got, problem.cause, problem.cure)

    def unlike(self, value: object, expected: str) -> CourseError:
        """Build the error for a value of another kind than the expected one."""
        name = self.parameter.name
        if isinstance(value, (str, bytes, type(None), complex, np.complexfloating)):
            cause = f"The parameter takes {expected}."
        else:
            cause = f"The parameter takes {expected}. {WRONG_ORDER}"
        return self.error(
            summary(value), cause, f"Pass {expected} for {name}, in the kernel's order."
        )
