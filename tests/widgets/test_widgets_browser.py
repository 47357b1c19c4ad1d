"""The widgets in a browser: keys, focus, updates in place, accessibility.

They run in a Chromium without Jupyter, see widget_page.py; where there is none, or no
playwright, these tests are skipped.
"""

from __future__ import annotations

from itertools import product

import pytest

import coursekit as ck
from coursekit.exercises import Guess
from coursekit.widgets import GridBlock, GridMap, GuessWidget, Question, guess, quiz
from coursekit.widgets.grid_map import MODES

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from accessibility import skip_without_axe, violations  # noqa: E402 (after the skip)
from traced_kernels import row_sums, shift_left  # noqa: E402
from widget_page import browser_path, open_widget  # noqa: E402 (needs playwright)

SLIDERS = ("elements n", "blocks", "threads per block", "thread of the grid")
COMMIT = "This is my answer"


@pytest.fixture(scope="module")
def tab():
    path = browser_path()
    if path is None:
        pytest.skip(
            "no Chromium here: `sudo apt install chromium` or `playwright install "
            "chromium` gives one"
        )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        context = browser.new_context(viewport={"width": 820, "height": 800})
        yield context.new_page()
        browser.close()


@pytest.fixture
def opened(tab):
    """Open a widget; at the end, fail on what the page complained about."""
    problems = []

    def on_error(error):
        problems.append(str(error))

    def on_console(said):
        problems.append(said.text)

    tab.on("pageerror", on_error)
    tab.on("console", on_console)
    yield lambda widget, theme="light", **linked: open_widget(
        tab, widget, theme, **linked
    )
    tab.remove_listener("pageerror", on_error)
    tab.remove_listener("console", on_console)
    assert problems == []


@pytest.fixture
def asked(opened):
    """Open a question whose kernel answers."""
    return lambda widget: opened(widget, linked=True)


@pytest.fixture
def grid(opened):
    return opened(GridBlock(n=20, blocks=3, threads=8, thread=11))


def one_of_three(**more):
    return guess("How many threads has a `warp`?", [16, 32, 64], answer=32, **more)


def three_questions():
    return quiz(
        [
            Question("A block has at most 1024 threads.", answer=True, because="So."),
            Question("Which is it?", ["a", "b"], answer="b"),
            Question("How many bytes has a sector?", answer=32, tolerance=1),
        ]
    )


def value(page, name):
    return page.evaluate(f"model.get('{name}')")


def settle(page):
    """Wait until the view has what the kernel answered."""
    page.wait_for_function("!window.pending")


def status(page, position=0):
    settle(page)
    return page.get_by_role("status").nth(position).inner_text().strip()


def slider(page, name):
    return page.get_by_role("slider", name=name, exact=True)


def focus_by_tab(page, locator):
    """Press Tab until the control has the focus, as a reader without a mouse does."""
    for _ in range(12):
        page.keyboard.press("Tab")
        if locator.evaluate("node => node === document.activeElement"):
            return
    pytest.fail("Tab does not reach the control")


# ---------------------------------------------------------------- every widget

