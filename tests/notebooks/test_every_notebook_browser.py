"""Every notebook in JupyterLab: its deck, and its pictures where nobody trusts it.

One JupyterLab opens one after the other, once for all tests. Where there is no
Chromium or no playwright, these tests are skipped.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from notebook_widgets import widget_cells

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
import lab_page  # noqa: E402 (after the skip)
from deck_pages import LAID_OUT  # noqa: E402
from lab_server import ROOT, copies, serving  # noqa: E402
from widget_page import browser_path  # noqa: E402 (needs playwright)

CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SIZES = {"1280 x 720": (1280, 720), "1920 x 1080": (1920, 1080)}
BODY_PX = 24  # at 1280 x 720
LONG_CODE = 0.8  # of its size, where the cell of an exercise is longer than a page
# Put every cell into the page, also those that are out of sight.
WHOLE = """async () => {
  const { content } = panel;
  content.notebookConfig = { ...content.notebookConfig, windowingMode: "none" };
  await Promise.all(content.widgets.map((cell) => cell.ready));
}"""
PICTURES = """() => [...panel.node.querySelectorAll(
  ".jp-RenderedMarkdown img, .jp-OutputArea img")]"""
# Of each cell: an <img> that is there and has an alternative text, or else a text.
SHOWN = """(ids) => ids.filter((id) => {
  const cell = panel.content.widgets.find(({ model }) => model.id === id);
  const outputs = cell.outputArea.node;
  const isDrawn = ({ alt, naturalWidth }) => alt.length > 20 && naturalWidth > 50;
  const pictures = [...outputs.querySelectorAll("img")];
  const isShown = pictures.length ? pictures.every(isDrawn)
    : outputs.querySelector("table, ol, ul, p, div") && outputs.innerText.length > 40;
  return cell.model.trusted || !isShown || outputs.querySelector(".ck-widget");
})"""


def is_for_a_moment(url):
    """Tell whether JupyterLab had not yet put the folder before a picture's address."""
    return urlsplit(url).path.startswith("/assets/")


@pytest.fixture(scope="module")
def listened(tmp_path_factory):
    """Serve the notebooks; yield a page with a JupyterLab, and its complaints."""
    path = browser_path()
    if path is None:
        pytest.skip("no Chromium here: `sudo apt install chromium` gives one")
    problems = []

    def heard(said):
        url = said.location.get("url", "")
        if said.type in ("error", "warning") and not is_for_a_moment(url):
            problems.append(f"{said.text} {url}")

    folder, home = (tmp_path_factory.mktemp(name) for name in ("course", "lab"))
    with serving(copies(folder), home) as address, sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        lab_page.open_lab(page, address)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", heard)
        yield page, problems
        browser.close()


@pytest.fixture(scope="module", params=CHAPTERS)
def opened(listened, request):
    """Open a notebook, as `make lab` does; yield its page, its name, and complaints."""
    page, problems = listened
    problems.clear()
    lab_page.read_notebook(page, f"notebooks/{request.param}")
    yield page, request.param, problems
    page.evaluate(lab_page.CLOSE_READ)


def test_every_page_fits_the_screen(opened):
    page = opened[0]
    lab_page.present(page)
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        pages = page.evaluate(LAID_OUT)
        assert len(pages) > 10
        beyond = [p for p in pages if p["below"] > 1 or p["right"] > 1]
        assert beyond == [], size
        assert [p for p in pages if not p["parts"]] == [], size
        assert [p for p in pages if p["astray"] > 1] == [], size
        smallest = min(p["text"] for p in pages)
        assert smallest >= BODY_PX * height / 720 - 0.1, size
        assert [p for p in pages if p["prose"] < 0.97] == [], size
        assert [p for p in pages if p["code"] < LONG_CODE] == [], size


def test_widget_has_a_picture_in_an_untrusted_notebook(opened):
    page, chapter, _ = opened
    page.evaluate(lab_page.LEAVE)
    page.evaluate(WHOLE)
    page.wait_for_function(
        f"({PICTURES})().every(({{ complete, src }}) => complete && src !== '')"
    )
    assert page.evaluate(SHOWN, widget_cells(ROOT / "notebooks" / chapter)) == []


def test_page_of_a_notebook_complains_of_nothing(opened):
    page, _, problems = opened
    assert (
        page.evaluate(
            f"({PICTURES})().filter((one) => !one.naturalWidth).map(({{ src }}) => src)"
        )
        == []
    )
    assert page.evaluate("document.querySelector('dialog') === null")
    assert problems == []
