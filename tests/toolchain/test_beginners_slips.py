"""Compile errors of one who knows Python better than C++ name the slip."""

from __future__ import annotations

import pytest

import coursekit as ck

KERNEL = """__global__ void k(const float *x, float *y, int n)
{{
    // Triple: a word of a comment, which no message proposes.
    int i = threadIdx.x;
    {}
}}
"""


def message(line):
    """Return what the error of a kernel with this line says."""
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(KERNEL.format(line))
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "cause", "cure"),
    [
        ("y[i] = 3x[i];", "Letters follow a number", "Write the sign of a product"),
        ("if (True) y[i] = 1;", "True is Python", "Write true."),
        ("sum = x[i];", "sum is not declared", "float sum = ...;"),
        ("y[i] = 3 * x[i]^2 - 3;", "^ is the exclusive or", "Write a square as x * x"),
        ("y[i] = x[i] ^ x[i];", "^ is the exclusive or", "Write a square as x * x"),
        ("y[i] = x[i] & 1;", "take whole numbers", "Convert the operand"),
        ("y = 4 * i;", "The left side is a pointer", "Move a pointer on by p +="),
        ("atomicAdd(y[0], x[i]);", "takes an address", "Write &y[0]."),
        ("float4 q = {}; y[i] = q[0];", "it has four parts", "as in q.x"),
        ("float4 q = {}; y[i] = q;", "it has four parts", "as in q.x"),
        ("float2 a = {}, b = a * a;", "has no operators for it", "takes it whole"),
        (
            "float4 *q = reinterpret_cast<float4 *>(x);",
            "The pointer is const",
            "const float4 *",
        ),
        (
            "const float4 *q = static_cast<const float4 *>(x);",
            "This kind of cast",
            "reinterpret_cast<const float4 *>",
        ),
        ("float4 q = float4(x[i]);", "no float4 from one number", "make_float4"),
        ("y[i] = warpIdx.x;", "CUDA has no variable warpIdx", "from threadIdx"),
        ("y[i] = laneId;", "CUDA has no variable laneId", "from threadIdx"),
        ("y[i] = i // 2;\n    y[0] = 1;", "// begins a comment", "drops the rest"),
        ("y[i] = x[i] >> 2;", "does not take an operand", "__float_as_uint(x)"),
        ("int n = 8;", "n is declared already", "Write n = ...;"),
        ("y[i] = x[i] if i else 0;", "if begins a statement", "condition ? a : b"),
        ("y[i] = n x[i];", "x follows a value", "operator"),
        ("y[i] = fmaf(x, x, 1.0f);", "C++ has no arithmetic with", "as in a[i]"),
        ("asm('mov.u32 %0, %%laneid;' : \"=f\"(y[i]));", "one character", '"text"'),
        ('asm("" : "f="(y[i]));', "one letter", '"=f"(variable)'),
        ('asm("" : "=r"(y[i]));', "another kind or size", '"f" for a float'),
        ('asm("mov.f32 %0, %1;" : "=f"(y[i]));', "an operand", "outputs first"),
        ('y[i] = asm("mov.f32 %0, 1.0;");', "no value", '"=r"(variable)'),
    ],
)
def test_slip_is_named(line, cause, cure):
    text = message(line)
    assert cause in text
    assert cure in text


def test_comment_behind_a_missing_semicolon_is_no_quotient():
    assert "begins a comment" not in message("y[i] = 1  // as x[i]\n    y[0] = 1;")


@pytest.mark.parametrize("line", ["sums = 0;", "int j = Triples;"])
def test_words_of_comments_are_not_proposed(line):
    assert "Did you mean Triple" not in message(line)


def test_misspelt_variable_is_not_told_to_declare():
    assert "Did you mean sums?" in message("float sums = 0; sum = 3;")


def test_name_that_an_older_architecture_lacks_is_not_called_misspelt():
    source = "__global__ void f(int *x) { *x = __reduce_add_sync(~0u, *x); }"
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(source, arch="compute_75")
    text = str(caught.value)
    assert "__reduce_add_sync is there from compute capability 8.0 on" in text
    assert "#if __CUDA_ARCH__ >= 800" in text


def test_preprocessor_that_meets_a_float_says_how_a_capability_is_written():
    with pytest.raises(ck.CompileError) as caught:
        ck.compile("#if __CUDA_ARCH__ >= 8.0\n#endif\n__global__ void f() {}")
    text = str(caught.value)
    assert "computes with whole numbers" in text
    assert "800 for 8.0" in text


def test_bounds_in_angle_brackets_are_told():
    with pytest.raises(ck.CompileError) as caught:
        ck.compile("__global__ void __launch_bounds__<256, 2> f() {}")
    assert "__launch_bounds__(256, 2)" in str(caught.value)


HALF = """#include <cuda_fp16.h>
__global__ void k(const __half *x, float *y, int n)
{{
    int i = threadIdx.x;
    float sum = 0;
    {}
    y[i] = sum;
}}
"""


@pytest.mark.parametrize(
    "line", ["sum += x[i];", "sum = sum + x[i];", "sum = 2.0f * x[i];"]
)
def test_half_that_meets_a_float_is_told_to_convert(line):
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(HALF.format(line))
    text = str(caught.value)
    assert "__half2float(x[i])" in text
    assert "cuda_fp16.h" not in text
    assert len(text.splitlines()) < 8


@pytest.mark.parametrize(
    ("source", "cure"),
    [
        (
            '__global__ void k(int *x) { int l; asm("mov.u32 %0, 1;" : "r"(l)); }',
            'as in "=r"(value)',
        ),
        ("#if 1\n__global__ void k(int *x) { *x = 1; }", "Write #endif"),
        (
            "__global__ void k(int *x) __launch_bounds__(256) { *x = 1; }",
            "between __global__ and the kernel's name",
        ),
    ],
    ids=["output", "endif", "bounds"],
)
def test_slip_of_a_whole_source_is_named(source, cure):
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(source)
    assert cure in str(caught.value)


def test_operand_of_another_type_in_an_asm_is_told_the_letters():
    line = 'unsigned f; asm("bfe.u32 %0, %1, 23, 8;" : "=r"(f) : "f"(x[i])); y[i] = f;'
    kernel = ck.compile(KERNEL.format(line)).k
    with pytest.raises(ck.CompileError) as caught:
        kernel.module.resources_on("k", "sm_90")
    assert '"f" for a float' in str(caught.value)


def test_operators_of_the_language_are_not_listed():
    assert "built-in operator" not in message("float4 q = {}; y[i] = q[0];")


PAIR = """#include <cuda_fp16.h>
__global__ void k(const float *x, unsigned *y, __half *z)
{{
    {}
}}
"""


def test_pair_of_halves_is_no_word():
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(PAIR.format("y[0] = __floats2half2_rn(x[0], x[1]);"))
    assert "holds two halves" in str(caught.value)
    assert "__low2half" in str(caught.value)


def test_header_lists_of_operators_are_left_out():
    with pytest.raises(ck.CompileError) as caught:
        ck.compile(PAIR.format("z[0] = __floats2half2_rn(x[0], x[1]);"))
    assert "cuda_fp16.h" not in str(caught.value)
