"""Products of halves with float32 sums: CUTLASS and CuTe beside cuBLAS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import half_products

TILE, BLOCK = 64, 128
STAGES = 24_576  # bytes of shared memory of CUTLASS's three stages
ROUNDING = 2.0**-24


def cases() -> dict[str, Callable]:
    """Return the kernels whose PTX nvcc made, as cases ``(A, B, C, n)``."""
    cute = ck.load_ptx("libraries/cute_gemm.ptx").cute_gemm
    cutlass = ck.load_ptx("libraries/cutlass_gemm.ptx").cutlass_gemm

    def by_cutlass(A, B, C, n):
        grid = cover(n, TILE), cover(n, TILE)
        arguments = n, n, n, A, n, B, n, C, n, C, n, 1.0, 0.0
        cutlass[grid, BLOCK, STAGES](*arguments)

    def by_cute(A, B, C, n):
        """Take B as the columns of a matrix: C is A times B transposed."""
        grid = cover(n, TILE), cover(n, TILE)
        cute[grid, BLOCK](A, B, C, n, n, n)

    return {"CUTLASS, 64 x 64 x 32": by_cutlass, "CuTe, B transposed": by_cute}


def squares(n: int) -> tuple:
    """Draw a normal A, a symmetric B, which is its own transpose, and room for C."""
    generator = np.random.default_rng()
    A, B = generator.standard_normal((2, n, n), dtype=np.float32).astype(np.float16)
    B = np.triu(B) + np.triu(B, 1).T
    return ck.to_device(A), ck.to_device(B), ck.empty((n, n)), n


def is_product(A, B, C, n: int) -> None:
    """Compare some rows with the product in float64.

    A sum of n products of normal numbers has the size sqrt(n), and n roundings of
    float32 on the way; ten times their root mean square is allowed for the worst.

    Raises
    ------
    AssertionError
        A result is further off.
    """
    xp, A, B, C = drawn.viewed(A, B, C)
    rows = xp.arange(0, n, max(1, n // 64))
    exact = A[rows].astype(xp.float64) @ B.astype(xp.float64)
    most = float(abs(exact - C[rows]).max())
    allowed = 20 * ROUNDING * n / 6**0.5
    if not most <= allowed:
        raise AssertionError(f"off by {most:.3g}, {allowed:.3g} are allowed.")


DEFINITIONS = (
    Definition(
        key="cutlass/product",
        cases=cases,
        sizes=(1024, 4096),
        setup=squares,
        verify=is_product,
        flops=("fp16_tensor", lambda n: 2 * n**3),
        count_size=64,
        peers={"cuBLAS": half_products.case},
        reference="cuBLAS",
    ),
)
