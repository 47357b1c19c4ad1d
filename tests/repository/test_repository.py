"""The repository keeps its promises: one list of dependencies, one test command,
dependencies that point one way, and documents that name what exists.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement

from upgrade_environment import LOCK, changes, differences, with_compiler

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA_NAMES = PYPROJECT["tool"]["coursekit"]["conda"]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "notebooks/instructor.md",
    "coursekit/README.md",
    "coursekit/simt/README.md",
    "kernels/README.md",
    "notebooks/README.md",
    "tests/README.md",
)
LONGEST_FUNCTION = 50
LOCKED = re.findall(r"^(\S+==.*?) \\\n((?:    --hash=.*\n)+)", LOCK.read_text(), re.M)
COMPILER = "nvidia-"  # with these letters the names of its packages begin


def requirements(*extras: str) -> Iterator[Requirement]:
    """Yield the requirements of pyproject.toml, with those of these extras."""
    project = PYPROJECT["project"]
    lines = [line for name in extras for line in project["optional-dependencies"][name]]
    for line in project["dependencies"] + lines:
        if Requirement(line).name != project["name"]:
            yield Requirement(line)


def every_requirement() -> Iterator[Requirement]:
    """Yield the requirements that conda's view has too: no languages, no libraries."""
    return requirements("torch", "gpu", "test")


def locked(python: str, machine: str) -> dict[str, list[str]]:
    """Return the versions that the lock has of each package, on such a Linux."""
    system = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "platform_machine": machine,
        "platform_system": "Linux",
        "sys_platform": "linux",
        "os_name": "posix",
    }
    found = {}
    for line, _ in LOCKED:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(system):
            (version,) = requirement.specifier
            found.setdefault(requirement.name, []).append(version.version)
    return found


def conda_line(requirement: Requirement) -> str:
    """Return the line of environment.yml for a requirement."""
    name = CONDA_NAMES.get(requirement.name, requirement.name)
    if requirement.name.startswith(COMPILER):
        (version,) = locked("3.11", "x86_64")[requirement.name]
        return f"{name}=={version}"
    # A set has no order: lower bounds first, as they are written.
    bounds = sorted(map(str, requirement.specifier), key=lambda s: (s[0] == "<", s))
    return name + ",".join(bounds)


# ---------------------------------------------------------------- dependencies


def test_environment_lists_what_pyproject_lists():
    python = f"python{PYPROJECT['project']['requires-python']}"
    expected = {python, "pip"} | {
        conda_line(requirement)
        for requirement in every_requirement()
        if CONDA_NAMES.get(requirement.name) != ""
    }
    assert set(ENVIRONMENT["dependencies"]) == expected


def test_environment_lists_nothing_twice():
    lines = ENVIRONMENT["dependencies"]
    assert len(lines) == len(set(lines))


@pytest.fixture
def rattler():
    """The package that reads conda's specs; the other tests do without it."""
    return pytest.importorskip(
        "rattler", reason="py-rattler is not installed, which reads conda's specs"
    )


@pytest.mark.parametrize("line", ENVIRONMENT["dependencies"])
def test_conda_accepts_the_spec(rattler, line):
    assert rattler.MatchSpec(line, strict=True).name is not None


def test_strict_parsing_of_conda_specs_refuses_nonsense(rattler):
    from rattler.exceptions import InvalidMatchSpecError

    with pytest.raises(InvalidMatchSpecError):
        rattler.MatchSpec("numpy=>2", strict=True)


def test_table_of_conda_names_holds_no_unused_name():
    names = {requirement.name for requirement in every_requirement()}
    assert CONDA_NAMES.keys() <= names


def test_nbval_is_pinned_where_its_internals_are_patched():
    pinned = {r.name: str(r.specifier) for r in every_requirement()}
    assert pinned["nbval"] == "==0.11.0"


PYTHONS = [
    line.removeprefix("Programming Language :: Python :: ")
    for line in PYPROJECT["project"]["classifiers"]
    if ":: Python ::" in line
]
every_system = pytest.mark.parametrize(
    ("python", "machine"), [*itertools.product(PYTHONS, ["x86_64", "aarch64"])]
)


@every_system
def test_lock_has_what_pyproject_asks_for(python, machine):
    found = locked(python, machine)
    assert [
        str(requirement)
        for requirement in requirements("test")
        if found.get(requirement.name, ["0"])[0] not in requirement.specifier
    ] == []


