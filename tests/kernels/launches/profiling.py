"""How the tests launch the kernels of kernels/profiling/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, ramp

LAYERS = [(1, 1, 1), (64, 64, 64), (33, 70, 17), (65, 31, 128)]


@launches("profiling/mlp_sgemm.cu", [{"M": m, "N": n, "K": k} for m, n, k in LAYERS])
def mlp_sgemm(M: int, N: int, K: int) -> Launch:
    # Whole numbers: products and sums are below 2^24, so no rounding to allow for.
    x, w, b = (
        np.round(ramp(n, seed) % 9) - 4 for seed, n in enumerate((M * K, K * N, N))
    )
    x, w = x.reshape(M, K), w.reshape(K, N)
    wanted = np.maximum(x.astype(np.float64) @ w + b, 0)
    grid = (blocks(N, 64), blocks(M, 64))
    arguments = (x, w, b, blank(M * N).reshape(M, N), M, N, K)
    return Launch("mlp_sgemm", grid, (16, 16), arguments, {3: wanted})


@launches(
    "profiling/launch_overhead.cu",
    [{"n": n, "steps": s} for n in RAGGED for s in (0, 20)],
)
def launch_overhead(n: int, steps: int) -> Launch:
    x = ramp(n)
    # After s steps: 2 + (x - 2) / 2^s; each step rounds once, and halves what was off.
    wanted = 2 + (x.astype(np.float64) - 2) * 0.5**steps
    arguments = (x, n, steps)
    return Launch(
        "launch_overhead", blocks(n, 256), 256, arguments, {0: wanted}, 4 * ROUNDING
    )
