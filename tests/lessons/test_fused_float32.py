"""Float32 by products in TF32 is as near to float64 as float32 is, on tensor cores too.

A tensor core cuts sums off where the simulator rounds them. Here its products are
replaced by such ones, and a block computes what each convolution multiplies. And what a
weight loses where it is stored is not lost.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import coursekit as ck
from coursekit import paths
from coursekit.lessons.mnist import FULL
from coursekit.lessons.mnist.fused.tuned import Float32Plan, TunedLayout, TunedPlan
from coursekit.simt.interpreter import products, warpgroups
from coursekit.simt.interpreter.program import load
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch
from coursekit.toolchain import building

FIRST, SECOND = FULL.channels
SIDE, PIXELS, THREADS = 14, 196, 256  # of p1 and c2; of a block
MORE = 2  # bits below float32's last with which a tensor core adds


def sum_cut_off(terms: list[np.ndarray]) -> np.ndarray:
    """Add up numbers and cut off in place of rounding, all aligned with the largest."""
    unit = np.exp2(np.frexp(np.abs(terms).max(axis=0))[1] - 24.0 - MORE)
    total = np.trunc(terms / unit).sum(axis=0) * unit
    last = np.exp2(np.frexp(total)[1] - 24.0)
    return (np.trunc(total / last) * last).astype(np.float32)


def cut(form, a, b, c) -> list[np.ndarray]:
    """Multiply as `products.product` does, for a warp, and cut off."""
    a = [products.parts(words, form.kind)[0].astype(np.float64) for words in a]
    b = [products.parts(words, form.kind)[0].astype(np.float64) for words in b]
    terms = [np.concatenate(c).astype(np.float64)]
    for k in range(form.depth):
        step, t, _ = form.place(k)
        top, bottom = (a[2 * step + h][products.top_lanes(t)] for h in (0, 1))
        even, odd = (b[step][products.side_lanes(t, n)] for n in (0, 1))
        left = np.concatenate([top, top, bottom, bottom])
        terms.append(left * np.concatenate([even, odd, even, odd]))
    return list(sum_cut_off(terms).reshape(4, 32))


def cut_dot(a, b, d) -> np.ndarray:
    """Multiply as `rounded_sums.dot` does, for a warp of a warpgroup, and cut off."""
    left, right = a.T.astype(np.float64), b.T.astype(np.float64)
    return sum_cut_off([d.astype(np.float64), *(left[:, :, None] * right[:, None, :])])


ONE_BLOCK = """
extern "C" __global__ void one_block(
    const float *params, const float *p1, const float *dy, float *to,
    float *pooled, unsigned char *where)
{
    extern __shared__ float4 shared[];
    STRUCT &s = *(STRUCT *)shared;
    fill((float *)shared, sizeof(STRUCT) / sizeof(float), 0);
    __syncthreads();
    CODE
}"""
FORWARD = """
    load_weights(s, params);
    for (int i = threadIdx.x; i < POOLED1 * C1 / 4; i += THREADS)
        s.put(i / (C1 / 4), i % (C1 / 4) * 4, ((const float4 *)p1)[i]);
    show_products();
    __syncthreads();
    double sum[2][2];
    if (threadIdx.x < 128)
        second_layer<8>(s, 0, 0, sum, {to, pooled, where});
    else
        second_layer<6>(s, 8, 4, sum, {to, pooled, where});"""
BY_DATA = """
    load_weights(s, params);
    for (int i = threadIdx.x; i < POOLED1 * C2; i += THREADS)
        s.dy[dy_place(i / C2 / SIDE1, i / C2 % SIDE1) + i % C2] = dy[i];
    show_products();
    __syncthreads();
    float v[2][16] = {};
    by_data(s, v);
    __syncthreads();
    store_dp1(s, v);
    __syncthreads();
    for (int i = threadIdx.x; i < POOLED1 * C1; i += THREADS)
        to[i] = s.dy[dy_place(i / C1 / SIDE1, i / C1 % SIDE1) + i % C1];"""
BY_WEIGHTS = """
    if (threadIdx.x < C2)
        s.bn2.slope[threadIdx.x] = 1;
    copy_floats(s.c2, dy, POOLED1 * C2);
    copy_p1(s, {0, 1, 1, nullptr, nullptr, p1, nullptr}, 0);
    wait_for_copies();
    __syncthreads();
    make_gradient(s);
    show_products();
    __syncthreads();
    float found[TURNS][16] = {};
    by_weights(s, found);
    store_by_weights(found, to);"""
CODE = {
    "forward": ("forward_convolutions_float32.cu", "ForwardShared", FORWARD),
    "by data": ("float32_by_data.cuh", "DataShared", BY_DATA),
    "by weights": ("float32_by_weights.cuh", "WeightsShared", BY_WEIGHTS),
}


def text_of(name: str, spoiled: tuple = ()) -> str:
    """Return the text of a file and a kernel that calls what it has, maybe spoiled."""
    folder = paths.kernels() / "mnist_tuned"
    file, struct, code = CODE[name]
    text = (folder / file).read_text(encoding="utf-8").replace("#pragma once", "")
    for old, new in spoiled:
        assert old in text
        text = text.replace(old, new)
    text += ONE_BLOCK.replace("STRUCT", struct).replace("CODE", code)
    for own in re.findall(r'#include "(.+)"', text):
        if (folder / own).exists():
            text = text.replace(f'"{own}"', f'"mnist_tuned/{own}"')
    return text


def of_block(name: str, results: int, spoiled: tuple = ()) -> np.ndarray:
    """Let one block compute its results, in the interpreter."""
    memory, regions = Memory(), []
    text = text_of(name, spoiled)
    module = ck.compile(text, defines={"PRECISION": 3}, arch="sm_90a")
    loaded = load(module.ptx, memory)
    to = (np.zeros(size, np.float32) for size in (results, PIXELS // 4 * SECOND))
    where = np.zeros(PIXELS // 4 * SECOND, np.uint8)
    for array in (parameters(), *given()[:2], *to, where):
        data = storage(array.nbytes)
        data[:] = array.view(np.uint8).ravel()
        regions.append(memory.allocate(array.nbytes, name="x", data=data))
    launch(
        loaded, "one_block", (1, 1, 1), (THREADS, 1, 1),
        np.array([r.address for r in regions], np.uint64).tobytes(),
        shared_bytes=max(Float32Plan(2).shared_bytes.values()), engine="interpreter",
    )  # fmt: skip
    return regions[3].data.view(np.float32).astype(np.float64)


def patches(picture: np.ndarray) -> np.ndarray:
    """Return for each pixel its neighbours: (pixel, tap, channel)."""
    wide = np.pad(picture, ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (0, 1))
    return windows.transpose(0, 1, 3, 4, 2).reshape(PIXELS, 9, -1)


@functools.cache
def given():
    """A picture of p1, one of the gradient by c2, weights (tap, c, k)."""
    random = np.random.default_rng(7)
    p1 = np.maximum(random.normal(0, 1, (SIDE, SIDE, FIRST)), 0).astype(np.float32)
    dy = random.normal(0, 1, (SIDE, SIDE, SECOND)).astype(np.float32)
    w = random.uniform(-0.06, 0.06, (9, FIRST, SECOND)).astype(np.float32)
    return p1, dy, w


def placed(turned: bool) -> np.ndarray:
    """Return the places of weights (tap, c, k) in the kernels' order."""
    places = TunedLayout(FULL)._conv2_places(turned=turned)
    return places.transpose(2, 3, 1, 0).reshape(9, FIRST, SECOND)


