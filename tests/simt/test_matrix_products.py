"""Products of a warp on the tensor cores: their values, their counts, their errors."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.simt.interpreter import products
from coursekit.simt.interpreter.program import load
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch

FORMS = [products.Form(kind, depth)
         for kind, depths in products._DEPTHS.items() for depth in depths]  # fmt: skip
ENGINES = ("interpreter", "compiled", "general")
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda f: f"{f.kind}-{f.depth}")
EXACT = {"tf32": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8}


def source(form: products.Form, before: str = "") -> str:
    """A kernel that multiplies what it finds in the order of lanes."""
    a, b = form.words
    registers = ", ".join(f"%{4 + i}" for i in range(a))
    columns = ", ".join(f"%{4 + a + i}" for i in range(b))
    given = ", ".join(
        [f'"r"(a[{a} * lane + {i}])' for i in range(a)]
        + [f'"r"(b[{b} * lane + {i}])' for i in range(b)]
    )
    return f"""
    extern "C" __global__ void k(const unsigned* a, const unsigned* b, float* c) {{
        int lane = threadIdx.x;
        float v[4] = {{c[4 * lane], c[4 * lane + 1], c[4 * lane + 2], c[4 * lane + 3]}};
        {before}
        asm volatile("mma.sync.aligned.m16n8k{form.depth}.row.col.f32.{form.kind}"
            ".{form.kind}.f32 {{%0, %1, %2, %3}}, {{{registers}}}, {{{columns}}}, "
            "{{%0, %1, %2, %3}};"
            : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3]) : {given});
        for (int i = 0; i < 4; ++i) c[4 * lane + i] = v[i];
    }}
    """


@functools.cache
def program(form: products.Form, before: str = "") -> str:
    return ck.compile(source(form, before), arch="sm_80").ptx


def bits_of(values: np.ndarray, kind: str) -> np.ndarray:
    """Return the bits of float32 values in a type, cut off where they do not fit."""
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint32)
    bits = values.astype(np.float32).view(np.uint32)
    return bits >> np.uint32(16) if kind == "bf16" else bits & np.uint32(0xFFFFE000)


def value_of(bits: np.ndarray, kind: str) -> np.ndarray:
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    shift = np.uint32(16 if kind == "bf16" else 0)
    return (bits << shift).view(np.float32).astype(np.float64)


def fragments(form: products.Form, a, b, c) -> tuple[np.ndarray, ...]:
    """Give each lane its words, as the PTX manual's figures show them."""
    of_a, of_b = (np.zeros((32, n), np.uint32) for n in form.words)
    of_c = np.zeros((32, 4), np.float32)
    each = form.each
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for word in range(of_a.shape[1]):
            row, k = group + 8 * (word % 2), 4 * each * (word // 2) + each * thread
            for part in range(each):
                of_a[lane, word] |= a[row, k + part] << np.uint32(16 * part)
        for word in range(of_b.shape[1]):
            k = 4 * each * word + each * thread
            for part in range(each):
                of_b[lane, word] |= b[k + part, group] << np.uint32(16 * part)
        for word in range(4):
            of_c[lane, word] = c[group + 8 * (word // 2), 2 * thread + word % 2]
    return of_a, of_b, of_c


def matrix(of_c: np.ndarray) -> np.ndarray:
    """Put the results of the lanes together."""
    found = np.zeros((16, 8), np.float32)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for word in range(4):
            row, column = group + 8 * (word // 2), 2 * thread + word % 2
            found[row, column] = of_c[lane, word]
    return found


def run(ptx: str, arrays, engine: str, threads: int = 32):
    """Launch on one block; returns the counters and the last array."""
    memory = Memory()
    regions = []
    loaded = load(ptx, memory)
    for array in arrays:
        data = storage(array.nbytes)
        data[:] = array.view(np.uint8).ravel()
        regions.append(memory.allocate(array.nbytes, name="x", data=data))
    params = np.array([r.address for r in regions], np.uint64).tobytes()
    grids = (1, 1, 1), (threads, 1, 1)
    result = launch(loaded, "k", *grids, params, counters=True, engine=engine)
    assert result.engine in (engine, "compiled")
    return result.counters, regions[-1].data.view(np.float32).reshape(32, 4).copy()


def drawn(form: products.Form, seed: int = 0):
    random = np.random.default_rng(seed)
    a, b = (random.standard_normal(s) for s in ((16, form.depth), (form.depth, 8)))
    c = random.standard_normal((16, 8)).astype(np.float32)
    return bits_of(a, form.kind), bits_of(b, form.kind), c


@every_form
@pytest.mark.parametrize("engine", ENGINES)
def test_product_is_that_of_the_matrices(form, engine):
    a, b, c = drawn(form)
    _, found = run(program(form), fragments(form, a, b, c), engine)
    left, right = value_of(a, form.kind), value_of(b, form.kind)
    wanted = left @ right + c
    # Each of the sums is rounded; none is larger than that of all sizes.
    off = form.depth * 2.0**-24 * (np.abs(left) @ np.abs(right) + np.abs(c))
    assert (np.abs(matrix(found) - wanted) <= off).all()


@every_form
def test_engines_give_the_same_bits_for_any_bits(form):
    random = np.random.default_rng(3)
    a, b = (random.integers(0, 2**32, (32, n), np.uint32) for n in form.words)
    c = random.integers(0, 2**32, (32, 4), np.uint32).view(np.float32)
    found = [run(program(form), (a, b, c), engine)[1] for engine in ENGINES]
    for other in found[1:]:
        np.testing.assert_array_equal(
            other.view(np.uint32), found[0].view(np.uint32), strict=True
        )


def test_low_bits_of_tf32_are_not_read():
    form = products.Form("tf32", 8)
    a, b, c = fragments(form, *drawn(form))
    noise = np.random.default_rng(1).integers(0, 1 << 13, a.shape, np.uint32)
    _, clean = run(program(form), (a, b, c), "interpreter")
    _, noisy = run(program(form), (a | noise, b, c), "interpreter")
    np.testing.assert_array_equal(noisy, clean, strict=True)


def test_sums_are_made_in_the_order_of_columns():
    form = products.Form("tf32", 4)
    a, b, c = (
        np.zeros((16, 4), np.float32),
        np.ones((4, 8), np.float32),
        np.zeros((16, 8)),
    )
    a[0] = 2.0**24, 1, 1, -(2.0**24)  # 1 is lost twice, after the first
    bits = bits_of(a, "tf32"), bits_of(b, "tf32"), c.astype(np.float32)
    _, found = run(program(form), fragments(form, *bits), "interpreter")
    assert matrix(found)[0, 0] == 0


@every_form
@pytest.mark.parametrize("engine", ENGINES)
def test_operations_of_tensor_cores_are_counted(form, engine):
    counters, _ = run(program(form), fragments(form, *drawn(form)), engine)
    assert counters.tensor_flops == 2 * 16 * 8 * form.depth
    assert counters.label("tensor_flops") == "exact"


@pytest.mark.parametrize(
    ("before", "threads", "where"),
    [
        ("if (lane == 5) return;", 32, "is elsewhere"),
        ("", 24, "does not exist"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_product_without_a_lane_is_an_error(before, threads, where, engine):
    form = products.Form("tf32", 8)
    given = fragments(form, *drawn(form))
    with pytest.raises(errors.BarrierError, match=f"lane .* of its warp {where}"):
        run(program(form, before), given, engine, threads)


def test_product_of_other_types_is_refused():
    text = program(products.Form("f16", 16)).replace(
        ".f32.f16.f16.f32", ".f16.f16.f16.f16"
    )
    with pytest.raises(errors.UnsupportedError, match="has no `mma"):
        run(text, fragments(products.Form("f16", 16), *drawn(products.Form("f16", 16))),
            "interpreter")  # fmt: skip


def test_product_with_too_few_words_is_refused():
    form = products.Form("tf32", 8)
    text = program(form).replace("m16n8k8", "m16n8k4")
    with pytest.raises(errors.UnsupportedError, match="with these operands"):
        run(text, fragments(form, *drawn(form)), "interpreter")


@every_form
def test_what_lanes_hold_covers_each_matrix_once(form):
    a = np.arange(16 * form.depth).reshape(16, form.depth) % 64
    b = np.arange(8 * form.depth).reshape(form.depth, 8) % 64
    bits = [bits_of(x.astype(np.float32), form.kind) for x in (a, b)]
    c = np.zeros((16, 8), np.float32)
    _, found = run(program(form), fragments(form, *bits, c), "interpreter")
    np.testing.assert_array_equal(
        matrix(found), (a @ b).astype(np.float32), strict=True
    )
