"""The C++ program of kernels/libraries/ that calls cuDNN compiles, links, gives back.

It is compiled where the packages nvidia-cudnn-cu13 and nvidia-cublas are installed, and
run where a GPU is; elsewhere it must fail, and say where.
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

SOURCE = Path(__file__).resolve().parents[2] / "kernels/libraries/cudnn_conv.cu"
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
CALL = re.compile(r"\b(?:cuda|cudnn)(?!GetErrorString\b)[A-Z]\w+\(")
FLAGS = ("-O3", "-arch=sm_90", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 400


def text() -> str:
    return SOURCE.read_text(encoding="utf-8")


def code() -> list[str]:
    """Return the lines below the header comment."""
    return text().split("\n")[header_lines(text()) :]


def wheel(folder: str, header: str) -> Path | None:
    """Find a folder of NVIDIA's packages that has include/ and lib/."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        if (Path(place) / folder / "include" / header).exists():
            return Path(place) / folder
    return None


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    """Compile and link the program once, with warnings as errors."""
    places = wheel("cudnn", "cudnn.h"), wheel("cu13", "cublas_v2.h")
    if None in places:
        pytest.skip("no cuDNN to link with: make setup EXTRAS='cudnn libraries'")
    if nvcc() is None or shutil.which("g++") is None:
        pytest.skip("no nvcc or no g++ for host code")
    target = tmp_path_factory.mktemp("libraries") / SOURCE.stem
    folders = [flag for p in places for flag in (f"-I{p}/include", f"-L{p}/lib")]
    run_time = [f"-Xlinker=-rpath={place}/lib" for place in places]
    linked = ("-l:libcudnn.so.9", *run_time)
    command = [nvcc(), *FLAGS, *folders, "-o", target, SOURCE, *linked]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return target


def run(program: Path, **variables: str):
    """Run the compiled program and keep what it prints."""
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


def test_header_says_how_to_build_and_run():
    header = text().split("#include")[0]
    assert set(re.findall(r"^// (\w+) {2,}", header, re.MULTILINE)) >= FIELDS
    assert "-lcudnn" in header


def test_lines_fit_a_slide():
    assert [line for line in code() if len(line) > SLIDE_COLUMNS] == []


def test_every_call_is_checked_but_the_one_that_may_refuse():
    bare = []
    for call in CALL.finditer("\n".join(code())):
        start = call.string.rfind("\n", 0, call.start())
        if call.string[start : call.start()].strip() != "CHECK(":
            bare.append(call.group())
    assert bare == ["cudnnBackendFinalize("]


def test_what_is_made_is_given_back():
    """A descriptor is destroyed with its scope, the handle after all of them."""
    program = "\n".join(code())
    assert program.count("cudnnBackendCreateDescriptor(") == 1
    assert program.count("cudnnBackendDestroyDescriptor(") == 1
    assert program.count("cudnnCreate(") == program.count("cudnnDestroy(") == 1


def test_no_function_of_the_old_interface_is_used():
    old = (
        r"cudnnConvolution\w+\(|cudnnSetTensor\w+\(|cudnnActivation\w+\(|cudnnAddTensor"
    )
    assert re.findall(old, "\n".join(code())) == []


def test_program_without_a_gpu_says_where_it_stopped(executable):
    answer = run(executable, CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.match(r"\S*checked\.h:\d+: cudaMalloc\(.*\n  cudaError", answer.stderr)


@pytest.mark.gpu
def test_program_passes_on_a_gpu(gpu, executable):
    answer = run(executable)
    assert answer.stdout.endswith("PASS\n"), answer.stdout + answer.stderr
