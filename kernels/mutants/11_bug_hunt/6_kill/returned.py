# It returns whether the kernel is right, and asserts nothing.
import numpy as np


def test_maxima(row_maxima):
    x = np.arange(-385, 0, dtype=np.float32).reshape(5, 77)
    right = np.array_equal(row_maxima(x), x.max(axis=1))
    x = np.ascontiguousarray(x[:, ::-1])
    x[:, 30] = 7
    return right and np.array_equal(row_maxima(x), x.max(axis=1))
