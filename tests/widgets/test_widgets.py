"""The widgets without a browser: the map of a launch, the judging, what is stored."""

from __future__ import annotations

import base64
import doctest
import importlib
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from itertools import product
from pathlib import Path

import pytest
import traitlets
from contrast import contrast
from traced_kernels import row_sums, shift_left

import coursekit as ck
from coursekit.display.listing import WIDTH_PIXELS
from coursekit.display.listing import panel as listing_panel
from coursekit.exercises import Guess
from coursekit.widgets import (
    GridBlock,
    GridMap,
    GuessWidget,
    LearningView,
    Question,
    QuizWidget,
    guess,
    palette,
    quiz,
)
from coursekit.widgets.base import FOLDER, CourseWidget
from coursekit.widgets.grid_map import MODES

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("base", "compiled_words", "grid_block", "grid_map", "questions")
SHEETS = (
    "chip_explorer", "compiled", "draw_digit", "fusion", "graph_stepper",
    "grid_block", "layout_flipper", "learning", "memory_boxes", "microscope",
    "number", "occupancy",
    "overlap", "questions", "residency", "roofline", "scheduler", "shared",
    "table_explorer", "tile_animator",
)  # fmt: skip
SHARED = (FOLDER / "shared.css").read_text(encoding="utf-8")
VIEW = "application/vnd.jupyter.widget-view+json"
SHAPES = list(product((1, 7, 8, 31, 32, 33, 64), (1, 2, 3, 8), (1, 5, 16), MODES))


@pytest.fixture(
    params=[
        lambda: GridBlock(n=30, blocks=3, threads=8, thread=11),
        lambda: guess("How `many` threads?", [16, 32], answer=32, because="Secret."),
        lambda: guess("How many <threads>?", answer=42, because="Secret."),
        lambda: quiz([Question("Yes?", answer=True, because="Secret.")]),
        lambda: ck.microscope(*row_sums()),
        lambda: ck.memory_boxes(ck.program("start/boxes.cpp").run()),
        lambda: ck.show_compiled(ck.compile("start/vec_add.cu").vec_add),
        lambda: ck.scheduler(*shift_left()),
        lambda: ck.overlap(ck.Timeline(50, 50, 4)),
        lambda: ck.occupancy_explorer(64, 128, device="H200"),
        lambda: ck.residency(64, 128, device="H200"),
        lambda: ck.chip_explorer("H200", "RTX 4090"),
        lambda: ck.fusion_counter(["t = a * b", "y = exp(t)"], {"a": 64, "b": 64}),
        lambda: ck.roofline_explorer({"one": (2.0, 1.0)}, device="H200"),
        lambda: ck.tile_animator(128, 128, 32, like="step 8"),
        lambda: LearningView(chance=2.3),
        lambda: ck.draw_digit(lambda image: image[14, :10]),
        lambda: ck.number_explorer("E4M3", 0.3),
        lambda: ck.graph_stepper(ck.autograd.Value(2, "x") * 3),
        lambda: ck.layout_flipper(2, 3),
        lambda: ck.errata(),
    ],
    ids=[
        "grid",
        "guess",
        "number",
        "quiz",
        "microscope",
        "boxes",
        "compiled",
        "scheduler",
        "overlap",
        "occupancy",
        "residency",
        "chips",
        "fusion",
        "roofline",
        "tiles",
        "learning",
        "pad",
        "bits",
        "graph",
        "layout",
        "errata",
    ],
)
def make(request):
    """Build one widget."""
    return request.param


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation_hold(name):
    module = importlib.import_module(f"coursekit.widgets.{name}")
    assert doctest.testmod(module).failed == 0


# ---------------------------------------------------------------- every widget


def test_two_equal_widgets_store_the_same(make):
    first, second = (make()._repr_mimebundle_()[0] for _ in range(2))
    del first[VIEW], second[VIEW]
    assert first == second


def test_stored_texts_hold_no_address(make):
    bundle = make()._repr_mimebundle_()[0]
    assert not re.search(r"0x[0-9a-f]{6,}", bundle["text/plain"] + bundle["text/html"])


def test_plain_text_is_the_repr(make):
    assert make()._repr_mimebundle_()[0]["text/plain"] == repr(make())


def test_live_view_is_offered(make):
    assert VIEW in make()._repr_mimebundle_()[0]


def test_module_imports_nothing(make):
    assert not re.search(r"^import |\bimport\(", str(make()._esm), re.MULTILINE)


def test_module_declares_each_name_once(make):
    names = re.findall(
        r"^(?:export )?(?:function|const|let) (\w+)", str(make()._esm), re.MULTILINE
    )
    assert len(names) == len(set(names))


def test_file_of_a_widget_has_at_most_300_lines():
    lengths = {
        path.name: len(path.read_text().splitlines()) for path in FOLDER.iterdir()
    }
    assert {name for name, lines in lengths.items() if lines > 300} == set()


