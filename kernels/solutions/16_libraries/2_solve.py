# Solve: A x = b for a row-major A of float64; None where A is singular.
import numpy as np

import coursekit as ck


def solve(A, b):
    n, A, x = len(b), A.copy(), b.copy()  # both are overwritten
    pivots = np.zeros(n, np.int32)
    work = np.zeros(ck.cusolver.buffer_size("getrf", n, n))
    info = ck.cusolver.getrf(n, n, A, n, work, pivots)
    if info > 0:
        return None
    ck.cusolver.getrs("T", n, 1, A, n, pivots, x, n)
    return x
