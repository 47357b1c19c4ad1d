# Allows a percent of everything.
import numpy as np


def allowed(A, B):
    terms = np.abs(A) @ np.abs(B)
    return 0.01 * terms
