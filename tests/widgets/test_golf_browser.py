"""The card of Count Golf in a browser: by keyboard, in both themes, at work."""

from __future__ import annotations

import functools

import pytest

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from golf_solutions import PACK_WINDOW  # noqa: E402 (after the skip)
from test_widgets_browser import (  # noqa: E402
    focus_by_tab,
    opened,
    skip_without_axe,
    status,
    tab,
    value,
    violations,
)

from coursekit.exercises.golf import holes, play  # noqa: E402
from coursekit.widgets import GolfCard  # noqa: E402
from coursekit.widgets.golf import shown_of  # noqa: E402

__all__ = ["opened", "tab"]  # fixtures
REFUSED = PACK_WINDOW.replace("lane < lead ? next : here", "here")


@functools.cache
def score(source):
    hole = holes.find("pack_window")
    return play.play(hole, play.source_of(source or hole.source))


CARDS = {"starter": "", "gold": PACK_WINDOW, "refused": REFUSED}


@pytest.fixture
def page(opened):
    return opened(GolfCard(score("")))


def summary(page, text):
    return page.locator("summary", has_text=text)


def unfold(page):
    for one in page.locator("summary:visible").all():
        one.click()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", CARDS)
def test_axe_finds_nothing_to_complain_about(opened, name, theme):
    skip_without_axe()
    page = opened(GolfCard(score(CARDS[name])), theme)
    unfold(page)
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_what_is_stored(tab, theme):
    skip_without_axe()
    tab.unroute_all()
    light, ground = {"light": ("true", "#fff"), "dark": ("false", "#111")}[theme]
    tab.set_content(
        f'<!doctype html><html lang="en"><title>Card</title>'
        f'<body data-jp-theme-light="{light}" style="background:{ground}"><main>'
        f"<h1 hidden>Card</h1>{GolfCard(score('')).static_html()}</main></body>"
    )
    assert violations(tab) == []


def test_table_shows_what_python_counted(page):
    cells = page.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["sectors", "16,384", "7.88 x ideal (2,080)", "16,384"]


def test_line_that_costs_most_is_marked(page):
    summary(page, "costs most").click()
    (marked,) = page.locator(".ck-most").all_inner_texts()
    assert "> 16,384" in marked
    assert "out[r * cols + c] = a" in marked


def test_text_is_edited_and_played_by_the_keyboard(page):
    focus_by_tab(page, summary(page, "Edit the kernel"))
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("int a;")
    focus_by_tab(page, page.get_by_role("button", name="Play", exact=True))
    page.keyboard.press("Enter")
    assert value(page, "asked") == {"text": "int a;", "turn": 1}
    assert status(page).startswith("Compiling")


def test_answer_of_the_kernel_is_shown_in_place(page):
    table = page.locator("table").element_handle()
    summary(page, "Edit the kernel").click()
    page.get_by_role("button", name="Play", exact=True).click()
    shown = shown_of(score(PACK_WINDOW), score(PACK_WINDOW))
    page.evaluate("shown => model.set('shown', shown)", shown)
    page.evaluate("model.set('answered', {turn: 1, trouble: ''})")
    assert status(page) == "Count Golf, pack_window: gold medal."
    assert table.evaluate("node => node.isConnected")


def test_refusal_is_shown_with_its_reason(opened):
    page = opened(GolfCard(score(REFUSED)))
    assert "elements of out are wrong" in page.locator(".ck-trouble").inner_text()
    assert page.locator("table").is_hidden()


def test_best_text_comes_back(opened):
    page = opened(GolfCard(score(PACK_WINDOW)))
    summary(page, "Edit the kernel").click()
    page.get_by_role("textbox").fill("int a;")
    page.get_by_role("button", name="Best text so far").click()
    assert "__shfl_sync" in page.get_by_role("textbox").input_value()


def test_nothing_takes_the_focus_by_itself(page):
    assert page.evaluate("document.activeElement === document.body")


def test_escape_goes_back_to_the_cell(page):
    page.evaluate("document.querySelector('main').className = 'jp-Cell'")
    page.evaluate("document.querySelector('main').tabIndex = -1")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "jp-Cell"


def test_running_the_cell_from_the_editor_plays_nothing(page):
    summary(page, "Edit the kernel").click()
    page.get_by_role("textbox").press("Shift+Enter")
    assert value(page, "asked") == {}


def test_keys_of_the_editor_do_not_reach_the_notebook(page):
    summary(page, "Edit the kernel").click()
    page.get_by_role("textbox").press("d")
    assert page.evaluate("heard") == []
