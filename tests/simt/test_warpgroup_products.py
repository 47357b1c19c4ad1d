"""Products of a warpgroup: their values, where operands lie, their errors."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.simt.analysis import dataflow
from coursekit.simt.interpreter import products
from coursekit.simt.interpreter.program import load
from coursekit.simt.isa import rounded_sums
from coursekit.simt.isa.floating import fma32
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch as simulated

ROWS, DEPTH = 64, 8
WIDE = (32, 64, 96, 128)
# Bits 62 and 63 of a descriptor, by the bytes within which words change places.
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


def source(columns: int, *, held: bool, signs=(1, 1), before: str = "") -> str:
    """A kernel that multiplies what the host has put at its places.

    Threads copy both operands to shared memory as they lie; the descriptors are
    arguments, to which the kernel adds where the array begins.
    """
    count = columns // 2
    results = ", ".join(f"%{i}" for i in range(count))
    left = f"%{count}"
    if held:
        left = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
    right, adds = (f"%{count + (4 if held else 1) + i}" for i in (0, 1))
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    given = ", ".join(f'"r"(a[{i}])' for i in range(4)) if held else '"l"(left)'
    return f"""#include "hopper.cuh"
constexpr int N = {columns};
extern "C" __global__ void k(
    const unsigned *stored, int words, const unsigned *registers,
    unsigned long long left, unsigned long long right, float *D, int adds)
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
    float d[N / 2];
    for (int i = 0; i < N / 2; i++)
        d[i] = D[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    {before}
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{{\\n\\t.reg .pred adds;\\n\\tsetp.ne.b32 adds, {adds}, 0;\\n\\t"
        "wgmma.mma_async.sync.aligned.m64n{columns}k8.f32.tf32.tf32 {{{results}}}, "
        "{left}, {right}, adds, {signs[0]}, {signs[1]};\\n\\t}}"
        : {outputs} : {given}, "l"(right), "r"(adds));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < N / 2; i++)
        D[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}}"""


@functools.cache
def kernel(columns: int, *, held: bool, signs=(1, 1), before: str = ""):
    text = source(columns, held=held, signs=signs, before=before)
    return ck.compile(text, arch="sm_90a").k


def tf32(values: np.ndarray) -> np.ndarray:
    """Cut off the digits that TF32 has no room for."""
    return (values.astype(np.float32).view(np.uint32) & 0xFFFFE000).view(np.float32)


class Layout:
    """How a matrix of n rows of 8 k lies in shared memory.

    Parameters
    ----------
    swizzle : int
        0, or bytes within which words change places.
    shift : int
        Rows from the beginning of the array to the matrix.
    k0 : int
        First of the 8 values of k, of those that a row has in memory.
    """

    def __init__(self, swizzle=0, shift=0, k0=0):
        self.swizzle, self.shift, self.k0 = swizzle, shift, k0
        self.depth = swizzle // 4 or 16

    def place(self, row: int, k: int, rows: int) -> int:
        """Bytes from the beginning of the array to an element."""
        if self.swizzle:
            at = row * self.swizzle + k * 4
            return at ^ (at >> 7 & self.swizzle // 16 - 1) << 4
        return k // 4 * self.leading(rows) + row * 16 + k % 4 * 4

    def leading(self, rows: int) -> int:
        """Bytes from four k to the next four, without a swizzle."""
        return 16 * (rows + self.shift + 8 & -8)

    def fill(self, matrix: np.ndarray) -> np.ndarray:
        """Lay a matrix of n x 8 into an array; all the rest are NaN."""
        rows = len(matrix)
        size = self.depth * (rows + self.shift + 8 & -8)
        data = np.full(-(-size // 256) * 256, np.nan, np.float32)
        for row in range(rows):
            for k in range(DEPTH):
                at = self.place(row + self.shift, self.k0 + k, rows)
                data[at // 4] = matrix[row, k]
        return data

    def descriptor(self, begin: int, rows: int) -> int:
        """The matrix, in an array `begin` bytes after the start of shared memory."""
        stride = 8 * self.swizzle or 128
        first = self.shift * (self.swizzle or 16)
        first += self.k0 * 4 if self.swizzle else self.k0 // 4 * self.leading(rows)
        leading = 0 if self.swizzle else self.leading(rows)
        fields = (begin + first) >> 4, leading >> 4, stride >> 4, SWIZZLES[self.swizzle]
        return sum(f << at for f, at in zip(fields, (0, 16, 32, 62), strict=True))


PLAIN = Layout()
LAYOUTS = [PLAIN, Layout(shift=1), Layout(k0=4), Layout(128), Layout(128, k0=16),
           Layout(128, shift=1), Layout(64), Layout(64, k0=8), Layout(32)]  # fmt: skip
every_layout = pytest.mark.parametrize(
    "layout", LAYOUTS, ids=lambda o: f"{o.swizzle}-{o.shift}-{o.k0}"
)


def drawn(columns: int, seed: int = 0):
    random = np.random.default_rng(seed)
    shapes = (ROWS, DEPTH), (columns, DEPTH), (ROWS, columns)
    return [random.standard_normal(s, dtype=np.float32) for s in shapes]


def multiplied(a, b, d, *, held=True, left=PLAIN, right=PLAIN, adds=1, signs=(1, 1)):
    """Launch one warpgroup; `b` is transposed, as it lies in memory."""
    stored, of_a, of_b = operands(a, b, left, right)
    found, given = d.copy(), a if held else np.full_like(a, np.nan)
    launch(kernel(len(b), held=held, signs=signs), stored, given, of_a, of_b, found,
           adds)  # fmt: skip
    return found


def operands(a, b, left=PLAIN, right=PLAIN) -> tuple[np.ndarray, int, int]:
    """What lies in shared memory, and the descriptors of A and B there."""
    stored = right.fill(b)
    of_a = left.descriptor(stored.nbytes, len(a))
    return np.concatenate([stored, left.fill(a)]), of_a, right.descriptor(0, len(b))


def launch(run, stored, given, of_a, of_b, d, adds=1, threads=128):
    """Run a kernel of `source` on one block."""
    arguments = stored.view(np.uint32), stored.size, given.view(np.uint32)
    run[1, threads, stored.nbytes](*arguments, of_a, of_b, d, adds)


def is_product(found, a, b, d) -> bool:
    left, right = (tf32(x).astype(np.float64) for x in (a, b))
    # A sum is rounded, or cut off by a GPU; none is larger than that of all sizes.
    off = DEPTH * 2.0**-23 * (np.abs(left) @ np.abs(right.T) + np.abs(d))
    return bool((np.abs(found - (left @ right.T + d)) <= off).all())


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("columns", WIDE)
def test_a_product_is_that_of_the_matrices(columns, held, backend):
    a, b, d = drawn(columns)
    assert is_product(multiplied(a, b, d, held=held), a, b, d)


# The fewest and the most.
@pytest.mark.parametrize("columns", [8, 256])
def test_columns_are_any_multiple_of_8(columns, backend):
    a, b, d = drawn(columns)
    assert is_product(multiplied(a, b, d, held=False), a, b, d)


@every_layout
def test_the_right_operand_lies_where_its_descriptor_says(layout, backend):
    a, b, d = drawn(32)
    assert is_product(multiplied(a, b, d, right=layout), a, b, d)


@every_layout
def test_the_left_operand_lies_where_its_descriptor_says(layout, backend):
    a, b, d = drawn(32)
    found = multiplied(a, b, d, held=False, left=layout)
    assert is_product(found, a, b, d)


def test_without_adding_the_result_is_the_product_alone(backend):
    a, b, d = drawn(32)
    found = multiplied(a, b, np.full_like(d, np.nan), adds=0)
    assert is_product(found, a, b, np.zeros_like(d))


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_signs_are_those_of_the_operands(held, signs, backend):
    a, b, d = drawn(32)
    found = multiplied(a, b, d, held=held, signs=signs)
    assert is_product(found, signs[0] * a, signs[1] * b, d)


@pytest.mark.parametrize("held", [True, False])
def test_low_bits_of_the_operands_are_not_read(held, backend):
    a, b, d = drawn(32)
    clean = multiplied(tf32(a), tf32(b), d, held=held)
    noisy = [(x.view(np.uint32) | 0x1FFF).view(np.float32) for x in (a, b)]
    np.testing.assert_array_equal(multiplied(*noisy, d, held=held), clean, strict=True)


def test_sums_are_rounded_as_those_of_a_warp():
    a, b, d = drawn(8)
    a *= np.float32(2.0) ** np.arange(0, 24, 3, dtype=np.float32)
    lane = np.arange(32)
    group, thread = lane // 4, lane % 4
    of_b = [b[group, thread + at].view(np.uint32) for at in (0, 4)]
    places = [(group + 8 * half, 2 * thread + at) for half in (0, 1) for at in (0, 1)]
    wanted = np.empty_like(d)
    for first in range(0, ROWS, 16):
        rows = a[first : first + 16].view(np.uint32)
        of_a = [rows[group + 8 * half, thread + at] for at in (0, 4) for half in (0, 1)]
        of_d = [d[first + row, column] for row, column in places]
        made = products.product(products.Form("tf32", 8), of_a, of_b, of_d)
        for (row, column), values in zip(places, made, strict=True):
            wanted[first + row, column] = values
    np.testing.assert_array_equal(multiplied(a, b, d), wanted, strict=True)


# Exponents around 0; all bits, with infinities, NaN and numbers below the normal ones.
@pytest.mark.parametrize("spread", [0, 3, 12, 30, None])
def test_sums_have_the_bits_of_a_chain_of_multiply_adds(spread):
    random = np.random.default_rng(5)
    a, b, d = (random.integers(0, 2**32, s, np.uint32)
               for s in ((16, DEPTH), (64, DEPTH), (16, 64)))  # fmt: skip
    if spread is not None:
        for bits in (a, b, d):
            exponents = random.integers(127 - spread, 128 + spread, bits.shape)
            bits[...] = bits & 0x807FFFFF | exponents.astype(np.uint32) << 23
    a, b, d = tf32(a.view(np.float32)), tf32(b.view(np.float32)), d.view(np.float32)
    wanted = d.ravel()
    with np.errstate(all="ignore"):
        found = rounded_sums.dot(a, b, d)
        for k in range(DEPTH):
            wanted = fma32(a[:, k].repeat(64), np.tile(b[:, k], 16), wanted)
    np.testing.assert_array_equal(
        found.view(np.uint32).ravel(), wanted.view(np.uint32), strict=True
    )


# Both groups read D before the barrier, and leave the same.
def test_every_four_warps_are_a_group(backend):
    a, b, d = drawn(32)
    stored, of_a, of_b = operands(a, b)
    found = d.copy()
    launch(kernel(32, held=False), stored, a, of_a, of_b, found, threads=256)
    assert is_product(found, a, b, d)


# ---------------------------------------------------------------- counts, checkers


def arguments(a, b, d):
    """Operands in shared memory, as `ck.count` and the checkers want them."""
    stored, of_a, of_b = operands(a, b)
    given = stored.view(np.uint32), stored.size, a.view(np.uint32)
    return (*given, of_a, of_b, d.copy(), 1), stored.nbytes


def test_operations_are_counted_as_those_of_tensor_cores():
    given, nbytes = arguments(*drawn(96))
    counters = ck.count(kernel(96, held=False), 1, 128, given, shared_bytes=nbytes)
    assert counters.tensor_flops == 2 * ROWS * 96 * DEPTH


# The kernel's own loads are from global memory.
def test_reads_of_shared_memory_are_no_requests():
    given, nbytes = arguments(*drawn(96))
    counters = ck.count(kernel(96, held=False), 1, 128, given, shared_bytes=nbytes)
    assert counters.shared_load_requests == 0


def test_compiled_code_leaves_products_to_the_interpreter():
    (stored, words, held, of_a, of_b, d, adds), nbytes = arguments(*drawn(32))
    memory = Memory()
    ptx = ck.compile(source(32, held=True), arch="sm_90a").ptx
    loaded, pointers = load(ptx, memory), []
    for array in (stored, held, d):
        data = storage(array.nbytes)
        data[:] = array.view(np.uint8).ravel()
        pointers.append(memory.allocate(array.nbytes, data=data).address)
    given = [pointers[0], words, pointers[1], of_a, of_b, pointers[2], adds]
    sizes, params = ((1, 1, 1), (128, 1, 1)), np.array(given, np.uint64).tobytes()
    made = simulated(
        loaded, "k", *sizes, params, shared_bytes=nbytes, engine="compiled"
    )
    assert made.engine == "interpreter"
    assert made.note == "interpreted: products of warpgroups"


@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "initcheck", "synccheck"])
def test_nothing_is_found_in_a_product(checker):
    given, nbytes = arguments(*drawn(32))
    check = getattr(ck, checker)
    found = check(kernel(32, held=False), 1, 128, given, shared_bytes=nbytes)
    assert list(found) == []


def checked(check, text: str):
    """Findings of a kernel with both operands in shared memory."""
    given, nbytes = arguments(*drawn(32))
    run = ck.compile(text, arch="sm_90a").k
    return list(check(run, 1, 128, given, shared_bytes=nbytes))


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_product_before_the_barrier_is_a_race():
    text = source(32, held=False).replace("__syncthreads();", "")
    found = checked(ck.racecheck, text)
    assert {one.error.line for one in found} == {line_of(text, ".reg .pred")}


def test_a_write_after_the_wait_is_a_race_with_other_warps():
    text = source(32, held=False)
    last = text.rindex("for (int i = 0")
    text = text[:last] + "data[t] = 0;\n" + text[last:]
    found = checked(ck.racecheck, text)
    assert {one.error.line for one in found} == {line_of(text, ".reg .pred")}


# Lane 31 writes what lane 0 of its own warp counts as having read: a row of A.
@pytest.mark.parametrize(("waits", "races"), [(True, 0), (False, 1)])
def test_a_wait_orders_the_reads_of_a_warp(waits, races):
    text, first = source(32, held=False), operands(*drawn(32)[:2])[1] * 4 & 0xFFFF
    last = text.rindex("for (int i = 0")
    text = text[:last] + f"if (t == 31) data[{first}] = 0;\n" + text[last:]
    if not waits:
        text = text.replace("wait_group.sync.aligned 0", "commit_group.sync.aligned")
    assert len(checked(ck.racecheck, text)) == races


def test_a_product_of_what_nothing_wrote_is_found():
    text = source(32, held=False).replace("i < words", "i < words / 2")
    (found,) = checked(ck.initcheck, text)
    assert "which nothing has written" in str(found.error)


def test_what_a_product_adds_to_counts_as_read():
    """Or what loads D would seem to be needed by nobody."""
    loaded = load(ck.compile(source(32, held=False), arch="sm_90a").ptx, Memory())
    (product,) = (
        instruction
        for instruction in loaded.kernel("k").instructions
        if instruction.name.startswith("wgmma.mma_async")
    )
    written, read = dataflow.registers_of(product)
    assert len(written) == 16
    assert set(written) < set(read)


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("before", "threads", "what"),
    [
        ("if (t == 70) return;", 128, "lane 6 of its warp is elsewhere"),
        ("", 120, "lane 24 of its warp does not exist"),
        ("", 96, "the block has 3 warps"),
        ("", 192, "the block has 6 warps"),
    ],
)
def test_a_product_without_all_threads_is_an_error(before, threads, what):
    a, b, d = drawn(32)
    run, (stored, of_a, of_b) = kernel(32, held=True, before=before), operands(a, b)
    with pytest.raises(errors.BarrierError, match=what):
        launch(run, stored, a, of_a, of_b, d, threads=threads)


# A start too far on, a distance along k, and one of eight rows.
@pytest.mark.parametrize("bits", [0x1000, 0x3FFF << 16, 0x3FFF << 32])
def test_a_matrix_outside_of_shared_memory_is_an_error(bits):
    a, b, d = drawn(32)
    stored, of_a, of_b = operands(a, b)
    where = f"byte .* of data, which has {stored.nbytes} bytes"
    with pytest.raises(errors.OutOfBoundsError, match=where) as caught:
        launch(kernel(32, held=True), stored, a, of_a, of_b | bits, d)
    assert caught.value.line == line_of(source(32, held=True), ".reg .pred")


def test_a_block_without_shared_memory_has_no_matrices():
    text = source(32, held=True).replace("data[i] = stored[i];", ";")
    text = text.replace("shared_address(data) >> 4", "0")
    text = re.sub("extern __shared__.*;", "", text)
    a, b, d = drawn(32)
    with pytest.raises(errors.OutOfBoundsError, match="no array is there"):
        launch(ck.compile(text, arch="sm_90a").k, *operands(a, b)[:1], a, 0, 0, d)


@pytest.mark.parametrize("before", ["right += lane == 9;", "adds = lane != 9;"])
def test_threads_that_disagree_about_a_product_are_an_error(before):
    a, b, d = drawn(32)
    run, (stored, of_a, of_b) = kernel(32, held=True, before=before), operands(a, b)
    with pytest.raises(errors.KernelError, match="in its lane 9, .* in lane 0"):
        launch(run, stored, a, of_a, of_b, d)


def test_a_base_offset_is_refused():
    a, b, d = drawn(32)
    swizzled = Layout(128)
    stored, of_a, of_b = operands(a, b, right=swizzled)
    with pytest.raises(errors.UnsupportedError, match="a base offset in a descriptor"):
        launch(kernel(32, held=True), stored, a, of_a, of_b | 1 << 49, d)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("n32k8.f32.tf32.tf32", "n32k16.f32.bf16.bf16", "has no `wgmma.mma_async"),
        ("n32k8", "n36k8", "has no `wgmma.mma_async"),
        ("n32k8", "n64k8", "with these operands"),
        ("adds, 1, 1", "adds, 1, 2", "with these operands"),
        ("adds, 1, 1", "adds, 1", "with these operands"),
        ("wgmma.commit", "@%0 wgmma.commit", "under a predicate"),
    ],
)
def test_what_is_not_simulated_is_refused(old, new, why):
    text = source(32, held=True).replace(old, new)
    if new.startswith("@"):
        text = text.replace('aligned;" ::: "memory")', 'aligned;" :: "r"(adds))')
    a, b, d = drawn(32)
    run, (stored, of_a, of_b) = ck.compile(text, arch="sm_90a").k, operands(a, b)
    with pytest.raises(errors.UnsupportedError, match=why):
        launch(run, stored, a, of_a, of_b, d)
