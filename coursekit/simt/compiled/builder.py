"""LLVM IR as text, line by line."""

from __future__ import annotations


class Builder:
    """Collects the lines of one function, and what its module must declare.

    Names of values are fresh in each function: `%v1`, `%v2`, ...
    """

    def __init__(self, declarations: dict[str, None] | None = None):
        self.lines: list[str] = []
        self.declarations = declarations if declarations is not None else {}
        self._count = 0

    def fresh(self, prefix: str = "v") -> str:
        """Return an unused name, without its percent sign."""
        self._count += 1
        return f"{prefix}{self._count}"

    def op(self, text: str) -> str:
        """Append an instruction with a result; returns the result's name."""
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{name}:")

    def declare(self, text: str) -> None:
        """Declare a function of the module, once."""
        self.declarations[text] = None
