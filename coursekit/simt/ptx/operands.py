"""Operands of PTX instructions, and the scopes that give names their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from coursekit.errors import UnsupportedError
from coursekit.simt.ptx import ir
from coursekit.simt.ptx.lexer import (
    INTEGER,
    NAME,
    OFFSETS,
    Source,
    number,
    offset,
    split_list,
)

_VECTORS = (
    "tid", "ntid", "ctaid", "nctaid",
    "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid",
)  # fmt: skip
_SCALARS = (
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "is_explicit_cluster", "cluster_ctarank", "cluster_nctarank",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi",
    "total_smem_size", "aggr_smem_size", "dynamic_smem_size", "current_graph_exec",
    "reserved_smem_offset_begin", "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
)  # fmt: skip
SPECIALS = frozenset(
    [f"%{name}" for name in (*_VECTORS, *_SCALARS)]
    + [f"%{name}.{axis}" for name in _VECTORS for axis in "xyzw"]
    + [f"%pm{i}{bits}" for i in range(8) for bits in ("", "_64")]
    + [f"%envreg{i}" for i in range(32)]
    + [f"%reserved_smem_offset_{i}" for i in range(2)]
)

_NAME = re.compile(rf"{NAME}(?:\.[xyzw])?", re.ASCII)
_SUM = re.compile(
    rf"(?:(?P<name>{NAME})|(?P<number>-?{INTEGER}))(?P<terms>{OFFSETS})", re.ASCII
)
_RANGE = re.compile(rf"({NAME})\s*(?:<\s*(\d{{1,9}})\s*>)?", re.ASCII)
_NESTED = frozenset("{}[]!|")
_DIGITS = "0123456789"


@dataclass(slots=True)
class Frame:
    """The state that all scopes of one function share during parsing."""

    source: Source
    module: ir.Module
    function: ir.Function
    unresolved: list[tuple[str, int]]
    position: int = 0
    copies: dict[str, int] = field(default_factory=dict)

    def error(self, problem: str) -> UnsupportedError:
        """Build the error for the current statement."""
        return self.source.error(self.position, problem)

    def unique(self, name: str) -> str:
        """Return the name itself the first time, later `name@1`, `name@2`, ..."""
        copy = self.copies.get(name, 0)
        self.copies[name] = copy + 1
        return f"{name}@{copy}" if copy or name in self.module.variables else name


class Scope(dict):
    """The names between two braces; as a dictionary, operands by their text.

    Looking up a text that was not met before reads it as an operand. Registers
    come into being when they are first used, so a range such as `%r<5000>`
    costs nothing, and the index of a register is the order of first use.

    Operands are those of `ir`; besides, the sink `_` is None, and an address
    with tensor coordinates, `[%rd1, {%r1, %r2}]`, is the tuple
    (Address, Vector).
    """

    def __init__(self, frame: Frame, parent: Scope | None = None) -> None:
        super().__init__()
        self.frame = frame
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.types: dict[str, str] = {}
        self.ranges: dict[str, tuple[int, str]] = {}
        self.registers: dict[str, ir.Register] = {}
        self.symbols: dict[str, str] = {}
        self.labels: dict[str, str] = {}

    def __missing__(self, text: str):
        operand = self[text] = self._read(text.strip())
        return operand

    # --- declarations

    def declare_registers(self, kind: str, names: str) -> None:
        """Declare the registers of `.reg .kind names`, as in `%r<8>, p`."""
        if kind not in ir.BYTES:
            raise self.frame.error(f"registers of unknown type .{kind}")
        for piece in names.split(","):
            match = _RANGE.fullmatch(piece.strip())
            if match is None or match[1] in SPECIALS:
                raise self.frame.error("a register name was expected")
            # `a<2>` is a0 and a1, so that a register `a` may stand beside it.
            if match[1] in (self.types if match[2] is None else self.ranges):
                raise self.frame.error(f"register {match[1]} is declared twice")
            self._declare_range(kind, match[1], match[2])
        self.clear()

    def _declare_range(self, kind: str, name: str, count: str | None) -> None:
        if count is None:
            self.types[name] = kind
        elif name[-1] not in _DIGITS:
            self.ranges[name] = (int(count), kind)
        else:
            raise self.frame.error("a range of registers whose name ends in a digit")

    def declare_symbol(self, name: str) -> str:
        """Declare a variable or table of this scope; return its unique name."""
        self.symbols[name] = unique = self.frame.unique(name)
        self.clear()
        return unique

    # --- names

    def symbol(self, name: str) -> str | None:
        """Return the unique name of a variable of this or an outer scope."""
        found = self._find(name)
        return found.name if isinstance(found, ir.Symbol) else None

    def label(self, name: str) -> str | None:
        """Return the unique name of a label of this or an outer scope."""
        scope = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None

    def _find(self, name: str) -> ir.Register | ir.Symbol | None:
        """Look a name up, innermost scope first."""
        prefix = name.rstrip(_DIGITS)
        scope = self
        while scope is not None:
            if name in scope.registers:
                return scope.registers[name]
            if name in scope.types:
                return scope._create(name, scope.types[name])
            if name in scope.symbols:
                return ir.Symbol(scope.symbols[name])
            if prefix in scope.ranges and scope._covers(name, prefix):
                return scope._create(name, scope.ranges[prefix][1])
            scope = scope.parent
        return None

    def _covers(self, name: str, prefix: str) -> bool:
        """Tell whether a declared range holds the number at the end of `name`."""
        digits = name[len(prefix) :]
        if not 0 < len(digits) < 10 or (digits[0] == "0" and len(digits) > 1):
            return False
        return int(digits) < self.ranges[prefix][0]

    def _create(self, name: str, kind: str) -> ir.Register:
        registers = self.frame.function.registers
        register = self.registers[name] = ir.Register(name, len(registers), kind)
        registers.append(register)
        return register

    def _name(self, name: str):
        """Read a lone name."""
        if name in SPECIALS:
            return ir.Special(name[1:])
        if (found := self._find(name)) is not None:
            return found
        if name == "_":
            return None
        if name == "WARP_SZ":
            return ir.Immediate(32)
        if "%" in name or "." in name:
            raise self.frame.error(f"undeclared register {name}")
        self.frame.unresolved.append((name, self.frame.position))
        return ir.Symbol(name)

    # --- operands

    def operands(self, text: str) -> tuple:
        """Read the operands of an instruction, separated by commas."""
        if "{" not in text:
            return tuple([self[piece] for piece in text.split(",")]) if text else ()
        pieces = split_list(text)
        if pieces is None:
            raise self.frame.error("the brackets do not match")
        return tuple([self[piece] for piece in pieces])

    def predicate(self, name: str) -> ir.Register:
        """Read a register where only a register may stand."""
        register = self[name] if _NAME.fullmatch(name.strip()) else None
        if not isinstance(register, ir.Register):
            raise self.frame.error(f"{name.strip()[:40]} is not a register")
        return register

    def _read(self, word: str):
        """Read any operand."""
        if _NAME.fullmatch(word):
            return self._name(word)
        if (constant := number(word)) is not None:
            return constant
        if word.startswith("[") and word.endswith("]"):
            return self._bracket(word[1:-1])
        if word.startswith("{") and word.endswith("}"):
            return self._vector(word[1:-1])
        if word.startswith("!"):
            return ir.Not(self.predicate(word[1:]))
        if word.count("|") == 1:
            return self._pair(*word.split("|"))
        base, terms = self._sum(word)
        if isinstance(base, ir.Symbol):
            return ir.Symbol(base.name, terms)
        if isinstance(base, ir.Immediate) and base.kind == "int":
            return ir.Immediate(base.value + terms)
        raise self._unknown(word)

    def _unknown(self, word: str) -> Exception:
        """Return the error for a text that is no operand, on one line."""
        return self.frame.error(f"unknown operand `{' '.join(word.split())[:40]}`")

    def _sum(self, word: str) -> tuple:
        """Read `base+16`; return the base and the number of bytes."""
        match = _SUM.fullmatch(word)
        terms = offset(match["terms"]) if match else None
        if terms is not None and match["name"]:
            return self[match["name"]], terms
        if terms is not None and (constant := number(match["number"])):
            return constant, terms
        raise self._unknown(word)

    def _address(self, inside: str) -> ir.Address:
        """Read what stands in brackets, without them."""
        base, terms = self._sum(inside.strip())
        if not isinstance(base, ir.Register | ir.Symbol | ir.Immediate):
            raise self.frame.error("an address must begin with a register or a name")
        return ir.Address(base, terms)

    def _bracket(self, inside: str) -> ir.Address | tuple[ir.Address, ir.Vector]:
        """Read an address, or an address and the coordinates in a tensor."""
        address, comma, coordinates = inside.partition(",")
        if not comma:
            return self._address(inside)
        braces = coordinates.strip()
        if braces[:1] != "{" or braces[-1:] != "}":
            raise self.frame.error("coordinates in braces were expected")
        return self._address(address), self._vector(braces[1:-1])

    def _vector(self, inside: str) -> ir.Vector:
        """Read what stands in braces, without them."""
        if not _NESTED.isdisjoint(inside):
            raise self.frame.error("a vector of registers was expected")
        elements = tuple([self[piece] for piece in inside.split(",")])
        for element in elements:
            if not isinstance(element, ir.Register | ir.Immediate | ir.Special | None):
                raise self.frame.error("a vector of registers was expected")
        return ir.Vector(elements)

    def _pair(self, *names: str) -> ir.Pair:
        """Read two destinations joined by a bar."""
        first, second = (
            None if name.strip() == "_" else self.predicate(name) for name in names
        )
        return ir.Pair(first, second)
