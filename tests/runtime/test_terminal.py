"""What commands write is escaped, and fits every encoding."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from coursekit.runtime.terminal import Terminal, encodable, escaped

PRINTF = """
import coursekit as ck
text = '__global__ void f() { printf("caf\u00e9"); }'
ck.compile(text).f[1, 1]()
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("caf\u00e9 \u2192", "caf\u00e9 \u2192"),
        ("a\n\tb", "a\n\tb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb\x07\x7f", r"a\rb\x07\x7f"),
        ("\u202e", r"\u202e"),
        ("\udce9", r"\udce9"),
    ],
)
def test_unseen_characters_are_escaped(text, shown):
    assert escaped(text) == shown


def test_stream_gets_escaped_text_and_says_its_length():
    stream = io.StringIO()
    assert Terminal(stream).write("\x1bc") == 2
    assert stream.getvalue() == r"\x1bc"


def test_terminal_is_the_stream_for_all_else():
    assert Terminal(io.StringIO()).isatty() is False


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", r"\xe9\u2192"), ("latin-1", "\u00e9\\u2192")]
)
def test_letters_that_the_encoding_lacks_are_escaped(encoding, shown):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert encodable("\u00e9\u2192", stream) == shown


def test_kernel_prints_in_a_locale_without_its_letters(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [sys.executable, "-c", PRINTF], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (r"caf\xe9", "")
