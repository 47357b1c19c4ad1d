"""The explorer of layouts in a browser: its rules are those of Python."""

from __future__ import annotations

import pytest

import coursekit as ck

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402
    focus_by_tab,
    opened,
    skip_without_axe,
    slider,
    status,
    tab,
    value,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures

LAYOUTS = (
    "(4,8):(8,1)",
    "(4,(2,4)):(2,(1,8))",
    "((2,2),(2,3)):((1,12),(2,4))",
    "5:2",
    "(3,4,2):(8,2,1)",
)
OFFSETS = """([text, swizzle]) => {
  const layout = module.rules.layoutOf(text);
  return Array.from({ length: layout.rows * layout.cols },
    (_, number) => module.rules.offsetOf(layout, swizzle, number));
}"""
FORMULA = "() => module.describe(Object.fromEntries("
FORMULA += (
    "['text', 'bits', 'base', 'shift', 'element'].map((n) => [n, model.get(n)])))"
)


@pytest.mark.parametrize("swizzle", [(0, 0, 3), (2, 0, 2), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("text", LAYOUTS)
def test_offsets_are_those_of_python(opened, text, swizzle):
    bits, base, shift = swizzle
    layout = ck.layout(text)
    expected = layout.swizzle(bits, base, shift) if bits else layout
    state = {"bits": bits, "base": base, "shift": shift}
    page = opened(ck.layout_explorer(text))
    assert page.evaluate(OFFSETS, [text, state]) == expected.offsets()


@pytest.mark.parametrize("text", LAYOUTS)
def test_sentences_are_those_of_python(opened, text):
    widget = ck.layout_explorer(text, element=3)
    told = opened(widget).evaluate(FORMULA)
    assert told["formula"] == widget.formula()
    assert told["banks"] == widget.banks()


def test_typed_layout_is_shown(opened):
    page = opened(ck.layout_explorer("(4,8):(8,1)", element=31))
    page.get_by_label("layout").fill("(2, 3):(3, 1)")
    page.get_by_label("layout").press("Enter")
    assert value(page, "text") == "(2,3):(3,1)"
    assert value(page, "element") == 5
    assert page.locator(".ck-cell:visible").count() == 6


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("4 by 8", "is no layout"),
        ("(4,8):(8)", "is no layout"),
        ("(64,2):(2,1)", "at most 32 fit"),
    ],
)
def test_text_that_cannot_be_drawn_is_named_and_changes_nothing(opened, typed, words):
    page = opened(ck.layout_explorer("(4,8):(8,1)"))
    page.get_by_label("layout").fill(typed)
    page.get_by_label("layout").press("Enter")
    assert value(page, "text") == "(4,8):(8,1)"
    assert words in page.get_by_role("alert").inner_text()


def test_element_moves_by_the_keyboard(opened):
    page = opened(ck.layout_explorer("(4,8):(8,1)"))
    focus_by_tab(page, slider(page, "element"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    assert value(page, "element") == 5
    assert status(page) == "(1, 1): 1 * 8 + 1 * 1 = 9"


def test_click_on_a_place_chooses_it(opened):
    page = opened(ck.layout_explorer("(4,8):(8,1)"))
    page.locator(".ck-cell").nth(6).click()
    assert status(page) == "(2, 1): 2 * 8 + 1 * 1 = 17"


def test_shift_is_at_least_as_large_as_bits(opened):
    page = opened(ck.layout_explorer("(8,8):(8,1)"))
    focus_by_tab(page, slider(page, "swizzle: bits"))
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert (value(page, "bits"), value(page, "shift")) == (4, 4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(opened, theme):
    skip_without_axe()
    tile = ck.layout((8, 8), "row").swizzle(3, 0, 3)
    assert violations(opened(ck.layout_explorer(tile, element=9), theme)) == []
