"""Python files in line information: names to show, texts, functions."""

from __future__ import annotations

import linecache
import sys
import types

import pytest

from coursekit.toolchain import python_files
from coursekit.toolchain.python_files import python_file

TEXT = "def f():\n    return 1\n\n\n@jit\ndef f():\n    return 2\n"


def test_a_file_here_is_named_from_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(TEXT)
    found = python_file(str(tmp_path / "own.py"))
    assert (found.name, found.text, found.own) == ("own.py", TEXT, True)


def test_a_file_of_a_library_is_not_own():
    found = python_file(pytest.__file__)
    assert (found.name, found.own) == ("pytest/__init__.py", False)


def test_a_file_that_is_gone_has_no_text():
    assert python_file("/nowhere/gone.py").text == ""


def test_another_file_stands_for_one_that_is_gone(tmp_path):
    (tmp_path / "own.py").write_text(TEXT)
    found = python_file("/nowhere/gone.py", str(tmp_path / "own.py"))
    assert (found.name, found.text) == ("own.py", TEXT)


@pytest.fixture
def cell(monkeypatch):
    """Pretend that this process has the notebook cell In[5]."""
    path = "/cells/ipykernel_2/77.py"
    names = {path: ("Cell", "In[5]")}
    shell = types.SimpleNamespace(
        compile=types.SimpleNamespace(format_code_name=names.get)
    )
    module = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    entry = (len(TEXT), None, TEXT.splitlines(True), path)
    monkeypatch.setitem(linecache.cache, path, entry)
    return path


def test_a_cell_has_its_number(cell):
    assert python_file(cell) == python_files.PythonFile("cell_5.py", TEXT, True)


def test_a_cell_is_known_again_by_the_end_of_its_path(cell):
    assert python_file("/cells/ipykernel_1/77.py").name == "cell_5.py"


def test_the_last_function_of_a_name_is_meant():
    assert python_files.function_lines(TEXT, "f") == (5, 7)


def test_a_line_tells_which_function_is_meant():
    assert python_files.function_lines(TEXT, "f", 1) == (1, 2)


@pytest.mark.parametrize("text", ["x = 1\n", "%%timeit\ndef f(): pass\n"])
def test_no_function_of_the_name(text):
    assert python_files.function_lines(text, "f") is None
