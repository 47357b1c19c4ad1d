"""The C++ program that calls cuSPARSE compiles, links, and gives back what it made.

It is compiled where the package nvidia-cusparse is installed, of the extra
`libraries`, and run where a GPU is; elsewhere it must fail, and say where.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda_compiler import nvcc

PROGRAM = (
    Path(__file__).resolve().parents[2] / "kernels" / "libraries" / "cusparse_spmv.cu"
)
TEXT = PROGRAM.read_text(encoding="utf-8")
CODE = TEXT[TEXT.index("#include") :]
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
CALL = re.compile(r"\b(?:cuda|cusparse)(?!GetErrorName\b)[A-Z]\w+\(")
FLAGS = ("-O3", "-arch=all-major", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 400


def wheel() -> Path | None:
    """Find the folder of the package nvidia-cusparse that has include/ and lib/."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / "cu13"
        if (folder / "include" / "cusparse.h").exists():
            return folder
    return None


@pytest.fixture(scope="module")
def executable(tmp_path_factory) -> Path:
    """Compile and link the program once, with warnings as errors."""
    library = wheel()
    if library is None:
        pytest.skip("no cuSPARSE to link with: make setup EXTRAS=libraries")
    if nvcc() is None or shutil.which("g++") is None:
        pytest.skip("no nvcc or no g++ for host code")
    target = tmp_path_factory.mktemp("cusparse") / PROGRAM.stem
    places = (
        f"-I{library}/include",
        f"-L{library}/lib",
        f"-Xlinker=-rpath={library}/lib",
    )
    command = [nvcc(), *FLAGS, *places, "-o", target, PROGRAM, "-l:libcusparse.so.12"]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return target


def run(program: Path, **variables: str):
    """Run the program and keep what it prints."""
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


def test_header_says_how_to_build_and_run():
    header = TEXT.split("#include")[0]
    assert set(re.findall(r"^// (\w+) {2,}", header, re.MULTILINE)) >= FIELDS
    assert "-lcusparse" in header


def test_lines_fit_a_slide():
    assert [line for line in CODE.split("\n") if len(line) > SLIDE_COLUMNS] == []


def test_every_call_is_checked():
    for call in CALL.finditer(CODE):
        before = CODE[CODE.rfind("\n", 0, call.start()) : call.start()]
        assert before.strip() == "CHECK(", call.group()


@pytest.mark.parametrize("what", ["", "DnVec", "DnMat"])
def test_what_is_made_is_given_back(what):
    made, given = (
        CODE.count(f"cusparse{verb}{what}(") for verb in ("Create", "Destroy")
    )
    assert made == given > 0


def test_program_without_a_gpu_says_where_it_stopped(executable):
    answer = run(executable, CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.match(r"\S*\.cu:\d+: cudaMalloc\(.*\n  cudaError", answer.stderr)


@pytest.mark.gpu
def test_program_passes_on_a_gpu(gpu, executable):
    answer = run(executable)
    assert answer.stdout.endswith("PASS\n"), answer.stdout + answer.stderr
