"""Arrays, grids and comparisons of benchmarks that work on rows of a matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
LINE = 32  # values of 128 bytes
WIDEST = 8192  # values of a slice that a block should have
FEWEST_SLOTS = 2
WORKERS = 16  # warps of a block
BLOCK_WARPS = 32  # at most
MERGING_BYTES = 1536  # of shared memory at most, beside the slots


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
    def of(cls, cols: int) -> RowShape:
        """Choose by the length: a warp, a block, or the smallest cluster that holds it.

        Parameters
        ----------
        cols : int
            Values of a row, 524,288 at most.

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
            share = _power_of_two(cover(quads, BLOCK_QUADS))
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


@dataclass(frozen=True)
class RingShape:
    """How the kernels with a ring in shared memory share out long rows.

    Attributes
    ----------
    share : int
        Blocks of a team, which share a row.
    width : int
        Columns of a block.
    slots : int
        Slices that the ring of a block holds.
    workers : int
        Warps of a block that compute results.
    """

    share: int
    width: int
    slots: int
    workers: int = WORKERS

    @classmethod
    def of(cls, cols: int) -> RingShape:
        """Choose by the length, for the device that is in use.

        The fewest blocks whose slices are not too wide; or one more, where that keeps
        more of the SMs busy and a row is no whole number of lines for each of them.

        Parameters
        ----------
        cols : int
            Values of a row.

        Raises
        ------
        LaunchError
            A block of this device holds too few slices of so long a row.
        """
        device = ck.device()
        share = min(cover(cols, WIDEST), device.sm_count)
        if cols % (share * LINE):
            busy = {s: device.sm_count // s * s for s in (share, share + 1)}
            share = max(busy, key=lambda s: (busy[s], -s))
        width = cover(cols, share)
        room = device.shared_bytes_per_block_optin - MERGING_BYTES
        slots = min(room // (4 * _pitch(width)), BLOCK_WARPS - WORKERS - 2)
        if slots < FEWEST_SLOTS:
            raise LaunchError.explained(
                f"a row of {cols:,} values is too long for the blocks of this device.",
                f"{share} blocks have {width:,} columns each, and {slots} slices of "
                f"them fit in {room:,} bytes of shared memory.",
                "Use a kernel that reads a row twice: step 2 of the layernorm, step 3 "
                "of the softmax.",
            )
        return cls(share, width, slots)

    @property
    def block(self) -> int:
        """Threads of a block: a warp fetches, one stores, and each slot has one."""
        return 32 * (self.slots + self.workers + 2)

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory of a block."""
        return 4 * self.slots * _pitch(self.width)

    @property
    def defines(self) -> dict[str, int]:
        """What the kernel is compiled with."""
        return {
            "SHARE": self.share, "WIDTH": self.width, "SLOTS": self.slots,
            "WORKERS": self.workers,
        }  # fmt: skip

    def places(self, teams: int) -> int:
        """Return how many numbers the teams tell each other before they reuse one."""
        return 4 * self.slots * self.share * teams


def _pitch(width: int) -> int:
    """Return the values from one slot to the next: whole lines, wherever one begins."""
    return (width + 2 * (LINE - 1)) // LINE * LINE


def _power_of_two(n: int) -> int:
    """Return the least power of two that is not below n."""
    return 1 << (n - 1).bit_length()


def of_any_length(file: str, name: str, longest: int) -> Callable:
    """Return a launch of a kernel for rows of any length: ``(rows, cols, *args)``.

    What the recorded lengths up to the longest need is compiled here, and anything else
    when it is met.
    """

    @functools.cache
    def compiled(defines: tuple[tuple[str, int], ...]) -> Any:
        return ck.compile(file, defines=dict(defines))[name]

    @functools.cache
    def chosen(cols: int) -> tuple[RowShape, Any]:
        shape = RowShape.of(cols)
        return shape, compiled(tuple(shape.defines.items()))

    for cols in LENGTHS:
        if cols <= longest:
            chosen(cols)

    def launch(rows: int, cols: int, *arguments):
        shape, kernel = chosen(cols)
        kernel[shape.grid(rows), shape.block](*arguments)

    return launch


def through_a_ring(file: str, name: str, lengths: Iterable[int]) -> Callable:
    """Return a launch of a kernel with a ring: ``(rows, cols, arrays, numbers)``.

    The kernel takes the arrays, its own two, `rows`, `cols` and the numbers. It is
    compiled here for the lengths.
    """
    scratch = drawn.zeros()

    @functools.cache
    def chosen(cols: int) -> tuple[RingShape, Any]:
        shape = RingShape.of(cols)
        return shape, ck.compile(file, defines=shape.defines)[name]

    for cols in lengths:
        chosen(cols)

    def launch(rows: int, cols: int, arrays: tuple, numbers: tuple = ()):
        shape, kernel = chosen(cols)
        teams = min(ck.device().sm_count // shape.share, rows)
        places = scratch(f"places {cols}", shape.places(teams), np.uint64)
        ended = scratch("ended", 1, np.uint32)
        kernel.launch(
            teams * shape.share, shape.block, *arrays, places, ended, rows, cols,
            *numbers, shared_bytes=shape.shared_bytes, cooperative=True,
        )  # fmt: skip

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
