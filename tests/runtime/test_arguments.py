"""Arguments against C++ parameter types, without running anything."""

from __future__ import annotations

import ctypes
import math
import struct

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime.arguments.signature import Signature
from coursekit.toolchain import mangling
from coursekit.toolchain.signature import CType, Parameter

POINT = np.dtype([("id", "i4"), ("weight", "f8")], align=True)
# Itanium codes of the types that the tests name in C++.
CODES = {
    "bool": "b", "char": "c", "signed char": "a", "unsigned char": "h", "short": "s",
    "unsigned short": "t", "int": "i", "unsigned int": "j", "long": "l",
    "unsigned long": "m", "long long": "x", "unsigned long long": "y", "float": "f",
    "double": "d", "void": "v", "__half": "6__half", "__half2": "7__half2",
    "__nv_bfloat16": "13__nv_bfloat16", "__nv_bfloat162": "14__nv_bfloat162",
    "float2": "6float2", "float3": "6float3", "float4": "6float4", "int4": "4int4",
    "char4": "5char4", "double2": "7double2", "uchar4": "6uchar4",
}  # fmt: skip


def ctype(text):
    """Read `const float*` and the like."""
    base = text.rstrip("*")
    stars = len(text) - len(base)
    const, base = base.startswith("const "), base.removeprefix("const ")
    code = CODES.get(base, f"{len(base)}{base}")
    return mangling.function(
        f"_Z1k{'P' * stars}{'K' if const else ''}{code}"
    ).parameters[0]


