"""`make chapters`: the order of chapters, their minutes, links and README's table."""

from __future__ import annotations

import chapter_minutes
import course_chapters
import nbformat
import notebook_lint
import pytest
from chapter_minutes import Reader
from execute import code_hash, normalise, to_text
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

OPENING = """# {title}

**After this chapter you can** read and write.

- **Time** 7 minutes, and more.
- **Needs** nothing."""
LISTING = "kernels/a.cu\n 1  // A header.\n 2\n 3  int a;\n 4  {\n 5      a = 1;\n 6  }"
DIFF = "a.cu → b.cu: 1 line\n--- a.cu\n+++ b.cu\n@@ -1 +1 @@\n int a;\n-a = 1;\n+a = 2;"
STARTER = "void f(int *a)\n{\n    // Your code here.\n}\n"
SOLUTION = "void f(int *a)\n{\n    // Two lines:\n    int b = 1;\n    a[0] = b;\n}\n"


def lesson(title="A lesson", *cells):
    """Build a notebook of one section that has these cells."""
    closing = [new_markdown_cell(f"## {name}") for name in course_chapters.CLOSING]
    opening = new_markdown_cell(OPENING.format(title=title))
    section = new_markdown_cell("## Area", metadata={"minutes": 9})
    setup = new_code_cell("import math")
    notebook = new_notebook(cells=[opening, setup, section, *cells, *closing])
    notebook.metadata["coursekit"] = {"executed_sha256": ""}
    return normalise(notebook)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write three chapters and a README, and let the command find them."""
    for name in ("09_tiles", "10a_sums", "10b_scan"):
        text = to_text(lesson(name.partition("_")[2].title()))
        (tmp_path / f"{name}.ipynb").write_text(text)
    readme = tmp_path / "README.md"
    row = "| [09 Old title](notebooks/09_tiles.ipynb) | tile | 1 | S G |\n"
    readme.write_text(f"# C\n\n{course_chapters.HEADER}{row}\nOld words.\n\n## Golf\n")
    monkeypatch.setattr(course_chapters, "README", readme)
    monkeypatch.setattr(course_chapters.chapters, "__defaults__", (tmp_path,))
    return tmp_path


def read(path):
    return nbformat.read(path, as_version=4)


# ---------------------------------------------------------------- files


def test_chapters_come_in_the_order_of_number_and_letter(tmp_path):
    for name in ("11_c.ipynb", "10b_b.ipynb", "10a_a.ipynb", "09_z.ipynb", "x.ipynb"):
        (tmp_path / name).write_text("{}")
    found = [chapter.label for chapter in course_chapters.chapters(tmp_path)]
    assert found == ["09", "10a", "10b", "11"]


def test_exercises_of_a_chapter_with_a_letter_have_its_number(tmp_path):
    assert course_chapters.Chapter(tmp_path / "10b_scan.ipynb").number == "10"


# ---------------------------------------------------------------- minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("word " * 130, 1),
        ("[two words](https://example.org/a) " * 65, 1),
        ("![alt text is not read](a.svg)", 0),
        ("```cuda\nint a;\nint b;\nint c;\n```", 3 / 12),
        ("**Next** [10a Sums](10a_sums.ipynb)", 0),
    ],
)
def test_prose_takes_a_minute_per_130_words(text, minutes):
    assert Reader().minutes(new_markdown_cell(text)) == pytest.approx(minutes)


@pytest.mark.parametrize(
    ("solution", "minutes"),
    [("It is 5.", 2), ("\n```cuda\nint a;\nint b;\n```\n", 5)],
)
def test_exercise_in_prose_takes_the_time_of_its_solution(solution, minutes):
    text = f"<details><summary>Solution</summary>{solution}</details>"
    assert Reader().minutes(new_markdown_cell(text)) == minutes


@pytest.mark.parametrize(
    ("cell", "minutes"),
    [
        (new_code_cell("\n".join(f"x{i} = {i}" for i in range(12))), 1),
        (new_code_cell("a = (\n    1,\n)\na = (\n    1,\n)"), 2 / 12),
        (new_code_cell("assert a"), 0),
        (new_code_cell("a = 1\nassert a", metadata={"tags": ["claim"]}), 0),
        (new_code_cell('ck.guess("How many?", answer=4)'), 2),
        (new_code_cell("ck.quiz([Question('a'), Question('b')])"), 4),
    ],
)
def test_code_takes_a_minute_per_12_new_lines_and_a_prediction_two(cell, minutes):
    assert Reader().minutes(cell) == pytest.approx(minutes)


@pytest.mark.parametrize(
    ("source", "minutes"), [('ck.guess("05.a_b")', 2), ('ck.quiz("05.review")', 6)]
)
def test_question_by_id_takes_the_time_of_those_in_the_spec(
    source, minutes, monkeypatch
):
    asked = {"guess": ["?"], "quiz": ["?"] * 3}
    monkeypatch.setattr(chapter_minutes, "of_spec", lambda kind, id: asked[kind])
    assert Reader().minutes(new_code_cell(source)) == minutes


@pytest.mark.parametrize(("text", "lines"), [(LISTING, 2), (DIFF, 1)])
def test_shown_source_counts_without_header_and_brackets(text, lines):
    output = new_output("display_data", data={"text/plain": text})
    cell = new_code_cell("ck.show('a')", outputs=[output])
    assert Reader().minutes(cell) == pytest.approx((1 + lines) / 12)


def test_line_that_was_read_before_takes_no_time():
    reader = Reader()
    reader.minutes(new_code_cell("x = 1"))
    assert reader.minutes(new_code_cell("x = 1")) == 0


def test_piece_of_code_takes_two_minutes_and_more_per_line_written():
    assert chapter_minutes.piece(STARTER, SOLUTION) == 2 + 2 * 1.5


@pytest.mark.parametrize("name", ["05.1", "05.a"])
def test_exercise_and_your_turn_take_the_same_time(name, monkeypatch):
    monkeypatch.setattr(chapter_minutes, "texts", lambda id: (STARTER, SOLUTION))
    cell = new_code_cell("%%cuda", metadata={"tags": [f"exercise-{name}"]})
    assert Reader().minutes(cell) == pytest.approx(5 + 1 / 12)


def test_section_takes_at_least_a_minute_and_sources_none():
    notebook = lesson("A", new_markdown_cell("few words"))
    notebook.cells[-1].source += "\n\n" + "word " * 1000
    found = {
        chapter_minutes.heading(c): n for c, n in course_chapters.computed(notebook)
    }
    assert found["Area"] == 1
    assert found["Sources"] == 0


# ---------------------------------------------------------------- the command


def test_command_writes_the_minutes_of_sections_and_their_sum(folder):
    course_chapters.main([])
    cells = read(folder / "09_tiles.ipynb").cells
    assert cells[2].metadata["minutes"] == 1
    assert "- **Time** 1 minutes, exercises included.\n" in cells[0].source


def test_command_links_the_chapters_at_head_and_end(folder):
    course_chapters.main([])
    cells = read(folder / "10a_sums.ipynb").cells
    line = (
        "**Previous** [09 Tiles](09_tiles.ipynb) · **Next** [10b Scan](10b_scan.ipynb)"
    )
    assert cells[0].source.startswith(f"# Sums\n\n{line}\n\n**After")
    assert cells[-1].source == f"## Sources\n\n{line}"


def test_first_and_last_chapter_have_one_link(folder):
    order = course_chapters.chapters(folder)
    links = [course_chapters.navigation(order[n], order) for n in (0, -1)]
    assert links == [
        "**Next** [10a Sums](10a_sums.ipynb)",
        "**Previous** [10a Sums](10a_sums.ipynb)",
    ]


def test_section_next_ends_with_the_progress_of_the_chapter(folder):
    exercise = new_code_cell("%%cuda", metadata={"tags": ["exercise-10.1"]})
    path = folder / "10a_sums.ipynb"
    path.write_text(to_text(lesson("Sums", exercise)))
    course_chapters.main([str(path)])
    sources = [cell.source for cell in read(path).cells]
    assert sources[-3:-1] == ["## Next", 'ck.progress("10")']


def test_new_cell_at_the_end_leaves_the_outputs_valid(folder):
    path = folder / "09_tiles.ipynb"
    notebook = read(path)
    notebook.cells[1].execution_count = 1
    notebook.metadata["coursekit"]["executed_sha256"] = code_hash(notebook)
    path.write_text(to_text(notebook))
    course_chapters.main([])
    assert list(notebook_lint.executed(read(path))) == []


def test_command_changes_nothing_the_second_time(folder):
    course_chapters.main([])
    before = {path: path.read_text() for path in folder.iterdir()}
    course_chapters.main([])
    assert {path: path.read_text() for path in folder.iterdir()} == before


def test_command_leaves_notebooks_alone_that_are_not_named(folder):
    before = (folder / "10b_scan.ipynb").read_text()
    course_chapters.main([str(folder / "09_tiles.ipynb")])
    assert (folder / "10b_scan.ipynb").read_text() == before


def test_new_chapter_renews_the_links_of_its_neighbours(folder):
    course_chapters.main([])
    new = folder / "09b_banks.ipynb"
    new.write_text(to_text(lesson("Banks")))
    course_chapters.main([str(new)])
    first = read(folder / "09_tiles.ipynb").cells[0].source
    assert "**Next** [09b Banks](09b_banks.ipynb)\n" in first


def test_readme_has_a_row_for_each_chapter_and_keeps_its_words(folder):
    course_chapters.main([])
    assert course_chapters.README.read_text() == (
        f"# C\n\n{course_chapters.HEADER}"
        "| [09 Tiles](notebooks/09_tiles.ipynb) | tile | 1 | S G |\n"
        "| [10a Sums](notebooks/10a_sums.ipynb) | read and write | 1 |  |\n"
        "| [10b Scan](notebooks/10b_scan.ipynb) | read and write | 1 |  |\n\n"
        "The minutes follow from the words, the code and the exercises of a chapter.\n"
        "More chapters follow; this table lists the ones that are here.\n"
        "[What the course covers](notebooks/coverage.md) has every topic.\n"
        f"{course_chapters.PAGES}\n## Golf\n"
    )


def test_readme_says_that_long_chapters_will_be_split(folder):
    path = folder / "09_tiles.ipynb"
    path.write_text(path.read_text().replace("## Area", "## Area" + " word" * 10_000))
    course_chapters.main([])
    assert (
        "Chapters above 75 minutes will be split.\n"
        in course_chapters.README.read_text()
    )


def test_readme_of_the_course_is_as_the_command_writes_it():
    readme = course_chapters.README.read_text(encoding="utf-8")
    assert course_chapters.TABLE.search(readme)[0] == course_chapters.table(
        course_chapters.chapters(), readme
    )
