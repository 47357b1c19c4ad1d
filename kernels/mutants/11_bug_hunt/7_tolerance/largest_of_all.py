# Allows each element what the largest one needs.
import numpy as np


def allowed(A, B):
    u = np.finfo(np.float32).eps / 2
    K = A.shape[1]
    terms = np.abs(A) @ np.abs(B)
    return np.full(terms.shape, K * u * terms.max())
