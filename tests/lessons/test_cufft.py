"""cuFFT's plans: layouts, kinds, no division, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons import cufft

EPS = 2.0**-23


def values(*shape: int, dtype=np.complex64) -> np.ndarray:
    """Return distinct numbers, the same each time."""
    generator = np.random.default_rng(0)
    drawn = generator.standard_normal((2, *shape))
    return (drawn[0] + 1j * drawn[1]).astype(dtype)


@pytest.fixture(autouse=True)
def oracle(simulated):
    """Run on the oracle, also where a GPU is."""


def test_rows_are_the_default():
    x, y = values(3, 8), np.zeros((3, 8), np.complex64)
    cufft.plan_many(8, type="C2C", batch=3).execute(x, y, cufft.FORWARD)
    np.testing.assert_allclose(y, np.fft.fft(x), rtol=0, atol=64 * EPS)


def test_columns_need_a_stride():
    x, y = values(8, 3), np.zeros((8, 3), np.complex64)
    plan = cufft.plan_many(8, 8, 3, 1, 8, 3, 1, "C2C", 3)
    plan.execute(x, y, cufft.FORWARD)
    np.testing.assert_allclose(y, np.fft.fft(x, axis=0), rtol=0, atol=64 * EPS)


def test_without_embed_stride_and_distance_are_ignored():
    x, y = values(3, 8), np.zeros((3, 8), np.complex64)
    cufft.plan_many(8, None, 3, 1, None, 3, 1, "C2C", 3).execute(x, y, cufft.FORWARD)
    np.testing.assert_allclose(y, np.fft.fft(x), rtol=0, atol=64 * EPS)


def test_a_part_of_a_picture():
    x, y = values(6, 10), np.zeros((4, 8), np.complex64)
    plan = cufft.plan_many((4, 8), (6, 10), 1, 0, (4, 8), 1, 0, "C2C", 1)
    plan.execute(x, y, cufft.FORWARD)
    np.testing.assert_allclose(y, np.fft.fft2(x[:4, :8]), rtol=0, atol=256 * EPS)


def test_an_inverse_is_not_divided():
    x = values(8)
    y, back = np.zeros_like(x), np.zeros_like(x)
    plan = cufft.plan_many(8)
    plan.execute(x, y, cufft.FORWARD)
    plan.execute(y, back, cufft.INVERSE)
    np.testing.assert_allclose(back, 8 * x, rtol=0, atol=128 * EPS)


@pytest.mark.parametrize("kinds", [("R2C", "C2R"), ("D2Z", "Z2D")])
def test_real_numbers_have_half_the_frequencies(kinds):
    there, back = kinds
    real = np.float32 if there == "R2C" else np.float64
    x = values(2, 10, dtype=np.complex128).real.astype(real)
    y, again = np.zeros((2, 6), np.result_type(real, np.complex64)), np.zeros_like(x)
    cufft.plan_many(10, type=there, batch=2).execute(x, y, cufft.FORWARD)
    np.testing.assert_allclose(y, np.fft.rfft(x), rtol=0, atol=64 * EPS)
    cufft.plan_many(10, type=back, batch=2).execute(y, again, cufft.INVERSE)
    np.testing.assert_allclose(again, 10 * x, rtol=0, atol=256 * EPS)


def test_in_place_is_allowed():
    x = values(4)
    expected = np.fft.fft(x)
    cufft.plan_many(4).execute(x, x, cufft.FORWARD)
    np.testing.assert_allclose(x, expected, rtol=0, atol=64 * EPS)


REFUSED = [
    ({"n": 8, "type": "c2c"}, "the type is 'c2c'"),
    ({"n": (2, 2, 2, 2)}, "one to three dimensions"),
    ({"n": 8, "batch": 0}, "with a batch of 0"),
    ({"n": (4, 8), "inembed": 8}, "a length per dimension"),
    ({"n": (4, 8), "inembed": (4, 7)}, "in a memory of"),
]


@pytest.mark.parametrize("settings, message", REFUSED)
def test_a_plan_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ck.ArgumentError, match=message):
        ck.cufft.plan_many(**settings)


def test_an_array_of_another_type_is_refused():
    with pytest.raises(ck.ArgumentError, match="idata has elements of float32"):
        cufft.plan_many(4).execute(
            np.zeros(4, np.float32), np.zeros(4, np.complex64), cufft.FORWARD
        )


def test_an_array_that_is_too_short_is_refused():
    x = values(8)
    with pytest.raises(ck.ArgumentError, match=r"reaches idata\[15\]"):
        cufft.plan_many(8, batch=2).execute(x, np.zeros(16, np.complex64), -1)


def test_a_view_with_gaps_is_refused():
    with pytest.raises(ck.ArgumentError, match="a view with gaps"):
        cufft.plan_many(4).execute(values(8)[::2], np.zeros(4, np.complex64), -1)


def test_a_real_transform_has_one_direction():
    with pytest.raises(ck.ArgumentError, match="the direction is 1 for R2C"):
        cufft.plan_many(4, type="R2C").execute(
            np.zeros(4, np.float32), np.zeros(3, np.complex64), cufft.INVERSE
        )


def test_the_oracle_names_itself():
    assert cufft.plan_many(4).computed_by == "NumPy, an oracle in cuFFT's place"
