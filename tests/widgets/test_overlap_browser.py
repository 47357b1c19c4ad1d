"""`ck.overlap` in a browser, by keyboard and by mouse."""

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
    status,
    tab,
    value,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures


@pytest.fixture
def page(opened):
    return opened(ck.overlap(ck.Timeline(50, 50, 4)))


def chip(page, name):
    return page.get_by_role("button", name=f"{name}:")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_wrong_plan(opened, theme):
    skip_without_axe()
    widget = ck.overlap(ck.Timeline(50, 50, 4), chunks=8)
    widget.events, widget.placed = False, [n % 3 for n in range(24)]
    shown = opened(widget, theme)
    shown.get_by_text("The same as a table").click()
    assert violations(shown) == []


def test_an_operation_moves_by_keyboard(page):
    focus_by_tab(page, chip(page, "in 0"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert value(page, "placed")[:3] == [0, 1, 0]


def test_a_chunk_moves_with_shift(page):
    chip(page, "kernel 1").focus()
    page.keyboard.press("Shift+ArrowDown")
    assert value(page, "placed")[:7] == [0, 0, 0, 1, 1, 1, 0]


def test_a_moved_operation_keeps_the_focus(page):
    chip(page, "out 2").focus()
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "out 2: copy out of chunk 2, in stream 1"


def test_no_operation_leaves_the_streams(page):
    chip(page, "in 0").focus()
    page.keyboard.press("ArrowUp")
    assert value(page, "placed")[0] == 0


def test_an_operation_moves_by_mouse(page):
    chip(page, "in 0").drag_to(page.get_by_text("stream 3", exact=True))
    assert value(page, "placed")[0] == 3


def test_arrows_go_in_the_order_of_issue(page):
    page.get_by_label("issued").select_option("stage by stage")
    chip(page, "in 0").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "in 1"


def test_view_says_that_the_bars_are_of_another_choice(page):
    page.get_by_label("host memory").select_option("pageable")
    assert "if nothing comes, run the cell again" in status(page)


def test_view_shows_the_plan_when_it_comes(opened):
    widget = ck.overlap(ck.Timeline(50, 50, 4))
    page = opened(widget)
    page.get_by_role("button", name="A stream for each chunk").click()
    widget.placed = value(page, "placed")
    page.evaluate("plan => model.set('plan', plan)", widget.plan)
    assert status(page).startswith("The model needs 244 us")


def test_table_says_what_the_bars_show(page):
    page.get_by_text("The same as a table").click()
    row = page.get_by_role("row", name="kernel 3 compute")
    assert row.inner_text().split() == [
        "kernel", "3", "compute", "404", "444", "yes",
    ]  # fmt: skip


@pytest.mark.parametrize("chunks", [1, 8])
def test_number_of_chunks_keeps_the_streams(page, chunks):
    page.get_by_role("button", name="A stream for each stage").click()
    page.get_by_role("slider", name="chunks").fill(str(chunks))
    assert value(page, "placed")[:3] == [0, 1, 2]
    assert len(value(page, "placed")) == 3 * chunks


def test_keys_of_the_widget_do_not_reach_the_page(page):
    chip(page, "in 0").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("heard") == []
