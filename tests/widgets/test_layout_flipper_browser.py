"""The layout flipper in a browser: by mouse, by keyboard, as Python says."""

from __future__ import annotations

from itertools import product

import pytest

import coursekit as ck

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402 (after the skip)
    focus_by_tab,
    opened,
    slider,
    status,
    tab,
)

__all__ = ["opened", "tab"]  # fixtures


@pytest.fixture
def page(opened):
    return opened(ck.layout_flipper(2, 3))


def shown(page):
    """Return the numbers of the matrix, row by row."""
    rows = page.locator(".ck-matrix tr:not([hidden])")
    return [
        [int(text) for text in row.locator("td:not([hidden])").all_inner_texts()]
        for row in rows.all()
    ]


@pytest.mark.parametrize(
    ("order", "trans", "gap"), list(product(("COL", "ROW"), "NT", (0, 1)))
)
def test_matrix_is_the_one_of_python(opened, order, trans, gap):
    ld = (2 if order == "COL" else 3) + gap
    widget = ck.layout_flipper(2, 3, ld=ld, order=order, trans=trans)
    page = opened(widget)
    assert shown(page) == widget._values()
    assert status(page) == widget._told()


def test_click_on_an_element_marks_its_place(page):
    page.get_by_role("button", name="row 1, column 2").click()
    assert status(page) == "Row 1, column 2 lies at 1 + 2 * 2 = 5."
    assert page.locator(".ck-chosen").inner_text() == "5"


def test_order_is_flipped_by_the_keyboard(page):
    page.get_by_label("order").focus()
    page.keyboard.press("ArrowDown")
    assert shown(page) == [[0, 1, 2], [3, 4, 5]]


def test_more_rows_push_the_leading_dimension(page):
    slider(page, "rows").fill("4")
    assert slider(page, "ld").input_value() == "4"
    slider(page, "ld").fill("2")
    assert slider(page, "ld").input_value() == "4"


def test_elements_are_reached_by_tab(page):
    focus_by_tab(page, page.get_by_role("button", name="row 0, column 0"))
    page.keyboard.press("Enter")
    assert status(page) == "Row 0, column 0 lies at 0 + 0 * 2 = 0."
