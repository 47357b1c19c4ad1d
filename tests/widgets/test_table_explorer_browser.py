"""`ck.errata` and `ck.ecosystem` in a browser: search, groups, links to sources."""

from __future__ import annotations

import pytest

import coursekit as ck
from coursekit.widgets import TableExplorer

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402 (after the skip)
    focus_by_tab,
    opened,
    status,
    tab,
)

__all__ = ["opened", "tab"]  # fixtures


@pytest.fixture
def page(opened):
    return opened(ck.errata())


def shown(page):
    return page.locator("tbody tr:visible").count()


def test_all_rows_are_there_at_first(page):
    assert shown(page) == 97
    assert status(page) == "97 of 97 rows"


def test_every_word_must_be_in_the_row(page):
    page.get_by_role("searchbox").fill("TF32 exponent")
    assert shown(page) == 1
    assert page.get_by_role("rowheader", name="E06").is_visible()


def test_search_is_reached_and_typed_by_keyboard_alone(page):
    focus_by_tab(page, page.get_by_role("searchbox"))
    page.keyboard.type("cuctxcreate")
    assert status(page) == "1 of 97 rows"


def test_group_leaves_its_rows_alone(page):
    page.get_by_role("combobox").select_option("Hardware and number formats")
    assert shown(page) == 20


def test_nothing_found_says_what_to_try(page):
    page.get_by_role("searchbox").fill("no such words")
    assert shown(page) == 0
    assert "try fewer" in status(page)


def test_source_is_a_link_to_its_page(opened):
    page = opened(ck.ecosystem())
    page.get_by_role("searchbox").fill("Keras")
    link = page.get_by_role("link", name="keras.io")
    assert link.get_attribute("href").startswith("https://keras.io/")


def test_text_is_text_and_no_markup(opened):
    row = ["<img src=x onerror=alert(1)>", "a", "b", "https://example.org/<i>"]
    page = opened(TableExplorer("T", "N", ["1", "2", "3", "4"], {"<b>g</b>": [row]}))
    assert page.locator("tbody img, tbody i").count() == 0
    assert page.get_by_role("rowheader").inner_text() == row[0]
