"""The PTX parser on what NVRTC writes, for both dialects of its compilers."""

import functools
import importlib.util
import struct

import pytest

from coursekit.simt.ptx import ir
from coursekit.simt.ptx.parser import parse

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="this machine has no NVRTC")

ARCHITECTURES = (
    "compute_75", "compute_80", "compute_90", "sm_90a", "compute_100", "compute_120",
)  # fmt: skip

VECTOR_ADD = """
__device__ __forceinline__ float square(float x) { return x * x; }
__device__ __forceinline__ float grow(float x) {
    return square(x) + square(x + 1.0f);
}
extern "C" __global__ void __launch_bounds__(256, 2)
vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + grow(b[i]);
}
"""
MATMUL = """
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int n) {
    __shared__ float a[16][16], b[16][16];
    extern __shared__ float bias[];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y;
    float sum = bias[x];
    for (int k = 0; k < n; k += 16) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[y][j] * b[j][x];
        __syncthreads();
    }
    C[row * n + blockIdx.x * 16 + x] = sum;
}
"""
PRINTF = """
#include <cuda/std/cassert>
extern "C" __global__ void talk(int n) {
    printf("n is %d, half is %f\\n", n, 0.5 * n);
    assert(n > 3);
}
"""
HALF = """
#include <cuda_fp16.h>
extern "C" __global__ void half_math(__half *a, __half2 *b) {
    int i = threadIdx.x;
    a[i] = a[i] * a[i + 1] + hexp(a[i + 2]);
    b[i] = __hfma2(b[i], b[i + 1], b[i + 2]);
}
"""
RECURSION = """
__noinline__ __device__ int depth(const int *next, int i) {
    if (next[i] < 0) return 1;
    return depth(next, next[i]) * 2 + depth(next, i + 1) * 3;
}
extern "C" __global__ void recurse(const int *next, int *out) {
    *out = depth(next, 0);
}
"""
VIRTUAL = """
struct Shape { __device__ virtual int area(int x) = 0; };
struct Square : Shape { __device__ int area(int x) override { return x * x; } };
struct Strip : Shape { __device__ int area(int x) override { return x * 3; } };
__device__ int twice(int a) { return a * 2; }
__device__ int thrice(int a) { return a * 3; }
__device__ int (*table[2])(int) = {twice, thrice};
extern "C" __global__ void shapes(int *out) {
    Square square; Strip strip;
    Shape *shape = out[0] ? (Shape *)&square : (Shape *)&strip;
    out[1] = shape->area(out[2]) + table[out[3]](out[4]);
}
"""
CONSTANTS = """
__constant__ float weights[2][3] = {{1, 2, 3}, {-4.5f}};
__device__ int plain[1000];
__device__ int five = 5;
__device__ int *pointer = &five;
struct Mixed { char tag; int *where; };
__device__ Mixed mixed = {7, plain + 2};
extern "C" __global__ void constants(float *out, int i) {
    out[0] = weights[i][i + 1] + plain[i] + *pointer + mixed.tag + *mixed.where;
}
"""
LOCAL = """
extern "C" __global__ void histogram(int *out, int n) {
    int bins[32] = {};
    for (int i = 0; i < n; i++) bins[out[i] & 31]++;
    out[n] = bins[out[0] & 31];
}
"""
ASYNC = """
extern "C" __global__ void async(float *out, const float4 *in) {
    __shared__ float4 buffer[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to),
                 "l"(in + threadIdx.x));
    asm volatile("cp.async.commit_group;\\ncp.async.wait_group 0;\\n");
    __syncthreads();
    unsigned a[4] = {1, 2, 3, to}, b[2] = {5, 6};
    float c[4] = {};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    out[threadIdx.x] = c[0] + buffer[31 - threadIdx.x].x;
}
"""
SWITCH = """
extern "C" __global__ void choose(int *out, int n) {
    int x;
    switch (n) {
    case 0: out[0] = 3; __syncthreads(); break;
    case 1: out[5] = 4; break;
    case 2: atomicAdd(out, 5); break;
    default: out[1] = 6;
    }
    asm volatile("{\\n"
        "table: .branchtargets ZERO, ONE;\\n"
        "brx.idx %1, table;\\n"
        "ZERO: mov.u32 %0, 7;\\nbra.uni DONE;\\n"
        "ONE: mov.u32 %0, 8;\\n"
        "DONE:\\n}" : "=r"(x) : "r"(n & 1));
    out[2] = x;
}
"""
GRID = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid(int *out) {
    out[cg::this_grid().thread_rank()] = 1;
    cg::this_grid().sync();
    out[0] += out[1];
}
"""
TEMPLATES = """
template <typename T, int N> __global__ void fill(T *out) { out[threadIdx.x] = N; }
template __global__ void fill<double, 3>(double *);
template __global__ void fill<int, 4>(int *);
"""
HOPPER = """
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void __cluster_dims__(2, 1, 1)
hopper(float *out, const __grid_constant__ Map map) {
    __shared__ alignas(128) float tile[1024];
    __shared__ unsigned long long full;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full);
    unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(4096));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(to), "l"(&map), "r"(0), "r"(32), "r"(bar) : "memory");
