"""Transforms of lengths that take a whole cluster, where small ones show too little."""

from __future__ import annotations

import numpy as np
import pytest
from course_kernels import run
from kernel_launches import ROUNDING
from launches.fft import fft_long_bluestein

pytestmark = pytest.mark.usefixtures("simulated")


@pytest.mark.parametrize(
    ("n", "first", "second", "share"),
    [
        (10007, 128, 256, 8),
        (8191, 32, 512, 2),  # rows of 512 values have three stages
    ],
)
def test_transform_of_a_prime_length_is_right(n, first, second, share):
    """Errors of 30 butterflies add as a random walk: less than 8 roundings."""
    launch = fft_long_bluestein(1, n, first, second, share)
    found = run("fft/step_22_long_bluestein.cu", launch)[3].astype(np.float64)
    wanted = launch.results[3]
    off, mean = (np.sqrt((a**2).mean()) for a in (found - wanted, wanted))
    assert off < 8 * ROUNDING * mean
