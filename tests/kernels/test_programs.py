"""Every file of kernels/programs/ is a complete C++ program that tells the truth.

nvcc compiles it with all warnings as errors, from the package nvidia-cuda-nvcc or
from PATH. It runs where a GPU is; elsewhere it must fail, and say where.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda_compiler import nvcc

from coursekit.toolchain.cuda_source import function_lines, header_lines

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
PROGRAMS = sorted((KERNELS / "programs").glob("*.cu"))
OWNERS = KERNELS / "programs" / "owners.h"
FIELDS = {"What", "Build", "Run", "Names", "Prints"}
# Those that return how it went; the last two are void functions of the device.
SILENT = r"Get\w+(?:Name|String)|GridDependency\w+|TriggerProgrammatic\w+"
CUDA_CALL = re.compile(rf"\bcuda(?!(?:{SILENT})\b)[A-Z]\w+\(")
# Machine code for every GPU: a driver older than nvcc cannot compile nvcc's PTX.
FLAGS = ("-O3", "-arch=all-major", "-Werror", "all-warnings")
# Kernels that launch kernels are linked with the runtime for the device.
LINKED = {"dynamic_parallelism": ("-rdc=true", "-lcudadevrt")}
# What CUDA hands out, by the call that makes it and the one that takes it back.
PAIRS = {
    "cudaMalloc": "cudaFree",
    "cudaMallocManaged": "cudaFree",
    "cudaMallocHost": "cudaFreeHost",
    "cudaStreamCreate": "cudaStreamDestroy",
    "cudaEventCreate": "cudaEventDestroy",
    "cudaGraphInstantiate": "cudaGraphExecDestroy",
    "cudaStreamEndCapture": "cudaGraphDestroy",
}
SLIDE_COLUMNS, PATIENCE_S = 76, 400

# A program without a kernel asks the driver, and takes no size.
LAUNCHING = [p for p in PROGRAMS if "<<<" in p.read_text(encoding="utf-8")]

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
each_launching = pytest.mark.parametrize("path", LAUNCHING, ids=lambda path: path.stem)
each_text = pytest.mark.parametrize(
    "path", [*PROGRAMS, OWNERS], ids=lambda path: path.stem
)


def code(path: Path) -> list[str]:
    """Return the lines below the header comment."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n")[header_lines(text) :]


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
            flags = (*FLAGS, *LINKED.get(path.stem, ()))
            command = [compiler, *flags, "-o", target, path]
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


def test_every_program_but_the_query_launches_a_kernel():
    assert {p.stem for p in set(PROGRAMS) - set(LAUNCHING)} == {"device_query"}


@each_program
def test_header_says_how_to_build_and_run(path):
    text = path.read_text(encoding="utf-8")
    header = text.split("\n")[: header_lines(text)]
    found = {match[1] for line in header if (match := re.match(r"// (\w+) {2,}", line))}
    assert found >= FIELDS


@each_program
def test_header_says_what_the_linker_needs(path):
    header = path.read_text(encoding="utf-8").split("#include")[0]
    assert [flag for flag in LINKED.get(path.stem, ()) if flag not in header] == []


@each_text
def test_lines_fit_a_slide(path):
    assert [line for line in code(path) if len(line) > SLIDE_COLUMNS] == []


@each_text
def test_every_cuda_call_is_checked(path):
    calls = [line.strip() for line in code(path) if CUDA_CALL.search(line)]
    assert [line for line in calls if not line.startswith("CHECK(")] == []


@each_launching
def test_every_launch_is_checked_on_the_next_line(path):
    after = re.findall(r"<<<[^;]*;[^\n]*\n(.*)", "\n".join(code(path)))
    assert after
    assert [line for line in after if "CHECK(cudaGetLastError())" not in line] == []


@each_text
def test_what_is_made_is_given_back(path):
    text = "\n".join(code(path))
    made = dict.fromkeys(PAIRS.values(), 0)
    for begin, end in PAIRS.items():
        made[end] += len(re.findall(rf"\b{begin}\(", text))
    given_back = {end: len(re.findall(rf"\b{end}\(", text)) for end in made}
    assert given_back == made


def test_vec_add_frees_what_it_allocates():
    text = "\n".join(code(KERNELS / "programs" / "vec_add.cu"))
    allocated = re.findall(r"cudaMalloc\(&(\w+)", text)
    assert allocated
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


@each_launching
def test_program_without_a_gpu_says_where_it_stopped(path, executable):
    answer = run(executable(path), CUDA_VISIBLE_DEVICES="-1")
    assert answer.returncode == 1
    first = "cudaMalloc" if path.stem == "vec_add" else "cudaGetDeviceProperties"
    place = path.name if path.stem == "vec_add" else OWNERS.name
    assert re.match(rf"\S*{place}:\d+: {first}\(.*\n  cudaError", answer.stderr)


@each_launching
@pytest.mark.parametrize("size", ["0", "-5", "2000000000", "many"])
def test_program_refuses_a_size_that_makes_no_sense(path, executable, size):
    answer = run(executable(path), size)
    assert answer.returncode == 1
    assert answer.stderr.startswith("usage: ")


# ---------------------------------------------------------------- what nvcc refuses


def complaint_of(source: str, folder: Path) -> str:
    """Compile a kernel that launches kernels, for sm_90, and return the complaint."""
    (folder / "parent.cu").write_text(source)
    command = [nvcc() or "", "-arch=sm_90", "-rdc=true", "-c", "-o", os.devnull]
    answer = subprocess.run(
        [*command, folder / "parent.cu"], capture_output=True, text=True
    )
    assert answer.returncode != 0
    return answer.stderr


@pytest.mark.skipif(nvcc() is None, reason="no nvcc: pip install nvidia-cuda-nvcc")
def test_nvcc_refuses_to_launch_a_device_function(tmp_path):
    source = "__device__ void f() {}\n__global__ void k() { f<<<1, 1>>>(); }\n"
    words = "error: a __device__ function call cannot be configured"
    assert words in complaint_of(source, tmp_path)


@pytest.mark.skipif(nvcc() is None, reason="no nvcc: pip install nvidia-cuda-nvcc")
def test_nvcc_refuses_to_wait_for_a_child(tmp_path):
    source = "__global__ void parent() { cudaDeviceSynchronize(); }\n"
    words = (
        'error: calling a __host__ function("cudaDeviceSynchronize") from a '
        '__global__ function("parent") is not allowed'
    )
    assert words in complaint_of(source, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [1, 255, 257, 1 << 20])
def test_vec_add_passes_on_a_gpu(gpu, executable, size):
    answer = run(executable(KERNELS / "programs" / "vec_add.cu"), size)
    assert answer.stdout.endswith("PASS\n"), answer.stderr


@pytest.mark.gpu
@each_launching
def test_program_measures_and_passes_on_a_gpu(path, gpu, executable):
    answer = run(executable(path))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.endswith("PASS\n")
