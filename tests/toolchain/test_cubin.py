"""Resources read from machine code, and its disassembly."""

from __future__ import annotations

import re

import pytest

from coursekit.errors import UnsupportedError
from coursekit.runtime import compiler
from coursekit.toolchain import cubin, sass

SOURCE = """
__constant__ float table[100];
__device__ __noinline__ float deep(float* v, int n) {
  float t[20];
  for (int i = 0; i < 20; i++) t[i] = v[i] + n;
  return t[n % 20];
}
extern "C" __global__ void calls(float* x, int n) {
  float b[10];
  for (int i = 0; i < 10; i++) b[i] = x[i + n];
  x[0] = deep(x, n) + b[n % 10] + table[n];
}
extern "C" __global__ void shared(float* x) {
  __shared__ float s[256];
  __shared__ double d[4];
  extern __shared__ float e[];
  s[threadIdx.x] = x[threadIdx.x];
  d[threadIdx.x % 4] = 2;
  e[threadIdx.x] = 1;
  __syncthreads();
  x[0] = s[3] + d[1] + e[7];
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills(float* x, int n) {
  float a[64];
  #pragma unroll
  for (int i = 0; i < 64; i++) a[i] = x[i * n + threadIdx.x];
  #pragma unroll
  for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + a[(i * 3) % 64];
  #pragma unroll
  for (int i = 0; i < 64; i++) x[i * n + threadIdx.x] = a[i];
}
extern "C" __global__ void __launch_bounds__(64) few(float* x) { *x = 1; }
"""
KERNELS = ("calls", "shared", "spills", "few")
ARCHITECTURES = ("sm_80", "sm_90", "sm_120")


@pytest.fixture(scope="module", params=ARCHITECTURES)
def module(request):
    return compiler.compile(SOURCE, arch=request.param)


def reported(module, name: str) -> dict[str, int]:
    """What ptxas -v says about a kernel."""
    report = module._machine_code(module.target).report
    part = report.partition(f"Function properties for {name}\n")[2]
    frame, stores, loads = map(
        int, re.findall(r"(\d+) bytes (?:stack|spill)", part)[:3]
    )
    used = re.search(r"Used (\d+) registers(.*)", part)
    shared = re.search(r"(\d+) bytes smem", used[2])
    return {
        "registers": int(used[1]),
        "shared_bytes": int(shared[1]) if shared else 0,
        "local_bytes": frame,
        "spill_store_bytes": stores,
        "spill_load_bytes": loads,
        "barriers": int(re.search(r"used (\d+) barriers", used[2])[1]),
    }


@pytest.mark.parametrize("name", KERNELS)
def test_resources_agree_with_the_assemblers_report(module, name):
    found = module.resources[name]
    expected = reported(module, name)
    assert {field: getattr(found, field) for field in expected} == expected


def test_shared_memory_is_what_the_kernel_declares(module):
    # 256 floats and 4 doubles; the dynamic array has no size yet
    assert module.resources["shared"].shared_bytes == 256 * 4 + 4 * 8


def test_constant_memory_is_what_the_module_declares(module):
    assert module.resources["few"].constant_bytes == 100 * 4


def test_local_array_takes_a_stack_frame(module):
    assert module.resources["calls"].local_bytes >= (20 + 10) * 4


def test_spills_are_reported(module):
    compiled = compiler.compile(
        SOURCE, arch=str(module.target), options=["--maxrregcount=32"]
    )
    assert compiled.resources["spills"].spill_load_bytes > 0


def test_launch_bounds_limit_the_block(module):
    assert module.resources["few"].max_threads == 64


@pytest.mark.parametrize(
    ("registers", "threads"),
    # 65,536 registers; a warp takes multiples of 256, warps come in fours
    [(16, 1024), (64, 1024), (65, 896), (128, 512), (168, 384), (255, 256)],
)
def test_registers_limit_the_block(registers, threads):
    assert cubin._max_threads(registers, None) == threads


def test_resources_of_a_template_instance():
    source = "template<int N> __global__ void k(int* x) { __shared__ int s[N]; " + (
        "s[*x] = 1; __syncthreads(); *x = s[x[1]]; }\n"
    )
    assert compiler.compile(source).resources["k<32>"].shared_bytes == 128


def test_resources_are_listed_by_kernel_name(module):
    assert tuple(module.resources) == KERNELS


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + bytes(100)])
def test_bytes_that_are_no_cubin_are_refused(data):
    with pytest.raises(cubin.NotACubin, match="not a cubin"):
        cubin.resources(data, "", 90)


@pytest.mark.skipif(
    sass.find_disassembler() is None, reason="no nvdisasm is installed here"
)
class TestDisassembly:
    def test_sass_holds_instructions(self, module):
        assert "EXIT" in module.sass

    def test_lines_carry_the_name_of_the_source(self, module):
        assert '//## File "kernel.cu", line ' in module.disassemble(lines=True)

    def test_a_module_is_disassembled_once(self, monkeypatch):
        module = compiler.compile("__global__ void once(int *x) { *x = 1; }")
        first = module.sass
        monkeypatch.setattr(sass, "_run", lambda command: pytest.fail("once more"))
        assert module.sass is first

    def test_bytes_that_are_no_cubin_are_unsupported(self):
        with pytest.raises(UnsupportedError, match="disassembler .* failed"):
            sass.disassemble(b"rubbish")


def test_missing_disassembler_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(sass, "find_disassembler", lambda: None)
    with pytest.raises(UnsupportedError, match="pip install nvidia-cuda-nvdisasm"):
        sass.disassemble(b"")
