"""The explorer of number formats in a browser: its rules are those of Python."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import coursekit as ck

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402
    focus_by_tab,
    opened,
    skip_without_axe,
    status,
    tab,
    value,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures

FORMATS = {format.name: format for format in ck.formats.ALL}
# One text each way: playwright takes a list apart, which lasts longer than the rules.
RULE = """(given) => {
  const [rule, name, values, more] = JSON.parse(given);
  const format = model.get("formats").find((one) => one.name === name);
  const words = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  const number = (v) => words[v] ?? v;
  const tell = (v) => String(module.rules[rule](format, number(v), ...more));
  return JSON.stringify(values.map(tell));
}"""


def told(page, rule, name, values, *more):
    """Return what a rule of the view says of some values, as texts."""
    return json.loads(page.evaluate(RULE, json.dumps([rule, name, values, more])))


def some(format) -> list[int]:
    """Return every pattern of a small format, and many of a large one."""
    if format.width <= 16:
        return list(range(2**format.width))
    return np.random.default_rng(0).integers(0, 2**format.width, 5000).tolist()


def same(texts, numbers) -> bool:
    found = [float(text.replace("Infinity", "inf")) for text in texts]
    return np.array_equal(found, numbers, equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_patterns_have_the_values_of_python(opened, name):
    page, format = opened(ck.number_explorer(name, 1)), FORMATS[name]
    bits = some(format)
    assert same(told(page, "valueOf", name, bits), [format.value(b) for b in bits])
    assert told(page, "kindOf", name, bits) == [format.kind(b) for b in bits]
    assert same(told(page, "spacingOf", name, bits), [format.spacing(b) for b in bits])


@pytest.mark.parametrize("rounding", ck.formats.ROUNDINGS)
@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_rounded_as_in_python(opened, name, rounding):
    page, format = opened(ck.number_explorer(name, 1)), FORMATS[name]
    generator = np.random.default_rng(1)
    signs = generator.choice([-1, 1], 2000)
    values = (signs * 2.0 ** generator.uniform(-160, 140, 2000)).tolist()
    values += (signs * 2.0 ** generator.uniform(-12, 10, 2000)).tolist()
    low = [format.value(b) for b in range(min(40, 2 ** (format.width - 1)))]
    values += [(a + b) / 2 for a, b in zip(low, low[1:], strict=False)]
    values += [0.0, 464.0, 465.0, 65519.0, 65520.0]
    expected = [str(format.bits(v, rounding)) for v in values]
    assert told(page, "bitsOf", name, values, rounding) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_inf_and_nan_are_as_in_python(opened, name):
    page, format = opened(ck.number_explorer(name, 1)), FORMATS[name]
    for text in "inf", "-inf", "nan":
        found = told(page, "bitsOf", name, [text], "nearest")
        assert found == [str(format.bits(float(text)))]


def test_a_typed_number_is_rounded(opened):
    page = opened(ck.number_explorer("FP16", 1))
    page.get_by_label("number").fill("0.1")
    page.get_by_label("number").press("Enter")
    assert value(page, "bits") == FORMATS["FP16"].bits(0.1)
    assert status(page) == "FP16: 0.09997558594 (normal)"


def test_a_text_that_is_no_number_is_named_and_changes_nothing(opened):
    page = opened(ck.number_explorer("FP16", 1))
    page.get_by_label("number").fill("abc")
    page.get_by_label("number").press("Enter")
    assert value(page, "bits") == 0x3C00
    assert page.get_by_text('"abc" is no number').count() == 1


def test_a_bit_is_flipped_by_the_keyboard_and_keeps_the_focus(opened):
    page = opened(ck.number_explorer("E2M1", 1))
    bit = page.get_by_role("button", name="bit 0, mantissa, is 0")
    focus_by_tab(page, bit)
    page.keyboard.press("Space")
    assert value(page, "bits") == 3
    pressed = page.get_by_role("button", name="bit 0, mantissa, is 1")
    assert pressed.get_attribute("aria-pressed") == "true"
    assert pressed.evaluate("node => node === document.activeElement")


def test_another_format_rounds_the_typed_number_again(opened):
    page = opened(ck.number_explorer("FP32", 0.3))
    page.get_by_label("format").select_option("E4M3")
    assert value(page, "bits") == FORMATS["E4M3"].bits(0.3)


def test_another_rounding_rounds_again(opened):
    page = opened(ck.number_explorer("E4M3", 0.3))
    page.get_by_label("rounding").select_option("down")
    assert FORMATS["E4M3"].value(value(page, "bits")) == 0.28125


def test_neighbours_stop_at_the_ends(opened):
    page = opened(ck.number_explorer("E2M1", 0))
    page.get_by_role("button", name="pattern - 1").click()
    assert value(page, "bits") == 0
    page.get_by_role("button", name="pattern + 1").click()
    assert status(page) == "E2M1: 0.5 (subnormal)"


def test_a_format_has_as_many_bits_as_its_width(opened):
    page = opened(ck.number_explorer("E3M2", 1))
    assert page.locator(".ck-bit:visible").count() == 6


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["INT8", "FP16"])
def test_axe_finds_nothing_to_complain_about(opened, name, theme):
    skip_without_axe()
    assert violations(opened(ck.number_explorer(name, math.inf), theme)) == []
