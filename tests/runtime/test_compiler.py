"""From source to module: names, line information, errors, cache."""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from coursekit import paths
from coursekit.errors import (
    ArgumentError,
    CompileError,
    LaunchError,
    OutOfBoundsError,
    UnknownNameError,
    UnsupportedError,
)
from coursekit.runtime import progress_bar
from coursekit.runtime.compiler import compile
from coursekit.toolchain import nvrtc, sources, targets

PATIENCE_S = 300
AXPY = """__global__ void axpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("COURSEKIT_CACHE", str(folder))
    return folder


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A repository with a kernels folder of the test's own; the test runs in it."""
    root = tmp_path / "course"
    (root / "kernels" / "matmul").mkdir(parents=True)
    monkeypatch.setattr(paths, "repository", lambda: root)
    monkeypatch.chdir(root)
    return root / "kernels"


# ---- names


def test_kernels_are_listed_in_the_order_of_the_source():
    source = "__global__ void b() {}\n__global__ void a() {}\n"
    assert compile(source).kernels == ("b", "a")


def test_kernel_knows_its_names():
    kernel = compile("namespace q { __global__ void k() {} }\n")["q::k"]
    assert (kernel.name, kernel.lowered_name) == ("q::k", "_ZN1q1kEv")


def test_kernel_is_an_attribute_too():
    module = compile(AXPY)
    assert module.axpy is module["axpy"]


def test_kernel_in_a_namespace_is_found_by_its_last_name():
    module = compile("namespace q { __global__ void k() {} }\n")
    assert module.k.lowered_name == "_ZN1q1kEv"


def test_kernel_is_found_by_its_lowered_name():
    assert compile(AXPY).find("_Z4axpyPfPKffi")[1].name == "axpy"


@pytest.mark.parametrize(
    "source",
    [
        "static __global__ void k(int* a) { *a = 1; }\n",
        "namespace { __global__ void k(int* a) { *a = 1; } }\n",
        "#if 0\n__global__ void gone() {}\n#endif\n__global__ void k(int* a) {}\n",
        "__global__ void k(int*);\n__global__ void k(int* a) { *a = 1; }\n",
        "__global__ void k(int* a) {} // no newline at the end",
        "__global__ void k(int* a) {} // ümläut ✓\n",
    ],
)
def test_kernel_is_found_in(source):
    assert compile(source).kernels == ("k",)


def test_inactive_kernel_does_not_cost_the_others_their_types():
    module = compile("#if 0\n__global__ void g() {}\n#endif\n" + AXPY)
    assert all(p.exact for p in module.axpy.parameters)


def test_source_without_kernels_compiles():
    assert compile("__device__ int f() { return 1; }\n").kernels == ()


def test_source_without_kernels_says_what_a_kernel_is():
    with pytest.raises(UnknownNameError, match="marked __global__ void"):
        compile("__device__ int f() { return 1; }\n")["k"]


def test_unknown_kernel_lists_the_names_and_the_nearest():
    with pytest.raises(LaunchError, match=r"it has axpy\.(?s:.*)mean 'axpy'\?"):
        compile(AXPY)["axpi"]


def test_unknown_attribute_is_an_attribute_error():
    assert not hasattr(compile(AXPY), "nothing")


def test_overloaded_kernel_is_asked_for_by_its_parameters():
    source = "__global__ void k(int* x) {}\n__global__ void k(float* x) {}\n"
    with pytest.raises(UnknownNameError, match=r"several kernels 'k': k\(int\*\), k\("):
        compile(source)["k"]


def test_private_attribute_is_no_kernel():
    assert not hasattr(compile("__global__ void _k() {}\n"), "_k")


# ---- templates

SCALE = """template<class T, int N = 2> __global__ void scale(T* x) {
  x[threadIdx.x] *= N;
}
"""


@pytest.mark.parametrize(
    ("name", "lowered"),
    [
        ("scale<float>", "_Z5scaleIfLi2EEvPT_"),
        ("scale<float,16>", "_Z5scaleIfLi16EEvPT_"),
        ("scale< double , 3 >", "_Z5scaleIdLi3EEvPT_"),
    ],
)
def test_template_is_instantiated(name, lowered):
    assert compile(SCALE)[name].lowered_name == lowered


