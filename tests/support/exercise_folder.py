"""A folder of tiny exercises for a test; a plugin with one fixture."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import tiny_exercises


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a test exercises, a state and a work folder of its own."""
    names = {name: tmp_path / name for name in ("exercises", "state", "work")}
    tiny_exercises.fill(names["exercises"])
    for name, path in names.items():
        monkeypatch.setenv(f"COURSEKIT_{name.upper()}", str(path))
    monkeypatch.setenv("COURSEKIT_STRICT", "0")
    return SimpleNamespace(**names)
