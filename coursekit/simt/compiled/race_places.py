"""The places that a patterned access touches, and the lane at each place."""

from __future__ import annotations

from coursekit.simt.compiled.affine import LANES

# Words of neighbouring places are looked at together, that many at most; GAPs stand for
# a few places between them that nobody touches.
PIECE = 32
GAP, WIDEST_GAP = -1, 4


def grains(unit) -> dict[str, int]:
    """Return the granularity of shared and of global shadow words, in bytes."""
    found = {"shared": 16, "global": 16}
    for access in unit.accesses.values():
        space = access.space or "global"
        if space in found:
            found[space] = min(found[space], access.width)
    return found


def places(request, group: int, grain: int) -> tuple[int, dict]:
    """Return the lane at each place of a group of lanes; None where several are.

    Places are counted from the lowest byte, whose distance from the base is the first
    result.
    """
    size = LANES // request.pattern.groups
    offsets = request.pattern.offsets[group * size : (group + 1) * size]
    low = min(offsets)
    found: dict[int, int | None] = {}
    for lane, offset in enumerate(offsets, group * size):
        for k in range(request.width // grain):
            place = (offset - low) // grain + k
            found[place] = None if place in found else lane
    return low + request.constant, dict(sorted(found.items()))


def pieces(owners: dict) -> list[tuple[int, list]]:
    """Split places into pieces: the first place of each, its owners and gaps."""
    found: list[tuple[int, list]] = []
    for place, owner in owners.items():
        begin, some = found[-1] if found else (-PIECE, [])
        gap = place - begin - len(some)
        if place < begin + PIECE and gap <= WIDEST_GAP:
            some += [GAP] * gap + [owner]
        else:
            found.append((place, [owner]))
    return found
