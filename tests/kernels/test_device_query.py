"""device_query.cu compiles for CUDA 12 and 13, and prints what the driver answers.

It has no kernel, so g++ compiles it: with the headers of the CUDA 13 package, and with
tests/support/cuda12, which declares once more what it needs of CUDA 12. A driver made
here answers with the numbers of an A100.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import coursekit as ck

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "kernels" / "programs" / "device_query.cu"
CUDA_12 = ROOT / "tests" / "support" / "cuda12"
A100 = {
    "MultiProcessorCount": 108,
    "ClockRate": 1_410_000,
    "MemoryClockRate": 1_215_000,
    "GlobalMemoryBusWidth": 5120,
    "L2CacheSize": 40 * 2**20,
    "WarpSize": 32,
    "MaxThreadsPerMultiProcessor": 2048,
    "MaxBlocksPerMultiprocessor": 32,
    "MaxRegistersPerMultiprocessor": 65536,
    "MaxSharedMemoryPerMultiprocessor": 164 * 1024,
    "MaxSharedMemoryPerBlockOptin": 163 * 1024,
    "ComputeCapabilityMajor": 8,
    "ComputeCapabilityMinor": 0,
}
DRIVER = """
#include <cuda_runtime.h>
extern "C" {{
cudaError_t cudaGetDeviceCount(int *count)
{{
    *count = {count};
    return {count} ? cudaSuccess : cudaErrorNoDevice;
}}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{{
    switch (attribute) {{
    {cases}
    default: return cudaErrorNoDevice;
    }}
    return cudaSuccess;
}}
const char *cudaGetErrorName(cudaError_t) {{ return "cudaErrorNoDevice"; }}
const char *cudaGetErrorString(cudaError_t) {{ return "no GPU"; }}
}}
"""
OLD = """
#include <cuda_runtime.h>
int clock_of(const cudaDeviceProp &prop) { return prop.clockRate; }
"""

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="no g++ on this machine: apt install g++"
)


def cuda_13() -> Path:
    """Return the folder with the headers of the CUDA 13 package."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        headers = Path(place) / "cu13" / "include"
        if (headers / "cuda_runtime.h").exists():
            return headers
    pytest.skip("no headers of CUDA 13: pip install nvidia-cuda-runtime")


HEADERS = {"12": lambda: CUDA_12, "13": cuda_13}
each_version = pytest.mark.parametrize("version", HEADERS)


def compiled(folder: Path, version: str, *sources: Path):
    """Compile C++ with all warnings as errors; return the finished process."""
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-x", "c++")
    include = ("-isystem", HEADERS[version]())
    command = ["g++", *flags, *include, "-o", folder / "program", *sources]
    return subprocess.run(command, capture_output=True, text=True)


def query(folder: Path, version: str, count: int):
    """Run the program with a driver that has `count` A100s."""
    driver = folder / "driver.cpp"
    cases = "\n".join(
        f"case cudaDevAttr{name}: *value = {value}; break;"
        for name, value in A100.items()
    )
    driver.write_text(DRIVER.format(count=count, cases=cases))
    answer = compiled(folder, version, PROGRAM, driver)
    assert answer.returncode == 0, answer.stderr
    return subprocess.run([folder / "program"], capture_output=True, text=True)


@each_version
def test_every_gpu_is_described(version, tmp_path):
    answer = query(tmp_path, version, 2)
    assert answer.returncode == 0
    found = re.findall(r"GPU (\d), compute capability 8\.0", answer.stdout)
    assert found == ["0", "1"]


@each_version
def test_bandwidth_is_the_data_sheets(version, tmp_path):
    answer = query(tmp_path, version, 1)
    said = re.search(r"gives at most +(\d+) GB/s", answer.stdout)
    sheet = ck.device("A100 SXM4 40GB").memory_bandwidth_gbs
    assert int(said[1]) == pytest.approx(sheet, abs=1)


@each_version
def test_without_a_gpu_the_failing_call_is_named(version, tmp_path):
    answer = query(tmp_path, version, 0)
    assert answer.returncode == 1
    assert "device_query.cu:" in answer.stderr
    assert "cudaGetDeviceCount(&count)" in answer.stderr


@pytest.mark.parametrize(("version", "compiles"), [("12", True), ("13", False)])
def test_clock_in_the_structure_is_gone_in_cuda_13(version, compiles, tmp_path):
    source = tmp_path / "old.cpp"
    source.write_text(f"{OLD}int main() {{ return 0; }}\n")
    answer = compiled(tmp_path, version, source)
    assert (answer.returncode == 0) == compiles
    assert ("has no member named 'clockRate'" in plain(answer.stderr)) != compiles


def plain(text: str) -> str:
    """Return a compiler's words with straight quotes."""
    return text.replace("\u2018", "'").replace("\u2019", "'")


def test_numbers_of_the_attributes_are_the_same_in_both():
    pattern = re.compile(r"(cudaDevAttr\w+)\s*=\s*(\d+)")
    old = dict(pattern.findall((CUDA_12 / "cuda_runtime.h").read_text()))
    new = dict(pattern.findall((cuda_13() / "driver_types.h").read_text()))
    assert old.items() <= new.items()


def test_declarations_hold_all_that_the_program_asks_for():
    asked = set(re.findall(r"cudaDevAttr\w+", PROGRAM.read_text()))
    declared = set(
        re.findall(r"cudaDevAttr\w+", (CUDA_12 / "cuda_runtime.h").read_text())
    )
    assert asked <= declared
