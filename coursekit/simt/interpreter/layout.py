"""Slots: one array of 32 lanes for each way in which an operand is accessed."""

from __future__ import annotations

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.isa import lookup
from coursekit.simt.ptx.ir import BYTES, Immediate, Register, Special, Symbol

LANES = 32


class Layout:
    """Numbers the slots of one function; `bind` makes their arrays for a frame."""

    def __init__(self, program):
        self.program = program
        self.local_offsets: dict[str, int] = {}
        self._numbers: dict[tuple, int] = {}
        self._fixed: dict[int, np.ndarray] = {}

    def register(self, register: Register, type_: str) -> int:
        """Return the slot of a register read as `type_`, which may be narrower."""
        if BYTES[type_] > BYTES[register.type] or (
            (type_ == "pred") != (register.type == "pred")
        ):
            raise UnsupportedError(
                f"{register.name} of type {register.type} used as {type_}"
            )
        return self._number(("register", register.index, type_, BYTES[register.type]))

    def constant(self, value, type_: str) -> int:
        """Return the slot of a constant."""
        number = self._number(("constant", _key(value), type_))
        if number not in self._fixed:
            self._fixed[number] = np.full(LANES, typed(value, type_))
        return number

    def special(self, name: str, type_: str) -> int:
        """Return the slot of a special register such as tid.x."""
        return self._number(("special", name, type_))

    def symbol(self, name: str, offset: int, type_: str) -> int:
        """Return the slot of the address of a variable."""
        return self._number(("symbol", name, offset, type_))

    def operand(self, operand, type_: str) -> int:
        """Return the slot of any source operand read as `type_`."""
        if isinstance(operand, Register):
            return self.register(operand, type_)
        if isinstance(operand, Immediate):
            return self.constant(operand, type_)
        if isinstance(operand, Special):
            return self.special(operand.name, type_)
        if isinstance(operand, Symbol):
            return self.symbol(operand.name, operand.offset, type_)
        raise UnsupportedError(f"operand {operand!r} as a value")

    def _number(self, key: tuple) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def bind(self, values: np.ndarray, warp, local_base: int) -> list[np.ndarray]:
        """Return the arrays for a frame whose registers are stored in `values`."""
        slots, seen = [], {}
        for key, number in self._numbers.items():
            if key[0] == "register":
                slots.append(_view(values, seen, *key[1:]))
            elif key[0] == "constant":
                slots.append(self._fixed[number])
            elif key[0] == "special":
                slots.append(_narrow(warp.block.special(warp, key[1]), key[2]))
            else:
                if key[1] in self.local_offsets:
                    address = local_base + self.local_offsets[key[1]] + key[2]
                else:
                    address = warp.block.launch.address_of(key[1]) + key[2]
                dtype = lookup.DTYPES[key[3]]
                mask = (1 << (8 * dtype.itemsize)) - 1
                slots.append(np.full(LANES, address & mask).astype(dtype))
        return slots


def _view(values, seen: dict, index: int, type_: str, register_bytes: int):
    """Return a register as a type; `seen` caches all registers as each type."""
    dtype = lookup.DTYPES[type_]
    every = seen.get(dtype)
    if every is None:
        every = seen[dtype] = values.view(dtype)
    step = register_bytes // dtype.itemsize
    return every[index, : LANES * step : step]


def _narrow(values: np.ndarray, type_: str) -> np.ndarray:
    dtype = lookup.DTYPES[type_]
    if dtype.itemsize > values.itemsize:
        return values.astype(dtype)
    return values.view(dtype)[:: values.itemsize // dtype.itemsize]


def _key(value):
    if isinstance(value, Immediate):
        number = value.value
        return (value.kind, repr(number))
    return repr(value)


def typed(value, type_: str):
    """Return a constant as a NumPy scalar of a PTX type."""
    dtype = lookup.DTYPES[type_]
    kind, number = "int", value
    if isinstance(value, Immediate):
        kind, number = value.kind, value.value
    if kind == "int":
        if type_ == "pred":
            return bool(number)
        if dtype.kind == "f":
            return dtype.type(number)
        bits = int(number) & ((1 << (8 * dtype.itemsize)) - 1)
        return np.array(bits, f"u{dtype.itemsize}").view(dtype)[()]
    source = np.array(number, np.float32 if kind == "f32" else np.float64)
    if dtype.kind == "f":
        return source.astype(dtype)[()] if dtype != source.dtype else source[()]
    return source.view(f"u{source.itemsize}").astype(dtype)[()]