def signature(*types):
    """Make a signature with parameters a, b, c, ... of these types."""
    parameters, offset = [], 0
    for name, each in zip("abcdefgh", types, strict=False):
        found = each if isinstance(each, CType) else ctype(each)
        align = min(found.size & -found.size, 16)
        offset = -(-offset // align) * align
        parameters.append(Parameter(name, found, found.size, align, offset))
        offset += found.size
    return Signature("kernel", parameters)


def packed(type_, value):
    """Bytes of one argument."""
    one = signature(type_)
    return one.pack(one.convert([value]))


def refusal(type_, value):
    """Error of one argument."""
    with pytest.raises(ck.ArgumentError) as caught:
        signature(type_).convert([value])
    return caught.value


NUMBERS = [
    ("bool", True, "?", True),
    ("bool", np.bool_(False), "?", False),
    ("bool", 1, "?", True),
    ("char", -128, "b", -128),
    ("unsigned char", 255, "B", 255),
    ("short", np.int64(-5), "h", -5),
    ("unsigned short", 65535, "H", 65535),
    ("int", -(2**31), "i", -(2**31)),
    ("int", np.uint8(200), "i", 200),
    ("int", True, "i", 1),
    ("unsigned int", 2**32 - 1, "I", 2**32 - 1),
    ("long", 2**63 - 1, "q", 2**63 - 1),
    ("unsigned long long", 2**64 - 1, "Q", 2**64 - 1),
    ("float", 0.1, "f", 0.1),
    ("float", 3, "f", 3.0),
    ("float", np.float64(2.5), "f", 2.5),
    ("float", np.int32(7), "f", 7.0),
    ("float", math.inf, "f", math.inf),
    ("double", 0.1, "d", 0.1),
    ("double", np.float16(0.5), "d", 0.5),
    ("__half", 65504.0, "e", 65504.0),
]


@pytest.mark.parametrize(("type_", "value", "code", "expected"), NUMBERS)
def test_numbers_take_the_type_of_the_parameter(type_, value, code, expected):
    assert packed(type_, value) == struct.pack("<" + code, expected)


BFLOAT16 = [
    (1.0, 0x3F80), (-2, 0xC000), (0.0, 0), (math.inf, 0x7F80), (math.nan, 0x7FFF),
    (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82), (3.38e38, 0x7F7E),
]  # fmt: skip


@pytest.mark.parametrize(("value", "bits"), BFLOAT16)
def test_bfloat16_rounds_to_nearest_even(value, bits):
    assert packed("__nv_bfloat16", value) == struct.pack("<H", bits)


OVERFLOWS = [
    ("int", 2**31, "-2147483648 to 2147483647"),
    ("int", -(2**31) - 1, "-2147483648 to 2147483647"),
    ("unsigned int", -1, "0 to 4294967295"),
    ("char", 128, "-128 to 127"),
    ("unsigned char", np.int64(256), "0 to 255"),
    ("long long", 2**63, "to 9223372036854775807"),
    ("unsigned long", np.int32(-1), "0 to 18446744073709551615"),
    ("float", 1e39, "range of float"),
    ("__half", 65520.0, "range of __half"),
    ("double", 10**400, "range of double"),
    ("__nv_bfloat16", 3.4e38, "bfloat16"),
]


@pytest.mark.parametrize(("type_", "value", "cause"), OVERFLOWS)
def test_a_value_beyond_the_range_is_refused(type_, value, cause):
    assert cause in refusal(type_, value).cause


@pytest.mark.parametrize("value", [0.5, 3.0, np.float32(2), math.nan])
def test_a_float_for_an_int_is_refused(value):
    assert "//" in refusal("int", value).cure


NO_NUMBERS = ["3", None, 1j, b"a", [1], np.ones(1, np.int32), np.complex64(1)]


@pytest.mark.parametrize("type_", ["int", "float", "bool", "__nv_bfloat16"])
@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_is_refused(type_, value):
    assert f"parameter a ({type_})" in str(refusal(type_, value))


@pytest.mark.parametrize("value", [2, -1, 0.0, 1.0])
def test_a_bool_takes_two_values(value):
    assert "True or False" in refusal("bool", value).cure


def test_an_array_for_a_number_hints_at_the_order():
    assert "wrong order" in refusal("int", np.ones(3)).cause


@pytest.mark.parametrize("value", [3, 3.0, True, np.float32(3), "x", range(3)])
def test_what_is_no_array_is_refused_for_a_pointer(value):
    assert "wrong order" in refusal("float*", value).cause


@pytest.mark.parametrize("value", [[1, 2], (1.0, 2.0)])
def test_a_list_for_a_pointer_says_how_to_make_an_array(value):
    assert "np.array(values, dtype=np.float32)" in refusal("const float*", value).cure


def test_none_is_a_null_pointer():
    assert signature("float*").convert([None]) == [None]


ELEMENTS = [
    ("float*", "float32"), ("const float*", "float32"), ("double*", "float64"),
    ("int*", "int32"), ("unsigned int*", "uint32"), ("long*", "int64"),
    ("long long*", "int64"), ("unsigned long*", "uint64"), ("short*", "int16"),
    ("unsigned long long*", "uint64"), ("bool*", "bool"), ("char*", "int8"),
    ("char*", "uint8"), ("signed char*", "int8"), ("unsigned char*", "uint8"),
    ("__half*", "float16"), ("__half2*", "float16"), ("__nv_bfloat16*", "uint16"),
    ("__nv_bfloat162*", "uint16"), ("float2*", "float32"), ("float3*", "float32"),
    ("float4*", "float32"), ("int4*", "int32"), ("char4*", "uint8"),
    ("uchar4*", "uint8"), ("double2*", "float64"), ("float2*", "complex64"),
    ("double2*", "complex128"), ("void*", "float16"), ("const void*", "complex64"),
    ("float**", "uint64"), ("Point*", "uint8"), ("Point*", POINT),
    ("const Point*", POINT), ("void*", POINT),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "dtype"), ELEMENTS)
def test_a_pointer_takes_arrays_of_its_element_type(type_, dtype):
    array = np.zeros(12, dtype)
    (operand,) = signature(type_).convert([array])
    assert (operand.address, operand.nbytes) == (array.ctypes.data, array.nbytes)


MISMATCHES = [
    ("float*", "float64", "float32"), ("float*", "int32", "float32"),
    ("float*", "complex64", "float32"), ("double*", "float32", "float64"),
    ("int*", "int64", "int32"), ("int*", "uint32", "int32"), ("int*", "bool", "int32"),
    ("unsigned char*", "int8", "uint8"), ("signed char*", "uint8", "int8"),
    ("bool*", "uint8", "bool"), ("__half*", "uint16", "float16"),
    ("__nv_bfloat16*", "float16", "uint16"), ("float4*", "float64", "float32"),
    ("float4*", "complex64", "float32"), ("Point*", "float32", "uint8"),
    ("int*", POINT, "int32"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "dtype", "wanted"), MISMATCHES)
