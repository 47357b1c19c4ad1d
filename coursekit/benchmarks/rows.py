"""Arrays, grids and comparisons of benchmarks that work on rows of a matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import coursekit as ck
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import COPIED, cover
from coursekit.errors import LaunchError

VALUES = 2**27  # of all rows together
SMALL_ROWS = 4  # of a size that is counted
ROUNDING = 2.0**-24  # relative, of one float32 operation

HELD = 32  # values of a row that a thread keeps in registers
LONGEST_OF_A_BLOCK = 512 * HELD
SHARING_BLOCK = 256  # threads, where blocks share a row
SHORT, LONG = (1024,), (4096, 16384, 65536, 262144)
LENGTHS = (
    *(2**k for k in range(8, 20)), 1000, 5000, 12345, 50257, 100003, 200001
)  # fmt: skip


QUADS = HELD // 4  # of 16 bytes, what a thread keeps of a row at most
WARP_QUADS = 32 * QUADS
BLOCK_QUADS = 1024 * QUADS
MOST_BLOCKS = 16  # of a cluster


@dataclass(frozen=True)
class RowShape:
    """How the kernels for rows of any length share out a row.

    Attributes
    ----------
    share : int
        Blocks of a row, which are a cluster.
    threads : int
        Threads of a row in each block: 32 where a warp has a row of its own.
    held : int
        Quads, of four values, that a thread keeps.
    """

    share: int
    threads: int
    held: int

    @classmethod
    def of(cls, cols: int, least_of_clusters: int = 2) -> RowShape:
        """Choose by the length: a warp, a block, or the smallest cluster that holds it.

        Parameters
        ----------
        cols : int
            Values of a row, 524,288 at most.
        least_of_clusters : int
            Blocks of the smallest cluster that is used.

        Raises
        ------
        LaunchError
            No cluster holds so long a row.
        """
        quads = max(cols // 4, 1)
        if quads <= WARP_QUADS:
            return cls(1, 32, max(2, _power_of_two(cover(quads, 32))))
        share = 1
        if quads > BLOCK_QUADS:
            needed = _power_of_two(cover(quads, BLOCK_QUADS))
            share = max(needed, least_of_clusters)
        if share > MOST_BLOCKS:
            raise LaunchError.explained(
                f"a row of {cols:,} values is too long for one cluster.",
                f"{MOST_BLOCKS} blocks keep {4 * MOST_BLOCKS * BLOCK_QUADS:,} values "
                "in their registers.",
                "Use step 3 of the softmax, which reads a row twice.",
            )
        return cls(share, 32 * cover(cover(quads, share), WARP_QUADS), QUADS)

    @property
    def block(self) -> int:
        """Threads of a block: those of eight rows, where a row has one warp."""
        return 256 if self.threads == 32 else self.threads

    @property
    def defines(self) -> dict[str, int]:
        """What the kernel is compiled with."""
        by_warps = int(self.threads == 32)
        return {"SHARE": self.share, "QUADS_HELD": self.held, "BY_WARPS": by_warps}

    def grid(self, rows: int) -> int:
        """Return the blocks of a launch."""
        return cover(rows, 8) if self.threads == 32 else rows * self.share


def _power_of_two(n: int) -> int:
    """Return the least power of two that is not below n."""
    return 1 << (n - 1).bit_length()


def of_any_length(file: str, name: str, least_of_clusters: int = 2) -> Callable:
    """Return a launch of a kernel for rows of any length: ``(rows, cols, *args)``.

    What the recorded lengths need is compiled here, and anything else when it is met.
    """

    @functools.cache
    def compiled(defines: tuple[tuple[str, int], ...]) -> Any:
        return ck.compile(file, defines=dict(defines))[name]

    @functools.cache
    def chosen(cols: int) -> tuple[RowShape, Any]:
        shape = RowShape.of(cols, least_of_clusters)
        return shape, compiled(tuple(shape.defines.items()))

    for cols in LENGTHS:
        chosen(cols)

    def launch(rows: int, cols: int, *arguments):
        shape, kernel = chosen(cols)
        kernel[shape.grid(rows), shape.block](*arguments)

    return launch


def copy_case() -> Callable:
    """Return the copy of x, into an array that no other case writes."""
    copy = ck.compile("transpose/step_00_copy.cu").copy

    def case(x, *others):
        *_, copied, rows, cols = others
        copy[cover(rows * cols, COPIED), 256](x, copied, rows * cols)

    return case


def rows_of(cols: int) -> int:
    """Return the number of rows of a size; few at sizes that are counted.

    It is a multiple of 4, so that the copy moves all values in fours.
    """
    return VALUES // cols // 4 * 4 if cols >= min(LENGTHS) else SMALL_ROWS


def threads_of(cols: int) -> int:
    """Return the threads of a block that keeps `cols` values in registers."""
    return 32 * cover(cols, 32 * HELD)


class Group:
    """The blocks that share a row, and how many of them run at once.

    Each thread keeps its part of a row, as many values as the kernel has room for.
    """

    def __init__(self, kernel, block: int, shared_bytes: int = 0):
        self.block = block
        per_sm = ck.occupancy(kernel, block, shared_bytes).blocks
        self.resident = per_sm * ck.device().sm_count

    def of(self, rows: int, cols: int) -> tuple[int, int]:
        """Return the blocks of a row, and of all rows that are worked on at once."""
        share = cover(cols, self.block * HELD)
        return share, min(self.resident // share, rows) * share


def terms(cols: int) -> int:
    """Return how many additions a value passes at most, in its thread and between."""
    return max(cols // 256, HELD) + 64


def compare(result, expected, relative: float, absolute: float) -> None:
    """Compare with a reference in float64, on the GPU where the arrays are there.

    Raises
    ------
    AssertionError
        A result is further off than it may be, or no number.
    """
    worst = float((abs(result - expected) - relative * abs(expected)).max())
    if not worst <= absolute:
        raise AssertionError(f"a result is off by {worst:.3g} more than it may be.")


def by_clusters(file: str, name: str) -> Callable:
    """Return a launch of a kernel that has a cluster of 1, 4 or 8 blocks for a row."""
    kernels = {n: ck.compile(file, defines={"SHARE": n})[name] for n in (1, 4, 8)}

    def launch(rows: int, cols: int, *arguments):
        share = min(cover(cols, LONGEST_OF_A_BLOCK), 8)
        kernels[share][rows * share, threads_of(cols // share)](*arguments)

    return launch


def normal_rows(cols: int) -> tuple:
    """Draw normal numbers in rows; room for a result of each, and for a copy."""
    rows = rows_of(cols)
    x = drawn.normal(rows, cols)
    return x, ck.empty((rows, cols)), ck.empty((rows, cols)), rows, cols