def test_template_with_defaults_needs_no_brackets():
    source = SCALE.replace("class T", "class T = float")
    assert compile(source).scale.lowered_name == "_Z5scaleIfLi2EEvPT_"


def test_template_is_no_kernel_before_it_is_instantiated():
    module = compile(SCALE)
    assert (module.kernels, module.templates) == ((), ("scale",))


def test_instance_is_in_the_ptx_of_its_kernels_module():
    kernel = compile(SCALE)["scale<float>"]
    assert f".entry {kernel.lowered_name}(" in kernel.module.ptx


def test_instance_is_made_once():
    module = compile(SCALE)
    assert module["scale<float>"] is module["scale<float>"]


def test_explicit_instantiation_is_a_kernel():
    module = compile(SCALE + "template __global__ void scale<int, 3>(int*);\n")
    assert module["scale<int,3>"].module is module


@pytest.mark.parametrize("arguments", ["<nope>", "<>", "<float, 2, 3>", "<3>"])
def test_wrong_template_arguments_are_a_compile_error(arguments):
    with pytest.raises(CompileError, match="cannot be instantiated"):
        compile(SCALE)["scale" + arguments]


def test_template_without_arguments_says_how_to_write_them():
    with pytest.raises(CompileError, match=r"module\['scale<float, 4>'\]"):
        compile(SCALE)["scale"]


def test_error_inside_an_instance_names_the_line():
    with pytest.raises(CompileError, match=r"kernel\.cu:2: "):
        compile(SCALE)["scale<int*>"]


def test_unknown_template_is_an_unknown_name():
    with pytest.raises(UnknownNameError, match="'scale'"):
        compile(SCALE)["scal<float>"]


# ---- PTX and architectures


def test_ptx_has_no_trace_of_the_signatures():
    module = compile(AXPY + SCALE)
    assert "ck_" not in module["scale<float>"].module.ptx


def test_ptx_names_the_file_the_same_from_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert re.findall(r'\.file\s+1 "(.*)"', compile(AXPY).ptx) == ["kernel.cu"]


def test_line_information_counts_from_the_first_line():
    lines = set(re.findall(r"\.loc\s+1 (\d+)", compile(AXPY).ptx))
    assert lines == {"1", "2", "3", "4"}


@pytest.mark.parametrize(
    ("arch", "target"),
    [
        (None, "sm_90"),
        ("sm_90a", "sm_90a"),
        ("compute_80", "sm_80"),
        ("86", "sm_86"),
        (75, "sm_75"),
        ("compute_120f", "sm_120f"),
    ],
)
def test_ptx_is_for_the_architecture(arch, target):
    assert f".target {target}\n" in compile(AXPY, arch=arch).ptx


@pytest.mark.parametrize("arch", ["volta", "sm90", "sm_9", "sm_90b", 9.0, ""])
def test_word_that_is_no_architecture_is_refused(arch):
    with pytest.raises(CompileError, match="is not an architecture"):
        compile(AXPY, arch=arch)


@pytest.mark.parametrize("arch", ["compute_12", "compute_52"])
def test_architecture_that_the_compiler_lacks_is_named(arch):
    with pytest.raises(CompileError, match=f"knows no architecture {arch}"):
        compile(AXPY, arch=arch)


@pytest.mark.parametrize(
    ("asked", "gpu", "arch", "expected"),
    [
        (None, None, None, "sm_90"),
        (None, targets.target("sm_80"), None, "sm_80"),
        ("sm_86", targets.target("sm_80"), None, "sm_86"),
        ("compute_90a", targets.target("sm_80"), None, "sm_90a"),
        ("compute_90a", None, "sm_90", "sm_90a"),
        ("compute_80", None, "sm_90", "sm_90"),
    ],
)
def test_machine_code_is_for(asked, gpu, arch, expected, monkeypatch):
    monkeypatch.setattr(targets, "present", lambda: gpu)
    assert compile(AXPY, arch=asked)._real_target(arch).real_name == expected


