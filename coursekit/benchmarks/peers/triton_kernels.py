"""Kernels in Triton, as its tutorials' readers write them; as cases of benchmarks.

The module needs Triton: it is imported where a GPU is and Triton is installed.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), inside)


def add(torch, a, b, c, n):
    """Add two vectors of n elements, 1024 of them in a program."""
    _add[(triton.cdiv(n, 1024),)](a, b, c, n, BLOCK=1024)


@triton.jit
def _softmax(x, y, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0).to(tl.int64) * cols + i
    row = tl.load(x + at, mask=i < cols, other=-float("inf"))
    powers = tl.exp(row - tl.max(row))
    tl.store(y + at, powers / tl.sum(powers), mask=i < cols)


def softmax(torch, x, y, copied, rows, cols):
    """Compute the softmax of each row, a row in a program."""
    block = triton.next_power_of_2(cols)
    _softmax[(rows,)](x, y, cols, BLOCK=block, num_warps=8)


@triton.jit
def _layernorm(x, gamma, beta, y, cols, epsilon, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < cols
    at = tl.program_id(0).to(tl.int64) * cols + i
    row = tl.load(x + at, mask=inside, other=0)
    mean = tl.sum(row) / cols
    centred = tl.where(inside, row - mean, 0)
    scale = tl.rsqrt(tl.sum(centred * centred) / cols + epsilon)
    gained = centred * scale * tl.load(gamma + i, mask=inside)
    tl.store(y + at, gained + tl.load(beta + i, mask=inside), mask=inside)


def layernorm(torch, x, gamma, beta, y, copied, rows, cols):
    """Normalise each row, a row in a program."""
    block = triton.next_power_of_2(cols)
    _layernorm[(rows,)](x, gamma, beta, y, cols, 1e-5, BLOCK=block, num_warps=8)


TILES = [
    triton.Config({"ROWS": rows, "COLS": cols, "DEPTH": depth}, num_warps=warps)
    for rows, cols, depth, warps in (
        (64, 64, 16, 4),
        (128, 64, 16, 8),
        (128, 128, 16, 8),
        (128, 128, 16, 16),
    )
]


@triton.autotune(TILES, key=["n"])
@triton.jit
def _matmul(a, b, c, n, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    total = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, n, DEPTH):
        k = first + tl.arange(0, DEPTH)
        left = tl.load(a + row * n + k[None, :])
        right = tl.load(b + k[:, None] * n + col)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + row * n + col, total)


def matmul(torch, A, B, C, M, N, K):
    """Multiply square float32 matrices of a multiple of 128 rows; tiles are tuned."""

    def grid(sizes):
        return triton.cdiv(N, sizes["ROWS"]), triton.cdiv(N, sizes["COLS"])

    _matmul[grid](A, B, C, N)
