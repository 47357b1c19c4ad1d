"""Kernel parameters with their C++ types.

The types come from a mangled name (`mangling`), the widths and places from the
PTX declaration, the names from the source text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

#: kind of a type: how a Python value becomes bytes.
KINDS = (
    "bool", "int", "uint", "float", "bfloat16",  # numbers, one or several lanes
    "pointer", "reference", "function", "struct", "void",
    "unknown",  # only the width is known
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CType:
    """A C++ type.

    Attributes
    ----------
    name : str
        As written in C++ without const and stars: float, float4, q::Pair<int>.
    kind : str
        One of `KINDS`.
    size : int
        Bytes; 0 when unknown (a struct behind a pointer) and for void.
    dtype : str or None
        NumPy dtype of one lane; uint16 for bfloat16; None for structs and pointers.
    lanes : int
        4 for float4, 16 for float[16], else 1.
    const : bool
        Whether this type is const; of a pointer's target it means "read only".
    pointee : CType or None
        The target of a pointer or a reference.
    parameters : tuple of CType
        Parameters of a function type.
    """

    name: str
    kind: str
    size: int = 0
    dtype: str | None = None
    lanes: int = 1
    const: bool = False
    pointee: CType | None = None
    parameters: tuple[CType, ...] = ()

    @property
    def is_pointer(self) -> bool:
        return self.kind == "pointer"

    def __str__(self) -> str:
        const = "const " if self.const else ""
        if self.pointee is not None:
            star = "*" if self.is_pointer else "&"
            return f"{self.pointee}{star}{' const' if self.const else ''}"
        return const + self.name


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter.

    Attributes
    ----------
    name : str
        From the source, else arg0, arg1, ...
    type : CType
        The type that the caller must pass.
    size, align, offset : int
        Bytes of the parameter and its place in the parameter block.
    exact : bool
        False when only the width is known, from the PTX.
    """

    name: str
    type: CType
    size: int
    align: int
    offset: int
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A `.param` line of a PTX entry: type without the dot, bytes and alignment."""

    ptx_type: str
    size: int
    align: int
    aggregate: bool


_ENTRY = r"\.entry\s+{name}\s*\((?P<params>[^)]*)\)"
_PARAM = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>[a-z]\w+)"
    r"[^,\[]*?(?:\[(?P<count>\d+)\])?\s*(?:,|$)"
)


def slots(ptx: str, lowered_name: str) -> tuple[Slot, ...]:
    """Return the parameter declarations of one entry of a PTX text, in order."""
    entry = re.search(_ENTRY.format(name=re.escape(lowered_name)), ptx)
    if entry is None:
        return ()
    return tuple(_slot(found) for found in _PARAM.finditer(entry["params"]))


def _slot(found: re.Match[str]) -> Slot:
    width = int(re.sub(r"\D", "", found["type"])) // 8
    size = width * int(found["count"] or 1)
    align = int(found["align"] or width)
    return Slot(found["type"], size, align, found["count"] is not None)


def parameters(
    slots: tuple[Slot, ...],
    types: tuple[CType, ...] | None,
    names: tuple[str | None, ...] = (),
) -> tuple[Parameter, ...]:
    """Combine the widths, types and names of a kernel's parameters.

    Parameters
    ----------
    slots : tuple of Slot
        From the PTX; they decide how many parameters there are, and where.
    types : tuple of CType or None
        Decoded types; None, or another count than the slots, means unknown.
    names : tuple of (str or None)
        From the source text.
    """
    known = types if types is not None and len(types) == len(slots) else None
    named = names if len(names) == len(slots) else ()
    result, offset = [], 0
    for index, slot in enumerate(slots):
        offset = -(-offset // slot.align) * slot.align
        ctype = _fit(known[index], slot) if known else _bare(slot)
        name = (named[index] if named else None) or f"arg{index}"
        exact = known is not None and ctype.kind != "unknown"
        result.append(Parameter(name, ctype, slot.size, slot.align, offset, exact))
        offset += slot.size
    return tuple(result)


def _fit(ctype: CType, slot: Slot) -> CType:
    """Complete what the mangled name leaves open: a struct's size, or an enum."""
    if ctype.kind != "struct":
        return ctype if ctype.size == slot.size else _bare(slot)
    if slot.aggregate:
        return replace(ctype, size=slot.size)
    return replace(ctype, kind="int", size=slot.size, dtype=f"int{8 * slot.size}")


def _bare(slot: Slot) -> CType:
    if slot.aggregate:
        return CType("struct", "struct", slot.size)
    if slot.ptx_type.startswith("f"):
        return CType(
            {2: "__half", 4: "float", 8: "double"}[slot.size],
            "float",
            slot.size,
            f"float{8 * slot.size}",
        )
    return CType(f"{slot.size}-byte value", "unknown", slot.size)