def test_cubin_is_an_elf_file():
    assert compile(AXPY).cubin("sm_80").startswith(b"\x7fELF")


@pytest.mark.parametrize("form", ["static {}", "namespace {{ {} }}"])
def test_cubin_keeps_a_kernel_that_nothing_refers_to(form):
    module = compile(form.format("__global__ void k(int* a) { *a = 1; }") + "\n")
    assert module["k"].lowered_name.encode() in module.cubin()


# ---- defines and options


@pytest.mark.parametrize(
    ("value", "expected"), [(None, 1), (7, 7), ("3 + 1", 4), (True, 1), (False, 0)]
)
def test_define_has_its_value(value, expected):
    module = compile(
        "__global__ void k(int* a) { *a = V; }\n", defines={"V": value}, arch=75
    )
    assert f"mov.u32 \t%r1, {expected};" in module.ptx


@pytest.mark.parametrize("name", ["2A", "A B", "A=1", "", "é", "A;"])
def test_define_with_a_bad_name_is_refused(name):
    with pytest.raises(CompileError, match="is not a name"):
        compile(AXPY, defines={name: 1})


def test_define_of_two_lines_is_refused():
    with pytest.raises(CompileError, match="more than one line"):
        compile(AXPY, defines={"A": "1\n2"})


FAST = "__global__ void k(float* a) { *a = expf(*a) / a[1]; }\n"


def test_fast_math_is_off_by_default():
    assert "div.rn.f32" in compile(FAST).ptx


@pytest.mark.parametrize("options", ["--use_fast_math", ["--use_fast_math"]])
def test_fast_math_comes_with_its_option(options):
    assert "div.approx.ftz.f32" in compile(FAST, options=options).ptx


@pytest.mark.parametrize("option", ["use_fast_math", 3, None])
def test_option_without_a_minus_sign_is_refused(option):
    with pytest.raises(CompileError, match="is not an option"):
        compile(AXPY, options=[option])


def test_architecture_among_the_options_is_refused():
    with pytest.raises(CompileError, match='Write arch="sm_90a" instead'):
        compile(AXPY, options=["-arch=sm_80"])


def test_unknown_option_is_refused():
    with pytest.raises(CompileError, match="unrecognized option --nonsense"):
        compile(AXPY, options=["--nonsense"])


# ---- files and headers


def test_path_is_found_below_kernels(course):
    (course / "matmul" / "step_01.cu").write_text(AXPY)
    assert compile("matmul/step_01.cu").name == "kernels/matmul/step_01.cu"


def test_path_object_is_a_path(course):
    (course / "step.cu").write_text(AXPY)
    assert compile(course / "step.cu").path == course / "step.cu"


def test_name_of_a_file_does_not_depend_on_the_folder(course, tmp_path, monkeypatch):
    (course / "step.cu").write_text(AXPY)
    monkeypatch.chdir(tmp_path)
    assert '"kernels/step.cu"' in compile("kernels/step.cu").ptx


@pytest.mark.parametrize("name", ["öl.cu", 'a"b.cu', "a\\b.cu", "a `$b'.cu", "<b>.cu"])
def test_file_of_any_name_is_named_with_its_line(tmp_path, name, simulated):
    path = tmp_path / "größe" / name
    path.parent.mkdir()
    path.write_text("__global__ void k(int* x) {\n  x[7] = 1;\n}\n")
    with pytest.raises(OutOfBoundsError) as caught:
        compile(path).k[1, 1](np.zeros(2, np.int32))
    assert f"{name}:2    x[7] = 1;" in str(caught.value)


def test_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "k.cu").touch()
    os.truncate(tmp_path / "k.cu", 1 << 30)
    with pytest.raises(LaunchError, match="it has 1,073,741,824 bytes"):
        compile(tmp_path / "k.cu")


def test_file_outside_the_course_goes_by_its_bare_name(course, tmp_path):
    (tmp_path / "mine.cu").write_text(AXPY)
    assert compile(tmp_path / "mine.cu").name == "mine.cu"


