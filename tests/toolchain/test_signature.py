"""Parameter types: mangled names, PTX declarations, names from the source."""

from __future__ import annotations

import pytest

from coursekit.errors import CompileError
from coursekit.runtime import compiler
from coursekit.toolchain import building, declarations, mangling, signature


def parameters(source: str, name: str = "k", **options):
    module, entry = compiler.compile(source + "\n", **options).find(name)
    return module.parameters(entry)


SPELLED = {
    "float* p": "float* p",
    "const float* __restrict__ p": "const float* p",
    "float const* const p": "const float* p",
    "volatile int* p": "int* p",
    "void* p": "void* p",
    "const void* p": "const void* p",
    "float** p": "float** p",
    "const float* const* p": "const float* const* p",
    "float (*p)[16]": "float[16]* p",
    "const float p[]": "const float* p",
    "bool p": "bool p",
    "char p": "char p",
    "signed char p": "signed char p",
    "unsigned char p": "unsigned char p",
    "short p": "short p",
    "unsigned short p": "unsigned short p",
    "int p": "int p",
    "unsigned p": "unsigned int p",
    "long p": "long p",
    "size_t p": "unsigned long p",
    "long long p": "long long p",
    "unsigned long long p": "unsigned long long p",
    "float p": "float p",
    "double p": "double p",
    "float2 p": "float2 p",
    "float3* p": "float3* p",
    "const float4* p": "const float4* p",
    "int2 p": "int2 p",
    "int4* p": "int4* p",
    "uchar4* p": "uchar4* p",
    "double2 p": "double2 p",
    "dim3 p": "dim3 p",
    "Plain p": "Plain p",
    "const Plain* p": "const Plain* p",
    "q::r::Inner p": "q::r::Inner p",
    "q::Box<float, 4> p": "q::Box<float, 4> p",
    "q::Box<q::r::Inner, -1>* p": "q::Box<q::r::Inner, -1>* p",
    "q::Flag<true>* p": "q::Flag<true>* p",
    "Kind p": "Kind p",
    "int": "int arg0",
    "float*": "float* arg0",
}
TYPES = """
struct Plain { float a; double b; };
enum Kind { first, second };
namespace q { namespace r { struct Inner { int a; }; }
template<class T, int N> struct Box { T x[N < 1 ? 1 : N]; };
template<bool B> struct Flag { int x; }; }
"""


@pytest.fixture(scope="module")
def every_type():
    """One module with a kernel for each row of SPELLED."""
    kernels = [f"__global__ void k{i}({text}) {{}}" for i, text in enumerate(SPELLED)]
    return compiler.compile(TYPES + "\n".join(kernels) + "\n")


@pytest.mark.parametrize(
    ("index", "expected"), list(enumerate(SPELLED.values())), ids=list(SPELLED)
)
def test_type_is_decoded(every_type, index, expected):
    (found,) = every_type.parameters(every_type.find(f"k{index}")[1])
    assert (str(found), found.exact) == (expected, True)


LANES = {
    "bool": ("bool", 1, 1),
    "uchar4": ("uint8", 4, 4),
    "short2": ("int16", 2, 4),
    "unsigned": ("uint32", 1, 4),
    "size_t": ("uint64", 1, 8),
    "float3": ("float32", 3, 12),
    "double2": ("float64", 2, 16),
    "double4_16a": ("float64", 4, 32),
    "longlong2": ("int64", 2, 16),
}


@pytest.mark.parametrize("name", LANES)
def test_element_has_dtype_lanes_and_size(name):
    (found,) = parameters(f"__global__ void k({name}* p) {{}}")
    target = found.type.pointee
    assert (target.dtype, target.lanes, target.size) == LANES[name]


HALVES = {
    "half": ("float", "float16", 1),
    "half2": ("float", "float16", 2),
    "__nv_bfloat16": ("bfloat16", "uint16", 1),
    "__nv_bfloat162": ("bfloat16", "uint16", 2),
}
HALF_HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


@pytest.fixture(scope="module")
def halves():
    kernels = [f"__global__ void k{i}({n}* p) {{}}\n" for i, n in enumerate(HALVES)]
    return compiler.compile(HALF_HEADERS + "".join(kernels))


@pytest.mark.parametrize(("index", "name"), list(enumerate(HALVES)), ids=list(HALVES))
def test_half_precision_element_is_known(halves, index, name):
    (found,) = halves.parameters(halves.find(f"k{index}")[1])
    target = found.type.pointee
    assert (target.kind, target.dtype, target.lanes) == HALVES[name]


def test_array_target_has_lanes():
    (found,) = parameters("__global__ void k(float (*tile)[16]) {}")
    assert (found.type.pointee.lanes, found.type.pointee.size) == (16, 64)


def test_offsets_follow_alignment():
    found = parameters("__global__ void k(char a, double b, short c, float4 d) {}")
    assert [p.offset for p in found] == [0, 8, 16, 32]


def test_struct_takes_size_and_alignment_from_ptx():
    source = "struct S { char a; double b; };\n__global__ void k(S s) {}"
    (found,) = parameters(source)
    assert (found.size, found.align, found.type.size) == (16, 8, 16)


def test_enum_is_an_integer():
    (found,) = parameters("enum Kind { a, b };\n__global__ void k(Kind kind) {}")
    assert (found.type.kind, found.type.dtype) == ("int", "int32")


def test_extern_c_kernel_has_exact_types():
    (found,) = parameters('extern "C" __global__ void k(const double* x) {}')
    assert (str(found), found.exact) == ("const double* x", True)


