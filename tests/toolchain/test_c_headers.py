"""C's headers, names that nvcc knows unasked, encodings, and what errors advise."""

from __future__ import annotations

import re

import pytest

from coursekit import paths
from coursekit.errors import CompileError, LaunchError
from coursekit.runtime.compiler import compile
from coursekit.toolchain import headers, missing_names, nvrtc
from coursekit.toolchain.building import Unit
from coursekit.toolchain.sources import find
from coursekit.toolchain.targets import target

KERNEL = "__global__ void k(float* a) { a[0] = 1; }\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A repository with a kernels folder of the test's own; the test runs in it."""
    root = tmp_path / "a course"
    (root / "kernels" / "parts").mkdir(parents=True)
    monkeypatch.setattr(paths, "repository", lambda: root)
    monkeypatch.chdir(root)
    return root / "kernels"


def value(expression: str, include: str = "", kind: str = "float") -> str:
    """Return the number that a kernel stores for an expression, as PTX writes it."""
    source = f"{include}\n__global__ void k({kind}* a) {{ *a = {expression}; }}\n"
    return re.search(r"mov\.\w+\s+%r?[rfd]*\d+, (\S+);", compile(source).ptx)[1]


def refusal(source: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile(source)
    return caught.value


# ---- .cuh paths


def test_cuh_path_is_a_path(course):
    (course / "parts" / "sum.cuh").write_text(KERNEL)
    assert compile("parts/sum.cuh").name == "kernels/parts/sum.cuh"


def test_relative_include_of_a_cuh_file_starts_beside_it(course):
    (course / "parts" / "one.cuh").write_text("#define ONE 1\n")
    (course / "parts" / "sum.cuh").write_text(
        '#include "one.cuh"\n__global__ void k(int* a) { *a = ONE; }\n'
    )
    assert compile("parts/sum.cuh").kernels == ("k",)


def test_missing_cuh_file_suggests_near_names(course):
    (course / "parts" / "sum.cuh").write_text(KERNEL)
    with pytest.raises(LaunchError, match=r"Close to it: parts/sum\.cuh"):
        compile("parts/sums.cuh")


def test_word_that_is_no_path_is_told_both_endings():
    with pytest.raises(LaunchError, match=r"ends in \.cu or \.cuh"):
        compile("vec_add")


# ---- encodings

LATIN = '// Größe\n__device__ const char* text = "é"; /* ü */ \n'.encode("latin-1")


def test_latin_1_in_comments_and_strings_of_a_file_is_accepted(course):
    (course / "latin.cu").write_bytes(LATIN + KERNEL.encode())
    assert compile("latin.cu").kernels == ("k",)


def test_latin_1_in_an_included_file_is_accepted(course):
    (course / "latin.cuh").write_bytes(LATIN)
    assert compile('#include "latin.cuh"\n' + KERNEL).kernels == ("k",)


def test_bytes_of_a_file_in_a_cell_are_accepted():
    cell = LATIN.decode("utf-8", "surrogateescape") + KERNEL
    assert "Größe" in compile(cell).sources["kernel.cu"]


def test_latin_1_in_a_raw_string_and_behind_an_apostrophe_is_accepted(course):
    source = '// don\'t\n#define TEXT R"("é)"\n/* it\'s é */\n' + KERNEL
    (course / "latin.cu").write_bytes(source.encode("latin-1"))
    assert compile("latin.cu").kernels == ("k",)


def test_latin_1_in_code_is_refused_with_line_and_column(course):
    (course / "latin.cu").write_bytes("// é\nint größe;\n".encode("latin-1"))
    message = r"latin\.cu:2: byte 0xf6 in column 7 .* outside comments and strings"
    with pytest.raises(CompileError, match=message):
        compile("latin.cu")


def test_latin_1_in_code_of_an_included_file_names_that_file(course):
    (course / "latin.cuh").write_bytes("#define größe 1\n".encode("latin-1"))
    with pytest.raises(CompileError, match=r"latin\.cuh:1: byte 0xf6"):
        compile('#include "latin.cuh"\n' + KERNEL)


def test_utf_16_file_is_called_so(course):
    (course / "wide.cu").write_bytes(KERNEL.encode("utf-16"))
    with pytest.raises(CompileError, match="saved as UTF-16"):
        compile("wide.cu")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("ending", ["cu", "cuh"])
def test_caret_stands_below_its_character(course, encoding, ending):
    line = "/* ééé */\t__device__ int q = missing;"
    (course / f"here.{ending}").write_bytes(f"// é\n{line}\n".encode(encoding))
    error = refusal('#include "here.cuh"\n' + KERNEL if ending == "cuh" else "here.cu")
    _, quoted, caret = str(error).splitlines()[:3]
    assert (error.line, quoted[caret.index("^") :]) == (2, "missing;")


def test_caret_keeps_the_tabs_of_its_line():
    log = b"k.cu(1): error: no q\n  \t/*\xc3\xa9*/\tq;\n  \t      \t^"
    assert nvrtc.readable(log).splitlines()[2] == "  \t     \t^"


@pytest.mark.parametrize("before", ["\ufeff", "\n\ufeff"])
def test_byte_order_mark_of_a_cell_is_no_trouble(before):
    assert compile(before + KERNEL).kernels == ("k",)


def test_byte_order_mark_of_a_header_is_named(course):
    (course / "marked.cuh").write_text("\ufeff#define ONE 1\n", encoding="utf-8")
    assert "byte order mark" in str(refusal('#include "marked.cuh"\n' + KERNEL))


def test_character_outside_comments_is_named_once():
    error = refusal("__global__ void k(int* a) { *a = 1 − 1; }\n")
    assert "'−' (minus sign) is not part of C++" in str(error)
    assert str(error).count("unrecognized token") == 1


# ---- names that nvcc knows without an #include


@pytest.mark.parametrize(
    ("expression", "bits"),
    [  # as nvcc 13.0 writes them
        ("INFINITY", 0x7F800000),
        ("-INFINITY", -0x800000),
        ("NAN", 0x7FC00000),
        ("HUGE_VALF", 0x7F800000),
        ("M_PI", 0x40490FDB),
        ("M_PIf", 0x40490FDB),
        ("MAXFLOAT", 0x7F7FFFFF),
    ],
)
def test_float_constant_is_nvccs(expression, bits):
    assert int(value(expression)) == bits


def test_infinity_is_a_constant_expression():
    source = "constexpr float a = INFINITY;\n__constant__ float b = -INFINITY;\n"
    assert compile(source + KERNEL).kernels == ("k",)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("INT_MAX", 2**31 - 1), ("CHAR_BIT", 8), ("EXIT_FAILURE", 1)],
)
def test_int_constant_is_nvccs(expression, expected):
    assert int(value(expression, kind="int")) == expected


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("uint", 4),
        ("ushort", 2),
        ("ulong", 8),
        ("u_char", 1),
        ("size_t", 8),
        ("int32_t", 4),
        ("int64_t", 8),
        ("std::size_t", 8),
    ],
)
def test_type_without_include_has_its_size(name, size):
    source = f"__global__ void k({name}* a, {name} b) {{ *a = b; }}\n"
    assert compile(source).k.parameters[1].size == size


