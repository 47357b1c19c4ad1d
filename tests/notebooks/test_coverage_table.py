"""coverage.md: every topic has its section, and the section has the topic's words."""

from __future__ import annotations

import re
from urllib.parse import unquote

import course_chapters
import coverage_table
import pytest
from coverage_table import Course, Topic
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

# Topics whose chapter is there and does not have them. Lower it, and never raise it.
MOST_MISSING = 0

GROUPS, COURSE = coverage_table.load()  # reads the notebooks when it is asked
TOPICS = [topic for rows in GROUPS.values() for topic in rows]
PAGE = coverage_table.PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
PLACES = [row[1] for row in ROWS if row[0] != "Topic"]
LINK = re.compile(r"\[.*\]\((?P<file>[^)#]+)(?:#(?P<anchor>[^)]+))?\)")


def text_of(link: re.Match[str]) -> str:
    """Return the section or file that a link of the page leads to."""
    path = coverage_table.FOLDER / link["file"]
    if not link["anchor"]:
        return path.read_text(encoding="utf-8")
    found = coverage_table.sections(course_chapters.Chapter(path).notebook)
    anchor = unquote(link["anchor"])
    return next(text for head, text in found if head.replace(" ", "-") == anchor)


def test_page_has_every_topic_in_order():
    names = [coverage_table.cell(topic.name) for topic in TOPICS]
    assert [row[0] for row in ROWS if row[0] != "Topic"] == names


@pytest.mark.parametrize("group", GROUPS)
def test_topics_of_a_group_have_different_names(group):
    names = [topic.name for topic in GROUPS[group]]
    assert len(set(names)) == len(names)


def test_each_place_of_the_page_exists_and_mentions_its_topic():
    wrong = [
        topic.name
        for topic, place in zip(TOPICS, PLACES, strict=True)
        if (link := LINK.fullmatch(place)) and not topic.count(text_of(link))
    ]
    assert wrong == [], "run `make chapters`"


def test_topic_without_a_place_has_none_in_its_chapters_either():
    untrue = [
        topic.name
        for topic, place in zip(TOPICS, PLACES, strict=True)
        if not LINK.fullmatch(place) and topic.found(COURSE)
    ]
    assert untrue == [], "run `make chapters`"


def test_missing_topics_only_become_fewer():
    missing = [place for place in PLACES if place.startswith(coverage_table.MISSING)]
    assert len(missing) == MOST_MISSING


def test_summary_counts_the_rows():
    assert PAGE.split("\n## ")[0] == coverage_table.page().split("\n## ")[0]


def test_planned_chapters_are_not_there_yet():
    assert set(COURSE.planned) & set(COURSE.sections) == set()


def test_places_of_topics_are_chapters_or_files():
    numbers = {*COURSE.planned, *COURSE.sections}
    places = {place for topic in TOPICS for place in topic.places} - numbers
    assert [name for name in places if not (COURSE.root / name).is_file()] == []


# ---------------------------------------------------------------- on a small course

TREE = "[10a Sums: A tree (first)](10a_sums.ipynb#A-tree-%28first%29)"


@pytest.fixture
def course(tmp_path):
    """Build a course of one chapter with a letter, and another that is planned."""
    cells = [
        new_markdown_cell("# Sums\n\nAdd up."),
        new_markdown_cell("## A tree (first)\n\nA **tree** adds. Trees are fast."),
        new_code_cell("tree = 1  # Kahan"),
        new_markdown_cell("## Exercises\n\ntree tree tree tree tree"),
        new_markdown_cell("## Sources\n\nWelford"),
    ]
    chapter = course_chapters.Chapter(tmp_path / "10a_sums.ipynb")
    chapter.__dict__["notebook"] = new_notebook(cells=cells)
    return Course((chapter,), {"13": "cuBLAS", "errata": "page: errata"}, tmp_path)


@pytest.mark.parametrize(
    ("places", "words", "where"),
    [
        (("10",), "tree", TREE),
        (("10",), "Kahan", TREE),
        (("10",), "Add up", "[10a Sums: Sums](10a_sums.ipynb#Sums)"),
        (("13", "10"), "Kahan", TREE),
        (("10",), "Welford", "**missing** in chapter 10"),
        (("10",), "kahan sum", "**missing** in chapter 10"),
        (("13",), "gemm", "not written yet: chapter 13, cuBLAS"),
        (("10", "errata"), "gemm", "not written yet: page: errata"),
    ],
)
def test_place_is_the_section_that_teaches_it_most(course, places, words, where):
    assert Topic("a", places, words).where(course) == where


def test_file_can_be_the_place(course):
    (course.root / "a.cu").write_text("int main()")
    place = Topic("a program", ("a.cu",), "int main").where(course)
    assert place == "[a.cu](../a.cu)"
