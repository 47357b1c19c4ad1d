"""How the tests launch the kernels of kernels/extensions/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, ROUNDING, Launch, blank, blocks, launches, picture

from launches.fusion import GELU_ROUNDED, MATRICES, REACH, gelu_of, reached


def spread(n: int) -> np.ndarray:
    """Return numbers from -2 to 2."""
    return 4 * (picture(1, n)[0] - np.float32(0.5))


@launches("extensions/polynomial.cu", [{"n": n} for n in RAGGED])
def polynomial(n: int) -> Launch:
    x = spread(n)
    # The result is shifted by 10, away from the zeros of x^3 - 3 x + 1.
    exact = x.astype(np.float64)
    wanted = exact**3 - 3 * exact + 1
    arguments = (x, blank(n), n)
    return Launch(
        "polynomial<float>", blocks(n, 256), 256, arguments, {1: wanted}, ROUNDING
    )