def test_missing_file_suggests_near_names(course):
    (course / "matmul" / "step_01.cu").write_text(AXPY)
    with pytest.raises(LaunchError, match=r"Close to it: matmul/step_01\.cu"):
        compile("matmul/step_1.cu")


def test_missing_file_suggests_nothing_that_gives_an_exercise_away(course):
    (course / "solutions").mkdir()
    (course / "solutions" / "step_1.cu").write_text(AXPY)
    with pytest.raises(LaunchError) as caught:
        compile("step_01.cu")
    assert "solutions" not in str(caught.value)


@pytest.mark.parametrize("nonsense", [None, 3, ["a.cu"]])
def test_what_is_neither_text_nor_path_is_refused(nonsense):
    with pytest.raises(LaunchError, match="neither source code nor a path"):
        compile(nonsense)


@pytest.mark.parametrize("name", [5, "a\nb.cu", "a\0.cu", ["a.cu"]])
def test_name_that_is_no_text_of_one_line_is_refused(name):
    with pytest.raises(ArgumentError, match="compile got name="):
        compile(AXPY, name=name)


@pytest.mark.parametrize("path", ["~nosuch/x.cu", "x" * 5000 + ".cu", "a\0b.cu"])
def test_path_that_no_file_can_have_is_a_missing_file(course, path):
    with pytest.raises(LaunchError, match="There is no file") as caught:
        compile(path)
    assert len(caught.value.what) < 300


def test_defines_without_values_are_refused():
    with pytest.raises(CompileError, match="is no dict"):
        compile(AXPY, defines=["TILE"])


def test_missing_file_says_where_it_was_sought(course):
    places = "neither in the current folder nor below kernels/"
    with pytest.raises(LaunchError, match=places) as caught:
        compile(Path("nothing.cu"))
    assert str(course) not in str(caught.value)


@pytest.mark.parametrize(
    ("word", "cure"),
    [
        ("start/vec_add", 'Write "start/vec_add.cu" if you mean the file.'),
        ("vec_add", "Close to it: start/vec_add.cu"),
        ("05.1", "Give source code, or the path of a file."),
    ],
)
def test_word_is_taken_for_a_file_only_if_there_is_one(word, cure):
    with pytest.raises(LaunchError, match="neither source code nor a path") as caught:
        compile(word)
    assert cure in str(caught.value)


def test_function_without_global_may_be_a_kernel():
    with pytest.raises(CompileError, match="and __global__ before a kernel"):
        compile("void f(int* a) { *a = 1; }")


def test_path_without_its_ending_is_noticed():
    with pytest.raises(LaunchError, match=r'Write "matmul/step_01_naive\.cu"'):
        compile("matmul/step_01_naive")


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_empty_source_is_refused(text):
    with pytest.raises(CompileError, match="is empty"):
        compile(text)


def test_empty_file_is_refused(course):
    (course / "empty.cu").write_text("")
    with pytest.raises(CompileError, match=r"kernels/empty\.cu is empty"):
        compile("empty.cu")


def test_code_that_is_not_utf8_names_line_and_byte(course):
    (course / "latin.cu").write_bytes(AXPY.encode() + b"int \xfcmlaut;\n")
    with pytest.raises(CompileError, match=r"latin\.cu:5: byte 0xfc in column 5"):
        compile("latin.cu")


@pytest.mark.parametrize("text", ["// \0\n" + AXPY, "// \ud800\n" + AXPY])
def test_text_that_the_compiler_cannot_be_given_is_refused(text):
    with pytest.raises(CompileError, match="the text holds a"):
        compile(text)


def test_byte_order_mark_and_windows_line_ends_are_no_trouble(course):
    (course / "dos.cu").write_bytes(
        b"\xef\xbb\xbf" + AXPY.replace("\n", "\r\n").encode()
    )
    assert compile("dos.cu").source == AXPY


def test_header_beside_the_file_is_found(course):
    (course / "matmul" / "near.cuh").write_text("#define A 1\n")
    (course / "matmul" / "a.cu").write_text('#include "near.cuh"\n' + AXPY)
    assert list(compile("matmul/a.cu").sources) == [
        "kernels/matmul/a.cu",
        "kernels/matmul/near.cuh",
    ]


