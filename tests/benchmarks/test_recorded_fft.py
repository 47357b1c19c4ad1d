"""Benchmarks of Fourier transforms: each case computes what its definition verifies."""

from __future__ import annotations

import cmath
import math

import pytest

from coursekit.benchmarks import fft

pytestmark = pytest.mark.usefixtures("simulated")
ONE_BLOCK = ["copy", "registers", "vectorised"]
MANY_BLOCKS = [
    "copy", "cluster", "one exchange", "two passes", "one trip", "32 values"
]  # fmt: skip
LONGEST, WIDER = 2**11, 2**12
SQUARE = 1600


@pytest.fixture(autouse=True)
def few_values(monkeypatch):
    monkeypatch.setattr(fft, "VALUES", 2**12)
    for lengths in ("BLOCK", "CLUSTERED", "LONG"):
        monkeypatch.setattr(fft, lengths, (LONGEST,))
    monkeypatch.setattr(fft, "EXCHANGED", {LONGEST: (32, 2)})
    monkeypatch.setattr(fft, "TILED", {LONGEST: (32, 512)})
    monkeypatch.setattr(fft, "KEPT", {LONGEST: (32, 512, 1, 2)})
    monkeypatch.setattr(fft, "WIDE", {LONGEST: (2, 2, 1)})
    monkeypatch.setattr(fft, "WIDER", {WIDER: ((8, 8, 8, 8), 2, 1)})
    monkeypatch.setattr(fft, "SQUARES", {SQUARE: (5, 8, 2)})


@pytest.mark.parametrize("n", [fft.SMALL, 64, 1024])
@pytest.mark.parametrize("name", ONE_BLOCK)
def test_case_for_short_rows_is_right(name, n):
    arguments = fft.complex_rows(n)
    fft.short_cases()[name](*arguments)
    assert fft.is_transform(*arguments)


@pytest.mark.parametrize("name", MANY_BLOCKS)
def test_case_for_long_rows_is_right(name):
    arguments = fft.complex_rows(LONGEST)
    fft.cluster_cases()[name](*arguments)
    assert fft.is_transform(*arguments)


def test_case_with_three_exchanges_is_right():
    arguments = fft.complex_rows(WIDER)
    fft.with_wide_threads((WIDER,))(*arguments)
    assert fft.is_transform(*arguments)


def test_case_for_tiles_is_right():
    arguments = fft.complex_rows(LONGEST)
    fft.long_cases()["tiles"](*arguments)
    assert fft.is_transform(*arguments)


@pytest.mark.parametrize("n", fft.FACTORED)
@pytest.mark.parametrize("name", ["copy", "factors", "mixed radix"])
def test_case_for_rows_with_other_factors_is_right(name, n):
    arguments = fft.complex_rows(n)
    fft.mixed_cases()[name](*arguments)
    assert fft.is_transform(*arguments)


def test_case_for_squares_is_right():
    arguments = fft.complex_rows(SQUARE)
    fft.square_cases()["mixed cluster"](*arguments)
    assert fft.is_transform(*arguments)


@pytest.mark.parametrize("name", ["copy", "Bluestein"])
def test_case_for_rows_of_any_length_is_right(name):
    arguments = fft.complex_rows(fft.SMALL)
    fft.prime_cases()[name](*arguments)
    assert fft.is_transform(*arguments)


@pytest.mark.parametrize("n", fft.PRIME)
def test_padded_rows_hold_the_chirp_on_both_sides(n):
    first, second, share = fft.PADDED[n]
    assert first * second >= 2 * n - 1
    assert min(first, second) // share >= 16


def test_chirp_of_a_long_row_is_exact():
    """The square of a number above 46340 is no int of 32 bits."""
    n, j = 65521, 65520
    turned = cmath.exp(-1j * math.pi * (j * j % (2 * n)) / n)
    assert abs(fft.chirp_of(n)[j] - turned) < 1e-12


def test_case_for_real_rows_is_right():
    arguments = fft.real_rows(1024)
    fft.real_case()(*arguments)
    assert fft.is_real_transform(*arguments)


@pytest.mark.parametrize("name", ["copy", "one pass", "in place", "ahead"])
def test_case_for_a_convolution_is_right(name):
    arguments = fft.convolved_rows(1024)
    fft.convolution_cases()[name](*arguments)
    assert fft.is_convolved(*arguments)


def test_a_wrong_convolution_is_none():
    assert not fft.is_convolved(*fft.convolved_rows(64))


def test_a_wrong_transform_is_no_transform():
    assert not fft.is_transform(*fft.complex_rows(64))
