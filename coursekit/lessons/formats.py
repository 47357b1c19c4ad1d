"""Number formats as bit patterns: values, rounding, spacing, ends of the range.

The values of all formats here are numbers of float64, so that a Python float holds
them exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from coursekit.errors import ArgumentError

Rounding = Literal["nearest", "zero", "up", "down"]
ROUNDINGS: tuple[Rounding, ...] = ("nearest", "zero", "up", "down")
Specials = Literal["Inf and NaN", "NaN", "none"]


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: a sign, an exponent, and a mantissa.

    Attributes
    ----------
    name : str
    exponent, mantissa : int
        Bits of the exponent, and explicit bits of the mantissa.
    specials : "Inf and NaN", "NaN" or "none"
        What the patterns with the largest exponent mean: as in IEEE 754; or numbers,
        but for one NaN of each sign; or numbers all.
    """

    name: str
    exponent: int
    mantissa: int
    specials: Specials = "Inf and NaN"

    @property
    def width(self) -> int:
        """Bits of a pattern, the sign included."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> int:
        """What is subtracted from the exponent's bits."""
        return 2 ** (self.exponent - 1) - 1

    @property
    def digits(self) -> float:
        """Decimal digits that the significand is worth, its hidden bit included."""
        return (self.mantissa + 1) * math.log10(2)

    @property
    def largest_bits(self) -> int:
        """The pattern of the largest finite number."""
        if self.specials == "Inf and NaN":
            return ((2**self.exponent - 1) << self.mantissa) - 1
        return 2 ** (self.width - 1) - (2 if self.specials == "NaN" else 1)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return self.value(self.largest_bits)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with a hidden 1 in front of its mantissa."""
        return math.ldexp(1.0, 1 - self.bias)

    @property
    def smallest(self) -> float:
        """The smallest positive number, a subnormal one."""
        return math.ldexp(1.0, 1 - self.bias - self.mantissa)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return math.ldexp(1.0, -self.mantissa)

    def fields(self, bits: int) -> tuple[int, int, int]:
        """Split a pattern into sign, exponent and mantissa, as stored."""
        _check(self, bits)
        exponent = bits >> self.mantissa & (2**self.exponent - 1)
        return bits >> (self.width - 1), exponent, bits & (2**self.mantissa - 1)

    def value(self, bits: int) -> float:
        """Return the number of a pattern.

        Examples
        --------
        >>> FP16.value(0x3C01), E4M3.value(0x7E), BF16.value(0xFF80)
        (1.0009765625, 448.0, -inf)
        """
        sign, exponent, mantissa = self.fields(bits)
        magnitude = bits & (2 ** (self.width - 1) - 1)
        if magnitude > self.largest_bits:
            infinite = self.specials == "Inf and NaN" and mantissa == 0
            return math.copysign(math.inf if infinite else math.nan, -sign or 1)
        hidden = 2**self.mantissa if exponent else 0
        power = max(exponent, 1) - self.bias - self.mantissa
        return math.copysign(math.ldexp(hidden + mantissa, power), -sign or 1)

    def kind(self, bits: int) -> str:
        """Return the kind of a pattern: "normal", "subnormal", "zero", "Inf", "NaN"."""
        value = self.value(bits)
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Inf"
        if value == 0:
            return "zero"
        return "normal" if abs(value) >= self.smallest_normal else "subnormal"

    def bits(self, value: float, rounding: Rounding = "nearest") -> int:
        """Round a number to the format and return its pattern.

        Parameters
        ----------
        value : float
        rounding : "nearest", "zero", "up" or "down"
            To the nearest number, of two equally near ones to that with an even
            pattern; or towards 0, +infinity or -infinity.

        Returns
        -------
        int
            Beyond the largest number it is infinity, in a format that has it; the
            others saturate, as CUDA's conversions do: it is the largest number.

        Examples
        --------
        >>> hex(FP16.bits(2049.0)), hex(FP16.bits(2049.0, "up"))
        ('0x6800', '0x6801')
        """
        rule = _rule(rounding, negative := math.copysign(1, value) < 0)
        sign = int(negative) << (self.width - 1)
        if math.isnan(value):
            return sign | self._beyond(nan=True)
        if math.isinf(value):
            return sign | self._beyond()
        binary = math.frexp(value)[1] - 1 if value else -math.inf
        power = int(max(binary, 1 - self.bias))
        scaled = math.ldexp(abs(value), self.mantissa - power)
        code = ((power - 1 + self.bias) << self.mantissa) + _whole(scaled, rule)
        if code > self.largest_bits:
            return sign | (self.largest_bits if rule == "zero" else self._beyond())
        return sign | code

    def round(self, value: float, rounding: Rounding = "nearest") -> float:
        """Return the number of the format that a value is rounded to.

        Examples
        --------
        >>> BF16.round(0.1), E2M1.round(5.0)
        (0.10009765625, 4.0)
        """
        return self.value(self.bits(value, rounding))

    def spacing(self, bits: int) -> float:
        """Return the distance from a number to the next larger magnitude; else NaN."""
        _, exponent, _ = self.fields(bits)
        if not math.isfinite(self.value(bits)):
            return math.nan
        return math.ldexp(1.0, max(exponent, 1) - self.bias - self.mantissa)

    def _beyond(self, *, nan: bool = False) -> int:
        """Return the pattern, without sign, of infinity or NaN, or what replaces it."""
        if self.specials == "none" or (self.specials == "NaN" and not nan):
            return self.largest_bits
        quiet = 1 << (self.mantissa - 1) if nan and self.specials != "NaN" else 0
        return self.largest_bits + 1 | quiet


def _check(format: Format | Integer, bits: int) -> None:
    if not 0 <= bits < 2**format.width:
        raise ArgumentError.explained(
            f"{format.name} got the pattern {bits}.",
            f"It has {format.width} bits.",
            f"Give a whole number from 0 to {2**format.width - 1}.",
        )


def _rule(rounding: str, negative: bool) -> str:
    """Return the rule for the magnitude: "nearest", "zero" or "away"."""
    if rounding not in ROUNDINGS:
        raise ArgumentError.explained(
            f"There is no rounding {rounding!r}.",
            "CUDA has four of them: rn, rz, ru and rd.",
            f"Take one of {', '.join(ROUNDINGS)}.",
        )
    if rounding in ("up", "down"):
        return "away" if (rounding == "down") == negative else "zero"
    return rounding


def _whole(scaled: float, rule: str) -> int:
    """Round a magnitude to a whole number; Python's round is to even."""
    if rule == "nearest":
        return round(scaled)
    return math.ceil(scaled) if rule == "away" else math.floor(scaled)


