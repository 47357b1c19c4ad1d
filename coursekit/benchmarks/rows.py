"""Arrays, grids and comparisons of benchmarks that work on rows of a matrix."""

from __future__ import annotations

from collections.abc import Callable

import coursekit as ck
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import COPIED, cover

VALUES = 2**27  # of all rows together
SMALL_ROWS = 4  # of a size that is counted
ROUNDING = 2.0**-24  # relative, of one float32 operation

HELD = 32  # values of a row that a thread keeps in registers
LONGEST_OF_A_BLOCK = 512 * HELD
SHARING_BLOCK = 256  # threads, where blocks share a row
SHORT, LONG = (1024,), (4096, 16384, 65536, 262144)


def copy_case() -> Callable:
    """Return the copy of x, into an array that no other case writes."""
    copy = ck.compile("transpose/step_00_copy.cu").copy

    def case(x, *others):
        *_, copied, rows, cols = others
        copy[cover(rows * cols, COPIED), 256](x, copied, rows * cols)

    return case


def rows_of(cols: int) -> int:
    """Return the number of rows of a size; few at sizes that are counted."""
    return VALUES // cols if cols >= min(SHORT) else SMALL_ROWS


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
