"""Kernels in Triton, right ones and ones with a planted bug; import needs Triton."""

from __future__ import annotations

import os

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, a + b, mask=mask)


@triton.jit
def add_without_mask(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offsets)  # the mask is forgotten
    b = tl.load(y + offsets, mask=offsets < n)
    tl.store(out + offsets, a + b, mask=offsets < n)


@triton.jit
def sum_with_race(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.store(out, tl.load(out) + part)  # other programs do so too


@triton.jit
def scale_rows(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    value = tl.load(x + row * stride + offsets, mask=mask)
    tl.store(out + row * columns + offsets, 2 * value, mask=mask)


@triton.jit
def softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    value = tl.load(x + row * stride + offsets, mask=mask, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * stride + offsets, power / tl.sum(power, axis=0), mask=mask)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    value = tl.load(x + row * columns + offsets, mask=mask, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(mask, value - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    normal = centred / tl.sqrt(variance + eps)
    scaled = normal * tl.load(weight + offsets, mask=mask)
    result = scaled + tl.load(bias + offsets, mask=mask)
    tl.store(out + row * columns + offsets, result, mask=mask)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out + offsets, tl.where(keep, value / (1 - p), 0.0), mask=mask)


@triton.jit
def matmul(
    a, b, c, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        at = k + inner
        left = tl.load(
            a + rows[:, None] * K + at[None, :],
            mask=(rows[:, None] < M) & (at[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + at[:, None] * N + columns[None, :],
            mask=(at[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=inside)


@triton.jit
def attention(
    q, k, v, out, length, scale,
    WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One head of flash attention, its rows in blocks."""
    rows = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    inner = tl.arange(0, WIDTH)
    here = rows[:, None] * WIDTH + inner[None, :]
    query = tl.load(q + here, mask=rows[:, None] < length, other=0.0)
    most = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
    norm = tl.zeros((BLOCK_Q,), tl.float32)
    total = tl.zeros((BLOCK_Q, WIDTH), tl.float32)
    for first in range(0, length, BLOCK_K):
        at = first + tl.arange(0, BLOCK_K)
        there = at[:, None] * WIDTH + inner[None, :]
        key = tl.load(k + there, mask=at[:, None] < length, other=0.0)
        value = tl.load(v + there, mask=at[:, None] < length, other=0.0)
        score = tl.dot(query, tl.trans(key)) * scale
        score = tl.where(at[None, :] < length, score, -float("inf"))
        higher = tl.maximum(most, tl.max(score, axis=1))
        power = tl.exp(score - higher[:, None])
        shrunk = tl.exp(most - higher)
        norm = norm * shrunk + tl.sum(power, axis=1)
        total = tl.dot(power.to(value.dtype), value, total * shrunk[:, None])
        most = higher
    tl.store(out + here, total / norm[:, None], mask=rows[:, None] < length)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps)
        for block in (64, 1024)
        for warps in (1, 4)
    ],
    key=["n"],
)
@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, 2 * value, mask=offsets < n)


@triton.jit
def reverse_twice(x, scratch, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(scratch + offsets, tl.load(x + offsets))  # no barrier follows
    tl.store(x + offsets, tl.load(scratch + BLOCK - 1 - offsets))


@triton.jit
def doubled_by_descriptors(x, out, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS
    for col in range(0, N, COLS):
        out.store([row, col], 2 * x.load([row, col]))


@triton.jit
def matmul_of_descriptors(
    a, b, c, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    row, column = tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    rows, columns = row + tl.arange(0, BLOCK_M), column + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=inside)
