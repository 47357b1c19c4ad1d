# Solve: A x = b for a row-major A of float64; None where A is singular.
import numpy as np

import coursekit as ck


def solve(A, b):
    n, A, x = len(b), A.copy(), b.copy()  # both are overwritten
    size = ck.cusolver.buffer_size("getrf", n, n)
    pivots, work = np.zeros(n, np.int32), np.zeros(size)
    info = ck.cusolver.getrf(n, n, A, n, work, pivots)
    assert info >= 0  # all arguments were right
    # Your code here: what does info say of A? Then solve.
    return x
