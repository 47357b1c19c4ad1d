"""The sentences of the tile animator; its JavaScript has the same ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from coursekit.lessons.tiling import Tiling
from coursekit.lessons.tiling.shape import LANES

HEADS = (
    "matrix",
    "each value is read from global memory",
    "then from shared memory by",
    "reads per warp",
    "wavefronts",
    "of them conflicts",
)


def digits(number: float) -> str:
    """Write a number with at most four decimals, or six below 1, halves rounded up."""
    places = 6 if number < 1 else 4
    whole, rest = divmod(math.floor(number * 10**places + 0.5), 10**places)
    return f"{whole:,}.{rest:0{places}}".rstrip("0").rstrip(".")


def plural(count: int, word: str) -> str:
    """Write a number with its noun in the singular or the plural."""
    return f"{digits(count)} {word}{'' if count == 1 else 's'}"


def spans(numbers: Iterable[int]) -> str:
    """Write indices as ranges: 0-3, 16-19."""
    return ", ".join(
        f"{first}" if count == 1 else f"{first}-{first + count - 1}"
        for first, count in runs(numbers)
    )


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return first index and length of each run of consecutive numbers."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == sum(ranges[-1]):
            ranges[-1] = ranges[-1][0], ranges[-1][1] + 1
        else:
            ranges.append((number, 1))
    return ranges


def describe(cut: Tiling, block: int, thread: int, step: int) -> dict[str, Any]:
    """Return the sentences about a tiling, its costs, and one of its steps."""
    if cut.problem:
        return {"problem": cut.problem}
    return {
        "problem": "",
        "summary": _summary(cut),
        "table": _table(cut),
        "cost": _cost(cut),
        "told": _told(cut, thread, step),
        "so_far": _so_far(cut, block, step),
        "owner": _owner(cut, thread),
    }


def _summary(cut: Tiling) -> str:
    (down, across), (height, width) = cut.grid, cut.warp_tile
    warps = cut.threads // LANES
    return (
        f"{plural(down * across, 'block')} of {plural(cut.threads, 'thread')}: a block "
        f"computes {cut.rows} x {cut.cols} of C, each of its {plural(warps, 'warp')} "
        f"{height} x {width}, a thread {cut.patch_rows} x {cut.patch_cols}. "
        f"{digits(cut.shared_bytes)} bytes of shared memory per block."
    )


def _table(cut: Tiling) -> list[list[str]]:
    (down, across), patch = cut.grid, cut.patch_rows * cut.patch_cols
    reads = (cut.patch_rows + cut.patch_cols) / patch
    costs = [cut.requests, cut.wavefronts, cut.conflicts]
    a, b = ([digits(pair[n]) for pair in costs] for n in range(2))
    return [
        ["A", plural(across, "time"),
         plural(cut.cols // cut.patch_cols, "thread"), *a],
        ["B", plural(down, "time"),
         plural(cut.rows // cut.patch_rows, "thread"), *b],
        ["both", f"{digits(cut.global_values / cut.fmas)} an FMA",
         f"{digits(reads)} an FMA", *(digits(sum(pair)) for pair in costs)],
    ]  # fmt: skip


def _cost(cut: Tiling) -> str:
    useful = cut.M * cut.N * cut.K
    text = (
        f"{digits(cut.intensity)} FLOP a byte of global memory. Reads, wavefronts and "
        "conflicts are those of a warp for 32 FMAs, one of each lane."
    )
    if cut.fmas == useful:
        return text
    return f"{text} {digits(cut.fmas - useful)} FMAs are with zeros, past an edge."


def _k_range(cut: Tiling, turn: int) -> str:
    return f"k = {turn * cut.depth}-{(turn + 1) * cut.depth - 1}"


def _told(cut: Tiling, thread: int, step: int) -> str:
    turn, k = cut.moment(step)
    where = f"Tile {turn + 1} of {cut.turns}"
    if k is None:
        return f"{where}: {_k_range(cut, turn)} is brought. {_brings(cut, thread)}"
    text = (
        f"{where}, k = {turn * cut.depth + k}: thread {thread} takes "
        f"{plural(cut.patch_rows, 'value')} of A and {cut.patch_cols} of B, for "
        f"{plural(cut.patch_rows * cut.patch_cols, 'FMA')}."
    )
    if cut.brought(step) > turn + 1:
        text += f" {_k_range(cut, turn + 1)} is on its way into the other buffer."
    if k == cut.depth - 1 and turn + 1 < cut.turns:
        text += " Then all threads wait for each other."
    return text


def _brings(cut: Tiling, thread: int) -> str:
    a, b = list(cut.brings_a(thread)), list(cut.brings_b(thread))
    return (
        f"Thread {thread} copies {_copies(cut, 'A', a)} and {_copies(cut, 'B', b)}, "
        "then waits for all."
    )


def _copies(cut: Tiling, name: str, places: list[tuple[int, int]]) -> str:
    if not places:
        return f"nothing of {name}"
    values = plural(cut.copied * len(places), "value")
    row, col = places[0]
    return f"{values} of {name}, from [{row}][{col}] of its tile on"


def _so_far(cut: Tiling, block: int, step: int) -> str:
    rows, cols = cut.inside(block)
    values = min(cut.brought(step) * cut.depth, cut.K) * (rows + cols)
    fmas = min(cut.multiplied(step), cut.K) * rows * cols
    return (
        f"Block {block} so far: {plural(values, 'value')} from global memory, "
        f"{plural(fmas, 'FMA')}, which are {digits(fmas / values)} a value."
    )


def _owner(cut: Tiling, thread: int) -> str:
    return (
        f"Thread {thread} is lane {thread % LANES} of warp {thread // LANES}. Of its "
        f"block's tile it owns {_named('row', cut.rows_of(thread))} and "
        f"{_named('column', cut.cols_of(thread))}."
    )


def _named(word: str, numbers: list[int]) -> str:
    return f"{word}{'' if len(numbers) == 1 else 's'} {spans(numbers)}"
