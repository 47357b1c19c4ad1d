"""Products of a warpgroup of numbers of 16 and 8 bits, transposed or not.

Where an operand lies is computed here element by element, from the tables of the PTX
manual ("Shared Memory Matrix Layout", "Strides" of wgmma).
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.simt.isa.conversions import fp8_values

ROWS, COLUMNS = 64, 64
DEPTHS = {"f16": 16, "bf16": 16, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
INTEGERS = {"s8": np.int8, "u8": np.uint8}
# Bits 62 and 63 of a descriptor, by the bytes within which words change places.
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


def values_of(bits: np.ndarray, kind: str) -> np.ndarray:
    """Return the values of elements as float64."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind in INTEGERS:
        return bits.view(INTEGERS[kind]).astype(np.float64)
    return fp8_values(kind)[bits]


def drawn(rows: int, kind: str, seed: int) -> np.ndarray:
    """Return the bits of random elements between -2 and 2, rows x K."""
    random = np.random.default_rng(seed)
    shape = rows, DEPTHS[kind]
    if kind == "f16":
        return random.uniform(-2, 2, shape).astype(np.float16).view(np.uint16)
    if kind == "bf16":
        numbers = random.uniform(-2, 2, shape).astype(np.float32)
        return (numbers.view(np.uint32) >> 16).astype(np.uint16)
    if kind in INTEGERS:
        return random.integers(0, 256, shape, np.uint8)
    small = np.flatnonzero(np.abs(fp8_values(kind)) <= 2)
    return random.choice(small, shape).astype(np.uint8)