def test_std_math_needs_no_include():
    source = "using namespace std;\n" + KERNEL.replace("1;", "std::sqrt(std::abs(*a));")
    assert "sqrt.rn.f32" in compile(source).ptx


@pytest.mark.parametrize(
    "own",
    [
        "#define M_PI 3\n",
        "typedef unsigned long long uint;\n",
        "#ifndef INFINITY\n#define INFINITY 3\n#endif\n",
    ],
)
def test_own_definition_stays(own):
    name = re.search(r"M_PI|uint|INFINITY", own)[0]
    use = "sizeof(uint)" if name == "uint" else name
    given = compile(own + f"__global__ void k(int* a) {{ *a = {use}; }}\n")
    plain = compile(
        f"{'/' * 2}\n" * own.count("\n")
        + f"__global__ void k(int* a) {{ *a = {8 if name == 'uint' else 3}; }}\n"
    )
    assert given.ptx == plain.ptx


def test_ptx_has_no_trace_of_a_header_that_was_added():
    plain = compile(KERNEL.replace("1;", "2147483647;"))
    assert compile(KERNEL.replace("1;", "INT_MAX;")).ptx == plain.ptx


def test_machine_code_knows_the_names_too():
    assert compile(KERNEL.replace("1;", "INFINITY;")).cubin("sm_90")[1:4] == b"ELF"


