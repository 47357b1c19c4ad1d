"""Drawings of chapter 03b: the bits of formats, their spacing, an accumulator."""

from __future__ import annotations

from drawing import SMALL, SMALL_CODE, Drawing
from shapes import Rectangle

from coursekit.lessons.formats import E2M1, E2M3, E3M2, E4M3, E5M2, FLOATS

BIT, LEFT = 19, 92  # pixels of a bit; where the bits begin
PLACE = 22, 30  # pixels of a bit in the drawing of the accumulators


def bits() -> Drawing:
    """Draw sign, exponent and mantissa of each format, to scale."""
    d = Drawing(
        "03_formats",
        """Nine formats to scale, a box for each part. FP32: 1 sign bit, 8 exponent
        bits, 23 mantissa bits. TF32: 1, 8, 10. BF16: 1, 8, 7. FP16: 1, 5, 10. The FP8
        formats E5M2: 1, 5, 2, and E4M3: 1, 4, 3. The FP6 formats E3M2: 1, 3, 2,
        and E2M3: 1, 2, 3. FP4, E2M1: 1, 2, 1.""",
        356,
    )
    kinds = {E5M2: "FP8", E4M3: "FP8", E3M2: "FP6", E2M3: "FP6", E2M1: "FP4"}
    d.label((LEFT, 16), "sign", fill="red", font=SMALL)
    d.label((LEFT + 60, 16), "exponent", fill="green", font=SMALL)
    d.label((LEFT + 150, 16), "mantissa", fill="sky", font=SMALL)
    for number, form in enumerate(FLOATS):
        y = 38 + 35 * number
        d.note((8, y + 14), form.name)
        parts = ((1, "red"), (form.exponent, "green"), (form.mantissa, "sky"))
        x = LEFT
        for count, fill in parts:
            place = Rectangle(x, y, BIT * count, 28)
            d.box(place, str(count), fill=fill, font=SMALL_CODE)
            x += BIT * count
        if form in kinds:
            d.note((x + 12, y + 14), kinds[form])
    return d


def spacing() -> Drawing:
    """Draw the positive numbers of E2M1 and E2M3 on a line."""
    d = Drawing(
        "03_spacing",
        """The numbers of two small formats on a line from 0 to 7.5. E2M1, which has 4
        bits: 0, 0.5, 1, 1.5, 2, 3, 4 and 6. Between powers of two the distance is
        the same, and at each power of two it doubles. E2M3, which has 6 bits,
        has four times as many numbers, an eighth apart up to 2, a quarter up to
        4, and a half up to 7.5.""",
        214,
    )
    left, unit = 76, 86

    def across(value: float) -> float:
        return left + unit * value

    for form, y in ((E2M1, 66), (E2M3, 142)):
        d.note((8, y), form.name)
        d.line((left - 8, y), (across(7.7), y))
        for pattern in range(form.largest_bits + 1):
            value = form.value(pattern)
            x = across(value)
            high = 13 if form is E2M1 else 8
            d.line((x, y - high), (x, y + high), width=3)
    for value in (0, 0.5, 1, 1.5, 2, 3, 4, 6):
        d.code((across(value), 28), f"{value:g}", anchor="middle")
    for first, last, text in ((0, 2, "1/8"), (2, 4, "1/4"), (4, 7.5, "1/2")):
        d.brace(across(first) + 3, across(last) - 3, 168, f"{text} apart")
    return d


def accumulator() -> Drawing:
    """Draw an addition in FP16 and in FP32: what of the small value arrives."""
    d = Drawing(
        "03_accumulator",
        """2048 plus 1.5 in two accumulators. In FP16 the sum has 11 significant
        bits: its last place is worth 2, and 1.5 lies below it, so that 2049.5 is
        rounded to 2050. In FP32 the sum has 24 significant bits: its last place is
        worth 2^-12, both bits of 1.5 have a place, and the sum is 2049.5,
        exactly.""",
        250,
    )
    rows = (
        ("FP16", 11, "last place 2", "2048 + 1.5 = 2050"),
        ("FP32", 24, "last place 2^-12", "2048 + 1.5 = 2049.5"),
    )
    for number, (name, count, place, result) in enumerate(rows):
        y = 46 + 110 * number
        d.note((8, y + 15), name)
        large, rest = ["1"] + ["0"] * 10, ["0"] * (count - 13)
        d.cells((76, y), large, size=PLACE, fill="sky", font=SMALL_CODE)
        x = 76 + 22 * 11 + (0 if rest else 8)  # outside of FP16's significand
        d.cells((x, y), ["1", "1"], size=PLACE, fill="red", font=SMALL_CODE)
        d.cells((x + 44, y), rest, size=PLACE, fill="sky", font=SMALL_CODE)
        d.note((76, y - 18), f"{count} significant bits: {place}")
        d.code((76, y + 48), result)
    d.note((382, 61), "1.5 lies below the last place")
    return d


DRAW = (bits, spacing, accumulator)