WIDGETS = {
    "grid": lambda: GridBlock(n=30, blocks=3, threads=8),
    "grid-stride": lambda: GridBlock(n=64, blocks=2, threads=8, mode="grid-stride"),
    "guess": lambda: one_of_three(because="Since `1999`."),
    "number": lambda: guess("How many?", answer=3),
    "quiz": three_questions,
    "microscope": lambda: ck.microscope(*row_sums(), 1),
    "compiled": lambda: ck.show_compiled(ck.compile("start/vec_add.cu").vec_add),
    "prediction": lambda: ck.microscope(*row_sums(), predict=True),
    "boxes": lambda: ck.memory_boxes(ck.program("start/boxes.cpp").run()),
    "overlap": lambda: ck.overlap(ck.Timeline(50, 50, 4)),
    "scheduler": lambda: ck.scheduler(*shift_left()),
    "two players": lambda: ck.scheduler(*shift_left(), players=2),
    "occupancy": lambda: ck.occupancy_explorer(64, 128, device="H200", grid=4096),
    "residency": lambda: ck.residency(64, 128, device="H200"),
    "chips": lambda: ck.chip_explorer("H200", "RTX 4090"),
    "fusion": lambda: ck.fusion_counter(
        ["t = a * b", "y = exp(t)"], {"a": 64, "b": 64}, joined=[True]
    ),
    "roofline": lambda: ck.roofline_explorer(
        {"bound": (0.5, 1.0), "timed": (2.0, 1.0)}, device="H200"
    ),
    "tiles": lambda: ck.tile_animator(256, 136, 64, like="step 9", thread=37, step=9),
    "pad": lambda: ck.draw_digit(lambda image: image[14, :10] / 50),
    "bits": lambda: ck.number_explorer("FP32", 0.1),
    "circle": lambda: ck.fourier_circle([1, 0, -1, 0]),
    "graph": lambda: ck.graph_stepper(ck.autograd.Value(2, "x") * 3),
    "flipper": lambda: ck.layout_flipper(2, 3),
    "layout": lambda: ck.layout_explorer(ck.layout((8, 8), "row").swizzle(3, 0, 3)),
    "table": lambda: ck.errata(),
}


@pytest.fixture(params=WIDGETS)
def widget(request):
    return WIDGETS[request.param]()


@pytest.fixture(scope="module")
def second_tab(tab):
    """A page of its own for widgets that are looked at and not touched."""
    page = tab.context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text))
    return page, problems


@pytest.fixture(
    scope="module", params=product(WIDGETS, ["light", "dark"]), ids="-".join
)
def looked_at(second_tab, request):
    """Open a widget once for what does not change it; return its page and theme."""
    page, problems = second_tab
    problems.clear()
    name, theme = request.param
    return open_widget(page, WIDGETS[name](), theme), theme, problems


def test_nothing_takes_the_focus_by_itself(looked_at):
    page, _, problems = looked_at
    assert page.evaluate("document.activeElement === document.body")
    assert problems == []


def test_axe_finds_nothing_to_complain_about(looked_at):
    skip_without_axe()
    page, _, problems = looked_at
    assert violations(page) == []
    assert problems == []


def test_ground_follows_the_theme(looked_at):
    page, theme, problems = looked_at
    ground = {"light": "rgb(246, 248, 250)", "dark": "rgb(22, 27, 34)"}[theme]
    style = "getComputedStyle(document.getElementById('widget'))"
    assert page.evaluate(f"{style}.backgroundColor") == ground
    assert problems == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("answers", [[[0], [0], [32]], [[1], [1], [5]]])
def test_axe_finds_nothing_in_an_answered_quiz(opened, theme, answers):
    skip_without_axe()
    quiz = three_questions()
    quiz.answers = answers
    assert violations(opened(quiz, theme)) == []


def test_axe_finds_a_defect_where_there_is_one(grid):
    skip_without_axe()
    grid.evaluate("document.querySelector('svg').removeAttribute('aria-label')")
    assert [name for name, _ in violations(grid)] == ["svg-img-alt"]


def test_outside_jupyter_the_ground_follows_the_system(opened, tab):
    tab.emulate_media(color_scheme="dark")
    page = opened(GridBlock())
    page.evaluate("document.body.removeAttribute('data-jp-theme-light')")
    style = "getComputedStyle(document.getElementById('widget'))"
    ground = page.evaluate(f"{style}.backgroundColor")
    tab.emulate_media(color_scheme="light")
    assert ground == "rgb(22, 27, 34)"


def test_light_jupyter_stays_light_on_a_dark_system(opened, tab):
    tab.emulate_media(color_scheme="dark")
    style = "getComputedStyle(document.getElementById('widget'))"
    ground = opened(GridBlock()).evaluate(f"{style}.backgroundColor")
    tab.emulate_media(color_scheme="light")
    assert ground == "rgb(246, 248, 250)"


def test_plain_keys_do_not_reach_the_notebook(opened, widget):
    page = opened(widget)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    assert page.evaluate("heard") == ["Tab"]  # before the focus was inside


