"""What leaves JupyterLab: notebooks as HTML, handouts, and pages beside the notebooks.

Where there is no Chromium or no playwright, these tests are skipped.
"""

from __future__ import annotations

import nbformat
import pytest
from nbconvert import HTMLExporter
from notebook_widgets import widget_cells
from traitlets.config import Config

from coursekit.exercises.cells import handouts
from coursekit.exercises.cells.exports import SETTINGS

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
import lab_page  # noqa: E402 (after the skip)
from accessibility import skip_without_axe, violations  # noqa: E402
from lab_server import ROOT, copies, serving  # noqa: E402
from widget_page import browser_path  # noqa: E402 (needs playwright)

FOLDER = ROOT / "notebooks"
CHAPTERS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
PAGES = sorted(path.name for path in FOLDER.glob("*.md"))
ALWAYS = ("22_autograd_engine.ipynb",)
FEW = [
    name if name in ALWAYS else pytest.param(name, marks=pytest.mark.browser)
    for name in CHAPTERS
]
OPEN = (
    "(path) => jupyterapp.commands.execute('docmanager:open', { path }).then(() => 0)"
)
TEXT = ".jp-MarkdownViewer .jp-RenderedMarkdown > *"  # what scrolls is JupyterLab's
# Of each cell: an <img> that is there and has an alternative text, or else a text.
UNSHOWN = """(ids) => ids.filter((id) => {
  const outputs = document.getElementById(`cell-id=${id}`)
    .querySelector(".jp-OutputArea, .jp-Cell-outputWrapper");
  const isDrawn = ({ alt, naturalWidth }) => alt.length > 20 && naturalWidth > 50;
  const pictures = [...outputs.querySelectorAll("img")];
  return pictures.length ? !pictures.every(isDrawn) : outputs.innerText.length <= 40;
})"""


@pytest.fixture(scope="module")
def browser():
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium here: `sudo apt install chromium` gives one")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture
def offline(browser):
    """A page that reaches files alone."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.route("http*://**", lambda route: route.abort())
    yield page
    page.close()


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A page with a JupyterLab, which shows one document after the other."""
    home = tmp_path_factory.mktemp("lab")
    with serving(copies(tmp_path_factory.mktemp("course")), home) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        lab_page.open_lab(page, address)
        yield page
        page.close()


@pytest.fixture
def tab(lab):
    yield lab
    lab.evaluate("() => jupyterapp.shell.currentWidget.close()")
    lab.wait_for_selector(".jp-MarkdownViewer", state="detached")


@pytest.mark.parametrize("chapter", FEW)
def test_widget_has_a_picture_in_html(offline, tmp_path, chapter):
    notebook = nbformat.read(FOLDER / chapter, as_version=4)
    html, _ = HTMLExporter(config=Config(SETTINGS)).from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(html, encoding="utf-8")
    offline.goto(file.as_uri(), wait_until="load")
    assert offline.evaluate(UNSHOWN, widget_cells(FOLDER / chapter)) == []


@pytest.mark.parametrize("chapter", FEW)
def test_axe_finds_nothing_in_a_handout(offline, tmp_path, chapter):
    skip_without_axe()
    offline.goto(handouts.export(FOLDER / chapter, tmp_path).as_uri())
    offline.wait_for_selector(".ck-deck-bar")
    assert violations(offline) == []
    offline.emulate_media(media="print")  # all slides follow each other
    assert violations(offline) == []


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_a_page(tab, name):
    skip_without_axe()
    tab.evaluate(OPEN, f"notebooks/{name}")
    tab.wait_for_selector(".jp-MarkdownViewer h1")
    assert violations(tab, TEXT) == []
