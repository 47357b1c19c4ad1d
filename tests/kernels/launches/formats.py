"""How the tests launch the kernels of kernels/formats/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import Launch, blocks, launches

SIZES = [(1, 1), (31, 33), (33, 8), (1025, 3)]
SUMS = [{"n": n, "rows": r} for n, r in SIZES]
SUMS += [{"n": n, "rows": r, "kernel": "sum_fp16"} for n, r in SIZES]


@launches("formats/sum_fp16_vs_fp32acc.cu", SUMS)
def sum_fp16_vs_fp32acc(n: int, rows: int, kernel: str = "sum_fp32acc") -> Launch:
    x = np.random.default_rng(0).random((rows, n)).astype(np.float16)
    total = x.astype(np.float32).sum(axis=0)  # exact: 33 values of 11 bits
    if kernel == "sum_fp16":
        total = np.zeros(n, np.float16)
        for row in x:
            total = total + row
    wanted = total.astype(np.float16).astype(np.float64)
    arguments = (x, np.full(n, np.nan, np.float16), rows, n)
    return Launch(kernel, blocks(n, 256), 256, arguments, {1: wanted})


@launches("formats/sum_orders.cu", [{"n": n} for n in (1, 2, 64, 1024)])
def sum_orders(n: int) -> Launch:
    # One value is so large that each addition of a small one alone is lost.
    x = np.ones(n, np.float32)
    x[0] = 2**24
    tree = x.copy()
    apart = 1
    while apart < n:
        tree[:: 2 * apart] += tree[apart :: 2 * apart]
        apart *= 2
    exact = np.float32(2**24 + n - 1)
    wanted = np.array([2**24, exact, tree[0]], np.float64)
    arguments = (x, np.full(3, np.nan, np.float32), n)
    results = {0: tree.astype(np.float64), 1: wanted}
    return Launch("sum_orders", 1, 1, arguments, results)
