# Tolerance: how far a float32 product, A (M x K) by B (K x N), may be off.
import numpy as np


def allowed(A, B):
    # Your code here: an array of M x N, as large as the errors can get.
    return np.full((A.shape[0], B.shape[1]), 1e-2)