def test_header_below_kernels_is_found_for_text(course):
    (course / "common.cuh").write_text("__device__ int one() { return 1; }\n")
    source = '#include "common.cuh"\n__global__ void k(int* a) { *a = one(); }\n'
    assert "kernels/common.cuh" in compile(source).sources


def test_header_of_a_header_is_found(course):
    (course / "matmul" / "inner.cuh").write_text("#define ONE 1\n")
    (course / "outer.cuh").write_text('#include "matmul/inner.cuh"\n')
    source = '#include "outer.cuh"\n__global__ void k(int* a) { *a = ONE; }\n'
    assert "kernels/matmul/inner.cuh" in compile(source).sources


def test_headers_may_be_nested_as_deep_as_the_compiler_takes_them(course):
    for number in range(1500):
        (course / f"h{number}.cuh").write_text(f'#include "h{number + 1}.cuh"\n')
    (course / "h1500.cuh").write_text("// the last\n")
    (course / "deep.cu").write_text('#include "h0.cuh"\n' + AXPY)
    assert len(sources.find("deep.cu").headers) == 1501


def test_headers_that_include_each_other_are_no_trouble(course):
    (course / "a.cuh").write_text('#pragma once\n#include "b.cuh"\n')
    (course / "b.cuh").write_text('#pragma once\n#include "a.cuh"\n')
    assert len(compile('#include "a.cuh"\n' + AXPY).sources) == 3


def test_changed_header_is_compiled_again(course):
    source = '#include "n.cuh"\n__global__ void k(int* a) { *a = N; }\n'
    (course / "n.cuh").write_text("#define N 41\n")
    before = compile(source).ptx
    (course / "n.cuh").write_text("#define N 43\n")
    assert compile(source).ptx == before.replace("41", "43")


def test_line_information_names_the_header(course):
    text = "__device__ __forceinline__ float twice(float x) { return 2 * x; }\n"
    (course / "twice.cuh").write_text(text)
    source = '#include "twice.cuh"\n__global__ void k(float* a) { *a = twice(*a); }\n'
    assert '"kernels/twice.cuh"' in compile(source).ptx


def test_error_in_a_header_names_the_header(course):
    (course / "bad.cuh").write_text("\n__device__ int x = ;\n")
    with pytest.raises(CompileError, match=r"kernels/bad\.cuh:2: expected an"):
        compile('#include "bad.cuh"\n' + AXPY)


def test_cuda_header_is_found():
    assert compile("#include <cuda_fp16.h>\n__global__ void k(half* a) {}\n").kernels


def test_kernel_in_a_header_is_found(course):
    (course / "kernels.cuh").write_text(AXPY)
    module = compile('#include "kernels.cuh"\n')
    assert [p.name for p in module.axpy.parameters] == ["y", "x", "a", "n"]


# ---- compile errors


def test_syntax_error_shows_line_and_caret():
    source = "__global__ void k(int* a) {\n  a[0] = 1\n  a[1] = 2;\n}\n"
    with pytest.raises(CompileError) as caught:
        compile(source)
    assert str(caught.value).splitlines() == [
        'kernel.cu:3: expected a ";"',
        "      a[1] = 2;",
        "      ^",
        "  Line 2 has no semicolon at its end:  a[0] = 1",
        "  Look at the end of the line before, and add the semicolon.",
    ]


def test_compile_error_has_file_line_log_and_count():
    with pytest.raises(CompileError) as caught:
        compile("__global__ void k() {\n  a = 1; b = 2;\n}\n", name="cell 3")
    error = caught.value
    assert (error.file, error.line, error.count) == ("cell 3", 2, 2)
    assert 'identifier "b" is undefined' in error.log


