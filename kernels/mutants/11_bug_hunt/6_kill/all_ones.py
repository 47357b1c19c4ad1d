# Cannot tell one element from another.
import numpy as np


def test_maxima(row_maxima):
    x = np.ones((5, 77), np.float32)
    assert np.array_equal(row_maxima(x), x.max(axis=1))