def test_template_instance_has_its_own_types():
    source = "template<class T, int N = 4> __global__ void k(T* x, T a) {}"
    assert [str(p) for p in parameters(source, "k<double>")] == [
        "double* x",
        "double a",
    ]


def test_overload_is_named_by_its_types():
    source = "__global__ void k(float* x) {}\n__global__ void k(int* x, int n) {}"
    assert [str(p) for p in parameters(source, "k(int*, int)")] == ["int* x", "int n"]


def test_macro_kernel_is_known_from_its_mangled_name():
    source = "#define MAKE(N) __global__ void N(float* x) {}\nMAKE(k)"
    assert [str(p) for p in parameters(source)] == ["float* arg0"]


def test_extern_c_macro_kernel_has_widths_only():
    source = (
        '#define MAKE(N) extern "C" __global__ void N(float* x, float a) {}\nMAKE(k)'
    )
    found = parameters(source)
    assert [(p.size, p.type.kind, p.exact) for p in found] == [
        (8, "unknown", False),
        (4, "float", False),
    ]


def test_reference_is_refused():
    with pytest.raises(CompileError, match="parameter of type int&, a reference"):
        parameters("__global__ void k(int& x) { x = 1; }")


def test_source_with_its_own_ck_sig_still_has_kernels():
    source = "__device__ int ck_sig;\n__global__ void k(float* x) {}"
    assert [p.size for p in parameters(source)] == [8]


@pytest.mark.parametrize(
    "name",
    [
        "k",
        "_Z",
        "_Z1",
        "_Z9short",
        "_Z1kS5_",
        "_Z1kIXadL_Z1fEEEvv",
        "_Z1kP",
        "_Z1kQi",
        "_Z1kIiEvPAT__i",
    ],
)
def test_unknown_mangling_is_said_to_be_unknown(name):
    with pytest.raises(mangling.UnknownMangling):
        mangling.function(name)


def test_substitutions_refer_back():
    found = mangling.function("_ZN1q3nskENS_1SEPNS_1VIfLi4EEES3_")
    assert str(found) == "q::nsk(q::S, q::V<float, 4>*, q::V<float, 4>*)"


def test_explicit_instantiation_is_decoded_through_its_arguments():
    found = mangling.function("_ZN5outer3tplIfLi8ELb1EEEvPT_PAT0__KS1_")
    assert str(found) == "outer::tpl<float, 8, true>(float*, const float[8]*)"


def test_slots_of_an_unknown_entry_are_empty():
    assert signature.slots(".entry k(\n\t.param .u64 k_param_0\n)", "other") == ()


def test_slots_read_the_dialect_with_ptr():
    ptx = (
        ".entry k(\n\t.param .u64 .ptr .align 1 k_param_0,\n\t.param .b16 k_param_1\n)"
    )
    assert [(s.size, s.align) for s in signature.slots(ptx, "k")] == [(8, 8), (2, 2)]


DECLARED = {
    "attributes": (
        "__global__ void __launch_bounds__(N * 2, max(1, 2)) f(int* a) {}",
        "f",
        ("a",),
    ),
    "attribute first": (
        "__launch_bounds__(8) __global__ void f(int a) {}",
        "f",
        ("a",),
    ),
    "void first": ("void __global__ f() {}", "f", ()),
    "void parameter": ("__global__ void f(void) {}", "f", ()),
    "static": ("static __global__ void f(int a) {}", "f", ("a",)),
    "default value": (
        "__global__ void f(int a = g(1, 2), int b = 3) {}",
        "f",
        ("a", "b"),
    ),
    "template type": ("__global__ void f(P<int, 3> a, P<int>* b) {}", "f", ("a", "b")),
    "namespace": ("namespace a::b { __global__ void f(int x) {} }", "a::b::f", ("x",)),
    "inner namespace": (
        "namespace a { struct S { int x; }; namespace b { __global__ void f() {} } }",
        "a::b::f",
        (),
    ),
    "after a namespace": ("namespace a { int x; } __global__ void f() {}", "f", ()),
    "extern C block": ('extern "C" { __global__ void f(int x) {} }', "f", ("x",)),
    "comment inside": (
        "__global__ /* void g( */ void f(int /* b */ a) {}",
        "f",
        ("a",),
    ),
    "unnamed": ("__global__ void f(const int, S, q::S, unsigned) {}", "f", (None,) * 4),
    "digit separators": ("int a = 1'000; __global__ void f(int x) {}", "f", ("x",)),
}


@pytest.mark.parametrize("case", DECLARED)
def test_declaration_is_found(case):
    text, name, names = DECLARED[case]
    (found,) = declarations.kernels(text)
    assert (found.name, found.parameters) == (name, names)


@pytest.mark.parametrize(
    "text",
    [
        "// __global__ void f() {}",
        "/* __global__ void f() {} */",
        'const char* s = "__global__ void f() {";',
        'const char* s = R"x(__global__ void f() {})x";',
        "#define F __global__ void f() {}",
        "__global__ void f(int a);",
        "__device__ void f() {}",
        "__global__ void f(",
        "template<class T",
    ],
)
def test_what_is_no_kernel_definition_is_not_found(text):
    assert declarations.kernels(text) == ()


def test_template_is_told_apart():
    text = "template<class T, int N = (3 > 2)>\n__global__ void f(T* a) {}"
    (found,) = declarations.kernels(text)
    assert (found.is_template, found.line, found.parameters) == (True, 2, ("a",))


def test_template_argument_that_no_compiler_explains_is_a_compile_error():
    error = building._not_instantiated("f.cu(1): __nv_name_map: refused", "f<float>")
    assert isinstance(error, CompileError)
