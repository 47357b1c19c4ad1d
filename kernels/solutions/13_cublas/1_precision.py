# Precision: a matrix that FAST_16F multiplies wrongly, and FAST_TF32 well.
import numpy as np


def matrix():
    A = np.eye(4, dtype=np.float32)
    A[0, 0] = 1e6
    A[1, 1] = 1e-9
    return A
