"""Compare the outputs of a kernel with the expected values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

# Sentinels: a NaN and an integer that no exercise computes. An output that still
# holds its sentinel was never written. Arithmetic makes other bits of the NaN, so that
# `+=` shows: of a float64 it keeps a quiet NaN, so this one is signalling.
_NAN_PAYLOADS = {2: 0x7E5E, 4: 0x7FC5E11A, 8: 0x7FF45E11A5E11A5E}
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_FILL = 0xA5


def sentinel(expected: np.ndarray, dtype: np.dtype) -> np.generic:
    """Return a value of `dtype` that is not among the expected ones."""
    if dtype.kind == "f":
        bits = _NAN_PAYLOADS[dtype.itemsize]
        return np.array(bits, _UNSIGNED[dtype.itemsize]).view(dtype)[()]
    if dtype.kind == "b":
        return np.bool_(not expected.all() if expected.size else False)
    bits = int.from_bytes(bytes([_FILL]) * dtype.itemsize)
    expected = np.asarray(expected).astype(dtype).view(_UNSIGNED[dtype.itemsize])
    for candidate in range(bits, max(bits - 256, -1), -1):
        if not (expected == candidate).any():
            bits = candidate
            break
    return np.array(bits, _UNSIGNED[dtype.itemsize]).view(dtype)[()]


def same_bits(array: np.ndarray, value: np.generic) -> np.ndarray:
    """Tell which elements have exactly the bits of a value; NaNs too."""
    if array.dtype.kind not in "fiu":
        return array == value
    unsigned = _UNSIGNED[array.dtype.itemsize]
    return np.ascontiguousarray(array).view(unsigned) == np.asarray(value).view(
        unsigned
    )


def tolerance(expected: np.ndarray, dtype: np.dtype, roundings: int, magnitude=None):
    """Return the error that so many roundings allow, element by element.

    Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
    (3.4): K roundings make a relative error of at most K u / (1 - K u).
    """
    if dtype.kind != "f":
        return np.zeros(expected.shape)
    unit = float(np.finfo(dtype).eps) / 2
    if roundings == 0:  # only the nearest value is right
        return np.abs(expected.astype(dtype) - expected)
    scale = np.abs(expected if magnitude is None else magnitude)
    with np.errstate(invalid="ignore"):
        bound = roundings * unit / (1 - roundings * unit) * scale
    return np.broadcast_to(
        bound + float(np.finfo(dtype).smallest_subnormal), expected.shape
    )


def wrong(expected: np.ndarray, got: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Tell which elements differ by more than is allowed.

    A NaN or an infinity is right only where the same one is expected.
    """
    if got.dtype.kind != "f":
        return got != expected
    values = got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (values == expected) | (np.isnan(values) & np.isnan(expected))
        near = np.abs(values - expected) <= allowed
    return ~(same | (near & np.isfinite(values) & np.isfinite(expected)))


@dataclass(frozen=True)
class Judged:
    """One output of a launch, compared element by element.

    Attributes
    ----------
    name : str
    expected, got, wrong, untouched : ndarray
        All of one shape; `expected` in the precision of the reference.
    in_hex : bool
        Whether the values are patterns of bits.
    """

    name: str
    expected: np.ndarray
    got: np.ndarray
    wrong: np.ndarray
    untouched: np.ndarray
    in_hex: bool = False

    @property
    def passed(self) -> bool:
        return not self.wrong.any()

    def indices(self, most: int) -> Iterator[tuple[int, ...]]:
        """Yield the indices of the first wrong elements, in row-major order."""
        for place in np.flatnonzero(self.wrong)[:most]:
            yield tuple(int(i) for i in np.unravel_index(place, self.wrong.shape))

    def verdict(self, index: tuple[int, ...]) -> str:
        """Describe an element in a word or two: right, wrong, never written."""
        if not self.wrong[index]:
            return "right"
        if self.untouched[index]:
            return "never written"
        finite = np.isfinite(self.expected[index])
        if finite and not np.isfinite(self.got[index]):
            return "wrong: not a finite number"
        return "wrong"

    def shown(self, index: tuple[int, ...]) -> tuple[str, str]:
        """Return the expected value and the kernel's value, as texts."""
        write = pattern if self.in_hex else number
        value = "-" if self.untouched[index] else write(self.got[index])
        dtype = self.got.dtype
        want = self.expected[index]
        with np.errstate(over="ignore"):
            same_type = dtype.kind == "f" or self.in_hex
            return write(want.astype(dtype) if same_type else want), value


def number(value) -> str:
    """Write a number as briefly as its type allows, the same on every machine."""
    value = np.asarray(value)[()]
    if not isinstance(value, np.floating) or not np.isfinite(value):
        return str(value)
    if value == 0 or 1e-4 <= abs(float(value)) < 1e9:
        return np.format_float_positional(value, trim="-")
    return np.format_float_scientific(value, trim="-")


def pattern(value) -> str:
    """Write the bits of a number in hexadecimal.

    >>> pattern(np.float32(1)), pattern(np.uint16(10))
    ('0x3f800000', '0x000a')
    """
    array = np.asarray(value)
    bits = int(array.view(_UNSIGNED[array.dtype.itemsize]))
    return f"0x{bits:0{2 * array.dtype.itemsize}x}"
