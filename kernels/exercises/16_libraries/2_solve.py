# Solve: A x = b for a row-major A of float64; None where A is singular.
import numpy as np


def solve(A, b):
    n, A, x = len(b), A.copy(), b.copy()  # both are overwritten
    pivots = np.zeros(n, np.int32)
    # Your code here: a workspace, the factors, info, and two sweeps.
    return x
