"""`make lint-notebooks`: no count rises above its baseline, and each rule finds."""

from __future__ import annotations

import copy
import itertools
from types import SimpleNamespace

import chapter_minutes
import course_chapters
import lint_notebooks
import pytest
from course_chapters import Chapter
from execute import normalise, to_text
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ALLOWED = lint_notebooks.baseline()


@pytest.mark.parametrize(
    "chapter", course_chapters.chapters(), ids=lambda c: c.path.stem
)
def test_no_count_rises_above_the_baseline(chapter):
    found = {chapter.path.stem: lint_notebooks.counted(chapter)}
    assert lint_notebooks.above(found, ALLOWED) == []


def test_baseline_has_no_number_that_is_no_longer_needed():
    found = lint_notebooks.counts(course_chapters.chapters())
    assert lint_notebooks.below(found, ALLOWED) == []


def test_baseline_is_stored_as_the_command_writes_it():
    stored = lint_notebooks.BASELINE.read_text(encoding="utf-8")
    assert stored == lint_notebooks.as_toml(ALLOWED)


def test_lowering_never_raises_a_number_and_adds_none():
    found = {"a": {"units": 1, "turns": 9}, "new": {"units": 1}}
    allowed = {"a": {"units": 3, "turns": 2, "links": 1}, "gone": {"units": 1}}
    assert lint_notebooks.lowered(found, allowed) == {"a": {"units": 1, "turns": 2}}


def test_new_notebook_is_allowed_nothing():
    (complaint,) = lint_notebooks.above({"10a_sums": {"units": 1}}, {})
    assert "1 complaints of the rule units, 0 allowed" in complaint


# ---------------------------------------------------------------- each rule

SLIDE = {"slideshow": {"slide_type": "slide"}}
TITLE = """# Sums

**After this chapter you can** add.

- **Time** 3 minutes, exercises included."""
TURN = new_code_cell("%%cuda --exercise 10.1\n", metadata={"tags": ["exercise-10.1"]})
GUESS = new_code_cell('ck.guess("10.sectors")')
ASKED = SimpleNamespace(question="How many?", hint="", because="", options=None)
SETUP = "import numpy as np\nimport coursekit as ck\n%load_ext coursekit"
IDS = itertools.count()
DRAWN = "\n".join(f"![a tree](../assets/10_{n}.svg)" for n in "abc")


