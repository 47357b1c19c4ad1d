"""slow.toml, which thins `make test-fast` out, names tests that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
EVERY = tomllib.loads((TESTS / "slow.toml").read_text(encoding="utf-8"))["every"]


@pytest.mark.parametrize("name", EVERY)
def test_a_slow_test_exists(name):
    file, _, function = name.partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    assert re.search(rf"^ *def {function}\(", text, re.MULTILINE)


def test_names_are_in_order():
    assert list(EVERY) == sorted(EVERY)
