"""Float32 by products in TF32 is as near to float64 as float32 is, on tensor cores too.

A tensor core cuts sums off where the simulator rounds them. Here its products are
replaced by such ones, and one warp computes what it has of a phase. And what a weight
loses where it is stored is not lost.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import coursekit as ck
from coursekit.mnist import FULL
from coursekit.mnist.fused.tuned import TunedLayout, TunedPlan
from coursekit.simt import products
from coursekit.simt.launch import launch
from coursekit.simt.memory import Memory, storage
from coursekit.simt.program import load

FIRST, SECOND = FULL.channels
SIDE, ROWS = 14, 4  # of p1 and c2; rows that a warp has of either
MORE = 2  # bits below float32's last with which a tensor core adds


def cut(form, a, b, c) -> list[np.ndarray]:
    """Multiply as `products.product` does, and cut off in place of rounding.

    Products and the sum that they are added to are aligned with the largest of them.
    """
    a = [products.parts(words, form.kind)[0].astype(np.float64) for words in a]
    b = [products.parts(words, form.kind)[0].astype(np.float64) for words in b]
    terms = [np.concatenate(c).astype(np.float64)]
    for k in range(form.depth):
        step, t, _ = form.place(k)
        top, bottom = (a[2 * step + h][products.top_lanes(t)] for h in (0, 1))
        even, odd = (b[step][products.side_lanes(t, n)] for n in (0, 1))
        left = np.concatenate([top, top, bottom, bottom])
        terms.append(left * np.concatenate([even, odd, even, odd]))
    unit = np.exp2(np.frexp(np.abs(terms).max(axis=0))[1] - 24.0 - MORE)
    total = np.trunc(terms / unit).sum(axis=0) * unit
    last = np.exp2(np.frexp(total)[1] - 24.0)
    return list((np.trunc(total / last) * last).astype(np.float32).reshape(4, 32))


READ = """#define PRECISION 3
#include "mnist_tuned/{phase}.cu"
__device__ void read(float *to, int stride, const float *from, int n, int pixels)
{{
    for (int i = threadIdx.x; i < n * pixels; i += 32)
        to[i / n * stride + i % n] = from[i];
    __syncwarp();
}}
extern "C" __global__ void one_warp(const float *a, const float *b, float *to)
{{
    extern __shared__ float4 shared[];
    {struct} &s = *({struct} *)shared;
"""
FORWARD = """
    read(s.p1, P1_STRIDE, a, C1, P1_PIXELS);
    read(s.w2, 1, b, 1, W2_SIZE);
    float c[4][4][4];
    second_layer(s, c, 0, 0, 4);
    for (int i = 0; i < 64; ++i) {
        int column = i % 4 / 2 * 8 + threadIdx.x / 4;
        int k = channel_of(i / 4 % 4 * 8 + threadIdx.x % 4 * 2 + i % 2);
        to[(i / 16 * 16 + column) * 32 + k] = c[i / 16][i / 4 % 4][i % 4];
    }
}"""
BY_DATA = """
    read(s.dy, DY_STRIDE, a, C2, DY_PIXELS);
    read(s.w2, 1, b, 1, W2_SIZE);
    by_data(s, 0);
    __syncwarp();
    for (int i = threadIdx.x; i < 4 * SIDE1 * C1; i += 32)
        to[i] = s.dp1[i / C1 * DP1_STRIDE + i % C1];
}"""
BY_WEIGHTS = """
    read(s.dy, DY_STRIDE, a, C2, DY_PIXELS);
    read(s.p1, P1_STRIDE, b, C1, P1_PIXELS);
    float v[TAPS][4][4];
    clear(v);
    by_weights(s, v);
    store_by_weights(v, to);
}"""
CODE = {
    "forward": ("forward_convolutions", "ForwardShared", FORWARD),
    "by data": ("backward_convolution", "ConvBackShared", BY_DATA),
    "by weights": ("backward_convolution", "ConvBackShared", BY_WEIGHTS),
}


def warp_of(name: str, a: np.ndarray, b: np.ndarray, results: int) -> np.ndarray:
    """Let one warp compute its part, in the interpreter."""
    phase, struct, code = CODE[name]
    text = READ.format(phase=phase, struct=struct) + code
    memory, regions = Memory(), []
    loaded = load(ck.compile(text).ptx, memory)
    for array in (a, b, np.zeros(results, np.float32)):
        data = storage(array.nbytes)
        data[:] = np.ascontiguousarray(array, np.float32).view(np.uint8).ravel()
        regions.append(memory.allocate(array.nbytes, name="x", data=data))
    launch(
        loaded, "one_warp", (1, 1, 1), (32, 1, 1),
        np.array([r.address for r in regions], np.uint64).tobytes(),
        shared_bytes=TunedPlan(2).shared_bytes[phase], engine="interpreter",
    )  # fmt: skip
    return regions[-1].data.view(np.float32).astype(np.float64)


def padded(pictures: np.ndarray, pitch: int, pixels: int) -> np.ndarray:
    """Put a picture, (row, column, channel), between zeros."""
    found = np.zeros((pixels, pictures.shape[-1]), np.float32)
    rows, columns = np.indices((SIDE, SIDE)) + 1
    found[(rows * pitch + columns).ravel()] = pictures.reshape(SIDE * SIDE, -1)
    return found


def patches(picture: np.ndarray) -> np.ndarray:
    """Return for each pixel its neighbours: (pixel, tap, channel)."""
    wide = np.pad(picture, ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (0, 1))
    return windows.transpose(0, 1, 3, 4, 2).reshape(SIDE * SIDE, 9, -1)


@functools.cache
def given():
    """A picture of p1, one of the gradient by c2, weights (tap, c, k), their places."""
    random = np.random.default_rng(7)
    p1 = np.maximum(random.normal(0, 1, (SIDE, SIDE, FIRST)), 0).astype(np.float32)
    dy = random.normal(0, 1, (SIDE, SIDE, SECOND)).astype(np.float32)
    w = random.uniform(-0.06, 0.06, (9, FIRST, SECOND)).astype(np.float32)
    return p1, dy, w


def placed(turned: bool) -> np.ndarray:
    """Return the places of weights (tap, c, k) in the kernels' order."""
    places = TunedLayout(FULL)._conv2_places(turned=turned)
    return places.transpose(2, 3, 1, 0).reshape(9, FIRST, SECOND)


