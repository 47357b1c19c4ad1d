"""Benchmarks of batches: 64 x 64 products beside cuBLAS, and attention by batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.matmul import is_product
from coursekit.benchmarks.peers import batches, peers

SIZE = 64
THREADS = {"shared": 256, "patch": 64, "streamed": 64}
HEADS, LENGTH, WIDTH = 16, 512, 64


def ladder_cases() -> dict[str, Callable]:
    """Return the batched product of chapter 05, and each step."""
    return {"naive": _naive(), **{name: _step(name) for name in THREADS}}


def _naive() -> Callable:
    kernel = ck.compile("first/batched_matmul.cu").batched_matmul

    def naive(A, B, C, batch):
        across = cover(SIZE, 16)
        kernel[(across, across, batch), (16, 16)](A, B, C, SIZE, SIZE, SIZE)

    return naive


def _step(name: str) -> Callable:
    number = list(THREADS).index(name) + 1
    module = ck.compile(f"batched_matmul/step_{number:02}_{name}.cu")
    kernel = module[f"batched_{name}"]

    def step(A, B, C, batch):
        kernel[batch, THREADS[name]](A, B, C)

    return step


def products(batch: int) -> tuple:
    """Draw normal A and B, and make room for C."""
    shape = batch, SIZE, SIZE
    return drawn.normal(*shape), drawn.normal(*shape), ck.empty(shape), batch


def are_products(A, B, C, batch: int) -> None:
    """Compare with the products in float64.

    Raises
    ------
    AssertionError
        The results are further off than float32 makes them, or no numbers.
    """
    is_product(A, B, C, SIZE, SIZE, SIZE)


# ---------------------------------------------------------------- attention


def heads(count: int) -> tuple:
    """Draw Q, K and V in half precision, and make room for the result."""
    shape = count, LENGTH, WIDTH
    operands = []
    for _ in range(3):
        values = ck.to_host(drawn.normal(*shape)).astype(np.float16)
        operands.append(ck.to_device(values))
    return *operands, ck.empty(shape, np.float16)


def is_attention(Q, K, V, out) -> None:
    """Compare with attention in float64.

    A result is a mean of values whose size is about 1, so an error of half precision
    is 2^-11 of it. Scores, weights and the result are rounded once each.

    Raises
    ------
    AssertionError
        The results are further off than half precision makes them, or no numbers.
    """
    xp, Q, K, V, out = drawn.viewed(Q, K, V, out)
    Q, K, V = (x.astype(xp.float64) for x in (Q, K, V))
    scores = Q @ K.transpose(0, 2, 1) / WIDTH**0.5
    powers = xp.exp(scores - scores.max(axis=2, keepdims=True))
    wanted = (powers / powers.sum(axis=2, keepdims=True)) @ V
    off = float(abs(wanted - out).max())
    if not off <= 8 * 2.0**-11:
        raise AssertionError(f"off by {off:.3g} at most.")


def _three_calls(torch, Q, K, V, out):
    scores = torch.baddbmm(
        Q.new_zeros(()), Q, K.transpose(1, 2), beta=0, alpha=WIDTH**-0.5
    )
    return torch.bmm(torch.softmax(scores, 2), V)


def _fused(torch, Q, K, V, out):
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(Q[None], K[None], V[None])[0]


DEFINITIONS = (
    Definition(
        key="batched_matmul/ladder",
        cases=ladder_cases,
        sizes=(256, 1024, 4096),
        setup=products,
        verify=are_products,
        bytes_moved=lambda batch: 3 * batch * SIZE**2 * 4,
        flops=lambda batch: 2 * batch * SIZE**3,
        count_size=2,
        peers={"cuBLAS": batches.case},
        reference="cuBLAS",
    ),
    Definition(
        key="batched_matmul/attention",
        cases=dict,
        sizes=(HEADS,),
        setup=heads,
        verify=is_attention,
        flops=("fp16_tensor", lambda count: 4 * count * LENGTH**2 * WIDTH),
        peers={
            "batched calls": lambda: peers.torch(_three_calls, into=3),
            "one kernel": lambda: peers.torch(_fused, into=3),
        },
        reference="batched calls",
    ),
)
