"""`ck.memory_boxes` in a browser: by mouse and keyboard."""

from __future__ import annotations

import pytest

import coursekit as ck

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402 (after the skip)
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


@pytest.fixture(scope="module")
def ran():
    return ck.program("start/boxes.cpp").run()


@pytest.fixture
def page(opened, ran):
    return opened(ck.memory_boxes(ran))


def picture(page):
    return page.get_by_role("img").get_attribute("aria-label")


def test_a_step_back_shows_what_was_before(page):
    assert "points to row[2]" in picture(page)
    page.get_by_role("button", name="Back").click()
    assert "points to weight" in picture(page)
    assert status(page).startswith("Step 5 of 6. Line 19: weight changed")


def test_a_step_is_taken_by_keyboard(page):
    focus_by_tab(page, page.get_by_role("button", name="Back"))
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert value(page, "step") == 3


def test_arrow_keys_move_the_slider_and_stay_in_the_widget(page):
    focus_by_tab(page, slider(page, "step"))
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert value(page, "step") == 1
    assert "Home" not in page.evaluate("heard")


def test_the_ends_are_kept(page):
    page.get_by_role("button", name="Forward").click()
    assert value(page, "step") == 5


def test_the_first_step_has_one_box(page):
    slider(page, "step").fill("1")
    assert page.locator(".ck-box").count() == 1
    assert page.locator(".ck-arrow").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_where_the_table_is_open(opened, ran, theme):
    skip_without_axe()
    shown = opened(ck.memory_boxes(ran), theme)
    shown.get_by_text("As a table").click()
    assert shown.get_by_role("row").count() == 5
    assert violations(shown) == []
