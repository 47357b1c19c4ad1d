"""The deck in JupyterLab: every page fits, keys, answers, notes, and a live kernel.

Where there is no Chromium or no playwright, these tests are skipped.
"""

from __future__ import annotations

import re

import nbformat
import pytest

from coursekit.exercises.cells import handouts

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
import lab_page  # noqa: E402 (after the skip)
from deck_pages import LAID_OUT  # noqa: E402
from lab_server import ROOT, SHOWN, copies, serving  # noqa: E402
from widget_page import browser_path  # noqa: E402 (needs playwright)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    home = tmp_path_factory.mktemp("lab")
    folder = copies(tmp_path_factory.mktemp("course"))
    with serving(folder, home) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium here: `sudo apt install chromium` gives one")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def tab(lab, browser):
    """A page with a JupyterLab, which shows one notebook after the other."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    lab_page.open_lab(page, lab)
    return page


@pytest.fixture
def problems(tab):
    """Listen to the page; at the end, fail on its errors."""
    heard = []

    def on_error(error):
        heard.append(str(error))

    tab.on("pageerror", on_error)
    yield heard
    tab.remove_listener("pageerror", on_error)
    assert heard == []


@pytest.fixture(scope="module")
def is_open():
    """What is open and as it is stored: a name, or nothing."""
    return []


@pytest.fixture
def deck(tab, problems, is_open):
    """Present a chapter that is neither run nor changed: it stays open for the next."""

    def opened(chapter):
        tab.set_viewport_size({"width": 1280, "height": 720})
        if is_open != [chapter]:
            close(tab, is_open)
            lab_page.read_notebook(tab, f"notebooks/{chapter}")
            is_open.append(chapter)
        lab_page.present(tab)
        return tab

    yield opened
    tab.evaluate(lab_page.LEAVE)


@pytest.fixture
def live_deck(tab, problems, is_open):
    """Present a chapter that has a kernel of its own, and may be changed."""

    def opened(chapter):
        tab.set_viewport_size({"width": 1280, "height": 720})
        close(tab, is_open)
        lab_page.open_notebook(tab, f"notebooks/{chapter}")
        lab_page.present(tab)
        return tab

    yield opened
    tab.evaluate(lab_page.LEAVE)
    tab.evaluate(lab_page.CLOSE)


def close(tab, is_open):
    """Close what is open."""
    if is_open:
        tab.evaluate(lab_page.CLOSE_READ)
    is_open.clear()


def place(page):
    return page.locator(".ck-deck-bar [role=status]").inner_text()


def slide_with(page, text):
    """Turn to the first slide whose source has a text."""
    page.evaluate(
        """(text) => {
          const { deck } = document.querySelector(".ck-deck");
          const has = ({ cells }) => cells.some(({ source }) => source.includes(text));
          deck.goTo(deck.slides.findIndex(has), 0);
        }""",
        text,
    )


def test_keys_turn_pages(deck):
    page = deck("05_first_kernels.ipynb")
    first = place(page)
    for key in ("ArrowRight", "PageDown", " "):
        before = place(page)
        page.keyboard.press(key)
        assert place(page) != before
    for key in ("ArrowLeft", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert place(page) == first
    page.keyboard.press("End")
    assert "Sources" in place(page)


def turn_to_cell(page, source):
    """Turn to the page that shows a code cell, and put the cursor into it."""
    slide_with(page, source)
    page.evaluate(
        """(source) => {
          const { deck } = document.querySelector(".ck-deck");
          const is = ({ part, cell }) =>
            part === "input" && cell.source.includes(source);
          deck.show(deck.pages.findIndex((parts) => parts.some(is)));
          deck.current.parts.find(is).cell.widget.editor.focus();
        }""",
        source,
    )


def test_a_cell_runs_and_its_output_is_shown(live_deck):
    page = live_deck("05_first_kernels.ipynb")
    turn_to_cell(page, "import coursekit as ck")
    page.keyboard.press("Shift+Enter")
    turn_to_cell(page, "hello[2, 4]()")
    page.evaluate(
        """() => document.querySelector(".ck-deck").deck.notebook.widgets
          .filter(({ model }) => model.type === "code")
          .forEach(({ model }) => model.clearExecution())"""
    )
    page.keyboard.press("Shift+Enter")
    shown = page.locator(".ck-shown .jp-OutputArea-output")
    shown.filter(has_text="thread").first.wait_for(timeout=60_000)


def run_set_up(page):
    turn_to_cell(page, "import coursekit as ck")
    page.keyboard.press("Shift+Enter")


def clear_outputs(page):
    """Leave the notebook as a student's copy is: without outputs."""
    page.evaluate(
        """() => document.querySelector(".ck-deck").deck.notebook.widgets
          .filter(({ model }) => model.type === "code")
          .forEach(({ model }) => model.clearExecution())"""
    )