def test_kernel_template_knows_the_names_too():
    source = "template<class T> __global__ void k(T* a) { a[0] = (T)M_PI; }\n"
    assert compile(source)["k<float>"].lowered_name == "_Z1kIfEvPT_"


def test_source_that_needs_no_header_is_compiled_once(monkeypatch):
    asked = []
    original = nvrtc.compile_program

    def counted(*given):
        asked.append(given[2])
        return original(*given)

    monkeypatch.setattr(nvrtc, "compile_program", counted)
    compile(KERNEL)
    assert [any("include" in flag for flag in flags) for flags in asked] == [False]


def test_changed_header_changes_the_cache_key(monkeypatch):
    unit = Unit(find(KERNEL), target(None))
    before = unit.key("ptx", unit.target)
    monkeypatch.setattr(headers, "identity", lambda: "another")
    assert unit.key("ptx", unit.target) != before


def test_identity_covers_each_header(tmp_path, monkeypatch):
    found = {headers.identity.__wrapped__()}
    for name in headers.names():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(headers, "FOLDER", tmp_path)
    for name in headers.names():
        (tmp_path / name).write_text("changed")
        found.add(headers.identity.__wrapped__())
    assert len(found) == 1 + len(headers.names())


# ---- headers


@pytest.mark.parametrize("name", sorted(headers.names()))
def test_header_compiles_twice_in_one_source(name):
    assert compile(f"#include <{name}>\n" * 2 + KERNEL).kernels == ("k",)


def test_all_headers_go_together_and_with_those_of_cuda():
    theirs = ["cuda/std/cstdint", "cuda/std/climits", "cuda_fp16.h", "mma.h"]
    theirs += ["cuda_runtime.h", "device_launch_parameters.h", "math_constants.h"]
    lines = (f"#include <{name}>\n" for name in [*sorted(headers.names()), *theirs])
    assert compile("".join(lines) + KERNEL).kernels == ("k",)


@pytest.mark.parametrize(
    ("header", "expression"),
    [
        ("stdint.h", "(float)(uint32_t)3 + UINT32_MAX + INT64_MIN"),
        ("cstdint", "(std::uint8_t)3 + (uint64_t)4"),
        ("math.h", "sqrtf(2.0f) + isnan(a[0]) + M_SQRT2"),
        ("cmath", "std::pow(a[0], 2.0f) + std::isinf(a[0])"),
        ("float.h", "FLT_MAX + FLT_EPSILON"),
        ("cfloat", "DBL_MAX + DBL_MIN"),
        ("limits.h", "INT_MAX + (float)LLONG_MAX"),
        ("climits", "UINT_MAX + CHAR_BIT"),
        ("stdio.h", 'printf("%d\\n", 3)'),
        ("cstdio", 'std::printf("%d\\n", 3)'),
        ("stdlib.h", "(malloc(4) != NULL) + EXIT_SUCCESS + abs(-3)"),
        ("cstdlib", "(std::malloc(4) != nullptr) + std::abs(-3)"),
        ("stddef.h", "offsetof(float4, y) + (size_t)3"),
        ("cstddef", "(std::size_t)3 + (std::ptrdiff_t)4"),
        ("string.h", "memcpy(a, a + 1, 4) == a"),
        ("cstring", "std::memset(a, 0, 4) == a"),
        ("time.h", "(float)(clock_t)clock()"),
        ("sys/types.h", "(uint)3 + (ssize_t)4"),
        ("cuda.h", "sizeof(CUtensorMap) + CUDA_VERSION"),
    ],
)
def test_header_has(header, expression):
    source = (
        f"#include <{header}>\n__global__ void k(float* a) {{ *a = {expression}; }}"
    )
    assert compile(source + "\n").kernels == ("k",)