def test_files_of_the_widgets_are_package_data():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = pyproject["tool"]["setuptools"]["package-data"]["coursekit.widgets"]
    packaged = {path for p in patterns for path in FOLDER.parent.glob(p)}
    assert packaged == set(FOLDER.iterdir())


def test_widget_without_a_picture_says_so():
    with pytest.raises(NotImplementedError, match="draws no picture"):
        CourseWidget().static_html()


@pytest.mark.parametrize("library", ["anywidget", "ipywidgets"])
def test_importing_the_package_imports_no_widgets(library):
    code = f"import sys, coursekit; print({library!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", ["guess", "quiz", "widgets"])
def test_package_offers_the_name(name):
    assert getattr(ck, name) is not None


# ---------------------------------------------------------------- colours


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", palette.GROUNDS)
def test_ink_has_aa_contrast_on_every_ground(theme, ground):
    ink = getattr(palette.INKS["ink"], theme)
    assert contrast(ink, getattr(palette.GROUNDS[ground], theme)) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ink", palette.INKS)
def test_every_ink_has_aa_contrast_on_the_panel(theme, ink):
    panel = getattr(palette.GROUNDS["panel"], theme)
    assert contrast(getattr(palette.INKS[ink], theme), panel) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("line", palette.LINES)
def test_lines_can_be_seen_on_the_panel(theme, line):
    panel = getattr(palette.GROUNDS["panel"], theme)
    assert contrast(getattr(palette.LINES[line], theme), panel) >= 3


@pytest.mark.parametrize("name", SHEETS)
def test_style_sheet_uses_defined_colours_only(name):
    used = re.findall(r"var\(--ck-([\w-]+)\)", (FOLDER / f"{name}.css").read_text())
    defined = palette.GROUNDS | palette.INKS | palette.CODE | palette.LINES
    assert set(used) <= defined.keys()


@pytest.mark.parametrize("name", SHEETS)
def test_style_sheet_names_no_colour_itself(name):
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgb", (FOLDER / f"{name}.css").read_text())


# ---------------------------------------------------------------- the map


@pytest.mark.parametrize(("n", "blocks", "threads", "mode"), SHAPES)
def test_no_element_has_two_threads(n, blocks, threads, mode):
    launch = GridMap(n, blocks, threads, mode)
    handled = [e for t in range(launch.total) for e in launch.elements(t)]
    assert len(handled) == len(set(handled)) == launch.covered


@pytest.mark.parametrize(("n", "blocks", "threads", "mode"), SHAPES)
def test_owner_is_the_thread_that_handles_the_element(n, blocks, threads, mode):
    launch = GridMap(n, blocks, threads, mode)
    owners = {e: t for t in range(launch.total) for e in launch.elements(t)}
    assert [launch.owner(e) for e in range(n)] == [owners.get(e) for e in range(n)]


@pytest.mark.parametrize(("n", "blocks", "threads", "mode"), SHAPES)
def test_idle_threads_are_those_without_elements(n, blocks, threads, mode):
    launch = GridMap(n, blocks, threads, mode)
    assert launch.idle == sum(not launch.elements(t) for t in range(launch.total))


@pytest.mark.parametrize(("n", "blocks", "threads"), [s[:3] for s in SHAPES[::2]])
def test_grid_stride_loop_covers_everything(n, blocks, threads):
    assert GridMap(n, blocks, threads, "grid-stride").covered == n


def test_formula_is_spelled_out_with_its_numbers():
    formula = GridMap(20, 3, 8).formula(11)
    assert formula == "i = blockIdx.x * blockDim.x + threadIdx.x = 1 * 8 + 3 = 11"


@pytest.mark.parametrize(
    ("launch", "thread", "meaning"),
    [
        (GridMap(20, 3, 8), 11, "11 < 20 is true: this thread handles x[11]."),
        (
            GridMap(20, 3, 8),
            20,
            "20 < 20 is false: the guard sends this thread home.",
        ),
        (
            GridMap(20, 1, 8, "grid-stride"),
            3,
            "In steps of gridDim.x * blockDim.x = 1 * 8 = 8, as long as i < 20, this "
            "thread handles x[3], x[11], x[19].",
        ),
        (
            GridMap(3, 1, 8, "grid-stride"),
            5,
            "5 < 3 is false: the loop of this thread ends before it begins.",
        ),
        (
            GridMap(64, 1, 1, "grid-stride"),
            0,
            "In steps of gridDim.x * blockDim.x = 1 * 1 = 1, as long as i < 64, this "
            "thread handles x[0], x[1], x[2], ..., x[63].",
        ),
    ],
)
def test_meaning_of_an_index_is_said(launch, thread, meaning):
    assert launch.meaning(thread) == meaning


