"""Kernels of the chains whose bytes the fusion model must count right."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

import coursekit as ck

N, ROWS, COLUMNS, BLOCK = 4096, 16, 128, 256
EPSILON = 2.0**-24

SOURCE = """
#define I (blockIdx.x * blockDim.x + threadIdx.x)
__device__ float sigma(float u) { return 1 / (1 + expf(-u)); }
__device__ float bent(float u) { return u * sigma(1.702f * u); }

__global__ void t_is_b_times_c(const float* b, const float* c, float* t) {
    t[I] = b[I] * c[I];
}
__global__ void u_is_a_plus_t(const float* a, const float* t, float* u) {
    u[I] = a[I] + t[I];
}
__global__ void y_is_sigma(const float* u, float* y) { y[I] = sigma(u[I]); }
__global__ void all_sigma(
    const float* a, const float* b, const float* c, float* y) {
    y[I] = sigma(a[I] + b[I] * c[I]);
}

__global__ void z_is_x_plus_bias(
    const float* x, const float* bias, float* z, int columns) {
    z[I] = x[I] + bias[I % columns];
}
__global__ void g_is_bent(const float* z, float* g) { g[I] = bent(z[I]); }
__global__ void all_bent(
    const float* x, const float* bias, float* g, int columns) {
    g[I] = bent(x[I] + bias[I % columns]);
}

// A warp for each row from here on.
__device__ float of_warp(float v, bool most) {
    for (int k = 16; k > 0; k /= 2) {
        float w = __shfl_xor_sync(0xffffffffu, v, k);
        v = most ? fmaxf(v, w) : v + w;
    }
    return v;
}
__global__ void m_is_row_max(const float* x, float* m, int columns) {
    int row = I / 32, lane = I % 32;
    float v = -3e38f;
    for (int k = lane; k < columns; k += 32) v = fmaxf(v, x[row * columns + k]);
    v = of_warp(v, true);
    if (lane == 0) m[row] = v;
}
__global__ void e_is_exp(const float* x, const float* m, float* e, int columns) {
    e[I] = expf(x[I] - m[I / columns]);
}
__global__ void s_is_row_sum(const float* e, float* s, int columns) {
    int row = I / 32, lane = I % 32;
    float v = 0;
    for (int k = lane; k < columns; k += 32) v += e[row * columns + k];
    v = of_warp(v, false);
    if (lane == 0) s[row] = v;
}
__global__ void p_is_e_over_s(const float* e, const float* s, float* p, int columns) {
    p[I] = e[I] / s[I / columns];
}
__global__ void all_softmax(const float* x, float* p) {
    const int PER_LANE = 4;  // rows of 128
    int row = I / 32, lane = I % 32;
    float v[PER_LANE], most = -3e38f, sum = 0;
    for (int k = 0; k < PER_LANE; k++) {
        v[k] = x[(row * PER_LANE + k) * 32 + lane];
        most = fmaxf(most, v[k]);
    }
    most = of_warp(most, true);
    for (int k = 0; k < PER_LANE; k++) sum += v[k] = expf(v[k] - most);
    sum = of_warp(sum, false);
    for (int k = 0; k < PER_LANE; k++)
        p[(row * PER_LANE + k) * 32 + lane] = v[k] / sum;
}
"""


@dataclass(frozen=True)
class Chain:
    """A chain, and the launches that compute it: kernel, threads, tensors, numbers."""

    lines: tuple[str, ...]
    shapes: dict
    apart: tuple[tuple, ...]
    together: tuple


SQUARE = (ROWS, COLUMNS)
CHAINS = {
    "sigmoid(a + b * c)": Chain(
        ("t = b * c", "u = a + t", "y = sigmoid(u)"),
        {"a": N, "b": N, "c": N},
        (
            ("t_is_b_times_c", N, "bct"),
            ("u_is_a_plus_t", N, "atu"),
            ("y_is_sigma", N, "uy"),
        ),
        ("all_sigma", N, "abcy"),
    ),
    "gelu(x + bias)": Chain(
        ("z = x + bias", "g = gelu(z)"),
        {"x": SQUARE, "bias": COLUMNS},
        (
            ("z_is_x_plus_bias", ROWS * COLUMNS, ("x", "bias", "z"), COLUMNS),
            ("g_is_bent", ROWS * COLUMNS, "zg"),
        ),
        ("all_bent", ROWS * COLUMNS, ("x", "bias", "g"), COLUMNS),
    ),
    "softmax": Chain(
        ("m = max(x, axis=-1)", "e = exp(x - m)", "s = sum(e, axis=-1)", "p = e / s"),
        {"x": SQUARE},
        (
            ("m_is_row_max", 32 * ROWS, "xm", COLUMNS),
            ("e_is_exp", ROWS * COLUMNS, "xme", COLUMNS),
            ("s_is_row_sum", 32 * ROWS, "es", COLUMNS),
            ("p_is_e_over_s", ROWS * COLUMNS, "esp", COLUMNS),
        ),
        ("all_softmax", 32 * ROWS, "xp"),
    ),
}


@functools.cache
def module():
    """Compile the kernels once."""
    return ck.compile(SOURCE, name="fused.cu")


def tensors(name: str) -> dict[str, np.ndarray]:
    """Make the inputs of a chain, and room for every result, filled with NaN."""
    chain = CHAINS[name]
    found = {
        key: np.random.default_rng(len(key)).standard_normal(shape).astype(np.float32)
        for key, shape in chain.shapes.items()
    }
    for operation in ck.fusion(chain.lines, chain.shapes).operations:
        room = np.full(operation.result.shape, np.nan, np.float32)
        found[operation.name] = room
    return found


def launch(one: tuple, held: dict[str, np.ndarray]) -> tuple:
    """Grid, block and arguments of one launch."""
    name, threads, keys, *numbers = one
    block = min(BLOCK, threads)
    return module()[name], threads // block, block, (*(held[k] for k in keys), *numbers)


def counted(launches: tuple, held: dict[str, np.ndarray]) -> int:
    """Bytes that the simulator counts for launches, one after the other."""
    total = 0
    for one in launches:
        kernel, grid, block, arguments = launch(one, held)
        counts = ck.count(kernel, grid, block, arguments)
        total += counts.bytes_read + counts.bytes_written
        kernel[grid, block](*arguments)  # the next one reads the result
    return total
