"""Recorded times of ladders over rows: softmax and layernorm, short rows and long."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.peers import peers
from coursekit.benchmarks.transposes import COPIED, cover

VALUES = 2**27  # of all rows together
SMALL_ROWS = 4  # of a size that is counted
ROUNDING, EPSILON = 2.0**-24, 1e-5  # of one float32 operation; of a layernorm

HELD = 32  # values of a row that a thread keeps in registers
LONGEST_OF_A_BLOCK = 512 * HELD
SOFTMAX_BLOCK, LAYERNORM_BLOCK = 256, 256  # threads, where blocks share a row
SHORT, LONG = (1024,), (4096, 16384, 65536, 262144)


def copy_case() -> Callable:
    """Return the copy of x, into an array that no other case writes."""
    copy = ck.compile("transpose/step_00_copy.cu").copy

    def case(x, *others):
        *_, copied, rows, cols = others
        copy[cover(rows * cols, COPIED), 256](x, copied, rows * cols)

    return case


def rows_of(cols: int) -> int:
    """Rows of a size: few where it is counted."""
    return VALUES // cols if cols >= min(SHORT) else SMALL_ROWS


def threads_of(cols: int) -> int:
    """Threads of a block that keeps a row, or its part of one, in registers."""
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
    """Additions on the way of a value: those of a thread, at most, and the threads'."""
    return max(cols // 256, HELD) + 64


def compare(found, wanted, relative: float, absolute: float) -> None:
    """Compare with a reference in float64, on the GPU where the arrays are there.

    Raises
    ------
    AssertionError
        A result is further off than it may be, or no number.
    """
    worst = float((abs(found - wanted) - relative * abs(wanted)).max())
    if not worst <= absolute:
        raise AssertionError(f"a result is off by {worst:.3g} more than it may be.")


def by_clusters(file: str, name: str) -> Callable:
    """Return a launch of a kernel that has a cluster of 1, 4 or 8 blocks for a row."""
    kernels = {n: ck.compile(file, defines={"SHARE": n})[name] for n in (1, 4, 8)}

    def launch(rows: int, cols: int, *arguments):
        share = min(cover(cols, LONGEST_OF_A_BLOCK), 8)
        kernels[share][rows * share, threads_of(cols // share)](*arguments)

    return launch


# ---------------------------------------------------------------- softmax


def softmax_cases() -> dict[str, Callable]:
    """Return all steps for short rows."""
    thread = ck.compile("softmax/step_01_thread.cu").softmax_thread
    warp = ck.compile("softmax/step_05_warp.cu").softmax_warp

    def by_threads(x, y, copied, rows, cols):
        thread[cover(rows, 128), 128](x, y, rows, cols)

    def by_warps(x, y, copied, rows, cols):
        warp[cover(rows, 8), 256](x, y, rows, cols)

    steps = long_softmax_cases()
    copy = {"copy": steps.pop("copy")}
    del steps["cluster"]  # of one block
    return {**copy, "thread": by_threads, **steps, "warp": by_warps}


def long_softmax_cases() -> dict[str, Callable]:
    """Return the steps for long rows; blocks share what one of them cannot keep."""
    block = ck.compile("softmax/step_02_block.cu").softmax_block
    online = ck.compile("softmax/step_03_online.cu").softmax_online
    kept = ck.compile("softmax/step_04_registers.cu").softmax_registers
    many = ck.compile("softmax/step_06_many_blocks.cu").softmax_many_blocks
    shared = Group(many, SOFTMAX_BLOCK)
    scratch = drawn.zeros()

    def registers(x, y, copied, rows, cols):
        if cols <= LONGEST_OF_A_BLOCK:
            kept[rows, threads_of(cols)](x, y, cols)
            return
        share, grid = shared.of(rows, cols)
        parts = scratch("parts", (2 * grid, 2))
        arrived = scratch("arrived", grid // share, np.uint32)
        many.launch(
            grid, SOFTMAX_BLOCK, x, y, parts, arrived, rows, cols, share,
            cooperative=True,
        )  # fmt: skip

    clusters = by_clusters("softmax/step_07_cluster.cu", "softmax_cluster")
    return {
        "copy": copy_case(),
        "block": lambda x, y, copied, rows, cols: block[rows, 256](x, y, cols),
        "online": lambda x, y, copied, rows, cols: online[rows, 256](x, y, cols),
        "registers": registers,
        "cluster": lambda x, y, copied, rows, cols: clusters(rows, cols, x, y, cols),
    }


def softmax_rows(cols: int) -> tuple:
    """Draw rows; room for their softmax, and for a copy."""
    rows = rows_of(cols)
    x = drawn.normal(rows, cols)
    return x, ck.empty((rows, cols)), ck.empty((rows, cols)), rows, cols


def is_softmax(x, y, copied, rows: int, cols: int) -> bool:
    """Compare with the softmax in float64, or the copy with x.

    Values lie within 16 of each other: an argument of exp is rounded by 16 ROUNDING,
    twice where a part is corrected, and exp by 4 more. One thread adds a short row.
    """
    xp, x, y, copied = drawn.viewed(x, y, copied)
    if xp.array_equal(copied, x):
        return True
    wanted = x.astype(xp.float64)
    wanted -= wanted.max(axis=1, keepdims=True)
    xp.exp(wanted, out=wanted)
    wanted /= wanted.sum(axis=1, keepdims=True)
    additions = max(terms(cols), cols if cols in SHORT else 0)
    compare(y, wanted, (additions + 2 * (16 + 4)) * ROUNDING, absolute=0)
    return True


def _torch_softmax(torch, x, y, copied, rows, cols):
    torch.softmax(x, 1, out=y)


def _compiled_softmax(torch, x, y, copied, rows, cols):
    y.copy_(torch.softmax(x, 1))


# ---------------------------------------------------------------- layernorm


def layernorm_cases() -> dict[str, Callable]:
    """Return all steps for short rows."""
    warp = ck.compile("layernorm/step_04_warp.cu").layernorm_warp

    def by_warps(x, gamma, beta, y, copied, rows, cols):
        warp[cover(rows, 8), 256](x, gamma, beta, y, rows, cols, EPSILON)

    steps = long_layernorm_cases()
    del steps["cluster"]  # of one block
    return {**steps, "warp": by_warps}


def long_layernorm_cases() -> dict[str, Callable]:
    """Return the steps for long rows; blocks share what one of them cannot keep."""
    passes = ck.compile("layernorm/step_01_two_passes.cu").layernorm_two_passes
    one = ck.compile("layernorm/step_02_one_pass.cu").layernorm_one_pass
    clusters = by_clusters("layernorm/step_06_cluster.cu", "layernorm_cluster")

    def cluster(x, gamma, beta, y, copied, rows, cols):
        clusters(rows, cols, x, gamma, beta, y, cols, EPSILON)

    return {
        "copy": copy_case(),
        "two passes": _layernorm(passes, 256),
        "one pass": _layernorm(one, 256),
        "registers": _layernorm_registers(),
        "cluster": cluster,
    }


def _layernorm(kernel, block: int) -> Callable:
    def case(x, gamma, beta, y, copied, rows, cols):
        kernel[rows, block](x, gamma, beta, y, cols, EPSILON)

    return case


def _layernorm_registers() -> Callable:
    kept = ck.compile("layernorm/step_03_registers.cu").layernorm_registers
    many = ck.compile("layernorm/step_05_many_blocks.cu").layernorm_many_blocks
    block = LAYERNORM_BLOCK
    held = 8 * HELD * block  # bytes of gamma and beta that a block keeps
    shared = Group(many, block, held)
    scratch = drawn.zeros()

    def registers(x, gamma, beta, y, copied, rows, cols):
        if cols <= LONGEST_OF_A_BLOCK:
            kept[rows, threads_of(cols)](x, gamma, beta, y, cols, EPSILON)
            return
        share, grid = shared.of(rows, cols)
        parts = scratch("parts", (2 * grid, 2))
        arrived = scratch("arrived", grid // share, np.uint32)
        many.launch(
            grid, block, x, gamma, beta, y, parts, arrived, rows, cols, share, EPSILON,
            shared_bytes=held, cooperative=True,
        )  # fmt: skip

    return registers


def layernorm_rows(cols: int) -> tuple:
    """Draw rows, gamma and beta; room for the result, and for a copy."""
    x, y, copied, rows, cols = softmax_rows(cols)
    return x, drawn.normal(cols), drawn.normal(cols), y, copied, rows, cols


def is_layernorm(x, gamma, beta, y, copied, rows: int, cols: int) -> bool:
    """Compare with the normalised rows in float64, or the copy with x.

    Values, and results before gamma, are at most 8; mean and variance have the error
    of their sums, and ten more operations round.
    """
    xp, x, gamma, beta, y, copied = drawn.viewed(x, gamma, beta, y, copied)
    if xp.array_equal(copied, x):
        return True
    wanted = x.astype(xp.float64)
    wanted -= wanted.mean(axis=1, keepdims=True)
    wanted /= xp.sqrt((wanted**2).mean(axis=1, keepdims=True) + EPSILON)
    wanted = wanted * gamma + beta
    allowed = 8 * (terms(cols) + 10) * ROUNDING * float(abs(gamma).max())
    compare(y, wanted, 2 * ROUNDING, allowed)
    return True


def _torch_layernorm(torch, x, gamma, beta, y, copied, rows, cols):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, EPSILON)


def _compiled_layernorm(torch, x, gamma, beta, y, copied, rows, cols):
    y.copy_(_torch_layernorm(torch, x, gamma, beta, y, copied, rows, cols))


# ---------------------------------------------------------------- all of them

_softmax = functools.partial(
    Definition,
    setup=softmax_rows,
    verify=is_softmax,
    bytes_moved=lambda cols: 2 * 4 * rows_of(cols) * cols,
    count_size=128,
    peers={
        "torch": lambda: peers.torch(_torch_softmax),
        "torch.compile": lambda: peers.torch(_compiled_softmax, compiled=True),
    },
)
_layernorm_of_rows = functools.partial(
    Definition,
    setup=layernorm_rows,
    verify=is_layernorm,
    bytes_moved=lambda cols: 4 * cols * (2 * rows_of(cols) + 2),
    count_size=128,
    peers={
        "torch": lambda: peers.torch(_torch_layernorm, into=3),
        "torch.compile": lambda: peers.torch(_compiled_layernorm, compiled=True),
    },
)
DEFINITIONS = (
    _softmax(key="softmax/short", cases=softmax_cases, sizes=SHORT),
    _softmax(key="softmax/long", cases=long_softmax_cases, sizes=LONG),
    _layernorm_of_rows(key="layernorm/short", cases=layernorm_cases, sizes=SHORT),
    _layernorm_of_rows(key="layernorm/long", cases=long_layernorm_cases, sizes=LONG),
)
