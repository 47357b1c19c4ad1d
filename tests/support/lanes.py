"""Run one PTX operation of the table over columns of values, 32 lanes at a time."""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from coursekit.simt.isa import lookup
from coursekit.simt.ptx.ir import Address, Instruction, Pair, Register

REGISTER = Register("%r1", 1, "b64")


def instruction(name: str, sources: int, *, pair: bool = False) -> Instruction:
    """Build an instruction with registers as operands."""
    opcode, *modifiers = name.split(".")
    first = Pair(REGISTER, REGISTER) if pair else REGISTER
    operands = (first, *[REGISTER] * sources)
    return Instruction(opcode, tuple(modifiers), operands, None, None, 0, f"{name};")


def atom(name: str, sources: int) -> Instruction:
    """Build an atom or red with its address and further operands."""
    opcode, *modifiers = name.split(".")
    operands = (Address(REGISTER), *[REGISTER] * sources)
    if opcode == "atom":
        operands = (REGISTER, *operands)
    return Instruction(opcode, tuple(modifiers), operands, None, None, 0, f"{name};")


def run(name: str, *columns, pair: bool = False):
    """Evaluate an operation on columns of numbers or bit patterns.

    Returns a list of integers (floats as their bits), or a tuple of lists when
    there are several results or a carry.
    """
    reads_carry = name.split(".")[0] in ("addc", "subc", "madc")
    wanted = instruction(name, len(columns) - reads_carry, pair=pair)
    return evaluate(lookup.operation(wanted), columns)


def run_atomic(name: str, *columns):
    """Evaluate the update of an atom or red on old values and operands."""
    return evaluate(lookup.atomic(atom(name, len(columns) - 1)), columns)


def evaluate(operation: lookup.Operation, columns):
    kinds = (*operation.sources, *["pred"] * operation.reads_carry)
    results = (*operation.results, *["pred"] * operation.writes_carry)
    count = len(columns[0])
    padded = [list(c) + [c[-1]] * (-count % 32) for c in columns]
    found = [[] for _ in results]
    with np.errstate(all="ignore"):
        for start in range(0, len(padded[0]), 32):
            sources = [
                column(values[start : start + 32], kind)
                for values, kind in zip(padded, kinds, strict=True)
            ]
            values = operation.evaluate(*sources)
            values = values if len(results) > 1 else (values,)
            for out, value, kind in zip(found, values, results, strict=True):
                assert value.shape == (32,)
                assert value.dtype == lookup.DTYPES[kind]
                out += bits(value)
    cut = tuple(out[:count] for out in found)
    return cut if len(cut) > 1 else cut[0]


def column(values, kind: str) -> np.ndarray:
    """A read-only array as the engine passes it: every other place of a wider one."""
    dtype = lookup.DTYPES[kind]
    if kind == "pred":
        narrow = np.array(values, np.bool_)
    else:
        mask = (1 << (8 * dtype.itemsize)) - 1
        unsigned = np.array([v & mask for v in values], f"u{dtype.itemsize}")
        narrow = unsigned.view(dtype)
    wide = np.zeros(2 * len(values), dtype)
    wide[::2] = narrow
    wide.flags.writeable = False
    return wide[::2]


def bits(value: np.ndarray) -> list[int]:
    if value.dtype.kind == "f":
        value = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}")
    return value.tolist()


def every(*pools, at_most: int = 4000, seed: int = 1) -> list[tuple]:
    """All combinations of the pools, or a seeded sample of them, as columns."""
    rows = list(product(*pools))
    if len(rows) > at_most:
        rows = random.Random(seed).sample(rows, at_most)
    return list(zip(*rows, strict=True))


def integers(kind: str, count: int = 12, seed: int = 2) -> list[int]:
    """The edges of an integer type, and random values of every size."""
    width = int(kind[1:])
    rng = random.Random(seed)
    low = -(1 << (width - 1)) if kind[0] == "s" else 0
    high = (1 << (width - (kind[0] == "s"))) - 1
    edges = [0, 1, 2, 3, high, high - 1, low, low + 1, high // 2, high // 2 + 1]
    if kind[0] == "s":
        edges += [-1, -2, -7]
    sized = [rng.getrandbits(rng.randint(1, width)) for _ in range(count)]
    return edges + [wrap(v, kind) for v in sized]


def wrap(value: int, kind: str) -> int:
    width = int(kind[1:])
    value &= (1 << width) - 1
    return value - (1 << width) if kind[0] == "s" and value >> (width - 1) else value


# Exponent bits and fraction bits.
SHAPES = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def floats(kind: str, count: int = 30, seed: int = 3) -> list[int]:
    """Bits of the edges of a float type, and random values of every size."""
    exponent, fraction = SHAPES[kind]
    rng = random.Random(seed)
    infinity = ((1 << exponent) - 1) << fraction
    one = ((1 << (exponent - 1)) - 1) << fraction
    smallest_normal = 1 << fraction
    positive = [
        0, 1, 2, 3, smallest_normal - 1, smallest_normal, smallest_normal + 1,
        one - 1, one, one + 1, one + (1 << fraction), one + (3 << (fraction - 1)),
        one - (1 << fraction), infinity - 1, infinity - 2, infinity,
        infinity + 1, infinity | 1 << (fraction - 1),
    ]  # fmt: skip
    near = [one + rng.randint(-20, 20) * (1 << fraction) + rng.getrandbits(fraction)
            for _ in range(count // 2)]  # fmt: skip
    anywhere = [rng.randrange(infinity) for _ in range(count - count // 2)]
    near = [v % infinity for v in near]
    return [v | s << (exponent + fraction) for s in (0, 1)
            for v in positive + near + anywhere]  # fmt: skip