def fresh(cells):
    """Copy cells, each with an id of its own."""
    for cell in map(copy.deepcopy, cells):
        cell["id"] = f"c{next(IDS)}"
        yield cell


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that makes a chapter, good but for the given cells."""
    texts = "void f();\n", "void f();\nint a = 1;\n"
    monkeypatch.setattr(chapter_minutes, "texts", lambda id: texts)
    monkeypatch.setattr(chapter_minutes, "of_spec", lambda kind, id: [ASKED])

    def built(
        *cells,
        setup=SETUP,
        start=(TURN, GUESS) * 5,
        drawn=DRAWN,
        link=True,
        own=True,
        said="Ask why.",
    ):
        head = SLIDE | {"notes": said}
        middle = new_markdown_cell("## Second", metadata=head)
        last = new_markdown_cell("## Third", metadata=head)
        notebook = new_notebook(
            cells=[
                new_markdown_cell(TITLE, metadata=SLIDE),
                new_code_cell(setup),
                new_markdown_cell(f"## First\n\n{drawn}", metadata=head),
                *fresh(start),
                middle,
                *fresh(cells or (TURN,) * own),
                last,
                *(new_markdown_cell(f"## {name}") for name in course_chapters.CLOSING),
            ],
            metadata={"coursekit": {"executed_sha256": ""}},
        )
        path = tmp_path / "10a_sums.ipynb"
        path.write_text(to_text(normalise(notebook)))
        (tmp_path / "10b_scan.ipynb").write_text(to_text(notebook))
        chapter = Chapter(path)
        if link:
            course_chapters.complete(chapter, course_chapters.chapters(tmp_path))
        return chapter

    return built


def found(rule, chapter):
    return " | ".join(lint_notebooks.BY_NAME[rule](chapter))


@pytest.mark.parametrize("rule", lint_notebooks.BY_NAME)
def test_good_chapter_passes(rule, build):
    assert found(rule, build()) == ""


def prose(text):
    return TURN, new_markdown_cell(text)


def code(source, **metadata):
    return TURN, new_code_cell(source, metadata=metadata)


BAD = [
    ("length", prose("word " * 10_000), "minutes, above 75"),
    ("watched", (new_markdown_cell("Look."),), "section 'Second' asks nothing"),
    ("asserts", code("a = 1\nassert a"), "asserts in view"),
    ("asserts", code("%%host\nassert a"), "asserts in view"),
    ("claims", code("assert 1") + code("assert 2"), "one more cell of claims"),
    ("answers", code('ck.guess("?", answer=4)'), "has the answer"),
    ("answers", code('ck.quiz([Question("?", answer=4)])'), "has the answer"),
    ("imports", code("from coursekit import plot"), "imports coursekit.plot"),
    ("imports", code("import coursekit.widgets"), "imports coursekit.widgets"),
    ("slides", prose("word " * 91), "of 1 lines of code and 92 words"),
    ("slides", code("\n".join(f"a{n} = 1" for n in range(13))), "14 lines of code"),
    ("units", prose("It moves 4 bytes a thread."), "'4 bytes a thread' needs"),
    ("units", prose("two wavefronts an FMA"), "'two wavefronts an FMA'"),
    ("units", prose("1.5 shared wavefronts an FMA"), "1.5 shared wavefronts"),
    ("units", prose("Wavefronts an FMA fall."), "'Wavefronts an FMA'"),
    ("units", prose("With *more* sums a thread"), "'more* sums a thread'"),
    ("turns", prose("It takes four turns."), "'four turns'"),
    ("turns", prose("Bytes at 128 a turn."), "'a turn'"),
    ("turns", prose("turn 0, then turn 1"), "'turn 0'"),
    ("plain_words", prose("You simply run it."), "'simply'; instead: leave it out"),
    ("plain_words", prose("It was brought here."), "instead: load"),
    ("plain_words", code('ck.guess("Just 4?")'), "'Just'"),
    ("numbers", prose("It took 4 of 5 and 6 of 7."), "4 numbers"),
]


@pytest.mark.parametrize(("rule", "cells", "words"), BAD)
def test_bad_chapter_is_named(rule, cells, words, build):
    assert words in found(rule, build(*cells))


@pytest.mark.parametrize(
    ("rule", "changes", "words"),
    [
        ("minutes", {"link": False}, "the rule gives"),
        ("links", {"link": False}, "the first cell lacks '**Next** [10b"),
        ("first_code", {"start": (), "own": False}, "the student writes no code"),
        ("first_code", {"drawn": "word " * 700}, "after 6 minutes, above 5"),
        ("own_code", {"start": (TURN,)}, "writes 2 pieces of code, below 5"),
        ("own_code", {"start": (TURN,) * 5}, "6 pieces and predictions, below 8"),
        ("set_up", {"setup": SETUP + "\nimport random"}, "4 lines, above 3"),
        ("notes", {"said": ""}, "a section without notes"),
        ("notes", {"said": "word " * 51}, "notes of 51 words"),
        ("drawings", {"drawn": "![S](../assets/badge_simulated.svg)"}, "0 drawings"),
    ],
)
def test_bad_frame_is_named(rule, changes, words, build):
    assert words in found(rule, build(**changes))


@pytest.mark.parametrize(
    ("rule", "cells"),
    [
        ("asserts", code("assert a", tags=["claim"])),
        ("imports", code("from pathlib import Path\nimport coursekit as ck")),
        (
            "slides",
            prose("<details><summary>More</summary>" + "word " * 99 + "</details>"),
        ),
        ("slides", code("assert 1\n" * 13, tags=["claim"])),
        ("units", prose("4 bytes per thread, and the values a thread reads")),
        ("units", prose("Three passes read a row.")),
        ("units", prose("```cuda\n// 4 bytes a thread\n```")),
        ("turns", prose("It is your turn. In turn, chapter 09 turns to it.")),
        ("plain_words", prose("`simply` and [here](https://example.org/just)")),
        ("numbers", prose("| 1 | 2 | 3 |\n| 4 | 5 | 6 |")),
        ("numbers", prose("- 1 and 2\n- 3 and `4`")),
    ],
)
def test_what_is_right_is_not_named(rule, cells, build):
    assert found(rule, build(*cells)) == ""


def test_words_of_a_question_in_the_spec_are_read(build, monkeypatch):
    monkeypatch.setattr(ASKED, "because", "It is simply 4 bytes a thread.")
    chapter = build(GUESS, start=())
    assert "'simply'" in found("plain_words", chapter)
    assert "4 bytes a thread" in found("units", chapter)


def test_figures_tell_what_a_chapter_asks(build):
    rows = lint_notebooks.figures([build()]).split("\n")
    found = {row[:12].strip(): row.split()[-1] for row in rows}
    # Minutes: First has 5 * (3.5 + 2), Second 3.5, which is 4, Third 1.
    asked = {"minutes": "33", "first piece": "0", "pieces": "6", "predictions": "5"}
    assert found.items() >= (asked | {"drawings": "3", "": "10a"}).items()


def test_figures_of_a_chapter_without_own_code_have_a_dash(build):
    chapter = build(start=(), own=False)
    assert lint_notebooks.first_piece(chapter.notebook) == "-"


def test_every_rule_has_a_bad_example():
    frame = {
        "minutes",
        "links",
        "first_code",
        "own_code",
        "set_up",
        "drawings",
        "notes",
    }
    assert {rule for rule, *_ in BAD} | frame == set(lint_notebooks.BY_NAME)
