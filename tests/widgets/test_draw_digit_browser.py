"""`ck.draw_digit` in a browser: drawn by mouse, finger and keys, and answered."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons import datasets, mnist

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from handwriting import STROKES  # noqa: E402 (after the skip)
from test_draw_digit import scores  # noqa: E402
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
OWN = -1


@pytest.fixture
def pad():
    return ck.draw_digit(scores)


@pytest.fixture
def page(opened, pad):
    return opened(pad)


def field(page):
    return page.locator("svg.ck-field")


def draw(page, strokes):
    """Draw as a hand with a mouse does, in several moves between two points."""
    box = field(page).bounding_box()
    for stroke in strokes:
        places = [
            (box["x"] + x * box["width"], box["y"] + y * box["height"])
            for x, y in stroke
        ]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=3)
        page.mouse.up()


def answer(page, pad):
    """Let the pad read what the page has sent, as a kernel would."""
    pad.drawing = value(page, "drawing")
    page.evaluate("reading => model.set('reading', reading)", pad.reading)


def strokes(page):
    return value(page, "drawing")["strokes"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", ["own", "cleared", "trouble", "by keys"])
def test_axe_finds_nothing_to_complain_about(opened, pad, state, theme):
    skip_without_axe()
    page = opened(pad, theme)
    if state == "own":
        draw(page, STROKES[5])
    elif state == "by keys":
        field(page).press(" ")
    else:
        page.get_by_role("button", name="Clear").click()
    if state == "trouble":
        pad._scores = None
        draw(page, STROKES[1])
    answer(page, pad)
    assert page.locator(".ck-trouble").is_visible() == (state == "trouble")
    assert violations(page) == []


def test_shipped_weights_read_what_is_drawn_by_mouse(opened, simulated):
    trainer = mnist.load_weights(mnist.shipped()).trainer()
    pad = ck.draw_digit(mnist.Reader(trainer))
    page, found = opened(pad), []
    for digit in range(10):
        page.get_by_role("button", name="Clear").click()
        draw(page, STROKES[digit])
        answer(page, pad)
        found.append(status(page).startswith(f"Read as {digit} "))
    assert sum(found) >= 9


def test_stroke_of_the_mouse_is_where_it_was_drawn(page):
    draw(page, STROKES[1])
    (stroke,) = strokes(page)
    # A pixel of the field is a 250th of it.
    np.testing.assert_allclose(stroke[0], STROKES[1][0][0], atol=1 / 250)
    np.testing.assert_allclose(stroke[-1], STROKES[1][0][-1], atol=1 / 250)


def test_first_stroke_takes_the_place_of_the_example(page):
    draw(page, STROKES[4][:1])
    assert (len(strokes(page)), value(page, "drawing")["example"]) == (1, OWN)


def test_second_stroke_stays_beside_the_first(page):
    draw(page, STROKES[4])
    assert len(strokes(page)) == 2


def test_finger_draws_too(page):
    box = field(page).bounding_box()
    x, y = box["x"] + box["width"] / 4, box["y"] + box["height"] / 2
    send = page.context.new_cdp_session(page).send
    for kind, more in [("Start", 0), ("Move", 40), ("Move", 80), ("End", None)]:
        points = [] if more is None else [{"x": x + more, "y": y}]
        send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )
    page.wait_for_function("model.get('drawing').example === -1")
    (stroke,) = strokes(page)
    np.testing.assert_allclose([stroke[0], stroke[-1]], [(0.25, 0.5), (0.57, 0.5)],
                               atol=0.01)  # fmt: skip


def test_right_button_draws_nothing(page):
    field(page).click(button="right")
    assert value(page, "drawing")["turn"] == 0


def test_stroke_ends_at_the_edge_of_the_field(page):
    draw(page, [[(0.5, 0.5), (2.0, 0.5)]])
    assert strokes(page)[0][-1][0] == 1


def test_keys_draw_a_seven(page):
    focus_by_tab(page, field(page))
    for key in ["Home"] * 4 + [" "] + ["ArrowRight"] * 8 + ["End"] * 8 + [" "]:
        page.keyboard.press(key)
    (stroke,) = strokes(page)
    np.testing.assert_allclose(
        [stroke[0], stroke[8], stroke[-1]], [(0.3, 0.3), (0.7, 0.3), (0.3, 0.7)]
    )


def test_place_of_the_pen_is_told(page):
    field(page).press("ArrowRight")
    assert status(page, 1) == "Pen lifted, 11 across and 10 down of 20."


def test_pen_that_is_down_is_lifted_when_the_field_is_left(page):
    for key in (" ", "ArrowUp", "Tab"):
        field(page).press(key) if key == " " else page.keyboard.press(key)
    assert strokes(page) == [[[0.5, 0.5], [0.5, 0.45]]]


def test_mouse_ends_a_stroke_of_the_keys(page):
    field(page).press(" ")
    draw(page, STROKES[1])
    assert [len(stroke) == 1 for stroke in strokes(page)] == [True, False]


@pytest.mark.parametrize("how", ["key", "button"])
def test_last_stroke_is_taken_back(page, how):
    draw(page, STROKES[4])
    if how == "key":
        field(page).press("Backspace")
    else:
        page.get_by_role("button", name="Take a stroke back").click()
    assert len(strokes(page)) == 1


def test_stroke_that_the_keys_have_begun_is_taken_back_alone(page):
    draw(page, STROKES[1])
    for key in (" ", "ArrowUp", "Backspace"):
        field(page).press(key)
    assert len(strokes(page)) == 1


def test_clear_leaves_nothing(page, pad):
    page.get_by_role("button", name="Clear").click()
    answer(page, pad)
    assert (strokes(page), status(page)) == ([], "Nothing is drawn yet.")
    assert page.locator("tbody td").all_inner_texts() == [""] * 10


def test_example_is_chosen_by_keyboard(page, pad):
    focus_by_tab(page, page.get_by_role("combobox", name="example"))
    page.keyboard.press("8")
    answer(page, pad)
    np.testing.assert_array_equal(pad.image, datasets.scanned(pad.examples[8]))


def test_reading_is_awaited(page):
    draw(page, STROKES[4])
    assert status(page) == "The network reads ..."


def test_answer_to_an_earlier_drawing_is_not_shown(page, pad):
    draw(page, STROKES[4][:1])
    pad.drawing = value(page, "drawing")
    draw(page, STROKES[4][1:])
    page.evaluate("reading => model.set('reading', reading)", pad.reading)
    assert status(page) == "The network reads ..."


def test_table_says_how_likely_each_digit_is(page):
    rows = page.locator("tbody tr").all()
    texts = ["\t".join(row.locator("th, td").all_inner_texts()) for row in rows]
    assert texts[6:8] == ["6\t1 %", "7\t85 %"]


def test_longest_bar_is_the_likeliest_digits(page):
    bars = page.locator(".ck-length").all()
    widths = [bar.evaluate("node => node.offsetWidth") for bar in bars]
    assert int(np.argmax(widths)) == 7


def test_picture_has_its_words(page, pad):
    assert page.get_by_role("img").get_attribute("alt") == pad.reading["alt"]


def test_picture_shows_the_pixels_that_were_read(page, pad):
    pixels = page.evaluate(
        """() => {
          const image = document.querySelector(".ck-seen");
          const canvas = new OffscreenCanvas(28, 28).getContext("2d");
          canvas.drawImage(image, 0, 0);
          const { data } = canvas.getImageData(0, 0, 28, 28);
          return [...data].filter((_, place) => place % 4 === 0);
        }"""
    )
    np.testing.assert_array_equal(np.reshape(pixels, (28, 28)), pad.image)


def test_stored_path_is_that_of_the_view(page, pad):
    drawn = page.locator(".ck-ink").get_attribute("d")
    assert f'd="{drawn}"' in pad.static_svg()


def test_updates_keep_every_node(page, pad):
    nodes = "document.querySelectorAll('#widget *')"
    page.evaluate(f"window.before = [...{nodes}]")
    draw(page, STROKES[4])
    answer(page, pad)
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert page.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


def test_keys_of_the_field_do_not_reach_the_notebook(page):
    for key in ("ArrowDown", " ", "d", "Backspace"):
        field(page).press(key)
    assert page.evaluate("heard") == []


@pytest.mark.parametrize("key", ["ArrowDown", "PageDown", " "])
def test_keys_of_the_field_do_not_scroll_the_page(page, key):
    page.evaluate(
        "window.addEventListener('keydown', (e) => { window.last = e; }, true)"
    )
    field(page).press(key)
    assert page.evaluate("last.defaultPrevented")


@pytest.mark.parametrize("key", ["Tab", "Shift+Enter", "Control+ArrowDown"])
def test_other_keys_of_the_field_do_what_they_always_do(page, key):
    focus_by_tab(page, field(page))
    page.keyboard.press(key)
    assert value(page, "drawing")["turn"] == 0
    assert page.evaluate("document.querySelector('.ck-help[role]').textContent") == ""