def test_another_element_type_is_refused(type_, dtype, wanted):
    assert wanted in str(refusal(type_, np.zeros(12, dtype)))


def test_the_message_names_kernel_parameter_and_both_types():
    error = refusal("const float*", np.zeros(3))
    assert error.what == (
        "kernel: parameter a (const float*) got a NumPy array of float64."
    )


CONVERSIONS = {
    "NumPy array": ("float*", np.zeros(3), "array.astype(np.float32)"),
    "bfloat16": ("__nv_bfloat16*", np.zeros(3), "tensor.to(torch.bfloat16)"),
    "struct": ("Point*", np.zeros(3), "structured array with the fields of Point"),
}


@pytest.mark.parametrize(
    ("type_", "value", "how"), CONVERSIONS.values(), ids=CONVERSIONS
)
def test_the_cure_converts_with_the_library_of_the_array(type_, value, how):
    assert how in refusal(type_, value).cure


def test_the_cure_of_a_tensor_converts_with_torch():
    torch = pytest.importorskip("torch")
    assert "tensor.to(torch.float16)" in refusal("__half*", torch.zeros(3)).cure


def test_the_cure_of_a_device_array_converts_before_the_copy(simulated):
    cure = refusal("float*", ck.empty(3, np.int32)).cure
    assert "ck.to_device(array.astype(np.float32))" in cure


def test_the_default_types_of_numpy_are_blamed_for_them_alone():
    assert "NumPy makes" not in refusal("float*", np.zeros(3, np.int32)).cause


@pytest.mark.parametrize(("type_", "count"), [("float4*", 6), ("__half2*", 3)])
def test_vectors_need_whole_multiples(type_, count):
    lane = np.dtype(ctype(type_).pointee.dtype)
    assert "multiple of" in refusal(type_, np.zeros(count, lane)).cause


STRIDED = {
    "transposed": np.zeros((3, 4), np.float32).T,
    "every other": np.zeros(8, np.float32)[::2],
    "reversed": np.zeros(8, np.float32)[::-1],
    "columns": np.zeros((3, 4), np.float32)[:, :2],
    "broadcast": np.broadcast_to(np.float32(1), (3, 4)),
    "Fortran order": np.zeros((3, 4), np.float32, order="F"),
}


@pytest.mark.parametrize("array", STRIDED.values(), ids=STRIDED)
def test_an_array_with_gaps_is_refused(array):
    assert "ascontiguousarray" in refusal("const float*", array).cure


CONTIGUOUS = {
    "empty": np.zeros((0, 3), np.float32),
    "zero-dimensional": np.zeros((), np.float32),
    "rows": np.zeros((5, 4), np.float32)[1:3],
    "one row": np.zeros((5, 4), np.float32)[:1],
    "one column": np.zeros((5, 1), np.float32)[:, ::-1],
}


@pytest.mark.parametrize("array", CONTIGUOUS.values(), ids=CONTIGUOUS)
def test_an_array_without_gaps_is_taken(array):
    (operand,) = signature("float*").convert([array])
    assert operand.shape == array.shape


def read_only(dtype="float32"):
    array = np.zeros(4, dtype)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("type_", ["float*", "void*"])
def test_a_read_only_output_is_refused(type_):
    assert "declare the parameter const" in refusal(type_, read_only()).cure


@pytest.mark.parametrize("type_", ["const float*", "const void*"])
def test_a_read_only_input_is_taken(type_):
    assert signature(type_).convert([read_only()])[0].nbytes == 16


def test_swapped_bytes_are_refused():
    with pytest.raises(ck.ArgumentError, match="newbyteorder"):
        signature("const float*").convert([np.zeros(3, ">f4")])


@pytest.mark.parametrize("type_", ["float*", "void*"])
@pytest.mark.parametrize("dtype", [">f4", object])
def test_an_array_that_no_kernel_can_take_is_named(type_, dtype):
    assert f"parameter a ({type_}) got an array of " in (
        refusal(type_, np.zeros(3, dtype)).what
    )


def test_a_torch_tensor_with_gaps_is_packed_by_torch():
    torch = pytest.importorskip("torch")
    assert "tensor.contiguous()" in refusal("float*", torch.zeros(3, 4).T).cure


def test_objects_are_refused_even_for_void():
    with pytest.raises(ck.ArgumentError, match="fixed size"):
        signature("void*").convert([np.zeros(3, object)])


