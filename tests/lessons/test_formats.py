"""Number formats against NumPy's and torch's, pattern by pattern."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from coursekit.errors import ArgumentError
from coursekit.lessons import formats
from coursekit.lessons.formats import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, FP16, FP32

TORCH = {
    "BF16": torch.bfloat16,
    "FP16": torch.float16,
    "E5M2": torch.float8_e5m2,
    "E4M3": torch.float8_e4m3fn,
}
PATTERNS = {16: torch.uint16, 8: torch.uint8}
in_torch = pytest.mark.parametrize(
    "format", [f for f in formats.FLOATS if f.name in TORCH], ids=lambda f: f.name
)
each = pytest.mark.parametrize("format", formats.FLOATS, ids=lambda f: f.name)
each_small = pytest.mark.parametrize(
    "format", [f for f in formats.FLOATS if f.width <= 8], ids=lambda f: f.name
)


def patterns(format) -> torch.Tensor:
    """Return every pattern of a format, as torch stores them."""
    return torch.arange(2**format.width).to(PATTERNS[format.width])


def as_bits(tensor) -> list[int]:
    return tensor.view(PATTERNS[8 * tensor.element_size()]).tolist()


@in_torch
def test_every_pattern_has_torchs_value(format):
    expected = patterns(format).view(TORCH[format.name]).double().numpy()
    found = [format.value(bits) for bits in range(2**format.width)]
    np.testing.assert_array_equal(found, expected)


@in_torch
def test_every_half_is_rounded_as_torch_rounds_it(format):
    values = patterns(FP16).view(torch.float16).float()
    expected = values.to(TORCH[format.name])
    numbers = ~torch.isnan(expected)
    found = [format.bits(v) for v in values[numbers].tolist()]
    assert found == as_bits(expected[numbers])


@in_torch
def test_numbers_between_are_rounded_as_torch_rounds_them(format):
    generator = np.random.default_rng(0)
    exponents = generator.uniform(-30, 18, 20_000)
    values = torch.tensor(2.0**exponents * generator.choice([-1, 1], 20_000)).float()
    expected = values.to(TORCH[format.name])
    numbers = ~torch.isnan(expected)
    found = [format.bits(v) for v in values[numbers].tolist()]
    assert found == as_bits(expected[numbers])


@in_torch
def test_halves_between_neighbours_go_to_the_even_pattern(format):
    for bits in range(format.largest_bits):
        low, high = format.value(bits), format.value(bits + 1)
        assert format.bits((low + high) / 2) == bits + bits % 2


def test_float32_is_numpys():
    words = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        expected = words.view(np.float32).astype(np.float64)
    np.testing.assert_array_equal([FP32.value(int(w)) for w in words], expected)


@each
def test_a_value_comes_back_to_its_pattern(format):
    all_bits = range(2**format.width)
    chosen = all_bits if format.width <= 16 else all_bits[:: 2 ** (format.width - 12)]
    for bits in chosen:
        if format.kind(bits) != "NaN":
            assert format.bits(format.value(bits)) == bits


@each_small
@pytest.mark.parametrize("rounding", formats.ROUNDINGS)
def test_rounding_takes_the_neighbour_that_it_says(format, rounding):
    values = [format.value(b) for b in range(2**format.width)]
    numbers = sorted({v for v in values if math.isfinite(v)})
    for low, high in zip(numbers, numbers[1:], strict=False):
        value = low + 0.3 * (high - low)
        toward_zero = min(low, high, key=abs)
        expected = {"nearest": low, "zero": toward_zero, "up": high, "down": low}
        assert format.round(value, rounding) == expected[rounding]


@each
def test_spacing_is_the_distance_to_the_next_number(format):
    for bits in range(0, format.largest_bits, max(1, format.largest_bits // 500)):
        following = format.value(bits + 1) - format.value(bits)
        assert format.spacing(bits) == following


@pytest.mark.parametrize(
    ("format", "largest", "smallest_normal", "smallest"),
    [
        (FP32, 3.4028234663852886e38, 2.0**-126, 2.0**-149),
        (BF16, 3.3895313892515355e38, 2.0**-126, 2.0**-133),
        (FP16, 65504, 2.0**-14, 2.0**-24),
        (E5M2, 57344, 2.0**-14, 2.0**-16),
        (E4M3, 448, 2.0**-6, 2.0**-9),
        (E3M2, 28, 0.25, 0.0625),
        (E2M3, 7.5, 1, 0.125),
        (E2M1, 6, 1, 0.5),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_range_is_that_of_the_standard(format, largest, smallest_normal, smallest):
    found = format.largest, format.smallest_normal, format.smallest
    assert found == (largest, smallest_normal, smallest)


@pytest.mark.parametrize(
    ("format", "digits"),
    [("TF32", 3.3), ("FP16", 3.3), ("BF16", 2.4), ("E4M3", 1.2), ("E5M2", 0.9)],
)
def test_digits_count_the_hidden_bit(format, digits):
    assert round(getattr(formats, format).digits, 1) == digits


def test_e4m3_has_two_nans_and_no_infinity():
    kinds = [E4M3.kind(bits) for bits in range(256)]
    assert (kinds.count("NaN"), kinds.count("Inf")) == (2, 0)


@pytest.mark.parametrize(
    ("format", "expected"),
    [(FP16, math.inf), (E5M2, math.inf), (E4M3, 448.0), (E3M2, 28.0), (E2M1, 6.0)],
    ids=lambda v: getattr(v, "name", None),
)
def test_numbers_beyond_the_largest(format, expected):
    assert format.round(1e6) == expected
    assert format.round(-1e6) == -expected


@pytest.mark.parametrize(("value", "bits"), [(math.nan, 0x7F), (-math.inf, 0xFE)])
def test_e4m3_keeps_nan_and_makes_the_largest_of_infinity(value, bits):
    assert E4M3.bits(value) == bits


def test_rounding_to_zero_never_reaches_infinity():
    assert FP16.round(1e6, "zero") == 65504
    assert FP16.round(-1e6, "up") == -65504


def test_a_pattern_of_another_width_is_refused():
    with pytest.raises(ArgumentError, match=r"E4M3 got the pattern 256"):
        E4M3.value(256)


def test_a_rounding_that_cuda_lacks_is_refused():
    with pytest.raises(ArgumentError, match="no rounding 'away'"):
        FP16.bits(1.0, "away")


def test_int8_is_numpys():
    expected = np.arange(256, dtype=np.uint8).view(np.int8)
    assert [formats.INT8.value(bits) for bits in range(256)] == expected.tolist()


@pytest.mark.parametrize(
    ("value", "rounding", "expected"),
    [
        (2.5, "nearest", 2),
        (-2.5, "nearest", -2),
        (-2.5, "down", -3),
        (2.5, "up", 3),
        (-2.7, "zero", -2),
        (300.0, "nearest", 127),
        (-math.inf, "nearest", -128),
        (math.nan, "nearest", 0),
    ],
)
def test_int8_rounds_and_saturates(value, rounding, expected):
    assert formats.INT8.round(value, rounding) == expected
