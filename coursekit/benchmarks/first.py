"""Benchmarks of the first kernels: three ways to add two vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition

BLOCK = 256
EPSILON = 2.0**-24  # one float32 addition, relative


def vec_add_cases() -> dict[str, Callable]:
    """Return the kernels: one block, a block for 256 elements, a grid-stride loop."""
    one_block = ck.compile("first/vec_add_one_block.cu").vec_add_one_block
    many = ck.compile("start/vec_add.cu").vec_add
    stride = ck.compile("first/vec_add_stride.cu").vec_add_stride
    resident = 8 * ck.device().sm_count
    return {
        "one block": lambda a, b, c, n: one_block[1, BLOCK](a, b, c, n),
        "many blocks": lambda a, b, c, n: many[-(-n // BLOCK), BLOCK](a, b, c, n),
        "grid-stride loop": lambda a, b, c, n: stride[resident, BLOCK](a, b, c, n),
    }


def vectors(n: int, rng: np.random.Generator | None = None) -> tuple:
    """Draw two vectors of n float32, and room for their sum."""
    rng = rng or np.random.default_rng()
    a, b = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))
    return ck.to_device(a), ck.to_device(b), ck.empty(n, np.float32), n


def is_sum(a, b, c, n: int) -> None:
    """Compare with NumPy's sum, in float64."""
    a, b, c = map(ck.to_host, (a, b, c))
    expected = a.astype(np.float64) + b
    np.testing.assert_allclose(c, expected, rtol=EPSILON, equal_nan=False)


DEFINITIONS = (
    Definition(
        key="first/vec_add",
        cases=vec_add_cases,
        sizes=(2**20, 2**25),
        setup=vectors,
        verify=is_sum,
        bytes_moved=lambda n: 3 * 4 * n,
        count_size=2**12,
    ),
)
