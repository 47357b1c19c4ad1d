"""Assign the tiles of a matrix product, or parts of their sums, to blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FIELDS = ("row", "col", "k", "steps", "more", "parts", "part", "first")
PIECE = np.dtype([(name, np.int32) for name in FIELDS])  # as step 11 declares it
LEAST = 4  # steps of a part: below that, adding the parts takes longer than it saves
Part = tuple[int, int, int]  # block, step at which it begins, number of steps


@dataclass(frozen=True)
class Plan:
    """The pieces of a product.

    Attributes
    ----------
    pieces : ndarray of PIECE, shape (turns, blocks)
        What a block computes, turn by turn; after its last piece steps is 0.
    slots : int
        Tiles of C for which there must be room beside C, for parts of sums.
    """

    pieces: np.ndarray
    slots: int


def plan(
    extents: tuple[int, int, int],
    tile: tuple[int, int, int],
    blocks: int,
    *,
    group: int = 8,
    least: int = LEAST,
) -> Plan:
    """Distribute the tiles of C over the blocks, so that all blocks end together.

    Whole turns give each block one tile. The tiles that are left, fewer than there
    are blocks, are cut along k.

    Parameters
    ----------
    extents : (int, int, int)
        M, N and K.
    tile : (int, int, int)
        The same of a step: the tile of C, and the k that are loaded together.
    blocks : int
        How many blocks can run at once.
    group : int
        Rows of tiles that share columns of B in the L2 cache.
    least : int
        Steps of the shortest part that pays.
    """
    down, across, steps = (-(-n // part) for n, part in zip(extents, tile, strict=True))
    tiles = [(i * tile[0], j * tile[1]) for i, j in in_groups(down, across, group)]
    turns = len(tiles) // blocks
    own = [
        [(*tiles[turn * blocks + block], 0, steps, 1, 0, 0) for turn in range(turns)]
        for block in range(blocks)
    ]
    slots = 0
    shared = cut(len(tiles) % blocks, steps, blocks, least)
    for corner, parts in zip(tiles[turns * blocks :], shared, strict=True):
        for number, (block, begin, count) in enumerate(parts):
            place = len(parts), number, slots
            own[block].append((*corner, begin * tile[2], count, *place))
        slots += len(parts) if len(parts) > 1 else 0
    return Plan(_table([mine for mine in own if mine]), slots)


def in_groups(down: int, across: int, group: int) -> list[tuple[int, int]]:
    """Return the tiles ordered by groups of rows, and column by column in a group."""
    return [
        (row, col)
        for first in range(0, down, group)
        for col in range(across)
        for row in range(first, min(first + group, down))
    ]


def cut(tiles: int, steps: int, blocks: int, least: int) -> list[list[Part]]:
    """Distribute fewer tiles than blocks evenly: each tile is cut along k into parts.

    Each tile has a block for its first steps. The blocks that are left share the
    rests of all tiles, one after another.
    """
    used = max(min(blocks, tiles * (steps // least)), tiles)
    own = -(-tiles * steps // used) if tiles else 0
    if steps - own < least:
        return [[(tile, 0, steps)] for tile in range(tiles)]
    parts = [[(tile, 0, own)] for tile in range(tiles)]
    rest, others = steps - own, used - tiles
    for other in range(others):
        at, end = (tiles * rest * n // others for n in (other, other + 1))
        while at < end:
            tile, begin = divmod(at, rest)
            count = min(end - at, rest - begin)
            parts[tile].append((tiles + other, own + begin, count))
            at += count
    return parts


def _table(own: list[list[tuple]]) -> np.ndarray:
    pieces = np.zeros((max(map(len, own)) + 1, len(own)), PIECE)
    for block, mine in enumerate(own):
        for turn, (row, col, k, steps, *place) in enumerate(mine):
            more = turn + 1 < len(mine)
            pieces[turn, block] = row, col, k, steps, more, *place
    return pieces
