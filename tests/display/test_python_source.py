"""Colouring Python: every character once, and in the right kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit.display import listing
from coursekit.display.listing import tokens

FILES = sorted(Path(listing.__file__).parent.glob("*.py"))[:20]
STRANGE = ("", "x", "def f(:\n", "'''never closed", "if x:\npass", "\t x\n  y", "a\0b")


@pytest.mark.parametrize("text", STRANGE)
def test_pieces_of_strange_text_make_the_text(text):
    assert "".join(part for _, part in tokens(text)) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_pieces_of_a_file_make_the_file(path):
    text = path.read_text(encoding="utf-8")
    assert "".join(part for _, part in tokens(text)) == text


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("for x in y:", ("keyword", "for")),
        ("x = 'a'  # b", ("literal", "'a'")),
        ("x = 'a'  # b", ("comment", "# b")),
        ("x = 1.5e3", ("literal", "1.5e3")),
        ('"""a\nb"""', ("literal", '"""a\nb"""')),
    ],
)
def test_piece_has_its_kind(text, piece):
    assert piece in tokens(text)
