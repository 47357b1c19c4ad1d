"""Copies of the notebooks are made once and never overwritten."""

from __future__ import annotations

import json

import nbformat
import pytest

from coursekit import __main__, paths
from coursekit.exercises.cells import set_up_first, working_copies


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Lay out a course with one notebook; its copies go below the same folder."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.svg").write_text("<svg/>")
    monkeypatch.setattr(paths, "repository", lambda: tmp_path)
    monkeypatch.delenv("COURSEKIT_WORK", raising=False)
    write(tmp_path, "![a picture](../assets/a.svg) and [next](06_next.ipynb)")
    return tmp_path


def write(course, text):
    """Write the course's notebook with this prose."""
    html = nbformat.v4.new_output("display_data", data={"text/html": "<b>7</b>"})
    code = {"outputs": [html], "execution_count": 1}
    cells = [
        nbformat.v4.new_markdown_cell(text),
        nbformat.v4.new_code_cell("p = '../assets/a.svg'", **code),
    ]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells),
        course / "notebooks" / "05_first.ipynb",
    )


def full(*_):
    """Stand in for a disk without space."""
    raise OSError(28, "No space left on device")


def copy(course):
    return course / "work" / "notebooks" / "05_first.ipynb"


def test_copies_are_made(course):
    assert working_copies.update()[0].endswith("05_first.")
    assert copy(course).exists()


def test_second_time_there_is_nothing_to_say(course):
    working_copies.update()
    assert working_copies.update() == []


def test_links_of_the_copy_lead_where_those_of_the_original_lead(course):
    working_copies.update()
    prose = nbformat.read(copy(course), as_version=4).cells[0].source
    assert prose == "![a picture](../../assets/a.svg) and [next](06_next.ipynb)"
    assert (copy(course).parent / "../../assets/a.svg").exists()


@pytest.mark.parametrize("link", ["glossary.md", "glossary.md#warp"])
def test_links_to_the_glossary_lead_to_the_original(course, link):
    write(course, f"[a warp]({link})")
    working_copies.update()
    prose = nbformat.read(copy(course), as_version=4).cells[0].source
    assert prose == f"[a warp](../../notebooks/{link})"


def test_links_elsewhere_stay(course):
    text = "[a](https://nvidia.com/a.md) [b](06_next.ipynb) `x](y.mdx)`"
    write(course, text)
    working_copies.update()
    assert nbformat.read(copy(course), as_version=4).cells[0].source == text


def test_copy_has_no_outputs(course):
    working_copies.update()
    cell = nbformat.read(copy(course), as_version=4).cells[1]
    assert (cell.outputs, cell.execution_count) == ([], None)


def test_copy_has_no_claims(course):
    path = course / "notebooks" / "05_first.ipynb"
    notebook = nbformat.read(path, as_version=4)
    claim = nbformat.v4.new_code_cell("assert p", metadata={"tags": ["claim"]})
    notebook.cells.append(claim)
    nbformat.write(notebook, path)
    working_copies.update()
    sources = [x.source for x in nbformat.read(copy(course), as_version=4).cells]
    assert sources[1:] == ["p = '../assets/a.svg'"]


def test_metadata_are_those_of_the_running_kernel(course):
    from ipykernel.ipkernel import IPythonKernel

    working_copies.update()
    metadata = nbformat.read(copy(course), as_version=4).metadata
    assert metadata.language_info == IPythonKernel.language_info
    assert metadata.kernelspec == {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }


def test_code_is_copied_as_it_is(course):
    working_copies.update()
    code = nbformat.read(copy(course), as_version=4).cells[1].source
    assert code == "p = '../assets/a.svg'"


def test_copy_is_a_valid_notebook(course):
    working_copies.update()
    nbformat.validate(nbformat.read(copy(course), as_version=4))


def test_copies_elsewhere_link_back(course, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSEKIT_WORK", str(tmp_path / "home" / "ada" / "work"))
    working_copies.update()
    made = tmp_path / "home" / "ada" / "work" / "notebooks" / "05_first.ipynb"
    prose = nbformat.read(made, as_version=4).cells[0].source
    assert "(../../../../assets/a.svg)" in prose


def test_links_from_elsewhere_have_no_space(course, tmp_path, monkeypatch):
    repository = tmp_path / "with space"
    (tmp_path / "notebooks").rename(tmp_path / "kept")
    repository.mkdir()
    (tmp_path / "kept").rename(repository / "notebooks")
    monkeypatch.setattr(paths, "repository", lambda: repository)
    monkeypatch.setenv("COURSEKIT_WORK", str(tmp_path / "work"))
    working_copies.update()
    prose = nbformat.read(copy(course), as_version=4).cells[0].source
    assert "(../../with%20space/assets/a.svg)" in prose


def test_nothing_is_written_where_nothing_has_changed(course, monkeypatch):
    working_copies.update()
    monkeypatch.setattr(working_copies, "write", full)
    assert working_copies.update() == []


@pytest.mark.parametrize("there", [[], ["05_first"]])
def test_folder_that_cannot_be_written_is_named(course, monkeypatch, there):
    if there:
        working_copies.update()
        write(course, "new text")
        (copy(course).parent / working_copies.ORIGINS).unlink()
    monkeypatch.setattr(working_copies, "write", full)
    (line,) = working_copies.update()
    assert line.startswith(f"{working_copies.folder()} cannot be written: No space")
    assert "JupyterLab opens all the same" in line


def test_file_in_place_of_the_folder_is_named(course):
    (course / "work").write_text("a file")
    (line,) = working_copies.update()
    assert "cannot be written" in line


def test_make_lab_prepares_copies_and_kernels(course, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(set_up_first, "install", lambda: asked.append(True))
    working_copies.main()
    assert asked == [True]
    assert "05_first." in capsys.readouterr().out


def test_edited_copy_is_never_overwritten(course):
    working_copies.update()
    copy(course).write_text("mine")
    write(course, "new text")
    working_copies.update()
    assert copy(course).read_text() == "mine"


def test_changed_original_is_named_in_one_line(course):
    working_copies.update()
    write(course, "new text")
    (line,) = working_copies.update()
    assert line.startswith("05_first has changed since your copy was made")
    assert "python -m coursekit reset 05_first" in line


def test_reset_takes_the_new_original(course):
    working_copies.update()
    write(course, "new text")
    working_copies.reset("05_first")
    assert "new text" in copy(course).read_text()
    assert working_copies.update() == []


@pytest.mark.parametrize("name", ["05_first", "notebooks/05_first.ipynb"])
def test_reset_keeps_the_old_copy_under_a_dated_name(course, name):
    working_copies.update()
    copy(course).write_text("mine")
    working_copies.reset(name)
    kept = list(copy(course).parent.glob("05_first.2*.ipynb"))
    assert [path.read_text() for path in kept] == ["mine"]


def test_reset_of_an_unknown_notebook_names_those_there_are(course, capsys):
    assert __main__.main(["reset", "99_none"]) == 1
    assert "There are: 05_first." in capsys.readouterr().err


def test_damaged_list_of_origins_does_no_harm(course):
    working_copies.update()
    (copy(course).parent / working_copies.ORIGINS).write_text("{")
    assert working_copies.update() == []
    assert json.loads((copy(course).parent / working_copies.ORIGINS).read_text())
