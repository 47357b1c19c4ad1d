"""The names that the simulator offers stand three times, and are the same each time."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import simt
from coursekit.simt import face

MOST_NAMES = 30
TREE = ast.parse(Path(face.__file__).read_text())


def imported() -> dict[str, str]:
    """Each name that a type checker sees, with its module below `coursekit.simt`."""
    (block,) = [one for one in TREE.body if isinstance(one, ast.If)]
    return {
        alias.name: line.module.removeprefix("coursekit.simt.")
        for line in block.body
        for alias in line.names
    }


def test_a_type_checker_sees_the_names_that_are_loaded():
    assert imported() == face._MODULE_OF


def test_all_names_are_declared():
    assert set(face.__all__) == set(face._MODULE_OF)
    assert len(face.__all__) == len(face._MODULE_OF) <= MOST_NAMES


@pytest.mark.parametrize("name", face.__all__)
def test_the_package_hands_on(name):
    assert getattr(simt, name) is getattr(face, name)


def test_a_name_that_is_missing_is_an_attribute_error():
    with pytest.raises(AttributeError, match="coursekit.simt"):
        getattr(simt, "missing")  # noqa: B009


def test_the_docstring_names_all():
    assert {name for name in face.__all__ if f"`{name}`" not in face.__doc__} == set()


def test_counters_load_neither_decoder_nor_compiler():
    code = (
        "import sys; from coursekit.simt import Counters; "
        "print(*(m for m in sys.modules if 'llvmlite' in m or 'interpreter' in m))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""
