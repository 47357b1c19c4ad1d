"""The explorer of number formats without a browser: what it says and stores."""

from __future__ import annotations

import pytest

import coursekit as ck


def test_it_begins_with_the_number_rounded():
    widget = ck.number_explorer("BF16", 0.1)
    assert widget.bits == 0x3DCD
    assert widget.value == 0.10009765625


def test_text_says_value_spacing_and_error():
    assert repr(ck.number_explorer("E4M3", 0.3)).split("\n") == [
        "E4M3 0 0101 010",
        "Value 0.3125, normal.",
        "The next number is 0.03125 away.",
        "Wanted 0.3: off by 0.0125.",
    ]


def test_text_of_a_pattern_that_is_no_number():
    widget = ck.number_explorer("FP16", 1e6)
    assert "Value inf, Inf." in repr(widget)
    assert "away" not in repr(widget)


def test_error_is_unknown_after_a_bit_was_flipped():
    widget = ck.number_explorer("FP16", 1.0)
    widget.set_state({"bits": widget.bits ^ 1, "typed": ""})
    assert widget.error is None
    assert "Wanted" not in repr(widget)


def test_alt_text_names_the_parts():
    alt = ck.number_explorer("E5M2", 1.0).alt_text()
    assert alt.startswith("E5M2: sign 0, exponent 01111, mantissa 00. Value 1")


def test_int8_has_one_part():
    assert repr(ck.number_explorer("INT8", -1)).startswith("INT8 11111111\nValue -1")


def test_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(ck.ArgumentError, match="format 'FP9'") as caught:
        ck.number_explorer("FP9")
    assert "E4M3" in str(caught.value)