EXPLAINED = {
    "return type": ("__global__ int k() { return 1; }", "Write __global__ void"),
    "misspelt builtin": (
        "__global__ void k() { __syncthread(); }",
        "mean __syncthreads",
    ),
    "misspelt variable": ("__global__ void k(int* out) { ou[0] = 1; }", "mean out?"),
    "half": ("__global__ void k(half* a) {}", "#include <cuda_fp16.h>"),
    "vector": ("__global__ void k() { std::vector<int> v; }", "is for the host"),
    "iostream": ("#include <iostream>\n__global__ void k() {}", "header of the host's"),
    "stdint": ("__global__ void k(uint8_t* a) {}", "#include <stdint.h>"),
    "own header": ('#include "mine.cuh"\n__global__ void k() {}', "neither beside"),
    "host function": ("int f() { return 1; }", "Write __device__ before"),
    "main": ("int main() { return 0; }", "leave main out"),
    "host variable": ("int counter;\n", "Write __device__ or __constant__"),
    "cudaMalloc": (
        "__global__ void k() { cudaMalloc(0, 0); }",
        "function for the host",
    ),
    "launch": (
        "__global__ void p() {}\n__global__ void k() { p<<<1, 1>>>(); }",
        "Launch from Python",
    ),
    "const": ("__global__ void k(const int* a) { *a = 1; }", "Remove const"),
    "no index": (
        "__global__ void k(const float* a, float* b) { b = a + 1; }",
        "write its index",
    ),
    "whole arrays": (
        "__global__ void k(const float* a, float* b) { b = 3 * a; }",
        "Compute with one element, as in a[i]",
    ),
    "sum of arrays": (
        "__global__ void k(const float* a, float* b) { b = a + b; }",
        "Compute with one element, as in a[i]",
    ),
    "remainder of a float": (
        "__global__ void k(int* a, float x) { *a = x % 2; }",
        "write fmodf(x, y)",
    ),
    "index after its loop": (
        "__global__ void k(int* a) { for (int i = 0; i < 2; i++) {} a[i] = 1; }",
        "a loop that has ended",
    ),
    "index of a float": (
        "__global__ void k(int* a, float x) { a[x] = 2; }",
        "as in (int)x",
    ),
    "power": ("__global__ void k(float* a) { *a = *a ** 3; }", "no operator ** for"),
    "no part": (
        "__global__ void k(int* a) { *a = blockIdx * blockDim + threadIdx; }",
        "Name the part, for example threadIdx.x",
    ),
    "thread without part": (
        "__global__ void k(int* a) { a[threadIdx] = 1; }",
        "Name the part, for example threadIdx.x",
    ),
    "whole thread": (
        "__global__ void k(int* a) { int i = threadIdx; a[i] = 1; }",
        "Name the part, for example threadIdx.x",
    ),
    "value returned": (
        "__global__ void k(float* a) { return a[0]; }",
        "store the result through a pointer",
    ),
    "no sign": (
        "__global__ void k(float* a, float s) { *a = s(*a + 1); }",
        "To multiply, write the sign",
    ),
    "condition": (
        "__global__ void k(float* a, int n) { if n > 0: *a = n; }",
        "Write if (i < n)",
    ),
    "index not declared": (
        "__global__ void k(float* a) { i = threadIdx.x; a[i] = 1; }",
        "int i = ...",
    ),
    "index of a number": (
        "__global__ void k(float* a, float s) { a[0] = s[0]; }",
        "Leave out the index of a number",
    ),
    "unexplained": (
        "__global__ void k(int* a) { case 1: *a = 1; }",
        "Fix the first message",
    ),
    "two indices": ("__global__ void k(float* a) { a[1][2] = 3; }", "row * cols + col"),
    "no part alone": ("__global__ void k(int* a) { *a = threadIdx; }", "threadIdx.x"),
    "no parts": (
        "__global__ void k(int* a) { *a = blockIdx * blockDim; }",
        "threadIdx.x",
    ),
    "atomic of a value": (
        "__global__ void k(float* a) { atomicAdd(a[0], 1.0f); }",
        "Write &a[0].",
    ),
    "atomic of what a pointer points to": (
        "__global__ void k(int* hits) { atomicMax(*hits, 1); }",
        "Write hits.",
    ),
    "atomic of a sum": (
        "__global__ void k(int* hits) { atomicOr(1 + hits[0], 1); }",
        "for example &total[0]",
    ),
    "array size": ("__global__ void k(int n) { int a[n]; a[0] = n; }", "constexpr"),
    "brace": ("__global__ void k(int n) { if (n) {", "never closed"),
    "arguments": (
        "__device__ void f() {}\n__global__ void k() { f(1); }",
        "takes other",
    ),
    "accent": ("__global__ void k(int größe) {}", "not part of C++"),
}