class Layout:
    """Where a matrix of elements of `size` bytes lies, and how a descriptor says it."""

    def __init__(self, swizzle: int = 0, transposed: bool = False):
        self.swizzle, self.transposed = swizzle, transposed

    def distances(self) -> tuple[int, int]:
        """Return leading and stride of the descriptor."""
        if not self.transposed:
            return (1024, 128) if not self.swizzle else (0, 8 * self.swizzle)
        if not self.swizzle:
            return 128, 256
        return 16 * self.swizzle, 8 * self.swizzle

    def place(self, row: int, k: int, size: int) -> int:
        """Return the byte at which an element begins."""
        leading, stride = self.distances()
        if self.transposed and not self.swizzle:
            return row % 8 * 2 + row // 8 * stride + k % 8 * 16 + k // 8 * leading
        if self.transposed:
            atom = self.swizzle // size
            at = row % atom * size + row // atom * leading
            at += k % 8 * self.swizzle + k // 8 * stride
        elif not self.swizzle:
            at = row % 8 * 16 + row // 8 * stride
            return at + k * size // 16 * leading + k * size % 16
        else:
            at = row % 8 * self.swizzle + row // 8 * stride + k * size
        return at ^ (at >> 7 & self.swizzle // 16 - 1) << 4

    def fill(self, bits: np.ndarray) -> np.ndarray:
        """Lay elements out; all the rest are NaN."""
        rows, depth = bits.shape
        size = bits.itemsize
        data = np.full(16384, 0xFF, np.uint8).view(bits.dtype)
        for row, k in itertools.product(range(rows), range(depth)):
            data[self.place(row, k, size) // size] = bits[row, k]
        return data.view(np.uint32)

    def descriptor(self, begin: int) -> int:
        leading, stride = self.distances()
        fields = begin >> 4, leading >> 4, stride >> 4, SWIZZLES[self.swizzle]
        return sum(f << at for f, at in zip(fields, (0, 16, 32, 62), strict=True))


def source(
    left: str, right: str, *, held: bool, sides: tuple[int, ...], limit: str = ""
) -> str:
    """Write a kernel that multiplies what the host has put at its places."""
    count = COLUMNS // 2
    results = ", ".join(f"%{i}" for i in range(count))
    a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
    a = a if held else f"%{count}"
    b = f"%{count + (4 if held else 1)}"
    sums, letter = ("int", "r") if left in INTEGERS else ("float", "f")
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(count))
    given = ", ".join(f'"r"(a[{i}])' for i in range(4)) if held else '"l"(left)'
    choices = "".join(f", {side}" for side in sides)
    choices = choices if left in INTEGERS else ", 1, 1" + choices
    kind = "s32" if left in INTEGERS else "f32"
    name = f"m64n{COLUMNS}k{DEPTHS[left]}{limit}.{kind}.{left}.{right}"
    return f"""#include "hopper.cuh"
extern "C" __global__ void k(
    const unsigned *stored, int words, const unsigned *registers,
    unsigned long long left, unsigned long long right, {sums} *D, int first)
{{
    extern __shared__ __align__(1024) unsigned data[];
    int t = threadIdx.x, lane = t % 32, row = t / 32 % 4 * 16 + lane / 4;
    for (int i = t; i < words; i += blockDim.x)
        data[i] = stored[i];
    unsigned long long start = shared_address(data) >> 4;
    left += start, right += start;
    unsigned a[4];
    for (int i = 0; i < 4; i++)
        a[i] = registers[(row + i % 2 * 8) * 8 + i / 2 * 4 + lane % 4];
    {sums} d[{count}];
    for (int i = 0; i < {count}; i++)
        d[i] = first;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.{name} {{{results}}}, {a}, {b}, 1"
        "{choices};" : {outputs} : {given}, "l"(right));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < {count}; i++)
        D[(row + i / 2 % 2 * 8) * {COLUMNS} + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}}"""


@functools.cache
def kernel(left: str, right: str, held: bool, sides: tuple[int, ...], limit: str = ""):
    text = source(left, right, held=held, sides=sides, limit=limit)
    return ck.compile(text, arch="sm_90a").k


def multiplied(kinds, *, held=False, left=None, right=None) -> tuple[np.ndarray, ...]:
    """Multiply once; return what was found, and the two operands as float64."""
    left, right = left or Layout(), right or Layout()
    sides = (left.transposed, right.transposed)[held:] if kinds[0][-2:] == "16" else ()
    a, b = drawn(ROWS, kinds[0], 1), drawn(COLUMNS, kinds[1], 2)
    stored = np.concatenate([right.fill(b), left.fill(a)])
    registers = np.ascontiguousarray(a).view(np.uint32)
    type_ = np.int32 if kinds[0] in INTEGERS else np.float32
    found = np.full((ROWS, COLUMNS), 7, type_)
    kernel(*kinds, held, tuple(map(int, sides)))[1, 128, stored.nbytes](
        stored, stored.size, registers, left.descriptor(16384), right.descriptor(0),
        found, 0,
    )  # fmt: skip
    return found, values_of(a, kinds[0]), values_of(b, kinds[1])


def check(kinds, **options) -> None:
    """Multiply once, and compare with float64."""
    found, x, y = multiplied(kinds, **options)
    # A sum is rounded, or cut off by a GPU. Its FP8 sums have 14 bits at least.
    digits = 13 if kinds[0][0] == "e" else 23
    off = x.shape[1] * 2.0**-digits * (np.abs(x) @ np.abs(y.T))
    assert (np.abs(found - x @ y.T) <= off).all()


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(
    "kinds",
    [("f16", "f16"), ("bf16", "bf16"), ("e4m3", "e4m3"), ("e4m3", "e5m2"),
     ("e5m2", "e4m3"), ("e5m2", "e5m2")],
    ids="-".join,
)  # fmt: skip
def test_product_of_short_numbers(kinds, held, backend):
    check(kinds, held=held)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("left", INTEGERS)
@pytest.mark.parametrize("right", INTEGERS)
def test_product_of_integers_is_exact(left, right, held, backend):
    found, x, y = multiplied((left, right), held=held)
    np.testing.assert_array_equal(found, x @ y.T)


@pytest.mark.parametrize("limit", ["", ".satfinite"])
def test_sums_beyond_32_bits(limit):
    ones = Layout().fill(np.ones((64, 32), np.uint8))
    fours = Layout().fill(np.full((64, 32), 127, np.uint8))
    stored = np.concatenate([fours, ones])
    found = np.zeros((ROWS, COLUMNS), np.int32)
    kernel("s8", "u8", False, (), limit)[1, 128, stored.nbytes](
        stored, stored.size, stored, Layout().descriptor(16384),
        Layout().descriptor(0), found, 2**31 - 1,
    )  # fmt: skip
    wanted = 2**31 - 1 if limit else -(2**31) - 1 + 32 * 127
    assert (found == wanted).all()


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("kind", ["f16", "e4m3"])
def test_operands_lie_where_their_descriptors_say(kind, swizzle, backend):
    check((kind, kind), left=Layout(swizzle), right=Layout(swizzle))


@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_right_operand_may_be_transposed(kind, swizzle, backend):
    check((kind, kind), held=True, right=Layout(swizzle, transposed=True))


@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_left_operand_may_be_transposed(swizzle, backend):
    check(("f16", "f16"), left=Layout(swizzle, transposed=True), right=Layout(128))


def test_sums_are_those_of_whole_numbers():
    """Products and sums of small whole numbers are exact, whatever the order."""
    whole = np.random.default_rng(4).integers(-8, 9, (2, 64, 16)).astype(np.float16)
    stored = np.concatenate([Layout().fill(each.view(np.uint16)) for each in whole])
    found = np.zeros((ROWS, COLUMNS), np.float32)
    kernel("f16", "f16", False, (0, 0))[1, 128, stored.nbytes](
        stored, stored.size, stored, Layout().descriptor(0), Layout().descriptor(16384),
        found, 0,
    )  # fmt: skip
    wanted = whole[0].astype(np.float32) @ whole[1].astype(np.float32).T
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize(("kind", "depth"), DEPTHS.items())
def test_operations_are_counted(kind, depth):
    stored = np.zeros(8192, np.uint32)
    sides = (0, 0) if depth == 16 else ()
    d = np.zeros((64, 64), np.int32 if kind in INTEGERS else np.float32)
    arguments = stored, stored.size, stored, 0, 0, d, 0
    run = kernel(kind, kind, False, sides)
    counts = ck.count(run, 1, 128, arguments, shared_bytes=stored.nbytes)
    assert counts.tensor_flops == 2 * ROWS * COLUMNS * depth


@pytest.mark.parametrize(
    ("left", "right", "depth"),
    [("f16", "bf16", 16), ("f16", "f16", 8), ("s8", "s8", 32), ("e4m3", "f16", 32)],
)
def test_other_products_are_refused(left, right, depth):
    known = ck.compile(source("f16", "f16", held=False, sides=(0, 0)), arch="sm_90a")
    name = f"k{depth}.f32.{left}.{right}"
    other = ck.load_ptx(known.ptx.replace("k16.f32.f16.f16", name))
    stored = np.zeros(8192, np.uint32)
    with pytest.raises(errors.UnsupportedError, match="has no `wgmma"):
        ck.count(other.k, 1, 128, (stored, 0, stored, 0, 0, stored, 0), 32768)


@pytest.mark.parametrize("operands", [", 1, 1, 1", ", 1, 1, 1, 0", ", 1, 1, 1, 0, 2"])
def test_choices_of_another_number_or_value_are_refused(operands):
    known = ck.compile(source("f16", "f16", held=False, sides=(0, 0)), arch="sm_90a")
    assert ", 1, 1, 1, 0, 0;" in known.ptx
    other = ck.load_ptx(known.ptx.replace(", 1, 1, 1, 0, 0;", operands + ";"))
    stored = np.zeros(8192, np.uint32)
    with pytest.raises(errors.UnsupportedError, match="wgmma"):
        ck.count(other.k, 1, 128, (stored, 0, stored, 0, 0, stored, 0), 32768)
