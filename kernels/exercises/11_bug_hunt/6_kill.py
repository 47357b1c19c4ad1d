# Test: AssertionError unless row_maxima(x) is the maximum of each row.
import numpy as np


def test_maxima(row_maxima):
    # Your code here: other values, another shape. x is 2-D and float32.
    x = np.ones((4, 32), np.float32)
    assert np.array_equal(row_maxima(x), x.max(axis=1))
