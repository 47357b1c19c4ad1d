"""Products of a warp of integers of 8 bits, in every engine."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime.launching import simulate

ENGINES = ("interpreter", "compiled", "general")
DTYPES = {"s8": np.int8, "u8": np.uint8}
FORMS = [*itertools.product((16, 32), ("s8", "u8"), ("s8", "u8"))]
every_form = pytest.mark.parametrize(("depth", "left", "right"), FORMS)
every_engine = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


@functools.cache
def kernel(depth: int, left: str, right: str, saturates: bool = False):
    a, b = depth // 8, depth // 16
    of_a = ", ".join(f"%{4 + i}" for i in range(a))
    of_b = ", ".join(f"%{4 + a + i}" for i in range(b))
    given = [f'"r"(a[{a} * lane + {i}])' for i in range(a)]
    given += [f'"r"(b[{b} * lane + {i}])' for i in range(b)]
    limit = ".satfinite" if saturates else ""
    return ck.compile(
        f"""
        extern "C" __global__ void k(const unsigned* a, const unsigned* b, int* c) {{
            int lane = threadIdx.x, v[4];
            for (int i = 0; i < 4; ++i) v[i] = c[4 * lane + i];
            asm volatile("mma.sync.aligned.m16n8k{depth}.row.col{limit}.s32.{left}"
                ".{right}.s32 {{%0, %1, %2, %3}}, {{{of_a}}}, {{{of_b}}}, "
                "{{%0, %1, %2, %3}};"
                : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]) : {", ".join(given)});
            for (int i = 0; i < 4; ++i) c[4 * lane + i] = v[i];
        }}"""
    ).k


def drawn(depth: int, left: str, right: str):
    random = np.random.default_rng(depth)
    a = random.integers(0, 256, (16, depth), np.uint8).view(DTYPES[left])
    b = random.integers(0, 256, (depth, 8), np.uint8).view(DTYPES[right])
    return a, b, random.integers(-(2**20), 2**20, (16, 8), np.int32)


def fragments(a, b, c) -> tuple[np.ndarray, ...]:
    """Give each lane its elements, as the PTX manual's figures show them."""
    depth = a.shape[1]
    of_a = np.zeros((32, depth // 8, 4), a.dtype)
    of_b = np.zeros((32, depth // 16, 4), b.dtype)
    of_c = np.zeros((32, 4), np.int32)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for i in range(depth // 2):
            row = group if i % 8 < 4 else group + 8
            of_a[lane, i // 4, i % 4] = a[row, 16 * (i // 8) + 4 * thread + i % 4]
        for i in range(depth // 4):
            of_b[lane, i // 4, i % 4] = b[16 * (i // 4) + 4 * thread + i % 4, group]
        for i in range(4):
            of_c[lane, i] = c[group + 8 * (i // 2), 2 * thread + i % 2]
    words = [each.reshape(32, -1).view(np.uint32) for each in (of_a, of_b)]
    return *words, of_c


def matrix(of_c: np.ndarray) -> np.ndarray:
    found = np.zeros((16, 8), np.int32)
    for lane, i in itertools.product(range(32), range(4)):
        group, thread = divmod(lane, 4)
        found[group + 8 * (i // 2), 2 * thread + i % 2] = of_c[lane, i]
    return found


def multiplied(run, arrays, engine: str) -> np.ndarray:
    """Launch in one engine; return the words of C."""
    done = simulate(run, 1, 32, arrays, engine=engine)
    wanted = "interpreter" if engine == "interpreter" else "compiled"
    assert done.result.engine == wanted
    ((_, buffer, _),) = [copy for copy in done.staged.copies if copy[0].position == 2]
    return buffer.read(0, 512).view(np.int32).reshape(32, 4)


@every_engine
@every_form
def test_product_is_that_of_the_matrices(depth, left, right, engine):
    a, b, c = drawn(depth, left, right)
    found = multiplied(kernel(depth, left, right), fragments(a, b, c), engine)
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    np.testing.assert_array_equal(matrix(found), exact)


@every_form
def test_product_on_every_backend(depth, left, right, backend):
    a, b, c = drawn(depth, left, right)
    words = fragments(a, b, c)
    kernel(depth, left, right)[1, 32](*words)
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    np.testing.assert_array_equal(matrix(words[2]), exact)


@every_engine
@pytest.mark.parametrize(
    ("saturates", "start", "sign", "result"),
    [
        (False, 2**31 - 1, 1, -(2**31) - 1 + 32 * 127 * 127),
        (False, -(2**31), -1, 2**31 - 32 * 128 * 127),
        (True, 2**31 - 1, 1, 2**31 - 1),
        (True, -(2**31), -1, -(2**31)),
    ],
)
def test_sums_beyond_32_bits(saturates, start, sign, result, engine):
    a = np.full((16, 32), 127 if sign > 0 else -128, np.int8)
    b, c = np.full((32, 8), 127, np.int8), np.full((16, 8), start, np.int32)
    found = multiplied(kernel(32, "s8", "s8", saturates), fragments(a, b, c), engine)
    assert (found == result).all()


def test_operations_are_counted_as_those_of_tensor_cores():
    words = fragments(*drawn(32, "s8", "s8"))
    counts = ck.count(kernel(32, "s8", "s8"), 1, 32, words)
    assert counts.tensor_flops == 2 * 16 * 8 * 32
