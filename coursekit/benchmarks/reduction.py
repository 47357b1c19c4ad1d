"""Benchmarks of the reduction ladder, beside CUB and PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers

TREES = ("02_tree", "03_packed", "04_halves", "05_shuffle")
BLOCKS_AN_SM, SUM_BLOCK = 4, 512  # of the persistent sum; threads of a block


def sum_cases() -> dict[str, Callable]:
    """Return all steps; the first is for small sizes."""
    return {"atomic": _added("01_atomic", 256), **fast_sum_cases()}


def fast_sum_cases() -> dict[str, Callable]:
    """Return the steps that use shared memory or registers."""
    cases = {step[3:]: _added(step, 256) for step in TREES}
    cases["vectorised"] = _added("06_vectorised", 4096)
    kernel = ck.compile("reduction/step_07_persistent.cu").sum_persistent
    scratch = drawn.zeros()

    def persistent(x, total, n):
        grid = min(BLOCKS_AN_SM * ck.device().sm_count, cover(n, 16 * SUM_BLOCK))
        parts, tickets = scratch("parts", grid), scratch("tickets", 1, np.uint32)
        kernel[grid, SUM_BLOCK](x, parts, tickets, total, n)

    return {**cases, "persistent": persistent}


def _added(step: str, elements: int) -> Callable:
    """Return a step that adds to the total, as a case; `elements` are per block."""
    kernel = ck.compile(f"reduction/step_{step}.cu")[f"sum_{step[3:]}"]
    return lambda x, total, n: kernel[cover(n, elements), 256](x, total, n)


def summands(n: int) -> tuple:
    """Draw whole numbers whose sums float32 has exactly, and a total of 0."""
    return drawn.whole(n), ck.to_device(np.zeros(1, np.float32)), n


def is_sum(x, total, n: int) -> bool:
    """Compare with the sum in float64: every order of additions is exact."""
    xp, x, total = drawn.viewed(x, total)
    return float(total[0]) == float(x.sum(dtype=xp.float64))


def _torch_sum(torch, x, total, n):
    torch.sum(x, dim=0, keepdim=True, out=total)


def _compiled_sum(torch, x, total, n):
    total.copy_(x.sum(dim=0, keepdim=True))


SUM_PEERS = {
    "CUB": lambda: peers.cub("sum"),
    "torch": lambda: peers.torch(_torch_sum),
    "torch.compile": lambda: peers.torch(_compiled_sum, compiled=True),
}

_sum = functools.partial(
    Definition,
    setup=summands,
    verify=is_sum,
    bytes_moved=lambda n: 4 * n,
    count_size=2**14,
    peers=SUM_PEERS,
    reference="CUB",
)
DEFINITIONS = (
    _sum(key="reduction/ladder", cases=sum_cases, sizes=(2**26,)),
    _sum(key="reduction/sum", cases=fast_sum_cases, sizes=(2**29,)),
)
