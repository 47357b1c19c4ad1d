"""Type hints: `make check` runs mypy, against a baseline that only shrinks.

mypy itself does not run here again. tests/repository/type_baseline.txt has what it
still complains about; `make check` refuses a complaint that is not there, and one there
that is gone. These tests watch its length, and keep the strict folders out of it.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import coursekit as ck

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "coursekit"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
BASELINE = ROOT / PROJECT["mypy-baseline"]["baseline_path"]
COMPLAINTS = BASELINE.read_text().splitlines()
# Lower it when complaints are gone, and never raise it.
MOST_COMPLAINTS = 613
(STRICT,) = (
    table["module"]
    for table in PROJECT["mypy"]["overrides"]
    if table.get("disallow_untyped_defs")
)


def module_of(path: str) -> str:
    """Return the dotted name of a source file of the repository."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def is_strict(module: str) -> bool:
    return any(
        module == name or f"{module}.".startswith(name.removesuffix("*"))
        for name in STRICT
        if name.endswith("*") or module == name
    )


def filtered(complaints: list[str]) -> int:
    """Return the exit status of `make check`'s last step for these complaints."""
    return subprocess.run(
        [sys.executable, "-m", "mypy_baseline", "filter"],
        input="".join(f"{line}\n" for line in complaints),
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).returncode


def test_baseline_only_shrinks():
    now = len(COMPLAINTS)
    assert now <= MOST_COMPLAINTS, (
        f"{BASELINE.name} grew to {now} complaints: take the new ones out of the code "
        "instead. To shrink it, annotate or fix what a line names, and `make baseline`."
    )
    assert now == MOST_COMPLAINTS, (
        f"{BASELINE.name} shrank: set MOST_COMPLAINTS of this file to {now}."
    )


def test_check_runs_mypy_against_the_baseline():
    answer = subprocess.run(
        ["make", "--dry-run", "check"], cwd=ROOT, capture_output=True, text=True
    )
    assert re.search(r"-m mypy \| \S+ -m mypy_baseline filter", answer.stdout)


def test_known_complaints_pass():
    assert filtered(COMPLAINTS) == 0


def test_a_new_complaint_is_refused():
    new = 'coursekit/paths.py:1: error: Name "nothing" is not defined  [name-defined]'
    assert filtered([*COMPLAINTS, new]) != 0


def test_a_complaint_that_is_gone_is_refused():
    assert filtered(COMPLAINTS[1:]) != 0


@pytest.mark.parametrize(
    "module",
    [
        "coursekit",
        "coursekit.errors",
        "coursekit.paths",
        "coursekit.toolchain.nvrtc",
        "coursekit.hardware",
        "coursekit.runtime.gpu.quick",
        "coursekit.analysis.machine_code.plans",
        "coursekit.simt",
        "coursekit.simt.face",
    ],
)
def test_module_is_checked_strictly(module):
    assert is_strict(module)


def test_strict_modules_have_no_complaints():
    files = {line.partition(":")[0] for line in COMPLAINTS}
    assert [file for file in sorted(files) if is_strict(module_of(file))] == []


def test_what_mypy_shall_ignore_has_a_code_and_a_reason():
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if "type: ignore" in line
    ]
    reasoned = re.compile(r"# type: ignore\[[\w, -]+\]  # \w+ \w+")
    assert [line for line in lines if not reasoned.search(line)] == []


# ---------------------------------------------------------------- what users see


def stub() -> dict[str, str]:
    """Return each name of `__init__.pyi` with its home."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    return {
        alias.asname: f"{node.module}.{alias.name}".removeprefix("coursekit.")
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_a_type_checker_sees_the_public_names():
    homes = {name: f"{module}.{name}" for name, module in ck._MODULE_OF.items()}
    assert stub() == homes | ck._SUBMODULES


def is_function(name: str) -> bool:
    return inspect.isfunction(getattr(ck, name))


@pytest.mark.parametrize("name", [*filter(is_function, ck.__all__)])
def test_public_function_is_annotated(name):
    signature = inspect.signature(getattr(ck, name))
    types = [each.annotation for each in signature.parameters.values()]
    assert inspect.Signature.empty not in [*types, signature.return_annotation]


@pytest.mark.parametrize("name", ["py.typed", "__init__.pyi"])
def test_package_brings_its_types(name):
    patterns = PROJECT["setuptools"]["package-data"]["coursekit"]
    assert any(Path(name).match(pattern) for pattern in patterns)
    assert (PACKAGE / name).is_file()
