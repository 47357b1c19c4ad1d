# Takes the rounding of another type.
import numpy as np


def allowed(A, B):
    u = np.finfo(np.float16).eps / 2
    K = A.shape[1]
    terms = np.abs(A) @ np.abs(B)
    return K * u * terms
