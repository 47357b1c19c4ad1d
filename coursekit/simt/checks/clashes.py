"""The severity of two unordered accesses: none, a note, a warning or an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coursekit.simt.checks.findings import ERROR, NOTE, WARNING
from coursekit.simt.checks.guesses import only_guesses, updates_by_hand
from coursekit.simt.checks.ordering import BlockOrder

if TYPE_CHECKING:
    from coursekit.simt.checks.watching import WatchedAccess

# How two threads that race stand to each other: lanes of one store, lanes of one
# warp at different times, threads of different warps, or of different blocks.
TOGETHER, NEAR, APART, FOREIGN = "together", "near", "apart", "foreign"


class Touch(NamedTuple):
    """One access of some lanes of a warp to one region.

    `places`, `threads` and `bits`, the lanes as bits, have an entry for each place that
    a lane touches, `each` places per lane; `order` is the block's.
    """

    access: WatchedAccess
    warp: Any
    part: tuple
    places: np.ndarray
    threads: np.ndarray
    bits: np.ndarray
    each: int
    order: BlockOrder


def line(access):
    """Return the source line of an access, or its PTX where the line is unknown."""
    location = access.instruction.location
    return (location.file, location.line) if location else access.instruction.text


def allowed(touch: Touch, earlier, how: str) -> bool:
    """Whether unordered accesses are no race, since both are atomic or volatile.

    What is atomic within a block only, as `atomicAdd_block` is, does not count for
    threads of other blocks.
    """
    access = touch.access
    if not (access.strong and earlier.strong):
        return False
    if how == FOREIGN:
        return not (access.in_block or earlier.in_block)
    atomic = access.atomic or earlier.atomic
    return atomic or how == APART or touch.part[0].space != "shared"


def judge(touch: Touch, earlier, how: str, pairs: tuple) -> tuple:
    """Return the severity of pairs of accesses, and the numbers of those that have it.

    Two stores of the same value give the same result in either order. Lanes of a warp
    that update an element without an atomic lose updates on all hardware.
    """
    access, (at, others, _) = touch.access, pairs
    everyone = np.arange(len(at))
    hazard = how == NEAR and touch.part[0].space == "shared"
    if access.verb == earlier.verb == "writes":
        differ = ~_same_values(touch, at // touch.each, others, how)
        if not differ.any():
            return NOTE, everyone
        return WARNING if hazard else ERROR, np.flatnonzero(differ)
    if only_guesses(access, earlier):
        return NOTE, everyone
    lost = hazard and updates_by_hand(access, earlier)
    return WARNING if hazard and not lost else ERROR, everyone


def _same_values(touch: Touch, positions, others, how: str) -> np.ndarray:
    """Whether stores write the value that is there already.

    For lanes of one store: whether they write equal values.
    """
    access, warp, (region, lanes, offsets) = touch.access, touch.warp, touch.part
    if not access.stored:
        return np.zeros(len(positions), bool)
    size = access.width // len(access.stored)
    view = region.view(size)
    same = np.ones(len(positions), bool)
    for k, slot in enumerate(access.stored):
        values = warp.slots[slot][lanes].view(view.dtype)
        if how == TOGETHER:
            before = values[np.searchsorted(touch.threads[:: touch.each], others)]
        else:
            before = view[offsets[positions] // size + k]
        same &= values[positions] == before
    return same
