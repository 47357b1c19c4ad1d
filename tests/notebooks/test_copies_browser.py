"""A student's copies in JupyterLab: links, pictures, and widgets that answer.

Copies of a few are opened, run, and their widgets moved; `make test-browser` does so
with all. Where there is no Chromium or no playwright, these tests are skipped.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pytest
from glossary import PATH, anchors
from notebook_widgets import widget_cells

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
import lab_page  # noqa: E402 (after the skip)
from lab_server import ROOT, copies, serving  # noqa: E402
from widget_page import browser_path  # noqa: E402 (needs playwright)

CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
ALWAYS = ("05_first_kernels.ipynb", "14a_cute_layouts.ipynb")
FEW = [
    name if name in ALWAYS else pytest.param(name, marks=pytest.mark.browser)
    for name in CHAPTERS
]
ANCHORS = anchors()
PICTURES = """() => [...document.querySelectorAll(".jp-RenderedMarkdown img")]"""
LINKS = """() => [...document.querySelectorAll(".jp-RenderedMarkdown a[href]")].map(
  ({ href }) => href)"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return lab_page.students_copies(copies(tmp_path_factory.mktemp("course")))


@pytest.fixture(scope="module")
def browser():
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium here: `sudo apt install chromium` gives one")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def listened(browser):
    """Return a function that makes a page, and the list of what it complains about."""
    problems = []

    def heard(said):
        if said.type in ("error", "warning"):
            problems.append(f"{said.text} {said.location.get('url', '')}")

    def new():
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", heard)
        return page

    return new, problems


@pytest.fixture(scope="module")
def whole(course, listened, tmp_path_factory):
    """Serve notebooks whose every cell is in the page, so that nothing waits for it."""
    with serving(course, tmp_path_factory.mktemp("lab"), whole=True) as address:
        page = listened[0]()
        lab_page.open_lab(page, address)
        # In the first one, pictures are asked for before their folder is known.
        lab_page.open_notebook(page, f"work/notebooks/{CHAPTERS[0]}")
        yield page


@pytest.fixture
def notebook(listened):
    """Open a notebook in a JupyterLab; at the end, fail on what its page said."""
    problems, pages = listened[1], []

    def opened(page, path):
        problems.clear()
        lab_page.open_notebook(page, path)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        assert page.evaluate("document.querySelector('dialog') === null")
        said = list(problems)
        page.evaluate(lab_page.CLOSE)
        assert said == []


@pytest.mark.parametrize("chapter", FEW)
def test_pictures_and_links_of_a_copy_lead_somewhere(course, whole, notebook, chapter):
    page = notebook(whole, f"work/notebooks/{chapter}")
    page.wait_for_function(
        f"({PICTURES})().every(({{ complete, src }}) => complete && src !== '')"
    )
    page.wait_for_function(
        f"!({LINKS})().some((href) => href.includes('/lab/tree/..'))"
    )
    missing = (
        f"({PICTURES})().filter((one) => !one.naturalWidth).map(({{ src }}) => src)"
    )
    assert page.evaluate(missing) == []
    assert [link for link in page.evaluate(LINKS) if is_dead(course, link)] == []


def is_dead(course, link):
    """Tell whether a link leads to no file of the course, or to no term."""
    parts = urlsplit(link)
    if not parts.path.startswith("/files/"):
        return parts.hostname in (None, "localhost", "127.0.0.1") and not parts.fragment
    path = course / unquote(parts.path).removeprefix("/files/")
    term = parts.fragment if path.name == PATH.name else ""
    return not path.exists() or (term != "" and unquote(term) not in ANCHORS)


@pytest.mark.parametrize("chapter", FEW)
def test_a_copy_runs_and_its_widgets_answer(whole, notebook, chapter):
    page = notebook(whole, f"work/notebooks/{chapter}")
    outputs = lab_page.run_all(page)
    assert {id_ for id_, all_ in outputs.items() if "error" in kinds(all_)} == set()
    shown = [id_ for id_, all_ in outputs.items() if any(map(is_widget, all_))]
    assert shown == widget_cells(ROOT / "notebooks" / chapter)
    deaf = []
    for cell in shown:
        widget = lab_page.widget_of(page, cell)
        if is_watched(widget):
            assert list(lab_page.controls(widget)) == []
            continue
        if not lab_page.answers_keys(page, widget):
            deaf.append((cell, "keys"))
        if not lab_page.answers_the_mouse(page, widget):
            deaf.append((cell, "mouse"))
    assert deaf == []


def is_watched(widget):
    """Tell whether a widget is only looked at, while Python changes it."""
    return widget.evaluate("node => node.matches('.ck-learning')")


def kinds(outputs):
    return [output["output_type"] for output in outputs]


def is_widget(output):
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


@pytest.mark.parametrize("chapter", FEW)
def test_link_of_a_copy_opens_its_entry_of_the_glossary(whole, notebook, chapter):
    page = notebook(whole, f"work/notebooks/{chapter}")
    link = page.locator(".jp-RenderedMarkdown a[href*='/glossary.md']").last
    term = unquote(urlsplit(link.get_attribute("href")).fragment)
    link.click()
    glossary = page.locator(".jp-MarkdownViewer")
    heading = glossary.locator(f"h2[id='{term}'], h2[data-jupyter-id='{term}']")
    sync_api.expect(heading).to_be_in_viewport(timeout=lab_page.PATIENCE_MS)
    page.evaluate("() => jupyterapp.shell.currentWidget.close()")