@dataclass(frozen=True)
class Integer:
    """A signed integer format in two's complement.

    Attributes
    ----------
    name : str
    width : int
        Bits of a pattern.
    """

    name: str
    width: int

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(2 ** (self.width - 1) - 1)

    def value(self, bits: int) -> float:
        """Return the number of a pattern.

        Examples
        --------
        >>> INT8.value(0x7F), INT8.value(0x80)
        (127.0, -128.0)
        """
        _check(self, bits)
        return float(bits - 2**self.width if bits >> (self.width - 1) else bits)

    def kind(self, bits: int) -> str:
        """Return the kind of a pattern: "integer" or "zero"."""
        return "integer" if self.value(bits) else "zero"

    def bits(self, value: float, rounding: Rounding = "nearest") -> int:
        """Round to a whole number and return its pattern; NaN becomes 0.

        Beyond the smallest or the largest number it is that number.
        """
        rule = _rule(rounding, negative := value < 0)
        most = self.largest + negative
        whole = 0.0 if math.isnan(value) else min(abs(value), most)
        magnitude = _whole(whole, rule)
        return (-magnitude if negative else magnitude) % 2**self.width

    def round(self, value: float, rounding: Rounding = "nearest") -> float:
        """Return the number of the format that a value is rounded to."""
        return self.value(self.bits(value, rounding))

    def spacing(self, bits: int) -> float:
        """Return the distance to the next number."""
        _check(self, bits)
        return 1.0


FP32 = Format("FP32", 8, 23)
TF32 = Format("TF32", 8, 10)
BF16 = Format("BF16", 8, 7)
FP16 = Format("FP16", 5, 10)
E5M2 = Format("E5M2", 5, 2)
E4M3 = Format("E4M3", 4, 3, "NaN")
E3M2 = Format("E3M2", 3, 2, "none")
E2M3 = Format("E2M3", 2, 3, "none")
E2M1 = Format("E2M1", 2, 1, "none")
FLOATS = (FP32, TF32, BF16, FP16, E5M2, E4M3, E3M2, E2M3, E2M1)
INT8 = Integer("INT8", 8)
ALL = (*FLOATS, INT8)
