"""The glossary is in order, its links work everywhere, and notebooks use its terms."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from glossary import PATH, Entry, anchors, entries, unknown_terms

TEXT = PATH.read_text(encoding="utf-8")
ENTRIES = entries(TEXT)
NOTEBOOKS = sorted(PATH.parent.glob("*.ipynb"))
ROOT = Path(__file__).resolve().parents[2]


def name(value: Entry | Path) -> str:
    return value.term if isinstance(value, Entry) else value.name


def github_anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_heading_is_an_entry():
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert [entry.term for entry in ENTRIES] == headings


def test_terms_are_sorted_and_unique():
    terms = [entry.term for entry in ENTRIES]
    assert terms == sorted(set(terms))


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_anchor_is_the_same_in_jupyterlab_and_on_github(entry):
    assert entry.anchor == github_anchor(entry.term)


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_term_is_explained_in_a_sentence_or_two(entry):
    sentences = re.findall(r"[.!?](?=\s|$)", entry.text)
    assert 1 <= len(sentences) <= 2
    assert len(entry.text.split()) <= 60


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_explanation_names_the_term_in_bold(entry):
    bold = re.findall(r"\*\*(.+?)\*\*", entry.text)
    assert len(bold) == 1
    assert entry.term in bold[0].lower()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_terms_of_the_notebook_are_in_the_glossary(path):
    notebook = nbformat.read(path, as_version=4)
    assert list(unknown_terms(notebook, anchors())) == []


def notebook(*texts):
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize(
    "texts",
    [
        ["A [**warp**](glossary.md#warp) and a [**lane**](glossary.md#lane)."],
        ["[**Warps**](glossary.md#warp)", "a **warp** again"],
        ["All words: [glossary](glossary.md)."],
    ],
)
def test_links_in_the_right_form_pass(texts):
    assert list(unknown_terms(notebook(*texts), {"warp", "lane"})) == []


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["[**weft**](glossary.md#weft)"], "no such term"),
        (["[**Warp**](glossary.md#Warp)"], "no such term"),
        (["[warp](glossary.md#warp)"], "a term is bold"),
        (["[**warp**](../glossary.md#warp)"], "beside the notebooks"),
        (["[**warp**](glossary.md#warp)"] * 2, "first use only"),
    ],
)
def test_link_in_another_form_is_found(texts, complaint):
    found = list(unknown_terms(notebook(*texts), {"warp"}))
    assert len(found) == 1
    assert complaint in found[0]
