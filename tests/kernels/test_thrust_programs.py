"""The C++ programs of kernels/libraries/ that use Thrust and CUB.

nvcc compiles them for one architecture, since templates take their time, and they run
where a GPU is. The one that uses Thrust alone runs on the CPU, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda_compiler import nvcc

import coursekit as ck
from coursekit.toolchain import nvrtc
from coursekit.toolchain.cuda_source import header_lines

FOLDER = Path(__file__).resolve().parents[2] / "kernels" / "libraries"
NAMES = ("thrust_pipeline", "cub_sort")
PROGRAMS = [FOLDER / f"{name}.cu" for name in NAMES]
CALL = re.compile(r"\b(?:cuda[A-Z]|cub::Device)[\w:]+\(")
FLAGS = ("-O1", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 400

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def code(path: Path) -> list[str]:
    """Return the lines below the header comment."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n")[header_lines(text) :]


def run(program: Path, **variables: str):
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    """Compile and link a program once, with warnings as errors."""
    built: dict[Path, Path] = {}
    if nvcc() is None or shutil.which("g++") is None:
        pytest.skip("no nvcc or no g++ for host code")

    def build(path: Path) -> Path:
        if path not in built:
            target = tmp_path_factory.mktemp("programs") / path.stem
            folders = [f"-I{folder}" for folder in reversed(nvrtc.include_folders())]
            command = [nvcc(), *FLAGS, *folders, "-o", target, path]
            answer = subprocess.run(command, capture_output=True, text=True)
            assert answer.returncode == 0, answer.stderr
            built[path] = target
        return built[path]

    return build


# ---------------------------------------------------------------- the text


@each_program
def test_header_says_how_to_build_and_run(path):
    header = path.read_text(encoding="utf-8").split("#include")[0]
    found = set(re.findall(r"^// (\w+) {2,}", header, re.MULTILINE))
    assert found >= {"What", "Build", "Run", "Prints"}


@each_program
def test_lines_fit_a_slide(path):
    assert [line for line in code(path) if len(line) > SLIDE_COLUMNS] == []


def test_every_call_of_cub_and_of_the_runtime_is_checked():
    text = "\n".join(code(FOLDER / "cub_sort.cu"))
    calls = [call for call in CALL.finditer(text) if "GetErrorName" not in call[0]]
    before = {text[text.rfind("\n", 0, c.start()) + 1 : c.start()] for c in calls}
    assert {place.strip() for place in before} == {"CHECK("}


def test_memory_is_given_back():
    text = "\n".join(code(FOLDER / "cub_sort.cu"))
    # on_device, which allocates, is called four times, and a loop frees the four.
    assert text.count("cudaMalloc(") == text.count("cudaFree(") == 3


# ---------------------------------------------------------------- the program


def test_thrust_runs_on_the_cpu():
    text = (FOLDER / "thrust_pipeline.cu").read_text(encoding="utf-8")
    program = ck.program(text, sanitize=True, name="thrust_pipeline.cpp")
    assert program.run().stdout == "1040 4 144\nPASS\n"


@each_program
def test_program_without_a_gpu_says_what_is_missing(path, executable):
    answer = run(executable(path), CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.search("cudaError(NoDevice|InsufficientDriver)", answer.stderr)


@pytest.mark.gpu
@each_program
def test_program_passes_on_a_gpu(path, gpu, executable):
    answer = run(executable(path))
    assert answer.stdout.endswith("PASS\n"), answer.stdout + answer.stderr
