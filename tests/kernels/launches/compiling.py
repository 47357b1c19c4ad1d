"""How the tests launch the kernels of kernels/compiling/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, ramp


@launches("compiling/saxpy.cu")
def saxpy(n: int) -> Launch:
    x, y = ramp(n), ramp(n, seed=1)
    wanted = 3.25 * x.astype(np.float64) + y
    return Launch("saxpy", blocks(n, 256), 256, (x, y, 3.25, n), {1: wanted}, ROUNDING)


@launches(
    "compiling/unroll.cu",
    [{"n": n, "terms": t} for n in RAGGED for t in (1, 5, 8, 9)],
)
def unroll(n: int, terms: int) -> Launch:
    x, c = np.linspace(-1, 1, n, dtype=np.float32), ramp(terms, seed=1)
    wanted = np.polyval(c.astype(np.float64), x.astype(np.float64))
    arguments = (x, c, blank(n), terms, n)
    # Two roundings per term, relative to the sum of the terms' sizes.
    room = float(2 * terms * ROUNDING * np.abs(c.astype(np.float64)).sum())
    results, atol = {2: wanted}, {2: room}
    return Launch("horner", blocks(n, 256), 256, arguments, results, atol=atol)


@launches("compiling/two_stores.cu")
def two_stores(n: int) -> Launch:
    x = ramp(n) - np.float32(ramp(n).mean())
    wanted = np.where(x > 0, x, 0.25 * x).astype(np.float64)
    return Launch("leaky", blocks(n, 256), 256, (x, blank(n), 0.25, n), {1: wanted})
