# Leaves out the number of terms.
import numpy as np


def allowed(A, B):
    u = np.finfo(np.float32).eps / 2
    terms = np.abs(A) @ np.abs(B)
    return u * terms
