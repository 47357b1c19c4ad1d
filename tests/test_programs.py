"""Every file of kernels/programs/ is a complete C++ program that tells the truth.

nvcc compiles it with all warnings as errors, from the package nvidia-cuda-nvcc or
from PATH. It runs where a GPU is; elsewhere it must fail, and say where.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from coursekit.cuda_source import function_lines, header_lines

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
PROGRAMS = sorted((KERNELS / "programs").glob("*.cu"))
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
CUDA_CALL = re.compile(r"\bcuda(?!Get\w+(?:Name|String)\b)[A-Z]\w+\(")
# Machine code for every GPU: a driver older than nvcc cannot compile nvcc's PTX.
FLAGS = ("-O3", "-arch=all-major", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 120

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def code(path: Path) -> list[str]:
    """Return the lines below the header comment."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n")[header_lines(text) :]


def nvcc() -> str | None:
    """Find nvcc in the packages of this Python, else on PATH."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        candidate = Path(place) / "cu13" / "bin" / "nvcc"
        if os.access(candidate, os.X_OK):
            return str(candidate)
    return shutil.which("nvcc")


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    """Compile a program once, with warnings as errors."""
    compiler, built = nvcc(), {}
    if compiler is None:
        pytest.skip("no nvcc: pip install nvidia-cuda-nvcc")
    if shutil.which("g++") is None:
        pytest.skip("no g++, which nvcc needs for host code: apt install g++")

    def build(path: Path) -> Path:
        if path not in built:
            target = tmp_path_factory.mktemp("programs") / path.stem
            command = [compiler, *FLAGS, "-o", target, path]
            answer = subprocess.run(command, capture_output=True, text=True)
            assert answer.returncode == 0, answer.stderr
            built[path] = target
        return built[path]

    return build


def run(program: Path, *arguments: object, **variables: str):
    """Run a compiled program and keep what it prints."""
    return subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


# ---------------------------------------------------------------- the text


def test_there_is_a_program():
    assert "vec_add" in {path.stem for path in PROGRAMS}


@each_program
def test_header_says_how_to_build_and_run(path):
    text = path.read_text(encoding="utf-8")
    header = text.split("\n")[: header_lines(text)]
    found = {match[1] for line in header if (match := re.match(r"// (\w+) {2,}", line))}
    assert found >= FIELDS


@each_program
def test_lines_fit_a_slide(path):
    assert [line for line in code(path) if len(line) > SLIDE_COLUMNS] == []


@each_program
def test_every_cuda_call_is_checked(path):
    calls = [line.strip() for line in code(path) if CUDA_CALL.search(line)]
    assert [line for line in calls if not line.startswith("CHECK(")] == []


@each_program
def test_every_launch_is_checked_on_the_next_line(path):
    lines = code(path)
    after = [lines[n + 1] for n, line in enumerate(lines) if "<<<" in line]
    assert after
    assert [line for line in after if "CHECK(cudaGetLastError())" not in line] == []


@each_program
def test_every_allocation_is_freed(path):
    text = "\n".join(code(path))
    allocated = re.findall(r"cudaMalloc\(&(\w+)", text)
    assert sorted(allocated) == sorted(re.findall(r"cudaFree\((\w+)\)", text))


def test_vec_add_has_the_kernel_of_the_notebooks():
    texts = [
        (KERNELS / folder / "vec_add.cu").read_text()
        for folder in ("programs", "start")
    ]
    kernels = []
    for text in texts:
        first, last = function_lines(text, "vec_add")
        kernels.append(text.split("\n")[first - 1 : last])
    assert kernels[0] == kernels[1]


# ---------------------------------------------------------------- the program


@each_program
def test_program_compiles_without_a_warning(path, executable):
    assert executable(path).exists()


@each_program
def test_program_without_a_gpu_says_where_it_stopped(path, executable):
    answer = run(executable(path), CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.match(rf"\S*{path.name}:\d+: cudaMalloc\(.*\n  cudaError", answer.stderr)


@pytest.mark.parametrize("size", ["0", "-5", "2000000000", "many"])
def test_vec_add_refuses_a_size_that_makes_no_sense(executable, size):
    answer = run(executable(KERNELS / "programs" / "vec_add.cu"), size)
    assert answer.returncode == 1
    assert answer.stderr.startswith("usage: ")


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 255, 257, 1 << 20])
def test_vec_add_passes_on_a_gpu(gpu, executable, size):
    answer = run(executable(KERNELS / "programs" / "vec_add.cu"), size)
    assert answer.stdout.endswith("PASS\n"), answer.stderr
