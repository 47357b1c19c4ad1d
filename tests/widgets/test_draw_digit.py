"""A drawing becomes a picture like MNIST's, and what a network says of it is shown."""

from __future__ import annotations

import base64
import doctest
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from handwriting import HANDS, STROKES, changed
from PIL import Image

import coursekit as ck
from coursekit.lessons import datasets
from coursekit.lessons.datasets import drawn, scanned, scanning
from coursekit.widgets import draw_digit
from coursekit.widgets.draw_digit_picture import described, percent

REAL = Path(__file__).parents[3] / "shared" / "data" / "mnist"
DRAWINGS = [
    pytest.param(changed(STROKES[digit], **HANDS[hand]), id=f"{digit} {hand}")
    for digit in STROKES
    for hand in HANDS
]
each_drawing = pytest.mark.parametrize("strokes", DRAWINGS)
LINE = [[(0.5, 0.1), (0.5, 0.9)]]


def scores(image):
    """Be nearly sure of a 7, whatever is drawn; a little less of a 2."""
    assert image.shape == (28, 28) and image.dtype == np.uint8
    found = np.zeros(10)
    found[[7, 2]] = np.log(90), np.log(8)
    return found


def centres(images):
    """Return the centres of mass, (row, column), counted from pixel 0."""
    ink = images.astype(np.float64)
    places = np.arange(28)
    weight = ink.sum(axis=(1, 2))
    rows, cols = ink.sum(axis=2) @ places, ink.sum(axis=1) @ places
    return np.stack([rows, cols], axis=1) / weight[:, None]


@pytest.mark.parametrize("module", [scanning, drawn, draw_digit])
def test_examples_of_the_documentation_hold(module):
    assert doctest.testmod(module).failed == 0


# ---------------------------------------------------------------- scanning


@each_drawing
def test_ink_fits_into_twenty_pixels_and_fills_them(strokes):
    image = scanned(strokes)
    # An edge that lies between two pixels is seen on both.
    longest = max(np.ptp(np.flatnonzero(image.any(axis=k))) + 1 for k in (0, 1))
    assert longest in (20, 21, 22)


@each_drawing
def test_centre_of_mass_is_in_the_middle(strokes):
    image = scanned(strokes)
    at_the_edge = image[[0, -1]].any() or image[:, [0, -1]].any()
    # A wide 7 is so heavy at the top that its foot has no room for the whole way.
    allowed = 1 if at_the_edge else 0.1
    np.testing.assert_allclose(centres(image[None])[0], 14, atol=allowed)


@pytest.fixture(scope="module")
def real():
    if not REAL.exists():
        pytest.skip("the real digits of MNIST's test files are not here")
    return datasets.mnist("test", folder=REAL, mirrors=()).images


def test_middle_is_where_mnist_has_it(real):
    np.testing.assert_allclose(centres(real).mean(axis=0), 14, atol=0.02)


def test_ink_of_drawings_is_as_much_as_of_mnists(real):
    images = np.array([scanned(STROKES[digit]) for digit in STROKES])
    assert images.sum() / len(images) == pytest.approx(real.sum() / len(real), rel=0.1)


@pytest.mark.parametrize("digit", STROKES)
def test_size_and_place_of_a_drawing_do_not_matter(digit):
    there = changed(STROKES[digit], wide=0.5, high=0.5, x=0.2, y=-0.2)
    apart = scanned(there).astype(int) - scanned(STROKES[digit])
    assert np.abs(apart).max() <= 1


def test_aspect_is_kept():
    rows, cols = (scanned(LINE).any(axis=k).sum() for k in (1, 0))
    assert (rows, cols) == (21, 3)


def test_pen_is_as_thick_as_it_says():
    widths = scanned(LINE)[8:20].sum(axis=1) / 255
    # Greys are taken at the middles of pixels, not as means over them.
    np.testing.assert_allclose(widths, scanning.PEN, atol=0.1)


@pytest.mark.parametrize("stroke", [[(0.1, 0.8)], [(0.5, 0.5), (0.5, 0.5)]])
def test_dot_is_a_dot_in_the_middle(stroke):
    image = scanned([stroke])
    assert image[14, 14] == 255
    assert 9 <= np.count_nonzero(image) <= 21


@pytest.mark.parametrize("strokes", [[], [[]]])
def test_no_ink_is_an_empty_picture(strokes):
    assert not scanned([s for s in strokes if s]).any()


@pytest.mark.parametrize("turned", [False, True])
def test_heavy_side_pushes_nothing_but_greys_to_the_edge(turned):
    top = [(0, 0), (1, 0), (1, 0.08), (0, 0.08), (0, 0.15), (1, 0.15)]
    strokes = [top, [(0.5, 0.15), (0.5, 1)]]
    if turned:
        strokes = [[(1 - x, 1 - y) for x, y in stroke] for stroke in strokes]
    edge, beside = scanned(strokes)[[0, 1] if turned else [-1, -2]]
    assert 0 < edge.max() < 128 and beside.max() == 255


# ---------------------------------------------------------------- the widget


def test_example_is_read_at_once():
    pad = ck.draw_digit(scores, example=4)
    np.testing.assert_array_equal(pad.image, scanned(drawn.plan(4)))
    assert pad.chances[7] == pytest.approx(90 / 106)