@pytest.mark.parametrize("key", ["Shift+Enter", "Control+Enter", "Control+s", "Escape"])
def test_keys_that_run_leave_or_save_reach_the_notebook(opened, widget, key):
    page = opened(widget)
    page.keyboard.press("Tab")
    page.keyboard.press(key)
    assert page.evaluate("heard").count(key.split("+")[-1]) == 1


def test_escape_goes_back_to_the_cell(opened, widget):
    page = opened(widget)
    page.evaluate("document.querySelector('main').className = 'jp-Cell'")
    page.evaluate("document.querySelector('main').tabIndex = -1")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "jp-Cell"


def test_running_the_cell_from_a_question_commits_nothing(opened):
    page = opened(one_of_three())
    page.get_by_label("16").check()
    page.keyboard.press("Shift+Enter")
    assert value(page, "answers") == [[]]


# ---------------------------------------------------------------- grid and block


@pytest.mark.parametrize("name", SLIDERS)
def test_slider_has_a_name(grid, name):
    assert slider(grid, name).count() == 1


@pytest.mark.parametrize(
    ("name", "trait", "after"),
    [
        ("elements n", "n", 21),
        ("blocks", "blocks", 4),
        ("threads per block", "threads", 9),
        ("thread of the grid", "thread", 12),
    ],
)
def test_arrow_key_moves_the_slider_that_tab_reached(grid, name, trait, after):
    focus_by_tab(grid, slider(grid, name))
    grid.keyboard.press("ArrowRight")
    assert value(grid, trait) == after


@pytest.mark.parametrize("name", SLIDERS)
def test_focus_stays_on_the_slider_that_moves(grid, name):
    focus_by_tab(grid, slider(grid, name))
    grid.evaluate("window.before = document.activeElement")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        grid.keyboard.press(key)
    assert grid.evaluate("before.isConnected && before === document.activeElement")


def test_updates_keep_every_node(grid):
    nodes = "document.querySelectorAll('#widget *')"
    grid.evaluate(f"window.before = [...{nodes}]")
    grid.evaluate("model.set('n', 64); model.set('blocks', 8); model.set('thread', 3)")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert grid.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


def test_keyboard_changes_the_kernel(grid):
    focus_by_tab(grid, grid.get_by_role("combobox", name="kernel"))
    grid.keyboard.press("ArrowDown")
    assert value(grid, "mode") == "grid-stride"


@pytest.mark.parametrize(("key", "thread"), [("PageUp", 19), ("PageDown", 3)])
def test_page_keys_move_by_a_block(grid, key, thread):
    focus_by_tab(grid, slider(grid, "thread of the grid"))
    grid.keyboard.press(key)
    assert value(grid, "thread") == thread


def test_chosen_thread_stays_in_a_grid_that_shrinks(grid):
    focus_by_tab(grid, slider(grid, "blocks"))
    grid.keyboard.press("Home")
    assert (value(grid, "blocks"), value(grid, "thread")) == (1, 7)


def test_click_on_a_thread_chooses_it(grid):
    grid.locator("g.ck-cell").nth(5).click()
    assert value(grid, "thread") == 5


def test_click_on_an_element_chooses_its_thread(opened):
    page = opened(GridBlock(n=20, blocks=2, threads=4, mode="grid-stride"))
    page.locator("g.ck-cell:visible").nth(8 + 13).click()
    assert value(page, "thread") == 13 % 8


def test_pointing_at_a_thread_shows_its_index(grid):
    grid.locator("g.ck-cell").nth(5).hover()
    assert "= 0 * 8 + 5 = 5" in grid.locator(".ck-formula").inner_text()


def test_pointing_elsewhere_shows_the_chosen_thread_again(grid):
    grid.locator("g.ck-cell").nth(5).hover()
    grid.mouse.move(1, 790)
    assert "= 1 * 8 + 3 = 11" in grid.locator(".ck-formula").inner_text()


def test_pointing_does_not_write_to_the_kernel(grid):
    grid.locator("g.ck-cell").nth(5).hover()
    assert grid.evaluate("saved") == 0


