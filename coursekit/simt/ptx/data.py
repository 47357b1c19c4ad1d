"""Declarations of PTX variables and parameters, with their initial bytes."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from coursekit.errors import UnsupportedError
from coursekit.simt.ptx import ir
from coursekit.simt.ptx.lexer import INTEGER, NAME, OFFSETS, number, offset, split_list

SPACES = frozenset({"global", "const", "shared", "local", "param"})

_LINKAGE = frozenset({"visible", "extern", "weak", "common"})
_LARGEST = 2**48
_LARGEST_INITIALISED = 2**28
_MOST_DIMENSIONS = 8
_FLOATS = {"f32": "<f", "f64": "<d"}
_BYTE = {str(n): n for n in range(256)}

_WORD = re.compile(
    r"\s*\.(\w+)(?:\s*\((?:[^()]|\([^()]*\))*\)|\s+(\d{1,9})\b)?", re.ASCII
)
_DECLARATOR = re.compile(
    rf"({NAME})((?:\s*\[\s*(?:{INTEGER}\s*)?\])*)\s*(?:=\s*(.+))?",
    re.ASCII | re.DOTALL,
)
_EXTENT = re.compile(rf"\[\s*(?:({INTEGER})\s*)?\]", re.ASCII)
_ADDRESS = re.compile(
    rf"(?:(?P<mask>0[xX][0-9a-fA-F]{{2,16}})\s*\(\s*)?"
    rf"(?:generic\s*\(\s*(?P<generic>{NAME})(?P<inner>{OFFSETS})\s*\)|(?P<name>{NAME}))"
    rf"(?P<outer>{OFFSETS})\s*(?P<close>\))?",
    re.ASCII,
)

Fail = Callable[[str], UnsupportedError]


def variables(text: str, fail: Fail) -> list[ir.Variable]:
    """Read one declaration, `.space .align n .type name[extent] = value, ...`.

    Parameters
    ----------
    text : str
        The declaration without its semicolon.
    fail : callable
        Turns a problem into the error to raise.

    Returns
    -------
    list of ir.Variable
        One for each name declared.

    Raises
    ------
    UnsupportedError
        When the declaration is not understood.
    """
    traits, end = _traits(text, fail)
    declarators = split_list(text[end:])
    if declarators is None:
        raise fail("the brackets do not match")
    return [_variable(traits, declarator, fail) for declarator in declarators]


@dataclass(slots=True)
class _Traits:
    """The attributes in the dotted words before the names."""

    space: str = ""
    type: str = ""
    align: int = 0
    lanes: int = 1
    external: bool = False


def _traits(text: str, fail: Fail) -> tuple[_Traits, int]:
    """Read the dotted words; also return where they end."""
    traits, end, pointee = _Traits(), 0, False
    while match := _WORD.match(text, end):
        end = match.end()
        word, argument = match.groups()
        if argument is not None and word != "align":
            raise fail(f"unexpected number after .{word}")
        if word == "ptr":
            pointee = True
        elif not pointee or word not in SPACES | {"align"}:
            _apply(traits, word, argument, fail)
    if not traits.space or not traits.type:
        raise fail("a declaration without state space or type")
    return traits, end


def _apply(traits: _Traits, word: str, argument: str | None, fail: Fail) -> None:
    """Record one dotted word in `traits`."""
    if word in SPACES:
        traits.space = word
    elif word in ir.BYTES:
        traits.type = word
    elif word == "align" and argument is not None:
        traits.align = int(argument)
        if traits.align.bit_count() != 1:
            raise fail("an alignment that is not a power of two")
    elif word in ("v2", "v4"):
        traits.lanes = int(word[1])
    elif word in _LINKAGE:
        traits.external |= word == "extern"
    elif word != "attribute":
        raise fail(f"unknown word .{word} in a declaration")


def _variable(traits: _Traits, declarator: str, fail: Fail) -> ir.Variable:
    """Build the variable of one name, its extents and its initialiser."""
    match = _DECLARATOR.fullmatch(declarator)
    if match is None:
        raise fail("a name was expected")
    name, brackets, value = match.groups()
    shape = _shape(brackets, value, traits, fail)
    unit = ir.BYTES[traits.type] * traits.lanes
    variable = ir.Variable(
        name=name,
        space=traits.space,
        type=traits.type,
        align=traits.align or unit,
        nbytes=math.prod(shape) * unit,
        external=traits.external,
    )
    if variable.nbytes > _LARGEST:
        raise fail(f"{name} is too large")
    if value is not None:
        _initialise(
            variable, shape + ((traits.lanes,) * (traits.lanes > 1)), value, fail
        )
    return variable


def _shape(
    brackets: str, value: str | None, traits: _Traits, fail: Fail
) -> tuple[int, ...]:
    """Return the extents; an empty first one is the initialiser's length or 0."""
    extents = [
        number(n).value if n and number(n) else n for n in _EXTENT.findall(brackets)
    ]
    if len(extents) > _MOST_DIMENSIONS or "" in extents[1:]:
        raise fail("array extents that are missing or too many")
    if not all(isinstance(n, int) or n == "" for n in extents):
        raise fail("an array extent that is not a number")
    if extents and extents[0] == "":
        items = split_list(value.strip()[1:-1]) if value else []
        if not value and not traits.external and traits.space != "param":
            raise fail("an array without extent")
        extents[0] = len(items or [])
    return tuple(extents)