def parameters() -> np.ndarray:
    """The kernels' array of parameters, with conv2's weights alone."""
    layout, w = TunedLayout(FULL), given()[2]
    found = np.zeros(layout.parameters, np.float32)
    for part in ("forward", "backward"):
        found[layout.starts[part] + placed(turned=part == "backward")] = w
    return found


def factors(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what a convolution multiplies: (m, k) and (k, n)."""
    p1, dy, w = given()
    if name == "forward":
        return patches(p1).reshape(PIXELS, -1), w.reshape(-1, SECOND)
    if name == "by data":
        right = w[::-1].transpose(0, 2, 1).reshape(-1, FIRST)
        return patches(dy).reshape(PIXELS, -1), right
    return patches(p1).reshape(PIXELS, -1).T, dy.reshape(-1, SECOND)


def distances(name: str, spoiled: tuple = ()) -> tuple[float, float]:
    """How far from float64 a block's results are, and those of float32's sums."""
    left, right = factors(name)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    found = of_block(name, exact.size, spoiled)
    if name == "by weights":
        found = found[placed(turned=False).ravel()]
    far = np.linalg.norm(found.reshape(exact.shape) - exact)
    return far, np.linalg.norm(summed(left, right) - exact)


def summed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Add products up one after the other, each sum rounded to float32."""
    found = np.zeros((len(left), right.shape[1]), np.float32)
    for a, b in zip(left.T.astype(np.float64), right.astype(np.float64), strict=True):
        found = (found + np.outer(a, b)).astype(np.float32)
    return found


@pytest.fixture
def tensor_cores(monkeypatch):
    """Let the simulator's products cut off."""
    monkeypatch.setattr(products, "product", cut)
    monkeypatch.setattr(warpgroups, "dot", cut_dot)


@pytest.mark.parametrize("name", CODE)
def test_cut_off_sums_are_no_farther_from_float64_than_float32(name, tensor_cores):
    far, of_float32 = distances(name)
    assert 0 < far <= of_float32


# What lets the tensor cores keep a sum to its end, which the kernels begin anew.
KEPT = {
    "forward": (
        ("own[0]", "c"), ("own[1]", "c"), ("i > 0);", "1);"), ("c[i] += own[i];", ""),
    ),
    "by data": (
        ("products(own, a[0], w, 0)", "products(v, a[0], w, 1)"),
        ("products(own, a[1]", "products(v, a[1]"),
        ("v[i / 16][i % 16] += own[i / 16][i % 16];", ""),
    ),
    "by weights": (
        ("now.multiply<", "now.take(sums[i]);\n        now.multiply<"),
        ("struct Turn {", """struct Turn {
            __device__ void take(const float (&from)[16])
            {
                for (int i = 0; i < 16; ++i)
                    sum[i] = from[i];
            }"""),
        ("low[i], dy + i * STEP, i > 0)", "low[i], dy + i * STEP, 1)"),
        ("to[i] += sum[i]", "to[i] = sum[i]"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_sums_that_tensor_cores_keep_are_farther(name, tensor_cores):
    far, of_float32 = distances(name, KEPT[name])
    assert of_float32 < far < 100 * of_float32  # it is the last digits that are lost


@pytest.mark.parametrize(
    ("term", "rounded", "cut_off"),
    [(2.0**-26, 1 + 2.0**-23, 1), (2.0**-25, 1 + 2.0**-22, 1 + 2.0**-23)],
    ids=["the products", "the sum"],
)
def test_these_tensor_cores_cut_off(term, rounded, cut_off):
    """Of seven terms each is lost, or what they are more than float32 holds."""
    ones = np.ones(32, np.float32).view(np.uint32)
    terms = np.full(32, term, np.float32)
    some = np.where(np.arange(32) % 4 < 3, terms, 0).view(np.uint32)
    b, c = [terms.view(np.uint32), some], [np.ones(32, np.float32)] * 4
    found = cut(products.Form("tf32", 8), [ones] * 4, b, c)
    assert np.float32(1 + 7 * term) == rounded
    assert (np.array(found) == cut_off).all()
    seven = np.array([[term] * 7 + [0]], np.float32)
    assert cut_dot(np.ones((1, 8), np.float32), seven, np.ones((1, 1))) == cut_off


# ---------------------------------------------------------------- machine code

STRUCTS = {
    "forward_convolutions": ("ForwardShared",),
    "backward_convolution": ("DataShared", "WeightsShared"),
}


def file_of(phase: str) -> str:
    assert Float32Plan.arch(phase) == "sm_90a"
    return Float32Plan.file(phase)


@pytest.mark.parametrize("phase", STRUCTS)
def test_a_convolution_spills_no_register(phase):
    found = ck.compile(file_of(phase), arch="sm_90a").resources[phase]
    assert (found.spill_store_bytes, found.spill_load_bytes) == (0, 0)


@pytest.mark.parametrize("phase", STRUCTS)
def test_the_products_of_a_convolution_run_side_by_side(phase):
    module = ck.compile(file_of(phase), arch="sm_90a")
    report = building.machine_code(module._unit, module.target, ()).report
    assert "serialized" not in report


@pytest.mark.parametrize("phase", STRUCTS)
def test_shared_memory_of_a_convolution_is_that_of_its_structs(phase):
    """The compiler says no where the numbers differ."""
    most = Float32Plan(2).shared_bytes[phase]
    sizes = [f"sizeof({struct})" for struct in STRUCTS[phase]]
    larger = sizes[0] if len(sizes) == 1 else "({0} > {1} ? {0} : {1})".format(*sizes)
    source = f"""#include "{file_of(phase)}"
    static_assert({larger} == {most}, "the size of a struct");
    """
    assert ck.compile(source).kernels == (phase,)


# ---------------------------------------------------------------- weights

STEPS, RATE = 2, 0.125
SMALL = 2.0**-25  # half of what float32 can take from 1; the tie goes to 1


def small_steps(precision: int) -> dict[str, np.ndarray]:
    """Let weights of 1 go downhill twice, by half a place each time."""
    plan, held = TunedPlan(2), {}
    for name, (size, kind) in plan.arrays.items():
        held[name] = np.zeros(size, kind)
    starts = plan.layout.starts
    held["params"][: starts["padding"]] = 1
    held["dw1"][:] = SMALL / RATE / plan.dw1_parts
    held["dw2"][:] = SMALL / RATE / plan.backward_blocks
    update = plan.launches(1.0, 0.0, np.float32(RATE))[-1]
    kernel = ck.compile("mnist_tuned/update.cu", defines={"PRECISION": precision})
    given = [held[a] if isinstance(a, str) else a for a in update.arguments]
    with ck.simulator():
        for _ in range(STEPS):
            kernel["update"][update.grid, update.block, update.shared_bytes](*given)
    names = "fc1", "exact"
    sizes = plan.layout.sizes
    return {n: held["params"][starts[n] : starts[n] + sizes[n]] for n in names}


def test_small_steps_of_a_float32_weight_add_up():
    found = small_steps(3)
    assert all((weights == 1 - STEPS * SMALL).all() for weights in found.values())


def test_small_steps_of_a_tf32_weight_are_rounded_away():
    found = small_steps(1)
    assert all((weights == 1).all() for weights in found.values())
