"""Recorded times of bias and GELU: what is counted, and what verifies it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coursekit.benchmarking.records import records
from coursekit.benchmarks import fusion, recorded_benchmark


@pytest.fixture(scope="module")
def counts():
    """Counts of one row of x, as they are shown where nothing is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "load", lambda key: None)
        return recorded_benchmark("fusion/bias_gelu").counts


@pytest.fixture
def right():
    """Arguments of a case after a right result, of two rows."""
    shape, generator = (2, fusion.COLS), np.random.default_rng(0)
    x, offset = generator.normal(size=shape), generator.normal(size=shape[1])
    x, offset = x.astype(np.float32), offset.astype(np.float32)
    z = x.astype(np.float64) + offset
    y = z * 0.5 * np.vectorize(math.erfc)(-z / math.sqrt(2))
    return [x, offset, np.zeros_like(x), y.astype(np.float32), 2]


def moved(found) -> int:
    return found.bytes_read + found.bytes_written


@pytest.mark.parametrize(("case", "arrays"), [("two kernels", 5), ("one kernel", 3)])
def test_counts_are_of_the_case_without_its_set_up(counts, case, arrays):
    # x, bias and z in, z and y out; or x and bias in, y out. Drawing x adds no bytes.
    assert moved(counts[case]) == arrays * 4 * fusion.COLS


def test_the_right_result_is_accepted(right):
    assert fusion.is_gelu(*right)


def test_a_result_off_by_a_millionth_is_refused(right):
    right[3][1, 5] += np.float32(4e-6)
    with pytest.raises(AssertionError, match="off by"):
        fusion.is_gelu(*right)


def test_a_result_that_is_no_number_is_refused(right):
    right[3][0, 0] = np.nan
    with pytest.raises(AssertionError, match="off by"):
        fusion.is_gelu(*right)


def test_the_approximation_by_tanh_is_refused(right):
    x, offset, _, y, _ = right
    z = x.astype(np.float64) + offset
    y[:] = 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    with pytest.raises(AssertionError, match="off by"):
        fusion.is_gelu(*right)


def test_the_table_between_its_entries_is_off_by_less_than_a_rounding():
    places = np.linspace(-6, 6, 4001) + fusion.STEP / 3
    exact = 0.5 * np.vectorize(math.erfc)(-places / math.sqrt(2))
    found = np.interp(places, *fusion.probabilities())
    assert abs(found - exact).max() < 2.0**-28