def test_summary_is_announced_politely(grid):
    assert "Idle threads: 4." in status(grid)


def test_slider_says_what_its_thread_does(grid):
    said = slider(grid, "thread of the grid").get_attribute("aria-valuetext")
    assert said.startswith("thread 3 of block 1: i = blockIdx.x * blockDim.x")


def test_picture_is_described_in_words(grid):
    words = grid.get_by_role("img").get_attribute("aria-label")
    assert "Elements covered: 20 of 20." in words


def test_change_from_python_is_drawn(grid):
    grid.evaluate("model.set('n', 30)")
    assert "Without a thread: x[24] to x[29]." in status(grid)


def test_removed_view_follows_no_longer(grid):
    before = status(grid)
    grid.evaluate("window.end(); model.set('n', 30)")
    assert status(grid) == before


def test_browser_and_python_say_the_same(grid):
    sizes = product((1, 2, 7, 8, 9, 20, 63, 64), (1, 2, 3, 8), (1, 4, 16), MODES)
    cases = [
        {"n": n, "blocks": blocks, "threads": threads, "mode": mode, "thread": thread}
        for n, blocks, threads, mode in sizes
        for thread in {0, blocks * threads // 2, blocks * threads - 1}
    ]
    told = grid.evaluate(
        "cases => cases.map((one) => module.describe(one, one.thread))", cases
    )
    assert [tuple(said.values()) for said in told] == [expected(c) for c in cases]


def expected(case):
    thread = case["thread"]
    launch = GridMap(**{k: v for k, v in case.items() if k != "thread"})
    return (
        *launch.place(thread),
        list(launch.elements(thread)),
        launch.summary(),
        launch.formula(thread),
        launch.meaning(thread),
    )


# ---------------------------------------------------------------- questions


def test_answer_is_not_shown_before_the_guess(asked):
    page = asked(one_of_three(because="Since 1999."))
    assert "1999" not in page.locator("#widget").inner_text()


def test_guess_is_made_with_the_keyboard_alone(asked):
    page = asked(one_of_three(because="It always had."))
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert status(page) == "Right. It always had."


def test_wrong_guess_is_told_the_answer(asked):
    page = asked(one_of_three())
    page.get_by_label("64").check()
    page.get_by_role("button", name=COMMIT).click()
    assert status(page) == "No, the answer is 32."


def hinted():
    return GuessWidget(
        Guess(
            question="How many threads has a warp?",
            options=(16, 32, 64),
            hint="It is a power of two.",
            answer=32,
            because="It always had.",
        )
    )


def commit(page, *labels):
    """Answer with each of these options in turn."""
    for label in labels:
        page.get_by_label(label).check()
        page.get_by_role("button", name=COMMIT).click()
        settle(page)


def test_first_miss_gets_a_hint_and_a_second_try(asked):
    page = asked(hinted())
    commit(page, "64")
    assert status(page) == "No. It is a power of two. You have a second try."
    commit(page, "32")
    assert status(page) == "Right. It always had."


def test_second_miss_gets_the_answer_and_its_reason(asked):
    page = asked(hinted())
    commit(page, "64", "16")
    assert status(page) == "No, the answer is 32. It always had."


def test_first_answer_is_no_second_try(asked):
    page = asked(hinted())
    commit(page, "64", "64")
    assert status(page).startswith("That was your first answer.")
    assert value(page, "answers") == [[2]]


def test_second_try_is_made_with_the_keyboard_alone(asked):
    page = asked(hinted())
    for key in ("Tab", "Space", "Enter"):
        page.keyboard.press(key)
    settle(page)
    for key in ("ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert status(page) == "Right. It always had."


def test_question_without_a_kernel_says_what_it_waits_for(opened):
    page = opened(hinted())
    commit(page, "32")
    assert status(page).startswith("Waiting for the kernel")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("labels", [(), ("64",), ("64", "16"), ("32",)])
def test_question_is_accessible_at_each_step(opened, theme, labels):
    page = opened(hinted(), theme, linked=True)
    commit(page, *labels)
    assert violations(page) == []


def test_right_and_given_option_are_marked_in_words(asked):
    page = asked(one_of_three())
    page.get_by_label("64").check()
    page.get_by_role("button", name=COMMIT).click()
    settle(page)
    labels = [label.strip() for label in page.locator("label").all_inner_texts()]
    assert labels == ["16", "32 (right)", "64 (your answer)"]


@pytest.mark.parametrize("keys", [["Enter"], ["Tab", "Enter"]])
def test_focus_stays_where_the_guess_was_made(asked, keys):
    page = asked(one_of_three())
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    for key in keys[:-1]:
        page.keyboard.press(key)
    page.evaluate("window.before = document.activeElement")
    page.keyboard.press(keys[-1])
    settle(page)
    assert value(page, "answers") == [[0]]
    assert page.evaluate("before === document.activeElement")


def test_answered_question_disables_no_control(asked):
    # A disabled control loses the focus, or at least its keys.
    page = asked(one_of_three())
    page.get_by_label("16").check()
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator("#widget :disabled").count() == 0


@pytest.mark.parametrize("how", ["click", "key"])
def test_guess_cannot_be_changed(asked, how):
    page = asked(one_of_three())
    page.get_by_label("16").check()
    page.keyboard.press("Enter")
    settle(page)
    if how == "click":
        page.get_by_text("32").first.click(force=True)
    else:
        page.keyboard.press("ArrowDown")
    page.get_by_role("button", name=COMMIT).click(force=True)
    assert page.get_by_label("16").is_checked()
    assert value(page, "answers") == [[0]]


def test_commit_without_a_choice_asks_for_one(asked):
    page = asked(one_of_three())
    page.get_by_role("button", name=COMMIT).click()
    assert status(page) == "Choose an option first."
    assert value(page, "answers") == [[]]


def test_guess_without_answer_is_confirmed(asked):
    page = asked(guess("What will it print?", ["yes", "no"]))
    page.get_by_label("no").check()
    page.get_by_role("button", name=COMMIT).click()
    assert status(page) == "You have committed to no."


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1024", "Right."),
        (" 1,024 ", "Right."),
        ("1_034", "Right."),
        ("1035", "No, the answer is 1024."),
        ("-1e3", "No, the answer is 1024."),
        ("many", "Type a number first."),
        ("", "Type a number first."),
    ],
)
def test_number_is_judged_within_its_tolerance(asked, typed, said):
    page = asked(guess("How many threads?", answer=1024, tolerance=10))
    page.get_by_role("textbox", name="How many threads?").fill(typed)
    page.keyboard.press("Enter")
    assert status(page) == said


