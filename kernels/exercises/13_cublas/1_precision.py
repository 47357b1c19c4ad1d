# Precision: a matrix that FAST_16F multiplies wrongly, and FAST_TF32 well.
import numpy as np


def matrix():
    A = np.eye(4, dtype=np.float32)
    # Your code here: two numbers that half precision cannot hold.
    return A
