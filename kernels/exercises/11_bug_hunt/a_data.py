# Data: matrices A and B for which a wrong product shows.
import numpy as np


def matrices():
    """Return float32 A (M x K) and B (K x N), of at most 4,000 elements."""
    A = np.ones((64, 48), np.float32)  # Your code here: other values
    B = np.arange(48 * 32, dtype=np.float32).reshape(48, 32)
    return A, B