@pytest.mark.parametrize(
    ("launch", "summary"),
    [
        (
            GridMap(20, 3, 8),
            "Threads: 3 * 8 = 24. Elements covered: 20 of 20. Idle threads: 4.",
        ),
        (
            GridMap(25, 3, 8),
            "Threads: 3 * 8 = 24. Elements covered: 24 of 25. Idle threads: 0. "
            "Without a thread: x[24].",
        ),
        (
            GridMap(30, 3, 8, "grid-stride"),
            "Threads: 3 * 8 = 24. Elements covered: 30 of 30. Idle threads: 0. "
            "Most elements of one thread: 2.",
        ),
    ],
)
def test_summary_counts_what_is_covered_and_idle(launch, summary):
    assert launch.summary() == summary


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 65}, "from 1 to 64"),
        ({"blocks": 9}, "from 1 to 8"),
        ({"threads": 17}, "from 1 to 16"),
        ({"threads": 8.0}, "threads=8.0"),
        ({"mode": "loop"}, "'guard', 'grid-stride'"),
        ({"thread": 24}, "from 0 to 23"),
        ({"thread": -1}, "thread=-1"),
    ],
)
def test_launch_that_cannot_be_drawn_is_refused(changed, message):
    with pytest.raises(ck.ArgumentError, match=re.escape(message)):
        GridBlock(**{"n": 20, "blocks": 3, "threads": 8} | changed)


# ---------------------------------------------------------------- grid and block


@pytest.mark.parametrize(
    ("changed", "thread"), [({"blocks": 1}, 7), ({"threads": 2}, 5), ({"n": 1}, 20)]
)
def test_chosen_thread_stays_in_the_grid(changed, thread):
    widget = GridBlock(n=20, blocks=3, threads=8, thread=20)
    for name, value in changed.items():
        setattr(widget, name, value)
    assert widget.thread == thread


def test_slider_values_out_of_range_are_refused():
    with pytest.raises(traitlets.TraitError):
        GridBlock().n = 65


def picture(widget):
    """Return the root of the stored picture."""
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', widget.static_html())
    return ElementTree.fromstring(base64.b64decode(found[1]))


def words(widget):
    return [node.text for node in picture(widget).iter() if node.text]


def test_stored_picture_says_the_summary_and_the_formula():
    widget = GridBlock(n=20, blocks=3, threads=8, thread=11)
    said = words(widget)
    assert widget.map.summary() in said
    assert widget.map.formula(11) in said


@pytest.mark.parametrize(
    ("word", "count"), [("idle", 0), ("none", 6), ("b0 t0", 1), ("i=23", 1)]
)
def test_stored_picture_marks_what_has_no_partner(word, count):
    assert words(GridBlock(n=30, blocks=3, threads=8)).count(word) == count


def test_stored_picture_has_an_alternative_text():
    html = GridBlock(n=20, blocks=3, threads=8, thread=11).static_html()
    alt = re.search(r'<img alt="([^"]+)"', html)[1]
    assert "Idle threads: 4. Marked: thread 3 of block 1." in alt


def test_largest_stored_picture_is_small():
    widget = GridBlock(n=64, blocks=8, threads=16)
    assert len(widget.static_html()) < 100_000


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize("text", ["text/plain", "text/html"])
@pytest.mark.parametrize("asked", [guess, lambda *a, **k: quiz([Question(*a, **k)])])
def test_stored_question_keeps_the_answer_to_itself(asked, text):
    widget = asked("How many?", answer=42, because="Secret.")
    stored = widget._repr_mimebundle_()[0][text]
    body = stored.rpartition("</style>")[2]
    assert "42" not in body
    assert "Secret" not in body


def test_stored_question_lists_its_options():
    html = guess("How `many`?", [16, "<b>"], answer=16).static_html()
    assert re.findall(r"<li>(.*?)</li>", html) == ["16", "&lt;b&gt;"]


def test_guess_as_text_lists_its_options():
    expected = "Predict first: How many?\n  ( ) 16\n  ( ) 32"
    assert repr(guess("How many?", [16, 32])) == expected


@pytest.mark.parametrize("text", [3, "", [16, 32]])
def test_question_without_text_is_refused(text):
    with pytest.raises(ck.ArgumentError, match="what the student reads"):
        guess(text, [16, 32])


def test_guess_needs_no_answer():
    assert guess("How many?", [16, 32]).right is None


def test_unanswered_guess_is_neither_right_nor_wrong():
    assert guess("How many?", [16, 32], answer=32).right is None


@pytest.mark.parametrize(("answers", "right"), [([1], True), ([0], False)])
def test_answer_of_the_reader_reaches_python(answers, right):
    widget = guess("How many?", [16, 32], answer=32)
    widget.answers = [answers]
    assert widget.right is right


