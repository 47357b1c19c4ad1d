"""Companion pages: made of their data, and their links lead to what they say."""

from __future__ import annotations

import re

import companion_pages
import coverage_table
import pytest
from course_chapters import FOLDER

from coursekit.lessons import companion

COURSE = coverage_table.load()[1]
ERRATA = [row for rows in companion.errata().values() for row in rows]
NAMES = [row for rows in companion.ecosystem()[1].values() for row in rows]
PAGES = ("ecosystem", "errata", "reading_sources", "reading_llm_c", "what_next")
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")


def head_of(text: str) -> str:
    """Return a page without what follows from the notebooks as they are."""
    return re.sub(r"\| [^|]* \|$", "|", text, flags=re.MULTILINE)


def test_pages_have_what_their_data_says():
    pages = {
        companion_pages.ECOSYSTEM: companion_pages.ecosystem_page(),
        companion_pages.ERRATA: companion_pages.errata_page(),
    }
    for path, text in pages.items():
        found = path.read_text(encoding="utf-8")
        assert head_of(found) == head_of(text), "run `make chapters`"


def test_errors_are_numbered_without_a_gap():
    assert [row.number for row in ERRATA] == [f"E{n:02}" for n in range(1, 98)]


@pytest.mark.parametrize("row", ERRATA, ids=lambda row: row.number)
def test_error_is_shown_by_a_chapter_or_waits_for_one(row):
    place = companion_pages.shown_in(row, COURSE)
    assert coverage_table.MISSING not in place


def test_names_are_there_once():
    names = [row.name for row in NAMES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.name)
def test_name_has_a_sentence_a_state_and_a_source(row):
    assert row.what.endswith(".")
    assert row.state.endswith(".")
    assert row.source.startswith("https://")
    assert row.chapter == "" or companion_pages.chapter_link(row.chapter, COURSE)


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    missing = [link for link in LINK.findall(text) if not (FOLDER / link).exists()]
    assert missing == []
