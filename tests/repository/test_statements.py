"""Statements that were once made here and are false: none comes back.

Each row is a pattern and what is true instead. Notebooks, documents, docstrings and
kernels' comments are searched; the text is joined to one line first.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("notebooks", "coursekit", "kernels", "assets")
SUFFIXES = {".md", ".py", ".cu", ".cuh", ".ipynb"}
SIMULATOR_PAGE = ROOT / "coursekit" / "simt" / "README.md"

FALSE = {
    r"simulator that gives the same results": (
        "The last digits of approximate functions and of tensor cores' sums differ."
    ),
    r"counts what (?:the|a|an) (?:hardware|GPU|NVIDIA GPU) would count": (
        "Requests, sectors and conflicts are a GPU's where labelled exact; "
        "instructions and branches are those of the PTX."
    ),
    r"\bnot both (?:are )?atomic\b(?! \*?for each other)": (
        "Both must be atomic for each other: the scope has to include both threads."
    ),
    r"the smallest piece (?:that|of)(?: global)? memory": (
        "A sector is the unit of L1 and L2; memory may fetch more."
    ),
    r"(?<!\w)To the byte\.": "Only where each row is a whole number of sectors.",
    r"An H200 can do 14 operations": (
        "That is its FP32 lanes; its tensor cores can do many more per byte."
    ),
    r"when its results are stored \|.{0,5}cudaTrigger": (
        "The trigger may come as early as the next kernel may take up room."
    ),
    r"has not even begun": "A launch may return before the GPU has begun.",
    r"in steps of about 0\.5 us \|": "Events of the recorded GPU are finer.",
    r"`h_x` ends with an illegal address on most": "Not with HMM or ATS.",
    r"\bif`? costs nothing\b|\bif` is free\b": (
        "A comparison, a branch, and often BSSY and BSYNC."
    ),
    r"returns 0 to exactly one\b": "To one at a time, and to none while it is held.",
    r"had to meet behind a loop": "The form of the loop matters.",
    r"keeps? the SMs busy to 72|kept the SMs .{0,40}busy to 72": (
        "72.07 % is the throughput of the busiest unit; the SMs were active 98 %."
    ),
    r"128x64_tn \(1536, 1, 1\)": "The listing says grid (16, 32, 3).",
    r"promises the compiler how many blocks": (
        "__launch_bounds__ promises threads; blocks per SM are a wish."
    ),
    r"(?<!On an H200, r)(?<!On an H200, )[Rr]egisters lie in two banks": (
        "Measured on an H200; other generations differ."
    ),
    r"Python package has no pooling": "Unverified; leave it out.",
    r"Memory hands out pieces of 32": (
        "The caches fetch and count in sectors; memory may fetch more."
    ),
    r"\*\*exact\*\* ones that are not zero: the same number on every": (
        "Only memory requests, sectors and conflicts; instructions are those of PTX."
    ),
    r"Nsight Compute counts one on an": "A measurement names version and date.",
}


def text_of(path: Path) -> str:
    """Return the text of a file, that of cells for a notebook, on one line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
    return re.sub(r"\s+(?:// |# )?", " ", text)


@functools.cache
def texts() -> dict[str, str]:
    """Return every text of the repository that makes statements, by its path."""
    places = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        places += sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES)
    return {str(place.relative_to(ROOT)): text_of(place) for place in places}


@pytest.mark.parametrize("pattern", FALSE)
def test_a_false_statement_does_not_come_back(pattern):
    found = {
        path: match.group()
        for path, text in texts().items()
        if (match := re.search(pattern, text))
    }
    assert found == {}, FALSE[pattern]


DIFFERENCES = (
    "Memory is never late",
    "order of whole warps, never that of lanes",
    "blocks of an ordinary launch run side by side",
    "Approximate functions",
    "a missing wait, or fence, goes unnoticed",
    "those of the PTX",
)


def page() -> str:
    """Return the section on what the simulator does not do like hardware."""
    text = SIMULATOR_PAGE.read_text(encoding="utf-8")
    section = text.partition("## What it does not do like hardware")[2]
    return section.partition("\n## ")[0]


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_the_page_on_the_simulator_names_each_difference(difference):
    assert difference in page()


SAID_WHERE_IT_MATTERS = {
    "07_warps": "never that of lanes or of the two sides of a branch",
    "08_synchronisation": "In the simulator memory is never late",
    "11_bug_hunt": "orders are of whole warps",
    "17_matmul": "a missing wait or fence goes unnoticed",
    "27_mnist_fast": "cannot tell whether the kernel waits",
}


@pytest.mark.parametrize(("notebook", "sentence"), SAID_WHERE_IT_MATTERS.items())
def test_a_chapter_says_what_the_simulator_does_not_do(notebook, sentence):
    assert sentence in texts()[f"notebooks/{notebook}.ipynb"]


def test_the_simulators_docstring_says_what_it_does_not_do():
    import coursekit as ck

    text = " ".join(ck.simulator.__doc__.split())
    assert "memory is never late" in text
    assert "wgmma" in " ".join(ck.racecheck.__doc__.split())