def test_reading_is_told_with_the_second_guess():
    text = "Example 3. Read as 7 (85 %); the next likeliest is 2 (8 %)."
    assert repr(ck.draw_digit(scores)).splitlines()[0] == text


def test_chances_of_all_ten_are_in_the_stored_text():
    stored = ck.draw_digit(scores).static_html()
    assert "6: 1 %, 7: 85 %, 8: 1 %" in re.search('alt="([^"]*)"', stored)[1]


def test_logits_may_have_an_axis_for_the_one_picture():
    pad = ck.draw_digit(lambda image: scores(image)[None].astype(np.float32))
    assert pad.chances.argmax() == 7


def test_huge_logits_are_no_trouble():
    pad = ck.draw_digit(lambda image: 1e30 * scores(image))
    assert pad.chances.tolist() == np.eye(10)[7].tolist()


def test_drawing_of_the_view_is_read():
    pad = ck.draw_digit(lambda image: image[14, :10] / 1.0)
    pad.drawing = {"strokes": LINE, "example": -1, "turn": 5}
    np.testing.assert_array_equal(pad.image, scanned(LINE))
    assert (pad.reading["turn"], repr(pad).splitlines()[0][:12]) == (5, "Own drawing.")


def test_drawing_from_python_is_read():
    pad = ck.draw_digit(scores)
    pad.draw(LINE)
    np.testing.assert_array_equal(pad.image, scanned(LINE))
    assert pad.drawing == {"strokes": [[[0.5, 0.1], [0.5, 0.9]]], "example": -1,
                           "turn": 1}  # fmt: skip


def test_cleared_field_has_no_reading():
    pad = ck.draw_digit(scores)
    pad.draw([])
    assert repr(pad) == "Own drawing. Nothing is drawn yet."
    assert (len(pad.chances), pad.reading["percents"]) == (0, [])


def test_picture_is_what_the_network_sees():
    pad = ck.draw_digit(scores)
    data = base64.b64decode(pad.reading["seen"].split(",")[1])
    np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(data))), pad.image)


def test_smaller_network_shows_what_it_sees():
    class Quarter:
        def seen(self, image):
            return image[::4, ::4]

        def __call__(self, image):
            return scores(image)

    pad = ck.draw_digit(Quarter())
    np.testing.assert_array_equal(pad.found.seen, pad.image[::4, ::4])
    assert "sees, 7 x 7 grey pixels" in pad.reading["alt"]
    assert 'viewBox="0 0 7 7"' in pad.static_svg()


def test_picture_is_described_by_where_its_ink_is():
    image = np.zeros((28, 28), dtype=np.uint8)
    image[4:7, 10:12] = 255
    words = "ink in rows 4 to 6 and columns 10 to 11, 6 pixels' worth."
    assert described(image).endswith(words)


@pytest.mark.parametrize(
    ("chance", "text"), [(0, "0 %"), (0.004, "0 %"), (0.996, "100 %"), (0.125, "12 %")]
)
def test_chances_are_whole_percents(chance, text):
    assert percent(chance) == text


@pytest.mark.parametrize("example", [-1, 10, "3", None])
def test_example_that_is_no_digit_is_refused(example):
    with pytest.raises(ck.ArgumentError, match="one of the ten digits"):
        ck.draw_digit(scores, example=example)


@pytest.mark.parametrize(
    "found", [np.zeros(9), np.zeros((10, 1)), np.full(10, np.nan), np.inf, 3]
)
def test_scores_that_are_not_ten_numbers_are_refused(found):
    with pytest.raises(ck.ArgumentError, match="finite, for a picture of 28 x 28"):
        ck.draw_digit(lambda image: found)


@pytest.mark.parametrize(
    "strokes",
    [None, 3, [[]], [[(0.5,)]], [[(0.5, 1.5)]], [[(np.nan, 0.5)]], [["ab"]],
     [[(0.5, 0.5)] * 5000]],
)  # fmt: skip
def test_drawing_that_is_no_list_of_strokes_is_refused(strokes):
    with pytest.raises(ck.ArgumentError, match="no list of strokes in the field"):
        ck.draw_digit(scores).draw(strokes)


def fails_for_own(image):
    if not np.array_equal(image, scanned(drawn.plan(3))):
        raise ZeroDivisionError("no such network")
    return scores(image)


@pytest.mark.parametrize("strokes", [LINE, [[[0.5, 9]]]])
def test_trouble_with_a_drawing_of_the_view_is_shown(strokes):
    pad = ck.draw_digit(fails_for_own)
    pad.drawing = {"strokes": strokes, "example": -1, "turn": 1}
    assert pad.reading["told"] == "It could not be read."
    words = ("ZeroDivisionError: no such network", "ArgumentError: The drawing is no")
    assert pad.reading["trouble"].startswith(words)


def test_trouble_is_over_with_the_next_drawing():
    pad = ck.draw_digit(fails_for_own)
    pad.drawing = {"strokes": LINE, "example": -1, "turn": 1}
    pad.drawing = {"strokes": drawn.plan(3), "example": 3, "turn": 2}
    assert pad.reading["trouble"] == ""


def test_importing_the_widgets_brings_no_network():
    code = (
        "import sys, coursekit.widgets; print('coursekit.lessons.mnist' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
