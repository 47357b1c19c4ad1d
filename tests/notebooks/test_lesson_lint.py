"""`make lint-notebooks`: no count rises above its baseline, and each rule finds."""

from __future__ import annotations

import chapters
import lint_notebooks
import pytest

FOUND = lint_notebooks.counts(chapters.chapters())
ALLOWED = lint_notebooks.baseline()


@pytest.mark.parametrize("chapter", chapters.chapters(), ids=lambda c: c.path.stem)
def test_no_count_rises_above_the_baseline(chapter):
    name = chapter.path.stem
    assert lint_notebooks.above({name: FOUND[name]}, ALLOWED) == []


def test_baseline_has_no_number_that_is_no_longer_needed():
    assert lint_notebooks.below(FOUND, ALLOWED) == []


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
