"""The documents name only what exists: files, verbs, functions."""

from __future__ import annotations

import re
from pathlib import Path

import course_kernels
import notebook_lint
import pytest

import coursekit as ck

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "notebooks/instructor.md",
    "coursekit/README.md",
    "coursekit/simt/README.md",
    "kernels/README.md",
    "notebooks/README.md",
    "tests/README.md",
)
MOST_WORDS = 700  # of CONTRIBUTING.md
SUFFIXES = (".py", ".md", ".cu", ".yml", ".toml", ".ipynb", ".svg", ".js")
MADE_LATER = (".venv", "work/")
SPAN = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
PLACEHOLDER = re.compile(r"[A-Z]{2,}(?!\.md\b|ING\.md\b)|\*")


def spans(document: str) -> list[str]:
    """Return what a document sets as code, whole."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [block or span for block, span in SPAN.findall(text)]


def words(document: str) -> list[str]:
    """Return the words of the code in a document."""
    return [
        word.strip("'\"(),;:")
        for span in spans(document)
        for line in span.splitlines()
        for word in re.split(r"[\s=]+", line.partition(" # ")[0])
    ]


def named(pattern: str) -> list[tuple[str, str]]:
    """Return each name that the pattern finds in code, with its document."""
    return sorted(
        {
            (document, name)
            for document in DOCUMENTS
            for span in spans(document)
            for name in re.findall(pattern, span)
        }
    )


def is_path(word: str) -> bool:
    """Tell a file or folder of the repository from other words."""
    foreign = word.startswith(("-", "~", "<", "http", *MADE_LATER)) or "://" in word
    shape = re.match(r"\w", word) and word.endswith((*SUFFIXES, "/"))
    shape = shape or re.fullmatch(r"\w+/[\w/]+", word)
    return bool(shape) and not foreign and not PLACEHOLDER.search(word)


def is_file_of_the_package(name: str) -> bool:
    """Tell whether a bare name, whose folder the text has named, is a file's."""
    return "/" not in name and any((ROOT / "coursekit").rglob(name))


PATHS = sorted({(d, w) for d in DOCUMENTS for w in words(d) if is_path(w)})


@pytest.mark.parametrize(("document", "path"), PATHS)
def test_path_that_a_document_names_exists(document, path):
    folders = ROOT, (ROOT / document).parent
    places = [folder / name for folder in folders for name in (path, f"{path}.py")]
    assert any(place.exists() for place in places) or is_file_of_the_package(path)


@pytest.mark.parametrize(("document", "verb"), named(r"(?<!install )\bmake ([a-z-]+)"))
def test_verb_that_a_document_names_exists(document, verb):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{verb}:", makefile, re.MULTILINE)


@pytest.mark.parametrize(("document", "name"), named(r"\bck\.(\w+)"))
def test_function_that_a_document_names_exists(document, name):
    assert name in ck.__all__


@pytest.mark.parametrize(
    ("document", "name"), named(r"\b(?:nbval-|raises-|solution-)[\w-]+")
)
def test_tag_that_a_document_names_is_allowed(document, name):
    assert notebook_lint.TAG.fullmatch(name)


@pytest.mark.parametrize("line", ["expect:", "finds:", "needs:"])
def test_readme_of_the_kernels_explains_the_line(line):
    assert any(line in span for span in spans("kernels/README.md"))


@pytest.mark.parametrize(
    ("line", "pattern"),
    [("expect", course_kernels.EXPECT), ("finds", course_kernels.FINDS)],
)
def test_example_of_a_kernel_line_is_read_by_the_tests(line, pattern):
    (shown,) = re.findall(
        rf"^// {line}: .*$", "\n".join(spans("kernels/README.md")), re.MULTILINE
    )
    assert pattern.fullmatch(shown)


def test_readme_of_the_kernels_says_where_they_are_launched():
    assert "tests/kernels/launches/PROBLEM.py" in words("kernels/README.md")


def test_contributing_is_short():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.split()) <= MOST_WORDS


def test_documents_name_enough_for_these_tests_to_mean_something():
    assert len(PATHS) > 10
