"""Facts about reading CUDA C++ without compiling it."""

import pytest

from coursekit.toolchain.cuda_source import function_lines, header_lines, tokens

SOURCE = """\
// Two kernels.
// More about them.

#define BRACES {{{
extern "C" __global__ void __launch_bounds__(64 * 2)
first(const float* a,  // the input
      float* b, int n) {
    if (n > 0) { b[0] = a[0]; }  // a stray } here
    const char* text = "}";
}

__global__ void declared(int n);

// Doubles.
template <typename T>
__global__ void second(T* a) { a[0] *= 2; }

__device__ float helper(float x) { return x; }
"""


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("", 0),
        ("int a;\n", 0),
        ("// one\nint a;", 1),
        ("// one\n//\n// three\n\n// not the header\nint a;", 3),
        ("\n\n// after blank lines\nint a;", 3),
        ("/* one\n   two */\nint a;", 2),
        ("/* never closed\nint a;", 0),
    ],
)
def test_header_is_the_comment_that_opens_the_file(source, count):
    assert header_lines(source) == count


@pytest.mark.parametrize(
    ("function", "lines"),
    [("first", (5, 10)), ("second", (14, 16)), ("helper", (18, 18))],
)
def test_function_lines_reach_from_its_comment_to_its_brace(function, lines):
    assert function_lines(SOURCE, function) == lines


@pytest.mark.parametrize("function", ["declared", "absent", "irs"])
def test_a_function_that_is_not_defined_has_no_lines(function):
    assert function_lines(SOURCE, function) is None


def test_the_header_does_not_belong_to_the_function_below_it():
    assert function_lines("// Header.\n__global__ void f() {}", "f") == (2, 2)


def test_an_unclosed_function_has_no_lines():
    assert function_lines("__global__ void f() { {", "f") is None


def test_digit_separators_are_not_character_constants():
    source = "__global__ void f() { int a = 1'000; { } int b = 2'000; }\n"
    assert function_lines(source, "f") == (1, 1)


@pytest.mark.parametrize("source", [SOURCE, SOURCE + "int a;", "", "\n", "// end"])
def test_tokens_put_together_are_the_source(source):
    assert "".join(text for _, text in tokens(source)) == source


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("// why", "comment"),
        ("#pragma unroll", "directive"),
        ("return", "keyword"),
        ("float4", "type"),
        ("threadIdx", "type"),
        ("0x1f", "literal"),
        ('"text"', "literal"),
        ("row", "plain"),
    ],
)
def test_a_token_has_its_kind(text, kind):
    assert tokens(text) == [(kind, text)]