@pytest.mark.parametrize("header", ["assert.h", "cassert"])
@pytest.mark.parametrize(("define", "kept"), [("", True), ("#define NDEBUG\n", False)])
def test_assert_heeds_ndebug(header, define, kept):
    source = f"{define}#include <{header}>\n" + KERNEL.replace("a[0]", "assert(*a);*a")
    module = compile(source)
    assert ("__assertfail" in module.ptx, module.log) == (kept, "")


def test_float_max_is_exact():
    assert int(value("FLT_MAX", "#include <float.h>")) == 0x7F7FFFFF


# ---- advice


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#include <iostream>\n", "print with printf"),
        ("#include <vector>\n", "pass arrays from Python"),
        ("#include <algorithm>\n", "min(a, b) and max(a, b) need no #include"),
        ("#include <limits>\n", "FLT_MAX is in <float.h>"),
        ("#include <type_traits>\n", "Write #include <cuda/std/type_traits>"),
        ("#include <cublas_v2.h>\n", "call the library from Python"),
        ("#include <helper_cuda.h>\n", "NVIDIA's samples"),
        ("#include <cuda_pf16.h>\n", "Did you mean <cuda_fp16.h>?"),
        ("#include <nothing.h>\n", "<limits.h>, <math.h>, <stddef.h>, <stdint.h>"),
        ("using namespace nvcuda;\n", "Write #include <mma.h>"),
        ("namespace cg = cooperative_groups;\n", "#include <cooperative_groups.h>"),
        ("texture<float, 1> t;\n", "has removed texture references"),
        ("__device__ float f = sqrt(2);\n", "Convert the argument"),
        ("__device__ int f() { cout << 1; }\n", "Print with printf"),
        ("__device__ int f() { return std::max(1, 2); }\n", "without std::"),
        ("__device__ int f() { return strlen(0); }\n", "function for the host"),
        ("__device__ float f = FLT_MAX;\n", "Write #include <float.h>"),
        ("__device__ uint8_t f;\n", "Write #include <stdint.h>"),
        ("__device__ std::uint8_t f;\n", "Write #include <cstdint>"),
        (
            "__global__ void a() { extern __shared__ int s[]; }\n"
            "__global__ void b() { extern __shared__ float s[]; }\n",
            "a name of its own",
        ),
    ],
)
def test_advice_names_what_helps(source, expected):
    assert expected in str(refusal(source + KERNEL))


def test_header_of_curand_says_how_to_get_it():
    cause, cure = missing_names.header_advice("curand_kernel.h")
    assert "belongs to cuRAND" in cause
    assert "`make setup EXTRAS=libraries`" in cure


@pytest.mark.parametrize("file", ["cublas_api.h", "nvidia/cu13/include/cufft.h"])
def test_header_of_a_library_that_is_installed_is_one_of_the_host(file):
    _, cure = missing_names.library_advice(file)
    assert "call the library from Python" in cure


def test_header_of_one_s_own_belongs_to_no_library():
    assert missing_names.library_advice("parts/sum.cuh") is None


@pytest.mark.parametrize(
    "name", ["uint32_t", "FLT_MAX", "INT8_MAX", "offsetof", "CUDART_INF_F", "half"]
)
def test_advised_header_exists_and_ends_the_advice(name):
    advised = missing_names.header_of(name)
    assert compile(f"#include {advised}\n" + KERNEL).kernels == ("k",)


@pytest.mark.parametrize("member", ["uint8_t", "memcpy", "printf", "clock"])
def test_advised_header_has_the_member_of_std(member):
    advised = re.search(r"#include (<\w+>)", missing_names.std_advice(member))[1]
    assert compile(f"#include {advised}\nusing std::{member};\n" + KERNEL).kernels
