"""The folders of coursekit stand in one order, and each imports only those above it.

The order is the table of coursekit/README.md. Every import counts: those inside of
functions, names of modules in strings, and `import coursekit as ck`, which reaches
whatever the public name leads to.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import coursekit as ck

PACKAGE = Path(ck.__file__).parent
# From the top of the table to its bottom; those of one row may import each other's rows
# above, never each other.
ORDER = (
    ("errors", "paths"),
    ("toolchain",),
    ("hardware",),
    ("simt",),
    ("runtime",),
    ("display",),
    ("analysis",),
    ("benchmarking",),
    ("plot",),
    ("exercises",),
    ("lessons",),
    ("widgets",),
    ("benchmarks",),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
# These stand above the folders and may name all of them.
ABOVE = {"__init__.py", "__main__.py"}
MODULE = re.compile(r"coursekit(?:\.[a-z_0-9]+)+")


def sources() -> list[Path]:
    found = sorted(PACKAGE.rglob("*.py"))
    return [file for file in found if file.relative_to(PACKAGE).as_posix() not in ABOVE]


def public_homes() -> dict[str, str]:
    """Return the module that each public name of the package lives in."""
    homes = {name: f"coursekit.{module}" for name, module in ck._MODULE_OF.items()}
    return homes | {name: f"coursekit.{at}" for name, at in ck._SUBMODULES.items()}


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def imported(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each module of the package that a source names."""
    tree = ast.parse(text)
    aliases: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(
            "coursekit."
        ):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if is_module(full) else node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "coursekit":
                    aliases.add(alias.asname or "coursekit")
                elif alias.name.startswith("coursekit."):
                    yield node.lineno, alias.name
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        )
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    homes = public_homes()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = id(node) not in documentation and MODULE.fullmatch(node.value)
            if named and is_module(node.value):
                yield node.lineno, node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of_package = node.value.id in aliases
            if of_package and node.attr in homes:
                yield node.lineno, homes[node.attr]


def place(module: str) -> str:
    """Return the folder of coursekit that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def test_every_file_and_folder_has_a_place_in_the_order():
    named = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py"}
    named |= {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert named - {"__init__", "__main__", "__pycache__"} == set(RANK)


@pytest.mark.parametrize(
    "file", sources(), ids=lambda file: file.relative_to(PACKAGE).as_posix()
)
def test_imports_point_upwards_in_the_table(file):
    own = file.relative_to(PACKAGE).with_suffix("").parts[0]
    downwards = [
        f"line {line}: {module}"
        for line, module in imported(file.read_text(encoding="utf-8"))
        if place(module) != own and RANK.get(place(module), len(ORDER)) >= RANK[own]
    ]
    assert downwards == []


@pytest.mark.parametrize(
    "file",
    [file for file in sources() if file.relative_to(PACKAGE).parts[0] != "simt"],
    ids=lambda file: file.relative_to(PACKAGE).as_posix(),
)
def test_the_simulator_is_entered_by_its_face(file):
    past = [
        f"line {line}: {module}"
        for line, module in imported(file.read_text(encoding="utf-8"))
        if module.startswith("coursekit.simt.")
    ]
    assert past == []


def test_the_simulator_imports_errors_alone():
    found = {
        place(module)
        for file in (PACKAGE / "simt").rglob("*.py")
        for _, module in imported(file.read_text(encoding="utf-8"))
    }
    assert found - {"simt"} == {"errors"}


def module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected parts of a graph that have several nodes.

    Tarjan's algorithm: R. Tarjan, SIAM J. Comput. 1 (1972), 146-160.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    parts: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                parts.append(sorted(part))

    for node in graph:
        if node not in number:
            visit(node)
    return parts


def test_no_imports_go_in_a_circle():
    files = [file for file in sources() if file.relative_to(PACKAGE).parts[0] != "simt"]
    known = {module_of(file) for file in files}
    graph = {
        module_of(file): {
            module
            for _, module in imported(file.read_text(encoding="utf-8"))
            if module in known and module != module_of(file)
        }
        for file in files
    }
    assert circles(graph) == []
