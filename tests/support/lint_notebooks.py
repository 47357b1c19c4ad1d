"""`make lint-notebooks`: what keeps the chapters from being good lessons, counted.

    python tests/support/lint_notebooks.py [--lower] [NOTEBOOK ...]

Prints two tables with a column per notebook; of a notebook that is named, each
complaint. A count above tests/notebooks/prose_baseline.toml is an error. `--lower`
writes the baseline anew where counts fell.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "notebooks")]

import chapter_minutes  # noqa: E402
import course_chapters  # noqa: E402
import notebook_lint_lesson  # noqa: E402
import notebook_lint_prose  # noqa: E402
from course_chapters import Chapter  # noqa: E402
from nbformat import NotebookNode  # noqa: E402

BASELINE = ROOT / "tests" / "notebooks" / "prose_baseline.toml"
RULES = notebook_lint_lesson.RULES + notebook_lint_prose.RULES
WARNINGS = notebook_lint_prose.WARNINGS
BY_NAME = {rule.__name__: rule for rule in RULES + WARNINGS}
HEAD = """\
# Complaints per notebook and rule that are left; a number may only shrink.
# `make lint-notebooks` counts; `make lint-notebooks ARGS=--lower` writes lower numbers.
"""

Counts = dict[str, dict[str, int]]


def counts(order: list[Chapter]) -> Counts:
    """Return {notebook: {rule: complaints}}, without the zeros."""
    return {chapter.path.stem: counted(chapter) for chapter in order}


def counted(chapter: Chapter) -> dict[str, int]:
    """Return how many complaints each rule has of a chapter, without the zeros."""
    found = {rule.__name__: len(list(rule(chapter))) for rule in RULES}
    return {rule: count for rule, count in found.items() if count}


def baseline(path: Path = BASELINE) -> Counts:
    """Return the counts that are allowed; a notebook without an entry has none."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def above(found: Counts, allowed: Counts) -> list[str]:
    """Say which counts are higher than the baseline."""
    return [
        f"{notebook}: {count} complaints of the rule {rule}, "
        f"{allowed.get(notebook, {}).get(rule, 0)} allowed; "
        f"see `make lint-notebooks ARGS=notebooks/{notebook}.ipynb`"
        for notebook, rules in found.items()
        for rule, count in rules.items()
        if count > allowed.get(notebook, {}).get(rule, 0)
    ]


def below(found: Counts, allowed: Counts) -> list[str]:
    """Say which numbers of the baseline are higher than needed."""
    return [
        f"{notebook}: the baseline allows {count} complaints of the rule {rule}, "
        f"{found.get(notebook, {}).get(rule, 0)} are left; "
        "run `make lint-notebooks ARGS=--lower`"
        for notebook, rules in allowed.items()
        for rule, count in rules.items()
        if count > found.get(notebook, {}).get(rule, 0)
    ]


def lowered(found: Counts, allowed: Counts) -> Counts:
    """Return the smaller number of each entry; what is new gets no entry."""
    smaller = {
        notebook: {
            rule: min(count, found[notebook][rule])
            for rule, count in rules.items()
            if found[notebook].get(rule)
        }
        for notebook, rules in allowed.items()
        if notebook in found
    }
    return {notebook: rules for notebook, rules in smaller.items() if rules}


def as_toml(allowed: Counts) -> str:
    """Return the text of a baseline."""
    tables = []
    for notebook, rules in sorted(allowed.items()):
        entries = "".join(f"{rule} = {count}\n" for rule, count in rules.items())
        tables.append(f"\n[{json.dumps(notebook)}]\n{entries}")
    return HEAD + "".join(tables)


def table(order: list[Chapter], found: Counts) -> str:
    """Return a row for each rule, a column for each chapter; zeros are dots."""
    rows = {
        rule.__name__: [found[c.path.stem].get(rule.__name__, 0) or "." for c in order]
        for rule in RULES
    }
    for rule in WARNINGS:
        rows[f"({rule.__name__})"] = [len(list(rule(c))) or "." for c in order]
    return as_rows(order, rows)


def figures(order: list[Chapter]) -> str:
    """Return what a chapter asks of its students, as numbers; no rule holds them."""
    notebooks = [chapter.notebook for chapter in order]
    rows = {
        "minutes": [sum(m for _, m in course_chapters.computed(n)) for n in notebooks],
        "first piece": [first_piece(notebook) for notebook in notebooks],
        "pieces": [notebook_lint_lesson.pieces(n) for n in notebooks],
        "predictions": [notebook_lint_lesson.predictions(n) for n in notebooks],
        "drawings": [notebook_lint_lesson.drawings_of(n) for n in notebooks],
        "cells": [len(notebook.cells) for notebook in notebooks],
        "words": [notebook_lint_prose.median_words(chapter) for chapter in order],
    }
    return as_rows(order, rows)


def first_piece(notebook: NotebookNode) -> str:
    """Return the minutes until the student writes code, "-" where that never is."""
    minutes = chapter_minutes.until_own_code(notebook)
    return "-" if math.isinf(minutes) else f"{minutes:.0f}"


def as_rows(order: list[Chapter], rows: dict[str, list]) -> str:
    """Return a table with a column for each chapter."""
    rows = {"": [chapter.label for chapter in order]} | rows
    return "\n".join(
        f"{name:12}" + "".join(f"{value:>5}" for value in values)
        for name, values in rows.items()
    )


def complaints(chapter: Chapter) -> list[str]:
    """Return each complaint of a chapter with the name of its rule."""
    return [
        f"{chapter.path.name} {rule.__name__}: {complaint}"
        for rule in RULES + WARNINGS
        for complaint in rule(chapter)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the table or the complaints; fail where a count is above the baseline."""
    parser = argparse.ArgumentParser(description="Count what keeps lessons from good.")
    parser.add_argument("--lower", action="store_true", help="write lower numbers")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    order = course_chapters.chapters()
    named = {path.name for path in options.notebooks}
    if named:
        chosen = [chapter for chapter in order if chapter.path.name in named]
        print("\n".join(line for chapter in chosen for line in complaints(chapter)))
        return 0
    found = counts(order)
    print("What a chapter asks (minutes until the first piece, words of a sentence):")
    print(figures(order))
    print("\nComplaints of each rule (those in brackets are warnings):")
    print(table(order, found))
    if options.lower:
        BASELINE.write_text(as_toml(lowered(found, baseline())), encoding="utf-8")
    worse = above(found, baseline())
    print("\n".join(worse), file=sys.stderr, end="\n" if worse else "")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