@dataclass(slots=True)
class _Image:
    """The bytes of a variable while its initialiser is read."""

    type: str
    nbytes: int
    fail: Fail
    data: bytearray = field(init=False)
    relocations: list[tuple[int, str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = bytearray(self.nbytes)

    def fill(self, text: str, shape: tuple[int, ...], start: int) -> None:
        """Write a list in braces, whose rows have the given shape, from `start` on."""
        if not text.endswith("}") or not shape:
            raise self.fail("an initialiser with more braces than dimensions")
        items = split_list(text[1:-1])
        if items is None:
            raise self.fail("the brackets do not match")
        size = ir.BYTES[self.type]
        row = size * math.prod(shape[1:])
        for i, item in enumerate(items if items != [""] else []):
            if item.startswith("{"):
                self.fill(item, shape[1:], start + i * row)
            elif len(shape) > 1:
                raise self.fail("a row of an initialiser without braces")
            else:
                self.scalar(item, start + i * size)

    def scalar(self, text: str, at: int) -> None:
        """Write one value at byte `at`: a number or the address of a symbol."""
        size = ir.BYTES[self.type]
        if at + size > self.nbytes:
            raise self.fail("an initialiser longer than its variable")
        value = number(text)
        if value is None:
            self.address(text, at)
        else:
            self.data[at : at + size] = self.encode(value, size)

    def encode(self, value: ir.Immediate, size: int) -> bytes:
        """Return the bytes of a constant in the variable's type."""
        if value.kind == "int" and self.type not in _FLOATS:
            return (value.value % (1 << 8 * size)).to_bytes(size, "little")
        if value.kind == "int":
            raise self.fail(f"an integer in a variable of type .{self.type}")
        if self.type in _FLOATS:
            return struct.pack(_FLOATS[self.type], _clip(value.value, self.type))
        if ir.BYTES[value.kind] == size:
            return struct.pack(_FLOATS[value.kind], value.value)
        raise self.fail(f"a float in a variable of type .{self.type}")

    def address(self, text: str, at: int) -> None:
        """Note that the address of a symbol belongs at byte `at`."""
        match = _ADDRESS.fullmatch(text)
        if match is None or (match["mask"] is None) != (match["close"] is None):
            raise self.fail(f"unknown initial value `{text[:40]}`")
        terms = offset(match["inner"] or ""), offset(match["outer"])
        if None in terms:
            raise self.fail("an offset that is not a number")
        symbol, size = match["generic"] or match["name"], ir.BYTES[self.type]
        if match["mask"] is None:
            self.relocations.append((at, symbol, sum(terms), size))
        else:
            self.address_byte(int(match["mask"], 16), symbol, sum(terms), at)

    def address_byte(self, mask: int, symbol: str, addend: int, at: int) -> None:
        """Note one byte of an address, `0xFF00(symbol)`, which extends the last one."""
        if ir.BYTES[self.type] != 1:
            raise self.fail("a masked address in a variable that is not of bytes")
        if mask == 0xFF:
            self.relocations.append((at, symbol, addend, 1))
            return
        start, last, last_addend, count = (*self.relocations[-1:], (0, "", 0, 0))[0]
        follows = (start + count, last, last_addend) == (at, symbol, addend)
        if not follows or mask != 0xFF << 8 * count:
            raise self.fail("bytes of an address out of order")
        self.relocations[-1] = (start, symbol, addend, count + 1)


def _clip(value: float, kind: str) -> float:
    """Turn what overflows a float of 4 bytes into infinity."""
    if kind == "f32" and math.isfinite(value) and abs(value) > 3.4028235677973366e38:
        return math.copysign(math.inf, value)
    return value


def _initialise(
    variable: ir.Variable, shape: tuple[int, ...], value: str, fail: Fail
) -> None:
    """Set the initial bytes and relocations of a variable."""
    if variable.nbytes > _LARGEST_INITIALISED:
        raise fail(f"the initialised variable {variable.name} is too large")
    value = value.strip()
    if (plain := _plain_bytes(variable, value)) is not None:
        variable.initial = plain
        return
    image = _Image(variable.type, variable.nbytes, fail)
    if value.startswith("{"):
        image.fill(value, shape, 0)
    elif shape:
        raise fail("an array whose initialiser has no braces")
    else:
        image.scalar(value, 0)
    variable.initial = bytes(image.data)
    variable.relocations = tuple(image.relocations)


def _plain_bytes(variable: ir.Variable, value: str) -> bytes | None:
    """Read a flat list of decimal bytes in bulk: some headers bring a megabyte."""
    if ir.BYTES[variable.type] != 1 or value[:1] != "{" or value[-1:] != "}":
        return None
    try:
        data = bytes(map(_BYTE.__getitem__, map(str.strip, value[1:-1].split(","))))
    except KeyError:
        return None
    return data.ljust(variable.nbytes, b"\0") if len(data) <= variable.nbytes else None
