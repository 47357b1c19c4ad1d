"""Launches whose reports are recorded; running one is what the profiler watches.

To add one, write a function below that returns (grid, block, arguments) and name it
in `LAUNCHES`; `python -m coursekit report KEY` records it on a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import coursekit as ck

BLOCK = 256


@dataclass(frozen=True)
class Recorded:
    """A kernel of a file, and a function that returns grid, block and arguments."""

    file: str
    kernel: str
    launch: Callable[[], tuple]


def _vec_add() -> tuple:
    n = 1 << 25
    a, b = _random(n), _random(n)
    return n // BLOCK, BLOCK, (a, b, ck.empty(n, np.float32), n)


def _read_strided() -> tuple:
    n, stride = 1 << 22, 32
    x = _random(n * stride)
    return n // BLOCK, BLOCK, (x, ck.empty(n, np.float32), n, stride)


def _matmul() -> tuple:
    n = 1024
    a, b = _random(n * n), _random(n * n)
    return (n // 16, n // 16), (16, 16), (a, b, ck.empty(n * n, np.float32), n, n, n)


def _histogram() -> tuple:
    n = 1 << 26
    values = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    blocks = 8 * ck.device().sm_count
    return (
        blocks,
        BLOCK,
        (ck.to_device(values), ck.to_device(np.zeros(256, np.uint32)), n),
    )


def _mlp_sgemm() -> tuple:
    n = 1024
    x, w, b = _random(n * n), _random(n * n), _random(n)
    return (
        (n // 64, n // 64),
        (16, 16),
        (x, w, b, ck.empty(n * n, np.float32), n, n, n),
    )


def _random(n: int):
    return ck.to_device(np.random.default_rng(n).standard_normal(n, dtype=np.float32))


LAUNCHES = {
    "start/vec_add": Recorded("start/vec_add.cu", "vec_add", _vec_add),
    "start/read_strided": Recorded(
        "start/read_strided.cu", "read_strided", _read_strided
    ),
    "first/matmul_naive": Recorded("first/matmul_naive.cu", "matmul_naive", _matmul),
    "profiling/mlp_sgemm": Recorded("profiling/mlp_sgemm.cu", "mlp_sgemm", _mlp_sgemm),
    "synchronisation/histogram_shared": Recorded(
        "synchronisation/histogram_shared.cu", "histogram_shared", _histogram
    ),
}


def run(key: str) -> None:
    """Launch the kernel of a key once."""
    recorded = LAUNCHES[key]
    kernel = ck.compile(recorded.file)[recorded.kernel]
    grid, block, arguments = recorded.launch()
    kernel[grid, block](*arguments)


if __name__ == "__main__":
    run(sys.argv[1])
