"""notebooks/execute.py runs notebooks without a GPU and stores one canonical form."""

from __future__ import annotations

import execute
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

WIDGET = {execute.WIDGET_VIEW: {"model_id": "1"}, "text/plain": "Slider()"}


def lesson(*cells):
    """Build a notebook of these cells below a title."""
    return new_notebook(cells=[new_markdown_cell("# Title"), *cells])


def test_ids_tell_section_and_position():
    notebook = lesson(
        new_code_cell("1"), new_markdown_cell("## One"), new_code_cell("2")
    )
    ids = [cell.id for cell in execute.normalise(notebook).cells]
    assert ids == ["s00-00", "s00-01", "s01-00", "s01-01"]


def test_normalising_twice_changes_nothing():
    notebook = execute.normalise(lesson(new_code_cell("assert 1")))
    once = execute.to_text(notebook)
    assert execute.to_text(execute.normalise(notebook)) == once


def test_widget_state_is_stripped():
    notebook = lesson()
    notebook.metadata["widgets"] = {"state": {}}
    assert "widgets" not in execute.normalise(notebook).metadata


def test_widget_with_a_picture_is_stored_as_the_picture():
    data = WIDGET | {"text/html": "<img alt='a slider'>"}
    cell = new_code_cell("s", outputs=[new_output("display_data", data=dict(data))])
    execute.normalise(lesson(cell))
    assert execute.WIDGET_VIEW not in cell.outputs[0].data


def test_widget_without_a_picture_keeps_its_view():
    cell = new_code_cell("s", outputs=[new_output("display_data", data=dict(WIDGET))])
    execute.normalise(lesson(cell))
    assert execute.WIDGET_VIEW in cell.outputs[0].data


def test_progress_is_not_stored():
    output = new_output("display_data", data={"text/plain": "0 of 5 solved"})
    cell = new_code_cell('ck.progress("05")', outputs=[output])
    execute.normalise(lesson(cell))
    assert cell.outputs == []


def test_cell_of_asserts_is_folded_and_off_the_slides():
    cell = new_code_cell("assert 1\nassert 2")
    execute.normalise(lesson(cell))
    assert cell.metadata == {
        "jupyter": {"source_hidden": True},
        "slideshow": {"slide_type": "skip"},
    }


def test_claim_is_folded_and_off_the_slides():
    cell = new_code_cell("x = 1\nassert x", metadata={"tags": ["claim"]})
    execute.normalise(lesson(cell))
    assert cell.metadata["jupyter"] == {"source_hidden": True}
    assert cell.metadata["slideshow"] == {"slide_type": "skip"}


@pytest.mark.parametrize("source", ["x = 1\nassert x", "%%cuda\nassert", ""])
def test_other_cell_stays_visible(source):
    assert not execute.is_only_asserts(new_code_cell(source))


@pytest.mark.parametrize(
    "source",
    ["ck.guess('How many?', answer=3)", "ck.quiz([Question('Yes?', answer=True)])",
     "guess('How many?', answer=3)"],
)  # fmt: skip
def test_source_of_a_question_is_folded(source):
    cell = new_code_cell(source)
    execute.normalise(lesson(cell))
    assert cell.metadata == {"jupyter": {"source_hidden": True}}


@pytest.mark.parametrize("source", ["ck.check('05.1')", "%%cuda\nguess(1)", "guess"])
def test_source_that_asks_nothing_stays_open(source):
    cell = new_code_cell(source)
    execute.normalise(lesson(cell))
    assert cell.metadata == {}


def test_known_metadata_is_kept_and_other_dropped():
    cell = new_code_cell("1", metadata={"alt": "A bar.", "scrolled": True})
    execute.normalise(lesson(cell))
    assert cell.metadata == {"alt": "A bar."}


def test_stream_that_came_in_pieces_is_one():
    pieces = [new_output("stream", text=text) for text in ("a", "b")]
    cell = new_code_cell("print()", outputs=pieces)
    execute.normalise(lesson(cell))
    assert [output.text for output in cell.outputs] == ["ab"]


def test_streams_of_two_names_stay_apart():
    pieces = [
        new_output("stream", text="a"),
        new_output("stream", name="stderr", text="b"),
    ]
    assert len(execute.merged_streams(pieces)) == 2


def test_hash_tells_cells_apart():
    one, two = lesson(new_code_cell("ab")), lesson(new_code_cell("a"))
    two.cells.append(new_code_cell("b"))
    assert execute.code_hash(one) != execute.code_hash(two)


def test_hash_ignores_prose():
    one, two = lesson(new_code_cell("1")), lesson(new_code_cell("1"))
    two.cells[0].source = "# Another title"
    assert execute.code_hash(one) == execute.code_hash(two)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Run a notebook from a file and return what was stored, and the file."""
    path = tmp_path_factory.mktemp("lesson") / "lesson.ipynb"
    source = "import os\nprint(os.environ['CUDA_VISIBLE_DEVICES'], os.getcwd())"
    nbformat.write(lesson(new_code_cell(source), new_code_cell("6 * 7")), path)
    execute.main([str(path)])
    return nbformat.read(path, as_version=4), path


def test_run_stores_counts_and_outputs(stored):
    cells = stored[0].cells[1:]
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert cells[1].outputs[0].data["text/plain"] == "42"


def test_run_hides_the_gpu_and_starts_beside_the_notebook(stored):
    notebook, path = stored
    assert notebook.cells[1].outputs[0].text == f"-1 {path.parent}\n"


def test_run_stores_no_timings(stored):
    assert [cell.metadata for cell in stored[0].cells] == [{}, {}, {}]


def test_run_seals_the_code(stored):
    notebook, _ = stored
    sealed = notebook.metadata["coursekit"]["executed_sha256"]
    assert sealed == execute.code_hash(notebook)


def test_failing_cell_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "lesson.ipynb"
    nbformat.write(lesson(new_code_cell("1 / 0")), path)
    before = path.read_text()
    with pytest.raises(Exception, match="ZeroDivisionError"):
        execute.main([str(path)])
    assert path.read_text() == before


def test_format_does_not_run(tmp_path):
    path = tmp_path / "lesson.ipynb"
    nbformat.write(lesson(new_code_cell("1 / 0")), path)
    execute.main(["--format", str(path)])
    assert nbformat.read(path, as_version=4).cells[1].id == "s00-01"