def test_r_runs_the_cells_of_a_page_one_after_the_other(live_deck):
    page = live_deck("05_first_kernels.ipynb")
    run_set_up(page)
    clear_outputs(page)
    slide_with(page, "--exercise 05.1")
    shown = page.locator(".ck-shown .jp-OutputArea-output")
    page.keyboard.press("r")
    shown.filter(has_text="Compiled").first.wait_for(timeout=60_000)
    page.keyboard.press("r")
    shown.filter(has_text="Exercise 05.1, Map").first.wait_for(timeout=60_000)


def test_a_question_is_on_its_slide_before_it_is_asked(live_deck):
    page = live_deck("05_first_kernels.ipynb")
    run_set_up(page)
    clear_outputs(page)
    slide_with(page, 'ck.guess("05.sectors")')
    shown = page.locator(".ck-shown")
    assert shown.filter(has_text='ck.guess("05.sectors")').first.is_visible()
    page.keyboard.press("r")
    shown.locator("input[type=radio]").first.wait_for(timeout=60_000)
    assert shown.filter(has_text='ck.guess("05.sectors")').count() == 0


@pytest.mark.parametrize(
    "chapter", ["05_first_kernels.ipynb", "09_shared_memory.ipynb"]
)
def test_a_short_cell_stands_above_its_output_where_both_fit(deck, chapter):
    page = deck(chapter)
    apart = page.evaluate(
        """() => {
          const { deck } = document.querySelector(".ck-deck");
          const high = ({ cell, part }) => cell.node.querySelector(
            `.jp-Cell-${part}Wrapper.ck-shown`).getBoundingClientRect().height;
          const apart = [];
          deck.slides.forEach((_, slide) => {
            deck.goTo(slide, 0);
            let before = null;
            deck.pages.forEach((parts, page) => {
              deck.show(page);
              const [first] = parts, last = parts[parts.length - 1];
              if (before?.cell === first.cell && before.height < 0.4 * deck.room()
                  && before.height + high(first) < 0.9 * deck.room())
                apart.push(first.cell.source);
              const isInput = last.part === "input";
              before = isInput ? { cell: last.cell, height: high(last) } : null;
            });
          });
          return apart;
        }"""
    )
    assert apart == []


def test_a_drawing_alone_fills_its_page(deck):
    page = deck("05_first_kernels.ipynb")
    filled = page.evaluate(
        """() => {
          const { deck } = document.querySelector(".ck-deck");
          const isIt = ({ cell }) => cell.source.includes("05_picture_grid.svg");
          deck.goTo(deck.slides.findIndex(({ parts }) => parts.some(isIt)), 0);
          deck.show(deck.pages.findIndex((parts) => parts.some(isIt)));
          const { width, height } = document.querySelector(".ck-shown img")
            .getBoundingClientRect();
          return Math.max(width / deck.box.clientWidth, height / deck.room());
        }"""
    )
    assert 0.85 < filled <= 1


def test_cells_of_cuda_have_the_colours_of_cpp(deck):
    page = deck("05_first_kernels.ipynb")
    slide_with(page, "--exercise 05.1")
    comment = page.locator(".ck-shown .cm-line span", has_text="Your code here")
    sync_api.expect(comment).to_contain_text("which iteration is this thread's?")


def test_an_editor_keeps_its_keys_until_escape(live_deck):
    page = live_deck("05_first_kernels.ipynb")
    slide_with(page, "--exercise 05.1")
    before = place(page)
    page.locator(".jp-CodeCell .ck-shown .cm-content").first.click()
    page.keyboard.press("ArrowRight")
    page.keyboard.type("a r n")
    assert place(page) == before
    assert (
        "a r n" in page.locator(".jp-CodeCell .ck-shown .cm-content").first.inner_text()
    )
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    assert place(page) != before


def test_answers_are_behind_a_key(deck):
    page = deck("05_first_kernels.ipynb")
    slide_with(page, "--exercise 05.1")
    solution = "int i = threadIdx.x;"
    assert solution not in page.locator(".ck-deck").inner_text()
    page.keyboard.press("a")
    answers = page.get_by_role("dialog", name="Answers")
    sync_api.expect(answers).to_contain_text(solution, timeout=60_000)
    page.keyboard.press("a")
    assert not answers.is_visible()


def test_notes_have_minutes_answers_and_mistakes(deck):
    page = deck("05_first_kernels.ipynb")
    slide_with(page, "--exercise 05.1")
    with page.expect_popup() as popup:
        page.keyboard.press("n")
    notes = popup.value.locator("main")
    sync_api.expect(notes).to_contain_text("Mistakes to expect:", timeout=60_000)
    said = notes.inner_text()
    assert re.search(r"This section takes a student \d+ minutes", said)
    assert "Since the start: 0:" in said
    assert "Ask which loop must keep its order, for example out[i] =" in said
    heading = notes.locator("h1").inner_text()
    popup.value.keyboard.press("End")  # is no key of the notes
    for _ in range(5):
        popup.value.keyboard.press("ArrowRight")
    assert notes.locator("h1").inner_text() != heading or said != notes.inner_text()


