"""Loads of matrices from shared memory, `ldmatrix`: a gather, then shuffles."""

from __future__ import annotations

from dataclasses import replace

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import request_of
from coursekit.simt.compiled.tier import listed, splat, vector
from coursekit.simt.compiled.values import Value

SIDE, ROW_WORDS = 8, 4  # of a matrix: rows, and words of 4 bytes in a row
_WORDS = vector("i32")


def emit_ldmatrix(tier, instruction) -> None:
    """Emit the load, as a method of both tiers; all lanes are here."""
    if not tier.fast:
        tier.require(tier.out.op(f"icmp eq i32 {tier.mask}, -1"))
    found = request_of(tier, instruction)
    if found.space != "shared" or instruction.guard is not None:
        raise UnsupportedError(f"{instruction.name} from a generic address")
    request = replace(found, element=4, elements=(None,) * ROW_WORDS)
    registers = instruction.operands[0].elements
    mask = str((1 << SIDE * len(registers)) - 1) if len(registers) < 4 else "-1"
    addresses = tier.lane_addresses(request)
    hosts = tier.host_addresses(request, addresses, mask)
    tier.count_lanes_reached(request, addresses, mask)
    lanes = tier.lanes_bits(mask)
    words = [each.name for each in tier.load_lanes(request, hosts, lanes)]
    fragment = _column if "trans" in instruction.modifiers else _row
    for number, register in enumerate(registers):
        tier.give(register, "b32", Value(fragment(tier.out, words, number)))


def _row(out, words: list[str], matrix: int) -> str:
    """Return elements 2 t and 2 t + 1 of row r of a matrix for lane 4 r + t."""
    first = SIDE * matrix
    return _picked(out, words, [(n % 4, first + n // 4) for n in range(LANES)])


def _column(out, words: list[str], matrix: int) -> str:
    """Return elements 2 t and 2 t + 1 of column r of a matrix for lane 4 r + t."""
    first = SIDE * matrix
    low, high = (
        _picked(
            out, words, [(n // 8, first + 2 * (n % 4) + below) for n in range(LANES)]
        )
        for below in (0, 1)
    )
    shifts = listed("i32", [n // 4 % 2 * 16 for n in range(LANES)])
    low, high = (out.op(f"lshr {_WORDS} {word}, {shifts}") for word in (low, high))
    low = out.op(f"and {_WORDS} {low}, {splat('i32', 0xFFFF)}")
    high = out.op(f"shl {_WORDS} {high}, {splat('i32', 16)}")
    return out.op(f"or {_WORDS} {low}, {high}")


def _picked(out, words: list[str], places: list[tuple[int, int]]) -> str:
    """Return the word that each lane takes, of four, from a lane of its own."""
    within = [word % 2 * LANES + lane for word, lane in places]
    first, second = (_shuffled(out, words[n], words[n + 1], within) for n in (0, 2))
    either = [word // 2 * LANES + n for n, (word, _) in enumerate(places)]
    return _shuffled(out, first, second, either)


def _shuffled(out, a: str, b: str, places: list[int]) -> str:
    text = ", ".join(f"i32 {place}" for place in places)
    return out.op(f"shufflevector {_WORDS} {a}, {_WORDS} {b}, {_WORDS} <{text}>")