@every_system
def test_lock_has_one_version_of_a_package(python, machine):
    found = locked(python, machine)
    assert {name: several for name, several in found.items() if several[1:]} == {}


@every_system
def test_lock_has_the_same_compiler_everywhere(python, machine):
    here, there = locked(python, machine), locked("3.11", "x86_64")
    names = {name for name in here.keys() | there.keys() if name.startswith(COMPILER)}
    assert {name for name in names if here.get(name) != there.get(name)} == set()


def test_lock_has_hashes_of_every_package():
    names = re.findall(r"^([a-z0-9._-]+)==", LOCK.read_text(), re.MULTILINE)
    assert [Requirement(line).name for line, _ in LOCKED] == names


def test_hashes_of_the_lock_are_sha256():
    hashes = " ".join(found for _, found in LOCKED).replace("\\\n", " ").split()
    pattern = re.compile(r"--hash=sha256:[0-9a-f]{64}")
    assert [found for found in hashes if not pattern.fullmatch(found)] == []


def test_lock_names_no_index():
    assert re.findall(r"https?:|file:|--\w*-?index", LOCK.read_text()) == []


def test_lock_has_neither_torch_nor_an_extra_nor_what_a_gpu_needs():
    extras = ("torch", "gpu", "dsl", "tiles", "libraries", "cudnn")
    core = {requirement.name for requirement in requirements()}
    outside = {requirement.name for requirement in requirements(*extras)} - core
    assert outside & locked("3.11", "x86_64").keys() == set()


@pytest.mark.parametrize(
    "extra", ["torch", "gpu", "dsl", "tiles", "libraries", "cudnn"]
)
def test_what_is_not_in_the_lock_has_one_version(extra):
    core = {requirement.name for requirement in requirements()}
    outside = [r for r in requirements(extra) if r.name not in core]
    assert [str(r) for r in outside if not str(r.specifier).startswith("==")] == []


def test_ranges_of_the_environment_contain_the_lock():
    versions = locked("3.11", "x86_64")
    allowed = {
        r.name: r.specifier for r in map(Requirement, ENVIRONMENT["dependencies"])
    }
    conda = {r.name: CONDA_NAMES.get(r.name, r.name) for r in requirements("test")}
    there = {name: allowed[found] for name, found in conda.items() if found}
    outside = [name for name in there if versions[name][0] not in there[name]]
    assert outside == []


# ---------------------------------------------------------------- make upgrade


def test_upgrade_names_the_packages_that_moved():
    old = "a==1 \\\nb==2 ; python_version < '3.12'\nb==3\n"
    assert changes(old, "a==1\nb==3\nc==4\n") == ["b 2, 3 -> 3", "c none -> 4"]


def test_upgrade_pins_the_compiler_for_conda_too():
    text = (ROOT / "environment.yml").read_text()
    newer = re.sub("nvidia-cuda-nvrtc==.*", "nvidia-cuda-nvrtc==99.1", LOCK.read_text())
    pinned = re.sub("- cuda-nvrtc==.*", "- cuda-nvrtc==99.1", text)
    assert with_compiler(text, newer) == pinned != text


def test_environment_of_the_lock_is_that_of_make_upgrade():
    text = (ROOT / "environment.yml").read_text()
    assert with_compiler(text, LOCK.read_text()) == text


def test_upgrade_names_the_counts_that_moved():
    before = {"a.cu": {"branches": 4, "registers": 8}, "b.cu": {"branches": 1}}
    after = {"a.cu": {"branches": 1004}, "b.cu": {"branches": 1}}
    moved = ["a.cu: branches 4 -> 1,004", "a.cu: registers 8 -> 0"]
    assert differences(before, after) == moved


# ---------------------------------------------------------------- one test command


@pytest.mark.parametrize("category", [DeprecationWarning, UserWarning])
def test_warning_at_a_line_of_ours_is_an_error(category):
    with pytest.raises(category):
        warnings.warn_explicit("old", category, "ours.py", 1, module="coursekit.plot")


@pytest.mark.parametrize("module", ["torch", "torch.jit._script", "triton.language"])
def test_package_outside_the_lock_may_deprecate_what_it_uses(module):
    warnings.warn_explicit("old", DeprecationWarning, "theirs.py", 1, module=module)


