"""Transforms of lengths that take a whole cluster, where small ones show too little."""

from __future__ import annotations

import numpy as np
import pytest
from course_kernels import run
from launches.fft import fft_long_bluestein

pytestmark = pytest.mark.usefixtures("simulated")


@pytest.mark.parametrize(
    ("n", "first", "second", "share"), [(10007, 128, 256, 8), (46349, 256, 512, 16)]
)
def test_transform_of_a_prime_length_is_right(n, first, second, share):
    """The square of 46349 - 1 needs more than 31 bits."""
    launch = fft_long_bluestein(1, n, first, second, share)
    found = run("fft/step_22_long_bluestein.cu", launch)[3].astype(np.float64)
    off = found - launch.results[3]
    scale = np.sqrt((launch.results[3] ** 2).mean())
    assert np.sqrt((off**2).mean()) < 8 * 2.0**-24 * scale