@pytest.mark.parametrize(
    "source, begins",
    [
        ("--exercise 05.1", "A drawing. Left, a for loop: one thread of a CPU runs"),
        ("05_loop_to_threads.svg", "Which thread am I?"),
        ("hello[2, 4]()", "05.2 Zip ★ Subtract one array from another."),
        ('ck.show("first/vec_add_one_thread.cu"', "Step 2 uses one block of 256"),
    ],
)
def test_notes_tell_what_comes_next_in_plain_words(deck, source, begins):
    page = deck("05_first_kernels.ipynb")
    slide_with(page, source)
    with page.expect_popup() as popup:
        page.keyboard.press("n")
    coming = popup.value.locator("main h2:text-is('Next') + p")
    sync_api.expect(coming).to_contain_text(begins)


def test_a_widget_on_a_slide_answers_keys_and_keeps_them(live_deck):
    page = live_deck("05_first_kernels.ipynb")
    turn_to_cell(page, "import coursekit as ck")
    page.keyboard.press("Shift+Enter")
    slide_with(page, 'ck.guess("05.columns")')
    page.evaluate(
        """(source) => {
          const { deck } = document.querySelector(".ck-deck");
          const is = ({ cell }) => cell.source.startsWith(source);
          deck.show(deck.pages.findIndex((parts) => parts.some(is)));
        }""",
        'ck.guess("05.columns")',
    )
    page.keyboard.press("r")
    options = page.locator(".ck-shown input[type=radio]")
    options.first.wait_for(timeout=60_000)
    page.wait_for_timeout(500)  # the slide is laid out anew for the widget
    where = place(page)
    options.first.focus()
    page.keyboard.press("ArrowRight")
    assert options.nth(1).is_checked()
    assert place(page) == where
    options.nth(2).click(timeout=5_000)  # nothing may lie above it
    assert options.nth(2).is_checked()


@pytest.mark.parametrize("chapter", ["01_c_and_cpp.ipynb", "17_matmul.ipynb"])
def test_every_exercise_is_on_a_slide(deck, chapter):
    page = deck(chapter)
    shown = page.evaluate(
        """() => document.querySelector(".ck-deck").deck.slides
          .flatMap(({ parts }) => parts.filter(({ part }) => part === "input"))
          .flatMap(({ cell }) => cell.metadata.tags ?? [])"""
    )
    cells = nbformat.read(ROOT / "notebooks" / chapter, as_version=4).cells
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", ())]
    assert {t for t in tags if t.startswith("exercise-")} <= set(shown)


def test_what_is_on_the_slides(deck):
    page = deck("05_first_kernels.ipynb")
    shown = page.evaluate(
        """async (all) => {
          const { isShown } = await import(
            "/lab/extensions/coursekit-deck/static/slides.js");
          return all.map(isShown);
        }""",
        [metadata for metadata, _ in SHOWN],
    )
    assert shown == [shown for _, shown in SHOWN]


def test_claims_and_hidden_solutions_are_not_on_it(deck):
    page = deck("05_first_kernels.ipynb")
    tags = page.evaluate(
        """() => document.querySelector(".ck-deck").deck.slides
          .flatMap(({ parts }) => parts)
          .flatMap(({ cell }) => cell.metadata.tags ?? [])"""
    )
    assert not {"claim", "solution-hidden"} & set(tags)


def test_leaving_goes_back_to_the_notebook_at_the_same_place(deck):
    page = deck("05_first_kernels.ipynb")
    slide_with(page, "A picture has two dimensions")
    page.keyboard.press("Escape")
    page.wait_for_selector(".ck-deck", state="detached")
    heading = page.locator(".jp-Cell.jp-mod-active h2")
    sync_api.expect(heading).to_contain_text("A picture has two dimensions")


def test_the_address_of_a_notebook_opens_it(lab, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{lab}lab/tree/notebooks/05_first_kernels.ipynb?present&reset")
    page.wait_for_selector(".ck-deck-bar", timeout=60_000)
    page.wait_for_function("document.querySelector('.ck-deck').deck.pages.length")
    page.close()
    assert problems == []


def test_the_toolbar_of_a_notebook_opens_it(deck):
    page = deck("05_first_kernels.ipynb")
    page.keyboard.press("Escape")
    page.locator(".jp-NotebookPanel-toolbar").get_by_text("Present").click()
    page.wait_for_selector(".ck-deck-bar")


def test_a_handout_fits_the_screen_too(browser, tmp_path):
    file = handouts.export(ROOT / "notebooks/09_shared_memory.ipynb", tmp_path)
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(".ck-deck-bar")
    pages = page.evaluate(LAID_OUT)
    assert [p for p in pages if p["below"] > 1 or p["right"] > 1] == []
    page.keyboard.press("Home")
    first = place(page)
    page.keyboard.press("ArrowRight")
    assert place(page) != first
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    page.close()