def test_warning_of_another_kind_in_torch_is_an_error():
    with pytest.raises(UserWarning):
        warnings.warn_explicit("odd", UserWarning, "theirs.py", 1, module="torch")


def test_plugin_for_benchmarks_is_left_out(pytestconfig):
    assert pytestconfig.pluginmanager.is_blocked("benchmark")


def test_ci_runs_the_test_command_of_the_readme():
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_ci_script_is_executable():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_workflow_runs_the_ci_script():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    steps = workflow["jobs"]["test"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]


def test_workflow_covers_the_supported_pythons():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    prefix = "Programming Language :: Python :: "
    classifiers = PYPROJECT["project"]["classifiers"]
    listed = [c.removeprefix(prefix) for c in classifiers if c.startswith(prefix)]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == listed


@pytest.mark.parametrize(
    "verb",
    ["lab", "slides", "test", "test-gpu", "check", "notebooks", "doctor", "clean"],
)
def test_makefile_has_the_verb(verb):
    answer = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True)
    assert f"make {verb} " in answer.stdout


SETTINGS = ROOT / "notebooks/lab_settings/overrides.json"
EXTENSIONS = ROOT / "notebooks/lab_extensions"


def test_make_lab_brings_settings():
    answer = subprocess.run(
        ["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True
    )
    assert f'--LabApp.app_settings_dir="{SETTINGS.parent}"' in answer.stdout


@pytest.mark.parametrize("verb", ["lab", "slides"])
def test_make_brings_the_deck(verb):
    answer = subprocess.run(
        ["make", "--dry-run", verb], cwd=ROOT, capture_output=True, text=True
    )
    assert f'--LabApp.extra_labextensions_path="{EXTENSIONS}"' in answer.stdout
    for extension in EXTENSIONS.iterdir():
        built = json.loads((extension / "package.json").read_text())
        assert (extension / built["jupyterlab"]["_build"]["load"]).is_file()


def test_make_slides_says_which_chapters_there_are():
    answer = subprocess.run(
        ["make", "slides", "CHAPTER=99", "PY=true", "PYTHON=true"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert answer.returncode != 0
    assert "no chapter '99'; write for example CHAPTER=09" in answer.stderr


def test_pages_open_as_a_reader_sees_them():
    manager = json.loads(SETTINGS.read_text())[
        "@jupyterlab/docmanager-extension:plugin"
    ]
    assert manager["defaultViewers"] == {"markdown": "Markdown Preview"}


def test_make_lab_works_below_a_folder_with_a_space(tmp_path):
    clone = tmp_path / "with space" / "course"
    clone.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", clone)
    answer = subprocess.run(
        ["make", "--dry-run", "lab"], cwd=clone, capture_output=True, text=True
    )
    words = shlex.split(answer.stdout.replace("\\\n", " "))
    assert f"--ServerApp.root_dir={clone}" in words
    start = "work/notebooks/00_start_here.ipynb"
    assert f"--LabApp.default_url=/lab/tree/{start}" in words
    assert f"--LabApp.app_settings_dir={clone}/notebooks/lab_settings" in words


@pytest.mark.parametrize(("plugin", "values"), json.loads(SETTINGS.read_text()).items())
def test_jupyterlab_knows_the_settings(plugin, values):
    package, name = plugin.split(":")
    shared = Path(sys.prefix) / "share/jupyter"
    (schema,) = shared.glob(f"lab*/**/schemas/{package}/{name}.json")
    assert set(values) <= set(json.loads(schema.read_text())["properties"])


def test_make_test_checks_code_tests_and_notebooks():
    answer = subprocess.run(
        ["make", "--dry-run", "test"], cwd=ROOT, capture_output=True, text=True
    )
    for step in ("setup_environment", "ruff check", "ruff format", "tests", "--nbval"):
        assert step in answer.stdout


# ---------------------------------------------------------------- layers


def sources(folder: str) -> list[Path]:
    """Return the Python files below a folder of the repository."""
    return sorted((ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    """Return a path as it is written in the repository."""
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """Yield the absolute name of each module that a file imports."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            origin = [*base, *(node.module or "").split(".")]
            name = ".".join(part for part in origin if part)
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    """Tell whether a module is one of the packages or inside one."""
    return any(name == p or name.startswith(p + ".") for p in packages)


@pytest.mark.parametrize("path", sources("coursekit/simt"), ids=relative)
def test_simulator_imports_only_the_errors_of_the_package(path):
    allowed = ("coursekit.simt", "coursekit.errors")
    inside = [name for name in imported(path) if is_within(name, ("coursekit",))]
    assert [n for n in inside if n != "coursekit" and not is_within(n, allowed)] == []


@pytest.mark.parametrize("path", sources("coursekit"), ids=relative)
def test_package_imports_neither_tests_nor_notebooks(path):
    assert not [n for n in imported(path) if is_within(n, ("tests", "notebooks"))]


# What is run as a file has its own folder on sys.path.
RUN_AS_FILES = [*ROOT.glob("*.py"), *sources("coursekit")]


@pytest.mark.parametrize("path", RUN_AS_FILES, ids=relative)
def test_module_shadows_none_of_the_standard_library(path):
    assert path.stem not in sys.stdlib_module_names


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines, its docstring left out."""
    first = function.body[0] if ast.get_docstring(function) else None
    docstring = first.end_lineno - first.lineno + 1 if first else 0
    return function.end_lineno - function.lineno + 1 - docstring


@pytest.mark.parametrize("path", sources("coursekit"), ids=relative)
def test_functions_are_short(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [
        n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, kinds)
    ]
    long = {f.name: length(f) for f in functions if length(f) > LONGEST_FUNCTION}
    assert long == {}


# ---------------------------------------------------------------- documents


def links(document: str) -> list[str]:
    """Return the relative links and images of a Markdown document."""
    text = (ROOT / document).read_text()
    found = re.findall(r"\]\(([^)#\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_of_the_document_lead_somewhere(document):
    folder = (ROOT / document).parent
    assert [link for link in links(document) if not (folder / link).exists()] == []


def test_pictures_of_the_readme_have_alt_text():
    text = (ROOT / "README.md").read_text()
    assert re.findall(r"!\[\s*\]\(|<img(?![^>]*\balt=\"[^\"])[^>]*>", text) == []


def test_readme_lists_every_notebook_and_no_other():
    listed = [link for link in links("README.md") if link.endswith(".ipynb")]
    there = sorted(relative(path) for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert sorted(listed) == there


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BADGES = {"S": "simulated", "C": "compiled", "G": "gpu"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
def test_readme_names_the_notebook_by_its_title(path):
    first = nbformat.read(path, as_version=4).cells[0].source
    title = first.split("\n")[0].removeprefix("# ").strip()
    assert title in (ROOT / "README.md").read_text()


def row_of(path: Path) -> list[str]:
    """Cells of the README's table about a notebook."""
    lines = (ROOT / "README.md").read_text().split("\n")
    row = next(line for line in lines if f"({relative(path)})" in line)
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
def test_readme_says_how_long_the_notebook_takes(path):
    first = nbformat.read(path, as_version=4).cells[0].source
    assert row_of(path)[-2] == re.search(r"(\d+) min", first)[1]


# Chapter 00 shows all badges, to explain them.
@pytest.mark.parametrize("path", NOTEBOOKS[1:], ids=relative)
def test_readme_has_the_badges_of_the_notebook(path):
    text = path.read_text(encoding="utf-8")
    used = [sign for sign, name in BADGES.items() if f"badge_{name}.svg" in text]
    assert row_of(path)[-1].split() == used


@pytest.mark.parametrize("command", ["git clone", "make lab", "make test"])
def test_readme_names_the_command(command):
    assert command in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "words"),
    [("LICENSE", "MIT License"), ("LICENSE-TEXT", "Attribution 4.0 International")],
)
def test_licence_is_there(name, words):
    assert words in (ROOT / name).read_text()


def tracked() -> list[str]:
    """Return the names of the files that git tracks; none outside a clone."""
    command = ["git", "ls-files", "-z"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [name for name in answer.stdout.split("\0") if name]


def test_names_of_files_have_no_spaces_or_capitals():
    allowed = re.compile(
        r"[a-z0-9_.-]+|README\.md|CONTRIBUTING\.md|LICENSE(-TEXT)?|Makefile"
    )
    parts = {part for name in tracked() for part in name.split("/")}
    assert [part for part in sorted(parts) if not allowed.fullmatch(part)] == []


def test_generated_folders_are_not_tracked():
    folders = (".venv/", "work/", "build/")
    assert [name for name in tracked() if name.startswith(folders)] == []


def test_no_two_test_files_share_a_name():
    """Without packages pytest imports a file by its name, and refuses the second."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
