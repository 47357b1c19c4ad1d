"""The launches that time the simulator, each with what must come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).with_name("simulator_kernels.cu")
EPSILON = np.finfo(np.float32).eps


@dataclass(frozen=True)
class Case:
    """One launch.

    Attributes
    ----------
    kernel : str
    grid, block : int or tuple of int
    arguments : tuple
        NumPy arrays and numbers; the last array is the output.
    expected : ndarray
        What must come out.
    error : float
        Largest absolute difference of an element that rounding explains.
    strays : float
        Share of the elements that may be wrong.
    """

    kernel: str
    grid: int | tuple
    block: int | tuple
    arguments: tuple
    expected: np.ndarray
    error: float = 0.0
    strays: float = 0.0

    def check(self, found: np.ndarray) -> None:
        """Raise unless the output is right."""
        wrong = ~(np.abs(found - self.expected) <= self.error)
        if wrong.mean() > self.strays:
            raise AssertionError(f"{self.kernel}: {wrong.mean():.1%} is wrong")


def numbers(*shape: int) -> np.ndarray:
    """Numbers between -1 and 1."""
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def blank(*shape: int, dtype=np.float32) -> np.ndarray:
    """An output that nothing has written yet."""
    return np.full(shape, -99, dtype)


def product(kernel: str, n: int, grid, block) -> Case:
    """C = A * B for n x n matrices."""
    a, b = numbers(n, n), numbers(n, n)[::-1].copy()
    # n roundings of sums that stay below n.
    error = n * n * EPSILON / 2
    expected = a.astype(np.float64) @ b
    return Case(kernel, grid, block, (a, b, blank(n, n), n, n, n), expected, error)


def matmul_naive(n: int) -> Case:
    """One thread for each element."""
    return product("matmul_naive", n, (-(-n // 16), -(-n // 16)), (16, 16))


def matmul_tiled(n: int) -> Case:
    """Tiles of 16 x 16 in shared memory."""
    return product("matmul_tiled", n, (-(-n // 16), -(-n // 16)), (16, 16))


def sgemm_patches(n: int) -> Case:
    """An 8 x 8 patch for each thread."""
    return product("sgemm_patches", n, (n // 128, n // 128), 256)


def _reduction(kernel: str, n: int, grid: int) -> Case:
    x = numbers(n)
    expected = x.reshape(-1, grid, 256).sum((0, 2), dtype=np.float64)
    each = n // grid
    # One rounding for each number of a thread and level of the tree, of sums below n.
    error = (each / 256 + 10) * each * EPSILON / 2
    return Case(kernel, grid, 256, (x, blank(grid), n), expected, error)


def reduce_divergent(n: int) -> Case:
    """A tree in shared memory, one sum for each block."""
    return _reduction("reduce_divergent", n, n // 256)


def reduce_coalesced(n: int) -> Case:
    """A sum for each block, by shuffles."""
    return _reduction("reduce_coalesced", n, min(n // 256, 256))


def _transpose(kernel: str, n: int) -> Case:
    x = numbers(n, n)
    return Case(kernel, (n // 32, n // 32), (32, 8), (x, blank(n, n), n), x.T)


def transpose_naive(n: int) -> Case:
    """Straight from memory to memory."""
    return _transpose("transpose_naive", n)


def transpose_tile(n: int) -> Case:
    """Through a tile whose columns lie in one bank."""
    return _transpose("transpose_tile", n)


def transpose_padded(n: int) -> Case:
    """Through a tile without conflicts."""
    return _transpose("transpose_padded", n)


def mandelbrot(n: int, most: int = 256) -> Case:
    """How many turns each of n x n points stays near."""
    side = np.arange(n, dtype=np.float32)
    c = (np.float32(-2) + 3 * side / n) + 1j * (np.float32(-1.5) + 3 * side / n)[
        :, None
    ]
    z, turns = np.zeros_like(c), np.zeros((n, n), np.int32)
    for _ in range(most):
        near = z.real**2 + z.imag**2 <= 4
        turns += near
        z = np.where(near, z * z + c, z)
    arguments = (blank(n, n, dtype=np.int32), n, most)
    # Near the edge of the set a rounding decides; the compiler contracts to fma.
    return Case("mandelbrot", (n // 16, n // 16), (16, 16), arguments, turns, 0, 0.02)


def gather(n: int) -> Case:
    """Read from random places."""
    x, places = numbers(n), np.random.default_rng(n).integers(0, n, n, np.int32)
    return Case("gather", -(-n // 256), 256, (x, places, blank(n), n), x[places])


def vec_add(n: int) -> Case:
    """One sum for each thread."""
    a, b = numbers(n), numbers(n)[::-1].copy()
    return Case("vec_add", -(-n // 256), 256, (a, b, blank(n), n), a + b)


# What is timed, at which size.
CASES: dict[str, tuple[Callable[[int], Case], int]] = {
    "tiled matmul 512^3": (matmul_tiled, 512),
    "tiled matmul 256^3": (matmul_tiled, 256),
    "naive matmul 512^3": (matmul_naive, 512),
    "SGEMM 8x8 512^3": (sgemm_patches, 512),
    "divergent tree 1 Mi": (reduce_divergent, 1 << 20),
    "divergent tree 4 Mi": (reduce_divergent, 1 << 22),
    "coalesced reduction 4 Mi": (reduce_coalesced, 1 << 22),
    "transpose naive 1024^2": (transpose_naive, 1024),
    "transpose tile 1024^2": (transpose_tile, 1024),
    "transpose padded 1024^2": (transpose_padded, 1024),
    "Mandelbrot 512^2": (mandelbrot, 512),
    "random gather 1 Mi": (gather, 1 << 20),
    "vec_add 4 Mi": (vec_add, 1 << 22),
}
# Of these the race check is timed too.
RACED = ("tiled matmul 512^3", "divergent tree 4 Mi")