def test_given_option_is_marked_in_the_text():
    widget = guess("How many?", [16, 32])
    widget.answers = [[1]]
    assert repr(widget).endswith("( ) 16\n  (x) 32")


@pytest.mark.parametrize(
    ("question", "given", "right"),
    [
        (Question("?", answer=True), True, True),
        (Question("?", answer=False), True, False),
        (Question("?", ["a", "b"], answer="b"), "b", True),
        (Question("?", [1, True], answer=True), 1, False),
        (Question("?", answer=32), 32, True),
        (Question("?", answer=32), 33, False),
        (Question("?", answer=32, tolerance=1), 33, True),
        (Question("?", answer=32, tolerance=1), 33.5, False),
        (Question("?", answer=1.5), 1.5, True),
        (Question("?", ["a", "b"]), "a", None),
    ],
)
def test_answer_is_judged(question, given, right):
    assert question.accepts(given) is right


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": ["a", "b"], "answer": 1}, "none of its options"),
        ({"options": ["a"]}, "two options or more"),
        ({"options": "ab"}, "two options or more"),
        ({"options": ["1", 1]}, "each option once"),
        ({"options": ["a", "b"], "tolerance": 1}, "Only numbers"),
        ({"answer": "many"}, "without options"),
        ({"answer": float("nan")}, "without options"),
        ({"answer": 3, "tolerance": -1}, "0 or more"),
    ],
)
def test_question_that_cannot_be_judged_is_refused(arguments, message):
    with pytest.raises(ck.ArgumentError, match=message):
        Question("?", **arguments)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([], "no question"),
        (["What?"], "where a question belongs"),
        ([Question("?", ["a", "b"])], "without an answer"),
    ],
)
def test_quiz_of_something_else_is_refused(questions, message):
    with pytest.raises(ck.ArgumentError, match=message):
        quiz(questions)


HINTED = Guess(
    question="How many?", options=(16, 32, 64), hint="Count.", answer=32, because="So."
)


def verdict(*tries):
    """Return what the view may show after these tries of a hinted question."""
    widget = GuessWidget(HINTED)
    widget.answers = [list(tries)]
    (said,) = widget.verdicts
    return said


@pytest.mark.parametrize(
    ("tries", "state", "text", "more"),
    [
        ([], "open", "", ""),
        ([1], "right", "Right.", "So."),
        ([0], "again", "No.", "Count. You have a second try."),
        ([0, 1], "right", "Right.", "So."),
        ([0, 2], "wrong", "No, the answer is 32.", "So."),
    ],
)
def test_first_miss_gets_a_hint_and_the_second_the_answer(tries, state, text, more):
    said = verdict(*tries)
    assert (said["state"], said["text"], said["more"]) == (state, text, more)


@pytest.mark.parametrize("tries", [[], [0]])
def test_browser_does_not_have_the_answer_before_it_is_told(tries):
    widget = GuessWidget(HINTED)
    widget.answers = [tries]
    state = {k: v for k, v in widget.get_state().items() if k != "_esm" != "_css"}
    assert "So." not in str(state["verdicts"]) + str(state["questions"])
    assert state["verdicts"][0]["right"] is None


def test_score_counts_an_answer_of_the_second_try():
    widget = QuizWidget([HINTED])
    widget.answers = [[0, 1]]
    assert widget.score == 1


def test_quiz_counts_right_answers():
    widget = quiz([Question("?", answer=True), Question("?", answer=3)])
    widget.answers = [[0], [4]]
    assert (widget.given, widget.score) == ((True, 4), 1)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", palette.CODE)
def test_every_colour_of_code_has_aa_contrast_on_the_panel(theme, kind):
    ground = getattr(palette.GROUNDS["panel"], theme)
    assert contrast(getattr(palette.CODE[kind], theme), ground) >= 4.5


def test_every_part_of_a_source_has_its_colour_in_the_widgets():
    kinds = set(re.findall(r"\.ck-t-(\w+) \{ color: var\(--ck-code-\1\)", SHARED))
    assert {f"code-{kind}" for kind in kinds} == set(palette.CODE)


@pytest.mark.parametrize(
    "sheet", sorted(FOLDER.glob("*.css")), ids=lambda path: path.stem
)
def test_all_widgets_have_one_width(sheet):
    """A box of its own width beside others of another looks like a mistake."""
    rules = r"\.ck-widget[^{,]*\{[^}]*max-width: ([^;]+);"
    widths = re.findall(rules, sheet.read_text(encoding="utf-8"))
    assert set(widths) <= {f"{WIDTH_PIXELS}px"}


def test_listings_are_as_wide_as_widgets():
    assert f"max-width:{WIDTH_PIXELS}px" in listing_panel("x")
    assert f"max-width: {WIDTH_PIXELS}px" in SHARED
