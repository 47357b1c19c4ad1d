"""What the companion pages say: the names around CUDA, and errors about it.

The texts are in `ecosystem.toml` and `errata.toml` beside this file. `ck.ecosystem()`
and `ck.errata()` show them in a notebook; notebooks/companion_pages.py makes the pages.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Name:
    """A library, language, service or use that a CUDA engineer meets.

    Attributes
    ----------
    name, what, state : str
        The name, what it is, and how it stands on the day of the page.
    source : str
        The address of the page that says so.
    chapter : str
        The number of the chapter that works with it, or "".
    """

    name: str
    what: str
    state: str
    source: str
    chapter: str


@dataclass(frozen=True)
class Erratum:
    """An error that one reads, and what is true.

    Attributes
    ----------
    number : str
        "E01", ...
    says, true : str
        The error, and the correction.
    evidence : str
        A source's address, or how it was found.
    places : str
        Chapters and files that show it, separated by blanks.
    words : str
        A regular expression for the words to look for there.
    """

    number: str
    says: str
    true: str
    evidence: str
    places: str
    words: str


def ecosystem() -> tuple[str, dict[str, list[Name]]]:
    """Return the day on which the names were checked, and the names by group."""
    data = _read("ecosystem.toml")
    day = data.pop("checked").isoformat()
    return day, {
        group: [Name(*row) for row in of["rows"]] for group, of in data.items()
    }


def errata() -> dict[str, list[Erratum]]:
    """Return the errors by group."""
    data = _read("errata.toml")
    return {group: [Erratum(*row) for row in of["rows"]] for group, of in data.items()}


def _read(name: str) -> dict:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
