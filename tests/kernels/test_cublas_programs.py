"""The C++ programs of kernels/libraries/ that call cuBLAS compile, link, and give back.

They are compiled where the package nvidia-cublas is installed, of the extra
`libraries`, and run where a GPU is; elsewhere they must fail, and say where.
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

from coursekit.toolchain.cuda_source import header_lines

FOLDER = Path(__file__).resolve().parents[2] / "kernels" / "libraries"
NAMES = ("cublas_rowmajor", "gemm_ex", "lt_bias_gelu")
PROGRAMS = [FOLDER / f"{name}.cu" for name in NAMES]
HEADER = FOLDER / "checked.h"
LIBRARIES = ("libcublas.so.13", "libcublasLt.so.13")
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
CALL = re.compile(r"\b(?:cuda|cublas)(?!(?:GetErrorName|GetStatusName)\b)\w+\(")
# What cuBLAS hands out, by the call that makes it and the one that takes it back.
PAIRS = {
    "cublasCreate": "cublasDestroy",
    "cublasLtCreate": "cublasLtDestroy",
    "cublasLtMatmulDescCreate": "cublasLtMatmulDescDestroy",
    "cublasLtMatmulPreferenceCreate": "cublasLtMatmulPreferenceDestroy",
    "cudaEventCreate": "cudaEventDestroy",
    "= layout": "cublasLtMatrixLayoutDestroy",
}
FLAGS = ("-O3", "-arch=all-major", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 400

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def code(path: Path) -> list[str]:
    """Return the lines below the header comment."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n")[header_lines(text) :]


def wheel() -> Path | None:
    """Find the folder of the package nvidia-cublas that has include/ and lib/."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / "cu13"
        if (folder / "include" / "cublas_v2.h").exists():
            return folder
    return None


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    """Compile and link a program once, with warnings as errors."""
    library, built = wheel(), {}
    if library is None:
        pytest.skip("no cuBLAS to link with: make setup EXTRAS=libraries")
    if nvcc() is None or shutil.which("g++") is None:
        pytest.skip("no nvcc or no g++ for host code")

    def build(path: Path) -> Path:
        if path not in built:
            target = tmp_path_factory.mktemp("libraries") / path.stem
            places = (f"-I{library}/include", f"-L{library}/lib")
            linked = [f"-l:{name}" for name in LIBRARIES]
            run_time = f"-Xlinker=-rpath={library}/lib"
            command = [nvcc(), *FLAGS, *places, "-o", target, path, *linked, run_time]
            answer = subprocess.run(command, capture_output=True, text=True)
            assert answer.returncode == 0, answer.stderr
            built[path] = target
        return built[path]

    return build


def run(program: Path, *arguments: str, **variables: str):
    """Run a compiled program and keep what it prints."""
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


# ---------------------------------------------------------------- the text


@each_program
def test_header_says_how_to_build_and_run(path):
    header = path.read_text(encoding="utf-8").split("#include")[0]
    found = set(re.findall(r"^// (\w+) {2,}", header, re.MULTILINE))
    assert found >= FIELDS
    assert "-lcublas" in header


@pytest.mark.parametrize("path", [*PROGRAMS, HEADER], ids=lambda path: path.stem)
def test_lines_fit_a_slide(path):
    assert [line for line in code(path) if len(line) > SLIDE_COLUMNS] == []


@each_program
def test_every_call_is_checked(path):
    text = "\n".join(code(path))
    for call in CALL.finditer(text):
        before = text[text.rfind("\n", 0, call.start()) : call.start()]
        assert before.strip() == "CHECK(", call.group()


@each_program
def test_what_is_made_is_given_back(path):
    text = "\n".join(code(path))
    separate = text.replace("layout(int rows", "").replace(
        ", x = layout", "; x = layout"
    )
    made = {end: separate.count(f"{begin}(") for begin, end in PAIRS.items()}
    assert {end: text.count(f"{end}(") for end in made} == made


@each_program
def test_no_deprecated_name_is_used(path):
    old = r"TENSOR_OP|GEMM_ALGO\d|cublasSetMathMode|cublasGetGemmAlgo"
    assert re.findall(old, "\n".join(code(path))) == []


# ---------------------------------------------------------------- the program


@each_program
def test_program_without_a_gpu_says_where_it_stopped(path, executable):
    answer = run(executable(path), CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.match(r"\S*checked\.h:\d+: cudaMalloc\(.*\n  cudaError", answer.stderr)


@pytest.mark.parametrize("size", ["0", "-5", "5000", "many"])
def test_gemm_ex_refuses_a_size_that_makes_no_sense(size, executable):
    answer = run(executable(FOLDER / "gemm_ex.cu"), size)
    assert answer.returncode == 1
    assert answer.stderr.startswith("usage: ")


@pytest.mark.gpu
@each_program
def test_program_passes_on_a_gpu(path, gpu, executable):
    answer = run(executable(path))
    assert answer.stdout.endswith("PASS\n"), answer.stdout + answer.stderr
