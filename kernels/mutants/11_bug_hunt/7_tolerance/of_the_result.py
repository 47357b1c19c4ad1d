# Scales with the result, which may be 0 where the terms are not.
import numpy as np


def allowed(A, B):
    u = np.finfo(np.float32).eps / 2
    K = A.shape[1]
    terms = np.abs(A @ B)
    return K * u * terms