@pytest.mark.parametrize("case", EXPLAINED)
def test_compile_error_says_cause_and_cure(case):
    source, expected = EXPLAINED[case]
    with pytest.raises(CompileError, match=re.escape(expected)):
        compile(source + "\n")


def test_line_that_mentions_dim3_is_not_told_of_parts():
    with pytest.raises(CompileError, match="misspelt") as caught:
        compile("__global__ void k(int* a) { const dim3 g = nowhere; *a = g.x; }\n")
    assert "three parts" not in str(caught.value)


def test_most_telling_message_comes_first():
    with pytest.raises(CompileError) as caught:
        compile("__global__ void k(half* a) {}\n")
    assert str(caught.value).startswith('kernel.cu:1: identifier "half" is undefined')


def test_many_errors_are_counted():
    lines = "\n".join(f"  v{i} = 1;" for i in range(9))
    with pytest.raises(CompileError, match="and 5 more, in .log\n  9 errors"):
        compile(f"__global__ void k() {{\n{lines}\n}}\n")


def test_too_much_shared_memory_names_the_kernel_and_its_bytes():
    source = (
        "__global__ void k(int* a) { __shared__ int s[20000]; s[*a] = 1; *a = s[1]; }\n"
    )
    with pytest.raises(CompileError, match=r"'k' uses .* \(80000 bytes, 49152 max\)"):
        compile(source).cubin("sm_90")


def test_warnings_stay_in_the_log():
    module = compile("__global__ void k(int* a) { int unused; }\n")
    assert '"unused" was declared but never referenced' in module.log


def test_appended_line_does_not_change_the_error():
    with pytest.raises(CompileError) as caught:
        compile("__global__ void k(int* a) {\n  *a = 1;\n")
    assert "ck_sig" not in caught.value.log


# ---- cache


def test_second_compilation_is_a_hit(cache):
    states = [compile(AXPY).cache_state for _ in range(2)]
    assert states == ["miss", "hit"]


def test_hit_is_the_same_module(cache):
    first, second = compile(AXPY + SCALE), compile(AXPY + SCALE)
    assert (first._build, first.templates) == (second._build, second.templates)


def test_hit_does_not_need_the_compiler(cache, monkeypatch):
    compile(AXPY)
    monkeypatch.setattr(nvrtc, "_bindings", lambda: pytest.fail("NVRTC was used"))
    assert compile(AXPY).axpy.name == "axpy"


@pytest.mark.parametrize(
    "change",
    [
        {"arch": "sm_80"},
        {"defines": {"A": 1}},
        {"options": ["--use_fast_math"]},
        {"name": "other.cu"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_matters_is_in_the_key(cache, change):
    compile(AXPY)
    assert compile(AXPY, **change).cache_state == "miss"


def test_another_compiler_version_is_a_miss(cache, monkeypatch):
    compile(AXPY)
    monkeypatch.setattr(nvrtc, "identity", lambda: "nvrtc 99")
    assert compile(AXPY).cache_state == "miss"


def test_cache_folder_is_read_at_call_time(cache, tmp_path, monkeypatch):
    compile(AXPY)
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "elsewhere"))
    assert compile(AXPY).cache_state == "miss"


@pytest.mark.parametrize("content", [b"", b"rubbish", None], ids=repr)
def test_damaged_entry_is_compiled_again(cache, content):
    expected = compile(AXPY).ptx
    (entry,) = cache.rglob("*.json")
    entry.write_bytes(entry.read_bytes()[:-9] if content is None else content)
    module = compile(AXPY)
    assert (module.cache_state, module.ptx) == ("damaged", expected)


def test_damaged_entry_is_repaired(cache):
    compile(AXPY)
    (entry,) = cache.rglob("*.json")
    entry.write_bytes(b"rubbish")
    assert [compile(AXPY).cache_state for _ in range(2)] == ["damaged", "hit"]


def test_damaged_machine_code_is_compiled_again(cache):
    expected = compile(AXPY).cubin("sm_90")
    for entry in cache.rglob("*.json"):
        entry.write_bytes(b"rubbish")
    assert compile(AXPY).cubin("sm_90") == expected


def test_compiles_where_the_cache_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")  # root may write to any folder, not below this
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "file" / "cache"))
    module = compile(AXPY)
    assert (module.kernels, module.cache_state) == (("axpy",), "unwritable")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to a read-only folder")
