"""Slides as files: whole, without answers, and without a network."""

import json
import re

import nbformat
import pytest
from lab_server import SHOWN

from coursekit import __main__, paths
from coursekit.errors import ArgumentError
from coursekit.exercises.cells import handouts

CHAPTER = paths.repository() / "notebooks/05_first_kernels.ipynb"


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    return handouts.export(CHAPTER, tmp_path_factory.mktemp("slides")).read_text()


def test_nothing_is_loaded_from_elsewhere(html):
    assert re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=.(?!data:)", html) == []
    assert "@import" not in html
    assert re.findall(r"url\((?![\"']?(?:data:|#))", html) == []


def test_pictures_are_inside(html):
    drawings = nbformat.read(CHAPTER, as_version=4).cells
    named = sum(cell.source.count("![") for cell in drawings)
    assert html.count("data:image/svg+xml;base64,") >= named


def test_answers_and_claims_are_left_out(html):
    cells = nbformat.read(CHAPTER, as_version=4).cells
    folded = re.search(r"<details>.*?</details>", cells[0].source, re.DOTALL)
    assert folded
    assert "Four blocks of 256 threads" in folded[0]
    assert "Four blocks of 256 threads" not in html
    claims = [c for c in cells if "claim" in c.metadata.get("tags", ())]
    assert claims
    assert not any(json.dumps(claim.source) in html for claim in claims)


@pytest.mark.parametrize(("metadata", "shown"), SHOWN)
def test_what_is_on_the_slides(metadata, shown):
    cell = nbformat.v4.new_code_cell(metadata=metadata)
    assert handouts._is_shown(cell) == shown


def test_the_presenters_notes_are_left_out(html):
    cells = nbformat.read(CHAPTER, as_version=4).cells
    notes = [cell.metadata.notes for cell in cells if "notes" in cell.metadata]
    assert notes
    assert not any(json.dumps(note)[1:-1] in html for note in notes)
    assert not any(note in html for note in notes)


def test_no_statement_of_a_module_is_left(html):
    script = html[html.index("showHandout(described)") - 40_000 :]
    assert re.findall(r"^(?:import|export)\b.*", script, re.MULTILINE) == []


def test_a_source_cannot_end_the_script():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# A\n\n</script><b>out</b>")]
    )
    page = handouts._page("<main></main>", notebook)
    assert page.count("</script>") == 1


def test_the_command_writes_a_file_for_each_part_of_a_chapter(tmp_path, capsys):
    assert __main__.main(["export-slides", "04", "--to", str(tmp_path)]) == 0
    written = sorted(path.name for path in tmp_path.glob("*.html"))
    assert written == ["04a_cu_to_ptx_to_sass.html", "04b_images_and_driver.html"]
    said = capsys.readouterr().out
    assert all(name in said for name in written)


def test_an_unknown_chapter_is_told(tmp_path):
    with pytest.raises(ArgumentError, match="There is no notebook .*99.ipynb"):
        handouts.main(["99", "--to", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
