"""Work assignment in a tiled matrix product: who computes and who loads what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LANES, MOST_THREADS, MOST_SHARED = 32, 1024, 227 * 1024
PIECES = ("in one piece", "columns in pieces", "rows and columns in pieces")
ORDERS = ("row by row", "in pairs")
LAYOUTS = ("by rows", "by rows, swizzled", "by columns", "by columns, padded")
BUFFERS = ("one", "two, filled ahead")


def ceil(a: int, b: int) -> int:
    """Return the quotient, rounded up."""
    return -(-a // b)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes of a product, and its division among blocks, warps and threads.

    Attributes
    ----------
    M, N, K : int
        A is M x K, B is K x N, C is M x N.
    rows, cols, depth : int
        A block's tile of C, and how many k its tiles of A and B hold.
    down : int
        Rows of lanes in a warp: 1, 2, 4, ..., 32; 32 / down stand side by side.
    patch_rows, patch_cols : int
        Values of C that a thread keeps.
    pieces : str
        Whether a patch is one rectangle, or lies in pieces as wide as an access: one of
        PIECES.
    order : str
        The numbering of lanes, one of ORDERS.
    a_tile : str
        The layout of A's tile in shared memory, one of LAYOUTS.
    buffers : str
        One pair of tiles, or two, of which one is filled while the other is used.
    copied : int
        Values that one access to global memory brings, 1 or 4.
    """

    M: int = 256
    N: int = 256
    K: int = 64
    rows: int = 128
    cols: int = 128
    depth: int = 8
    down: int = 8
    patch_rows: int = 8
    patch_cols: int = 8
    pieces: str = PIECES[0]
    order: str = ORDERS[0]
    a_tile: str = LAYOUTS[0]
    buffers: str = BUFFERS[0]
    copied: int = 1

    # ------------------------------------------------------------ who owns what

    @property
    def across(self) -> int:
        """Lanes of a warp side by side."""
        return LANES // self.down

    @property
    def warp_tile(self) -> tuple[int, int]:
        return self.down * self.patch_rows, self.across * self.patch_cols

    @property
    def warp_grid(self) -> tuple[int, int]:
        height, width = self.warp_tile
        return self.rows // height, self.cols // width

    @property
    def threads(self) -> int:
        return LANES * self.warp_grid[0] * self.warp_grid[1]

    @property
    def grid(self) -> tuple[int, int]:
        """Numbers of blocks along the rows and along the columns of C."""
        return ceil(self.M, self.rows), ceil(self.N, self.cols)

    @property
    def turns(self) -> int:
        """Pairs of tiles that a block loads, one after the other."""
        return ceil(self.K, self.depth)

    @property
    def shared_bytes(self) -> int:
        pad = 4 * self.depth if self.a_tile == LAYOUTS[3] else 0
        values = (self.rows + self.cols) * self.depth + pad
        return 4 * values * (1 + BUFFERS.index(self.buffers))

    @property
    def a_width(self) -> int:
        """Values of A that one shared access loads."""
        return 4 if self.by_rows else _width(self.patch_rows)

    @property
    def b_width(self) -> int:
        return _width(self.patch_cols)

    @property
    def by_rows(self) -> bool:
        return self.a_tile in LAYOUTS[:2]

    def corner(self, warp: int) -> tuple[int, int]:
        """First row and column of a warp, within the tile of its block."""
        (height, width), beside = self.warp_tile, self.warp_grid[1]
        return warp // beside * height, warp % beside * width

    def place(self, lane: int) -> tuple[int, int]:
        """Return the row and column of a lane within its warp."""
        if self.order == ORDERS[0] or self.across == 1:
            return lane // self.across, lane % self.across
        return lane // 2 % self.down, lane % 2 + lane // (2 * self.down) * 2

    def rows_of(self, thread: int) -> list[int]:
        """Return the rows of the block's tile in which a thread owns values."""
        top, place = self.corner(thread // LANES)[0], self.place(thread % LANES)[0]
        piece = 1 if self.by_rows else self.a_width
        piece = piece if self.pieces == PIECES[2] else self.patch_rows
        return _strewn(top, place, self.down, self.patch_rows, piece)

    def cols_of(self, thread: int) -> list[int]:
        """Return the columns of the block's tile in which a thread owns values."""
        left, place = self.corner(thread // LANES)[1], self.place(thread % LANES)[1]
        piece = self.patch_cols if self.pieces == PIECES[0] else self.b_width
        return _strewn(left, place, self.across, self.patch_cols, piece)

    def brings_a(self, thread: int) -> Iterator[tuple[int, int]]:
        """Yield (row, k) where each access begins by which a thread copies A's tile."""
        wide = self.depth // self.copied
        for i in range(thread, self.rows * wide, self.threads):
            yield i // wide, i % wide * self.copied

    def brings_b(self, thread: int) -> Iterator[tuple[int, int]]:
        """Yield (k, column) where each access begins by which a thread copies B's."""
        wide = self.cols // self.copied
        for i in range(thread, self.depth * wide, self.threads):
            yield i // wide, i % wide * self.copied

    # ------------------------------------------------------------ what cannot be

    @property
    def problem(self) -> str:
        """The reason why no kernel can have this shape; empty where one can."""
        height, width = self.warp_tile
        whole = f"A tile of {self.rows} x {self.cols}"
        if self.rows % height or self.cols % width:
            return f"{whole} cannot be cut into warps of {height} x {width}."
        if self.threads > MOST_THREADS:
            return f"{whole} would need {self.threads} threads; a block has 1024."
        if self.shared_bytes > MOST_SHARED:
            return (
                f"The tiles would need {self.shared_bytes} bytes of shared memory; a "
                f"block of an H200 has {MOST_SHARED}."
            )
        return ""


def _width(count: int) -> int:
    """Return how many of `count` adjacent values one access can load."""
    return next(width for width in (4, 2, 1) if count % width == 0)


def _strewn(start: int, place: int, lanes: int, count: int, piece: int) -> list[int]:
    """Return the indices of a lane's values where the lanes' pieces alternate."""
    return [
        start + i // piece * lanes * piece + place * piece + i % piece
        for i in range(count)
    ]
