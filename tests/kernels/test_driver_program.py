"""kernels/programs/driver_launch.cpp compiles without a warning, by CUDA's headers."""

import shutil
import subprocess
from pathlib import Path

import pytest

from coursekit.toolchain import nvrtc
from coursekit.toolchain.cuda_source import header_lines

PROGRAM = Path(__file__).resolve().parents[2] / "kernels/programs/driver_launch.cpp"
TEXT = PROGRAM.read_text(encoding="utf-8")
FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-c")


def compiled(text: str, folder: Path):
    """Compile a text with the host's compiler."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ here: apt install g++")
    includes = [f"-I{path}" for path in nvrtc.include_folders()]
    if not any(Path(path, "cuda.h").exists() for path in nvrtc.include_folders()):
        pytest.skip("no cuda.h here: pip install nvidia-cuda-runtime")
    source = folder / "program.cpp"
    source.write_text(text, encoding="utf-8")
    command = ["g++", *FLAGS, *includes, "-o", folder / "program.o", source]
    return subprocess.run(command, capture_output=True, text=True)


def test_it_compiles(tmp_path):
    answer = compiled(TEXT, tmp_path)
    assert answer.returncode == 0, answer.stderr


def test_the_context_of_cuda_12_does_not_compile_with_cuda_13(tmp_path):
    older = TEXT.replace("#if CUDA_VERSION >= 13000", "#if 0")
    answer = compiled(older, tmp_path)
    assert answer.returncode != 0
    assert "cuCtxCreate" in answer.stderr


def test_every_call_of_the_driver_is_checked():
    code = TEXT.split("\n")[header_lines(TEXT) :]
    calls = [line.strip() for line in code if " cu" in line and "(" in line]
    calls = [line for line in calls if "cuGetErrorName" not in line]
    assert [line for line in calls if not line.startswith("CHECK(")] == []


def test_lines_fit_a_slide():
    code = TEXT.split("\n")[header_lines(TEXT) :]
    assert [line for line in code if len(line) > 76] == []
