"""The C++ programs of kernels/libraries/ that call cuRAND, cuFFT and cuSOLVER.

They are compiled where the extra `libraries` is installed, and run where a GPU is;
elsewhere they must fail, and say where.
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
# Each program, and the library that it is linked with.
LIBRARY = {
    "curand_host": "libcurand.so.10",
    "curand_device": "libcurand.so.10",
    "cufft_plan": "libcufft.so.12",
    "cusolver_lu": "libcusolver.so.12",
}
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
CALL = re.compile(
    r"\b(?:cuda|curand|cufft|cusolverDn)(?!_)[A-Z]\w*\(|cufft(?:Plan|Exec)\w*\("
)
PAIRS = {
    "curandCreateGenerator(?:Host)?": "curandDestroyGenerator",
    "cufftPlanMany": "cufftDestroy",
    "cusolverDnCreate": "cusolverDnDestroy",
}
FLAGS = ("-O3", "-arch=sm_90", "-Werror", "all-warnings")
SLIDE_COLUMNS, PATIENCE_S = 76, 400

each_program = pytest.mark.parametrize("name", LIBRARY)


def code(name: str) -> str:
    """Return the lines below the header comment."""
    text = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    return "\n".join(text.split("\n")[header_lines(text) :])


def wheels() -> Path | None:
    """Find the folder of NVIDIA's packages, with include/ and lib/ of all three."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / "cu13"
        if all((folder / "lib" / name).exists() for name in LIBRARY.values()):
            return folder
    return None


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    """Compile and link a program once, with warnings as errors."""
    packages, built = wheels(), {}
    if packages is None:
        pytest.skip("no libraries to link with: make setup EXTRAS=libraries")
    if nvcc() is None or shutil.which("g++") is None:
        pytest.skip("no nvcc or no g++ for host code")

    def build(name: str) -> Path:
        if name not in built:
            target = tmp_path_factory.mktemp("libraries") / name
            places = (f"-I{packages}/include", f"-L{packages}/lib")
            linked = (f"-l:{LIBRARY[name]}", f"-Xlinker=-rpath={packages}/lib")
            source = FOLDER / f"{name}.cu"
            command = [nvcc(), *FLAGS, *places, "-o", target, source, *linked]
            answer = subprocess.run(command, capture_output=True, text=True)
            assert answer.returncode == 0, answer.stderr
            built[name] = target
        return built[name]

    return build


def run(program: Path, **variables: str):
    """Run a compiled program and keep what it prints."""
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=os.environ | variables,
    )


# ---------------------------------------------------------------- the text


@each_program
def test_header_says_how_to_build_and_run(name):
    header = (FOLDER / f"{name}.cu").read_text(encoding="utf-8").split("#include")[0]
    found = set(re.findall(r"^// (\w+) {2,}", header, re.MULTILINE))
    assert found >= FIELDS


@each_program
def test_lines_fit_a_slide(name):
    assert [line for line in code(name).split("\n") if len(line) > SLIDE_COLUMNS] == []


@each_program
def test_every_call_is_checked(name):
    text = code(name)
    for call in CALL.finditer(text):
        before = text[text.rfind("\n", 0, call.start()) : call.start()]
        assert before.strip() == "CHECK(", call.group()


@each_program
def test_what_is_made_is_given_back(name):
    text = code(name)
    for begin, end in PAIRS.items():
        made = re.findall(rf"\b{begin}\(", text)
        assert len(made) == text.count(f"{end}("), begin


# ---------------------------------------------------------------- the program


@each_program
def test_program_without_a_gpu_says_where_it_stopped(name, executable):
    answer = run(executable(name), CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    assert re.match(r"\S*checked\.h:\d+: cudaMalloc\(.*\n  cudaError", answer.stderr)


def test_host_generator_needs_no_gpu(executable):
    answer = run(executable("curand_host"), CUDA_VISIBLE_DEVICES="-1")
    assert answer.stdout == "0.127208 0.853469 0.265649 0.796055\n"


@pytest.mark.gpu
@each_program
def test_program_passes_on_a_gpu(name, gpu, executable):
    answer = run(executable(name))
    assert answer.stdout.endswith("PASS\n"), answer.stdout + answer.stderr