def test_compiles_in_a_read_only_cache(cache):
    cache.mkdir(mode=0o500)
    assert compile(AXPY).cache_state == "unwritable"


def _compile_at_once(barrier, results):
    barrier.wait(PATIENCE_S)
    results.put(compile(AXPY).ptx)


def test_two_processes_may_compile_at_once(cache):
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    workers = [
        spawn.Process(target=_compile_at_once, args=(barrier, results))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=PATIENCE_S) for _ in workers]
    for worker in workers:
        worker.join(PATIENCE_S)
    module = compile(AXPY)
    assert ([module.ptx] * 2, module.cache_state) == (found, "hit")


def test_threads_may_compile_at_once(cache):
    with ThreadPoolExecutor(4) as pool:
        modules = list(pool.map(lambda n: compile(AXPY, defines={"N": n}), range(8)))
    assert {module.kernels for module in modules} == {("axpy",)}


# ---- the compiler itself


def test_import_loads_no_compiler():
    code = (
        "import sys, coursekit.runtime.compiler; print('cuda.bindings' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def _without_bindings(monkeypatch, platform: str) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setattr(sys, "platform", platform)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("darwin", "devcontainer or on a JupyterHub"), ("linux", "pip install -e")],
)
def test_missing_compiler_says_what_to_do(cache, monkeypatch, platform, expected):
    _without_bindings(monkeypatch, platform)
    with pytest.raises(UnsupportedError, match=expected):
        compile(AXPY)


def test_version_is_that_of_the_library():
    assert nvrtc.version() >= (13, 0)


def test_folders_follow_the_environment(monkeypatch, tmp_path):
    for name, folder in (("CACHE", "c"), ("DATA", "d"), ("STATE", "s")):
        monkeypatch.setenv(f"COURSEKIT_{name}", str(tmp_path / folder))
    found = (paths.cache(), paths.data(), paths.state())
    assert found == (tmp_path / "c", tmp_path / "d", tmp_path / "s")


def test_folder_of_a_user_whom_nobody_knows_is_a_name(monkeypatch):
    monkeypatch.setenv("COURSEKIT_CACHE", "~nobody-of-this-name/cache")
    assert paths.cache() == Path("~nobody-of-this-name/cache")


@pytest.mark.parametrize("option", ["--pre-include=", "-include=", "--time="])
def test_option_that_includes_a_pipe_is_refused(tmp_path, option):
    os.mkfifo(tmp_path / "pipe.h")
    with pytest.raises(LaunchError, match="names something that is no regular file"):
        compile(AXPY, options=[f"{option}{tmp_path / 'pipe.h'}"])


@pytest.mark.parametrize("variable", ["COURSEKIT_CACHE", "COURSEKIT_DATA"])
def test_folder_has_a_default(monkeypatch, variable):
    monkeypatch.delenv(variable)
    found = {"COURSEKIT_CACHE": paths.cache, "COURSEKIT_DATA": paths.data}[variable]()
    assert found.name == "coursekit"


def test_a_long_compilation_says_what_it_compiles(cache, monkeypatch):
    told = []
    monkeypatch.setattr(progress_bar, "PATIENCE_S", -1)
    monkeypatch.setattr(progress_bar, "INTERVAL_S", 0)
    monkeypatch.setattr(
        progress_bar.ProgressBar, "say", lambda bar, text: told.append(text)
    )
    compile(AXPY, name="mine.cu")
    assert set(told) == {"compiling mine.cu ..."}
