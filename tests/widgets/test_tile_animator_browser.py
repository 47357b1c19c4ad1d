"""`ck.tile_animator` in a browser: the same numbers, by keyboard and by mouse."""

from __future__ import annotations

import random

import pytest

import coursekit as ck
from coursekit.lessons.tiling import BUFFERS, LAYOUTS, ORDERS, PIECES, Tiling
from coursekit.widgets import tile_animator
from coursekit.widgets.tile_words import describe

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
CHOICES = {
    "M": [32, 40, 128, 512], "N": [32, 64, 136, 1024], "K": [32, 40, 64, 200],
    "rows": tile_animator.TILES, "cols": tile_animator.TILES,
    "depth": tile_animator.DEPTHS, "down": tile_animator.LANES_DOWN,
    "patch_rows": tile_animator.PATCHES, "patch_cols": tile_animator.PATCHES,
    "pieces": PIECES, "order": ORDERS, "a_tile": LAYOUTS, "buffers": BUFFERS,
    "copied": [1, 4],
}  # fmt: skip


@pytest.fixture
def page(opened):
    return opened(ck.tile_animator(256, 256, 64, like="step 8", thread=37, step=9))


def told(page):
    return page.locator(".ck-told").inner_text()


def test_browser_and_python_say_the_same(page):
    draw = random.Random(1)
    cases = []
    for _ in range(400):
        shape = {name: draw.choice(values) for name, values in CHOICES.items()}
        cut = Tiling(**shape)
        most = (cut.grid[0] * cut.grid[1], max(cut.threads, 1), cut.steps)
        cases.append((cut, shape, [draw.randrange(count) for count in most]))
    states = [
        shape | dict(zip(("block", "thread", "step"), place, strict=True))
        for _, shape, place in cases
    ]
    said = page.evaluate("states => states.map(module.describe)", states)
    assert sum(not one["problem"] for one in said) > 100
    assert said == [describe(cut, *place) for cut, _, place in cases]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_where_everything_is_open(opened, theme):
    skip_without_axe()
    shown = opened(ck.tile_animator(like="step 3", step=4), theme)
    shown.get_by_text("Cut it yourself").click()
    assert violations(shown) == []


def test_a_step_is_taken_by_keyboard(page):
    focus_by_tab(page, page.get_by_role("button", name="Forward"))
    page.keyboard.press("Enter")
    assert value(page, "step") == 10
    assert told(page).startswith("Tile 2 of 8, k = 8:")


def test_a_tile_is_brought_before_it_is_used(page):
    assert told(page).startswith("Tile 2 of 8: k = 8-15 is brought. Thread 37 copies")


def test_arrow_keys_go_through_the_threads(page):
    slider(page, "thread").focus()
    page.keyboard.press("ArrowRight")
    assert value(page, "thread") == 38
    assert "Thread 38 is lane 6 of warp 1" in page.locator("#widget").inner_text()


def test_play_goes_on_to_the_end_and_stops(page):
    page.evaluate("model.set('step', 70)")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Play").wait_for()
    assert value(page, "step") == 71


def test_removed_view_plays_no_longer(page):
    page.get_by_role("button", name="Play").click()
    page.evaluate("window.end()")
    assert page.get_by_role("button", name="Play").count() == 1


def test_a_kernel_of_the_ladder_is_taken_over_whole(page):
    page.get_by_label("kernel").select_option("step 5: patches")
    shape = [value(page, name) for name in ("down", "a_tile", "copied", "order")]
    assert shape == [2, "by rows", 1, "row by row"]


def test_a_shape_of_your_own_is_called_so(page):
    page.get_by_text("Cut it yourself").click()
    page.get_by_label("lanes are numbered").select_option("row by row")
    assert page.get_by_label("kernel").input_value() == "of your own"


def test_a_shape_that_cannot_be_says_why(page):
    page.get_by_text("Cut it yourself").click()
    page.get_by_label("block tile, rows").select_option("32")
    assert status(page) == "A tile of 32 x 128 cannot be cut into warps of 64 x 32."
    assert not page.get_by_role("img").is_visible()


def test_place_stays_inside_a_product_that_shrinks(page):
    page.evaluate("model.set('block', 3)")
    slider(page, "M").fill("128")
    slider(page, "N").fill("128")
    assert "Block 0 so far" in page.locator("#widget").inner_text()


def test_picture_is_described_in_words(page):
    words = page.get_by_role("img").get_attribute("aria-label")
    assert "it owns rows 8-11, 40-43 and columns" in words


def test_updates_keep_every_node(page):
    nodes = "document.querySelectorAll('#widget *')"
    page.evaluate(f"window.before = [...{nodes}]")
    page.evaluate("model.set('rows', 64); model.set('step', 3); model.set('M', 64)")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert page.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


def test_narrow_window_cuts_nothing_off(opened):
    page = opened(ck.tile_animator(like="step 9", thread=37, step=20))
    page.set_viewport_size({"width": 460, "height": 900})
    wide = page.locator(".ck-tiles").evaluate("e => e.scrollWidth - e.clientWidth")
    assert wide <= 0
