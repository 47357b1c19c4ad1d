# Tolerance: how far a float32 product, A (M x K) by B (K x N), may be off.
import numpy as np


def allowed(A, B):
    u = np.finfo(np.float32).eps / 2
    K = A.shape[1]
    terms = np.abs(A) @ np.abs(B)
    return K * u * terms
