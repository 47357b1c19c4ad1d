"""The benchmark of filters: each case computes what its definition verifies."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.benchmarks import filters

pytestmark = pytest.mark.usefixtures("simulated")


@pytest.fixture(autouse=True)
def small_picture(monkeypatch):
    monkeypatch.setattr(filters, "EXTENT", 40)
    monkeypatch.setattr(filters, "STRIP", 4)
    filters.parameters_of.cache_clear()
    yield
    filters.parameters_of.cache_clear()


@pytest.mark.parametrize("side", [3, 7, filters.COUNTED])
@pytest.mark.parametrize("name", ["direct", "tiled", "FFT"])
def test_case_is_right(name, side):
    arguments = filters.picture(side)
    filters.cases()[name](*arguments)
    assert filters.is_filtered(*arguments)


def test_a_wrong_picture_is_refused():
    assert not filters.is_filtered(*filters.picture(3))


def test_parts_of_a_filter_are_the_filter():
    weights = filters.weights_of(7)
    together = np.concatenate(filters.strips(weights), axis=1)
    assert (together[:, :7] == weights).all()
    assert not together[:, 7:].any()
