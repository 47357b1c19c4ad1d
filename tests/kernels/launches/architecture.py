"""How the tests launch the kernels of kernels/architecture/: one function a file."""

from __future__ import annotations

import numpy as np
from kernel_launches import QUADS, Launch, blank, launches, ramp


@launches("architecture/stream_copy.cu")
def stream_copy(n: int) -> Launch:
    x = ramp(n)
    wanted = {1: x.astype(np.float64)}
    return Launch("stream_copy", 3, 64, (x, blank(n), n), wanted)


@launches("architecture/stream_copy_quads.cu", QUADS)
def stream_copy_quads(n: int) -> Launch:
    x = ramp(n)
    wanted = {1: x.astype(np.float64)}
    return Launch("stream_copy_quads", 3, 64, (x, blank(n), n), wanted)
