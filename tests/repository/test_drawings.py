"""The drawings: current, readable on light and dark pages, no text out of its box."""

import itertools
import json
import re
from pathlib import Path

import pytest
from chapters import drawings
from colours import PAGES
from contrast import contrast
from drawing import Drawing
from shapes import Line, Rectangle, Text

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assets" / "drawings"

DRAWINGS = {drawing.name: drawing for drawing in drawings()}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_drawing = pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
IMAGE = re.compile(r"!\[([^\]]*)\]\(\.\./assets/drawings/(\w+)\.svg\)")


def texts(drawing):
    return [mark for mark in drawing.marks if isinstance(mark, Text)]


@each_drawing
def test_file_is_what_the_program_draws(drawing):
    """Run `make drawings`, look at what changed, and commit it, if not."""
    file = FOLDER / f"{drawing.name}.svg"
    assert file.read_text(encoding="utf-8") == drawing.svg()


def test_every_file_has_its_drawing():
    assert {file.stem for file in FOLDER.glob("*.svg")} == set(DRAWINGS)


@each_drawing
def test_no_text_leaves_its_box(drawing):
    room = 2  # pixels between the letters and the box, left and right
    assert [
        text.text
        for text in texts(drawing)
        if not (
            text.box.x + room <= text.place.x
            and text.place.right <= text.box.right - room
            and text.box.y <= text.place.y
            and text.place.bottom <= text.box.bottom
        )
    ] == []


@each_drawing
def test_nothing_leaves_the_drawing(drawing):
    canvas = Rectangle(0, 0, drawing.width, drawing.height)
    boxes = [mark for mark in drawing.marks if isinstance(mark, Rectangle)]
    lines = [mark for mark in drawing.marks if isinstance(mark, Line)]
    ends = [point for line in lines for point in (line.start, line.end)]
    assert [box for box in boxes if not canvas.holds(box)] == []
    assert [p for p in ends if not canvas.holds(Rectangle(*p, 0, 0))] == []


@each_drawing
def test_nothing_is_drawn_over_a_text(drawing):
    covered = []
    for number, text in enumerate(drawing.marks):
        if not isinstance(text, Text):
            continue
        for mark in drawing.marks[number + 1 :]:
            if isinstance(mark, Text):
                over = mark.place.overlap(text.place) > 0
            elif isinstance(mark, Line):
                over = mark.crosses(text.place)
            else:
                over = mark.overlap(text.place) > 0
            covered += [(text.text, mark)] if over else []
    assert covered == []


@each_drawing
def test_boxes_lie_beside_or_inside_each_other(drawing):
    boxes = [mark for mark in drawing.marks if isinstance(mark, Rectangle)]
    assert [
        (one, other)
        for one, other in itertools.combinations(boxes, 2)
        if one.overlap(other) > 1 and not (one.holds(other) or other.holds(one))
    ] == []


@each_drawing
def test_every_text_has_aa_contrast_on_its_own_fill(drawing):
    assert [t.text for t in texts(drawing) if contrast(t.ink, t.fill) < 4.5] == []


@each_drawing
def test_every_text_stands_on_a_fill(drawing):
    boxes = [mark for mark in drawing.marks if isinstance(mark, Rectangle)]
    assert [t.text for t in texts(drawing) if t.box not in boxes] == []


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@each_drawing
def test_every_line_shows_on_the_page(drawing, page):
    colours = {mark.colour for mark in drawing.marks if isinstance(mark, Line)}
    assert [colour for colour in colours if contrast(colour, page) < 3] == []


@each_drawing
def test_the_ground_is_transparent(drawing):
    area = drawing.width * drawing.height
    boxes = [mark for mark in drawing.marks if isinstance(mark, Rectangle)]
    assert [box for box in boxes if box.width * box.height > area / 2] == []


@each_drawing
def test_alt_text_is_sentences(drawing):
    assert 80 < len(drawing.alt) < 700
    assert drawing.alt.endswith(".")
    assert not set(drawing.alt) & set("[]\n")


@each_drawing
def test_a_drawing_is_small(drawing):
    assert len(drawing.svg()) < 60_000
    assert drawing.width <= 760


def test_names_begin_with_the_chapter():
    assert [name for name in DRAWINGS if not re.match(r"\d\d_[a-z0-9_]+$", name)] == []


@pytest.mark.parametrize("chapter", sorted({path.stem[:2] for path in NOTEBOOKS}))
def test_a_chapter_has_at_least_three_drawings(chapter):
    assert len([name for name in DRAWINGS if name.startswith(chapter)]) >= 3


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_drawings_with_their_alt_text(notebook):
    """Take the line from `python assets/drawings --markdown`, if not."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    shown = [IMAGE.findall(text) for text in prose]
    assert [
        (alt, name)
        for alt, name in itertools.chain.from_iterable(shown)
        if name not in DRAWINGS or DRAWINGS[name].alt != alt
    ] == []


# What the tests above would catch.


def test_a_text_that_is_too_wide_is_noticed():
    drawing = Drawing("00_wide", "", 40)
    drawing.box(Rectangle(10, 10, 40, 20), "too wide for this")
    with pytest.raises(AssertionError):
        test_no_text_leaves_its_box(drawing)


def test_a_line_over_a_text_is_noticed():
    drawing = Drawing("00_line", "", 40)
    drawing.label((10, 20), "a label")
    drawing.line((0, 20), (200, 20))
    with pytest.raises(AssertionError):
        test_nothing_is_drawn_over_a_text(drawing)


def test_a_line_under_a_text_is_allowed():
    drawing = Drawing("00_line", "", 40)
    drawing.line((0, 20), (200, 20))
    drawing.label((10, 20), "a label")
    test_nothing_is_drawn_over_a_text(drawing)
