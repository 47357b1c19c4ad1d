# Data: no two elements are equal, so a wrong index changes the result.
import numpy as np


def matrices():
    """Return float32 A (M x K) and B (K x N), of at most 4,000 elements."""
    A = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    B = np.arange(48 * 32, dtype=np.float32).reshape(48, 32)
    return A, B