def test_committed_number_is_read_only(asked):
    page = asked(guess("How many threads?", answer=1024))
    page.get_by_role("textbox").fill("7")
    page.keyboard.press("Enter")
    settle(page)
    assert page.get_by_role("textbox").get_attribute("readonly") is not None


def test_code_of_a_question_is_set_as_code(asked):
    page = asked(one_of_three())
    assert page.locator("legend code").inner_text() == "warp"


def answer_all(page):
    page.get_by_label("True").check()
    page.keyboard.press("Enter")
    settle(page)
    page.get_by_label("a", exact=True).check()
    page.keyboard.press("Enter")
    settle(page)
    page.get_by_role("textbox").fill("33")
    page.keyboard.press("Enter")
    settle(page)


def test_quiz_counts_the_right_answers(asked):
    page = asked(three_questions())
    answer_all(page)
    assert status(page, 3) == "2 right of 3 answered, 3 in all."


def test_quiz_scores_as_python_does(asked):
    page, widget = asked(three_questions()), three_questions()
    answer_all(page)
    widget.answers = value(page, "answers")
    assert widget.score == 2


def test_quiz_starts_again(asked):
    page = asked(three_questions())
    answer_all(page)
    page.get_by_role("button", name="Start again").click()
    settle(page)
    assert value(page, "answers") == [[], [], []]
    assert page.locator("input:checked").count() == 0
    assert page.get_by_role("textbox").input_value() == ""
