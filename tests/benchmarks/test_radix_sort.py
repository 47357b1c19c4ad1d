"""Whole sorts by the steps of kernels/sort."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarks import sort

every_step = pytest.mark.parametrize("step", sort.STEPS)


@every_step
def test_a_whole_sort_is_right(step):
    keys = np.random.default_rng(0).integers(0, 2**32, 4111, dtype=np.uint32)
    given = keys.copy()
    np.testing.assert_array_equal(ck.radix_sort(step, given), np.sort(keys))
    np.testing.assert_array_equal(given, keys)


def test_the_bytes_of_a_key_fall_from_step_to_step():
    keys = np.random.default_rng(1).integers(0, 2**32, 2**13, dtype=np.uint32)
    moved = []
    for step in ("bits", "digits", "tiles"):
        with ck.counted() as launches:
            ck.radix_sort(step, keys)
        moved.append(sum(one.bytes_read + one.bytes_written for one in launches))
    assert moved == sorted(moved, reverse=True)


def test_an_unknown_step_names_those_there_are():
    with pytest.raises(ck.UnknownNameError, match=r"'bits', 'digits', 'tiles'"):
        ck.radix_sort("quick", np.ones(4, np.uint32))


@pytest.mark.parametrize(
    "keys", [np.ones(4, np.int32), np.ones((2, 2), np.uint32), np.ones(0, np.uint32)]
)
def test_other_arrays_are_refused(keys):
    with pytest.raises(ck.ArgumentError, match="keys of uint32 in one dimension"):
        ck.radix_sort("bits", keys)