#define WAIT(parity) asm volatile("{\\n.reg .pred done;\\nWAIT:\\n" \\
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\\n" \\
        "@done bra DONE;\\nbra WAIT;\\nDONE:\\n}" ::"r"(bar), "r"(parity))
    WAIT(0);
    WAIT(1);
    out[threadIdx.x] = tile[threadIdx.x];
}
"""

SOURCES = {
    "vector_add": VECTOR_ADD,
    "matmul": MATMUL,
    "talk": PRINTF,
    "half_math": HALF,
    "recurse": RECURSION,
    "shapes": VIRTUAL,
    "constants": CONSTANTS,
    "histogram": LOCAL,
    "choose": SWITCH,
    "grid": GRID,
}
NEEDS_80 = {"async": ASYNC}
NEEDS_90 = {"hopper": HOPPER}


@functools.cache
def compiled(source: str, architecture: str) -> ir.Module:
    """Compile CUDA C++ to PTX with line information and parse it."""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, None, None)
    options = [f"--gpu-architecture={architecture}", "-std=c++17", "-lineinfo"]
    for folder in importlib.util.find_spec("nvidia").submodule_search_locations:
        options += [f"-I{folder}/cu13/include", f"-I{folder}/cu13/include/cccl"]
    encoded = [option.encode() for option in options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    nvrtc.nvrtcDestroyProgram(program)
    return parse(text.rstrip(b"\0").decode())


architectures = pytest.mark.parametrize("architecture", ARCHITECTURES)
dialects = pytest.mark.parametrize("architecture", ["compute_90", "compute_120"])


def instructions(function: ir.Function, opcode: str) -> list[ir.Instruction]:
    """Return the instructions of a function with this opcode."""
    return [i for i in function.instructions if i.opcode == opcode]


@architectures
@pytest.mark.parametrize("kernel", SOURCES)
def test_kernel_is_found(kernel, architecture):
    assert compiled(SOURCES[kernel], architecture).functions[kernel].is_kernel


@pytest.mark.parametrize("architecture", ARCHITECTURES[1:])
def test_kernel_with_asynchronous_copies_is_found(architecture):
    assert "async" in compiled(ASYNC, architecture).functions


@pytest.mark.parametrize("architecture", ARCHITECTURES[2:])
def test_kernel_with_tensor_copies_is_found(architecture):
    assert "hopper" in compiled(HOPPER, architecture).functions


@architectures
def test_templates_give_a_kernel_each(architecture):
    names = compiled(TEMPLATES, architecture).functions
    assert sorted(names) == ["_Z4fillIdLi3EEvPT_", "_Z4fillIiLi4EEvPT_"]


@architectures
def test_target_is_the_architecture(architecture):
    target = compiled(VECTOR_ADD, architecture).target
    assert target == architecture.replace("compute_", "sm_")


@architectures
def test_parameters_have_their_sizes(architecture):
    function = compiled(VECTOR_ADD, architecture).functions["vector_add"]
    assert [p.nbytes for p in function.parameters] == [8, 8, 8, 4]


@architectures
def test_launch_bounds_are_directives(architecture):
    directives = compiled(VECTOR_ADD, architecture).functions["vector_add"].directives
    assert (directives["maxntid"][0], directives["minnctapersm"]) == (256, (2,))


@architectures
def test_source_file_is_named(architecture):
    (name,) = compiled(VECTOR_ADD, architecture).files.values()
    assert name.endswith("test.cu")


def inlining(place: ir.Location) -> list[int]:
    """Return the lines of a place and of the calls around it."""
    return [place.line, *(inlining(place.inlined_at) if place.inlined_at else [])]


@architectures
@pytest.mark.parametrize("chain", [[10], [4, 10], [2, 4, 10]])
def test_inlined_code_knows_every_call_around_it(chain, architecture):
    function = compiled(VECTOR_ADD, architecture).functions["vector_add"]
    places = [i.location for i in function.instructions if i.location]
    assert chain in [inlining(place) for place in places]


@architectures
def test_static_shared_arrays_have_their_size(architecture):
    variables = compiled(MATMUL, architecture).functions["matmul"].variables.values()
    assert [v.nbytes for v in variables if v.space == "shared"] == [1024, 1024]


@architectures
def test_dynamic_shared_array_is_external(architecture):
    assert compiled(MATMUL, architecture).variables["bias"].external


@architectures
def test_barriers_are_kept(architecture):
    function = compiled(MATMUL, architecture).functions["matmul"]
    assert {i.name for i in instructions(function, "bar")} == {"bar.sync"}


@architectures
def test_printf_is_a_call_with_two_arguments(architecture):
    function = compiled(PRINTF, architecture).functions["talk"]
    call = instructions(function, "call")[0].operands[0]
    assert (call.function.name, len(call.arguments)) == ("vprintf", 2)


@architectures
def test_assert_gets_arguments_of_its_own(architecture):
    function = compiled(PRINTF, architecture).functions["talk"]
    talk, fail = (i.operands[0] for i in instructions(function, "call"))
    assert set(talk.arguments).isdisjoint(fail.arguments)


@architectures
def test_argument_is_a_parameter_variable(architecture):
    function = compiled(PRINTF, architecture).functions["talk"]
    call = instructions(function, "call")[0].operands[0]
    assert function.variables[call.arguments[0]].space == "param"


@architectures
def test_format_string_is_in_memory(architecture):
    values = [v.initial for v in compiled(PRINTF, architecture).variables.values()]
    assert b"n is %d, half is %f\n\0" in values


@architectures
def test_registers_of_inline_assembly_are_found(architecture):
    function = compiled(HALF, architecture).functions["half_math"]
    assert [i for i in function.instructions if i.modifiers == ("rn", "f16x2")]


@architectures
def test_register_indices_are_consecutive(architecture):
    registers = compiled(HALF, architecture).functions["half_math"].registers
    assert [r.index for r in registers] == list(range(len(registers)))


@architectures
def test_recursive_function_calls_itself(architecture):
    function = compiled(RECURSION, architecture).functions["_Z5depthPKii"]
    calls = instructions(function, "call")
    assert {i.operands[0].function.name for i in calls} == {function.name}


@architectures
def test_recursive_calls_use_different_variables(architecture):
    function = compiled(RECURSION, architecture).functions["_Z5depthPKii"]
    first, second = (i.operands[0] for i in instructions(function, "call"))
    assert set(first.arguments).isdisjoint(second.arguments)


@architectures
def test_table_of_functions_is_relocated(architecture):
    table = compiled(VIRTUAL, architecture).variables["table"]
    assert table.relocations == ((0, "_Z5twicei", 0, 8), (8, "_Z6thricei", 0, 8))


@architectures
def test_virtual_table_names_the_override(architecture):
    table = compiled(VIRTUAL, architecture).variables["_ZTV6Square"]
    assert table.relocations == ((16, "_ZN6Square4areaEi", 0, 8),)


@architectures
def test_indirect_call_has_register_and_prototype(architecture):
    function = compiled(VIRTUAL, architecture).functions["shapes"]
    calls = [i.operands[0] for i in instructions(function, "call")]
    assert all(isinstance(c.function, ir.Register) and c.prototype for c in calls)


@architectures
def test_constant_array_has_its_values(architecture):
    weights = compiled(CONSTANTS, architecture).variables["weights"]
    expected = struct.pack("<6f", 1, 2, 3, -4.5, 0, 0)
    assert (weights.space, weights.initial) == ("const", expected)


@architectures
def test_pointer_is_relocated(architecture):
    pointer = compiled(CONSTANTS, architecture).variables["pointer"]
    assert pointer.relocations == ((0, "five", 0, 8),)


@architectures
def test_pointer_in_a_structure_is_relocated(architecture):
    mixed = compiled(CONSTANTS, architecture).variables["mixed"]
    assert mixed.relocations == ((8, "plain", 8, 8),)


@architectures
def test_array_without_values_has_no_bytes(architecture):
    plain = compiled(CONSTANTS, architecture).variables["plain"]
    assert (plain.nbytes, plain.initial) == (4000, None)


@architectures
def test_local_array_is_a_variable_of_the_function(architecture):
    function = compiled(LOCAL, architecture).functions["histogram"]
    (depot,) = [v for v in function.variables.values() if v.space == "local"]
    assert depot.nbytes == 128


@dialects
def test_asynchronous_copy_keeps_its_cache_hint(architecture):
    copy = instructions(compiled(ASYNC, architecture).functions["async"], "cp")[0]
    assert copy.modifiers == ("async", "cg", "shared", "global", "L2::128B")


@dialects
def test_matrix_instruction_has_four_vectors(architecture):
    (mma,) = instructions(compiled(ASYNC, architecture).functions["async"], "mma")
    assert [len(v.elements) for v in mma.operands] == [4, 4, 2, 4]


@architectures
def test_indexed_branch_of_inline_assembly_has_its_table(architecture):
    function = compiled(SWITCH, architecture).functions["choose"]
    (branch,) = instructions(function, "brx")
    assert function.branch_tables[branch.operands[1].name] == ("ZERO", "ONE")


@architectures
def test_every_branch_has_a_known_target(architecture):
    function = compiled(SWITCH, architecture).functions["choose"]
    targets = {i.operands[0].name for i in instructions(function, "bra")}
    assert targets <= function.labels.keys()


@architectures
def test_grid_barrier_reads_its_workspace(architecture):
    function = compiled(GRID, architecture).functions["grid"]
    sources = {operand for i in function.instructions for operand in i.operands[1:2]}
    assert {ir.Special("envreg1"), ir.Special("envreg2")} <= sources


@pytest.mark.parametrize("architecture", ARCHITECTURES[2:])
def test_cluster_size_is_a_directive(architecture):
    directives = compiled(HOPPER, architecture).functions["hopper"].directives
    assert directives["reqnctapercluster"] == (2, 1, 1)


@pytest.mark.parametrize("architecture", ARCHITECTURES[2:])
def test_tensor_copy_has_coordinates(architecture):
    function = compiled(HOPPER, architecture).functions["hopper"]
    (copy,) = instructions(function, "cp")
    assert [type(part) for part in copy.operands[1]] == [ir.Address, ir.Vector]


@pytest.mark.parametrize("architecture", ARCHITECTURES[2:])
def test_repeated_inline_labels_are_kept_apart(architecture):
    labels = compiled(HOPPER, architecture).functions["hopper"].labels
    assert {"WAIT", "DONE", "WAIT@1", "DONE@1"} <= labels.keys()


@pytest.mark.parametrize("architecture", ARCHITECTURES[2:])
def test_structure_parameter_keeps_its_alignment(architecture):
    parameter = compiled(HOPPER, architecture).functions["hopper"].parameters[1]
    assert (parameter.align, parameter.nbytes) == (64, 128)
