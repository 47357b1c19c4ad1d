"""The drawings of all chapters, in order: one module for each chapter."""

from __future__ import annotations

import importlib
from pathlib import Path

from drawing import Drawing


def drawings() -> list[Drawing]:
    """Draw everything."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("ch[0-9]*.py"))
    return [draw() for name in modules for draw in importlib.import_module(name).DRAW]