def problem(name: str):
    """Return two factors, (m, k) and (k, n), and what the warp makes of them."""
    p1, dy, w = given()
    ordered = np.zeros(w.size, np.float32)
    on_chip = padded(p1, 15, 243), padded(dy, 16, 258)
    some = ROWS * SIDE
    if name == "forward":
        ordered[placed(turned=False)] = w
        found = warp_of(name, on_chip[0], ordered, ROWS * 16 * 32)
        found = found.reshape(ROWS, 16, 32)[:, :SIDE].reshape(some, 32)
        return (
            patches(p1)[:some].reshape(some, -1),
            w.reshape(-1, SECOND)[:, :32],
            found,
        )
    if name == "by data":
        ordered[placed(turned=True)] = w
        found = warp_of(name, on_chip[1], ordered, some * FIRST).reshape(some, FIRST)
        right = w[::-1].transpose(0, 2, 1).reshape(-1, FIRST)
        return patches(dy)[:some].reshape(some, -1), right, found
    found = warp_of(name, on_chip[1], on_chip[0], w.size)[placed(turned=False)][:, :8]
    left = patches(p1)[:, :, :8].reshape(SIDE * SIDE, -1).T
    return left, dy.reshape(-1, SECOND), found.reshape(-1, SECOND)


def summed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Add products up one after the other, each sum rounded to float32."""
    found = np.zeros((len(left), right.shape[1]), np.float32)
    for a, b in zip(left.T.astype(np.float64), right.astype(np.float64), strict=True):
        found = (found + np.outer(a, b)).astype(np.float32)
    return found


@pytest.mark.parametrize("name", CODE)
def test_cut_off_sums_are_no_farther_from_float64_than_float32(name, monkeypatch):
    monkeypatch.setattr(products, "product", cut)
    left, right, found = problem(name)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    far = np.linalg.norm(found - exact)
    assert 0 < far <= np.linalg.norm(summed(left, right) - exact)


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