class Pair(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("weight", ctypes.c_double))


def record():
    values = np.zeros((), POINT)
    values["id"], values["weight"] = 7, 0.5
    return values


STRUCTS = {
    "structured scalar": record()[()],
    "zero-dimensional array": record(),
    "bytes": record().tobytes(),
    "ctypes": Pair(7, 0.5),
}


@pytest.mark.parametrize("value", STRUCTS.values(), ids=STRUCTS)
def test_a_struct_is_passed_by_value(value):
    assert packed(CType("Point", "struct", 16), value) == record().tobytes()


@pytest.mark.parametrize("value", [b"12345", 3, None, np.ones(2), "x" * 16])
def test_what_has_not_the_size_of_the_struct_is_refused(value):
    assert "16 bytes" in refusal(CType("Point", "struct", 16), value).cause


@pytest.mark.parametrize(
    "value", [(1, 2, 3, 4), [1.0, 2, 3, 4], np.arange(1, 5, dtype=np.int8)]
)
def test_a_vector_is_passed_by_value(value):
    assert packed("float4", value) == struct.pack("<4f", 1, 2, 3, 4)


@pytest.mark.parametrize("value", [(1, 2, 3), 1.0, None, (1, 2, 3, "x")])
def test_what_is_no_vector_is_refused(value):
    assert "parameter a (float4)" in str(refusal("float4", value))


def test_parameters_lie_at_their_offsets():
    mixed = signature("char", "double", "short", "int", CType("S", "struct", 16))
    found = mixed.pack(mixed.convert([1, 2.0, 3, 4, b"0123456789abcdef"]))
    assert found == struct.pack("<b7xdh2xi8x16s", 1, 2.0, 3, 4, b"0123456789abcdef")


def test_a_missing_argument_is_named():
    with pytest.raises(ck.ArgumentError, match="nothing is left for b, c") as caught:
        signature("float*", "int", "int").convert([None])
    assert caught.value.cure == (
        "The kernel is declared as kernel(float* a, int b, int c)."
    )


def test_a_superfluous_argument_is_shown():
    with pytest.raises(ck.ArgumentError, match="takes 1 argument, got 2: int 5 has"):
        signature("int").convert([4, 5])


UNTYPED = CType("8-byte value", "unknown", 8)


@pytest.mark.parametrize("value", [-1, 2**64 - 1, np.int64(-1), np.uint64(2**64 - 1)])
def test_an_unknown_type_takes_numbers_of_its_width(value):
    assert packed(UNTYPED, value) == b"\xff" * 8


def test_an_unknown_type_of_8_bytes_takes_arrays():
    assert signature(UNTYPED).convert([np.zeros(3)])[0].nbytes == 24


@pytest.mark.parametrize("value", [np.int32(1), 2**64, "x", [1]])
def test_an_unknown_type_refuses_other_widths(value):
    assert "value of 8 bytes" in refusal(UNTYPED, value).cause


def test_a_cpu_tensor_shares_memory():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(4)
    (operand,) = signature("float*").convert([tensor])
    operand.write(np.full(4, 1.5, np.float32).view(np.uint8))
    assert tensor.tolist() == [1.5] * 4


def test_a_bfloat16_tensor_fits_a_bfloat16_pointer():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    (operand,) = signature("__nv_bfloat16*").convert([tensor])
    assert operand.read().view(np.uint16).tolist() == [0x3F80, 0x4000]


@pytest.mark.parametrize("type_", ["unsigned short*", "__half*", "float*"])
def test_a_bfloat16_tensor_fits_no_other_pointer(type_):
    torch = pytest.importorskip("torch")
    assert "bfloat16" in str(refusal(type_, torch.zeros(2, dtype=torch.bfloat16)))


def test_a_parameter_tensor_is_taken_without_its_gradient():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(4, requires_grad=True)
    assert signature("float*").convert([tensor])[0].nbytes == 16


def test_a_sparse_tensor_is_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ck.ArgumentError, match="to_dense"):
        signature("float*").convert([torch.eye(3).to_sparse()])


def test_a_simulated_slice_at_an_odd_place_is_no_vector_array(simulated):
    array = ck.empty(9, np.float32)
    assert "misaligned" in refusal("float4*", array[1:]).cause
