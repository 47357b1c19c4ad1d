"""Loads that the compiler of a tile language repeats are no race with the store."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.analysis.checking import tile_racecheck

pytestmark = pytest.mark.usefixtures("simulated")

# The compiler would move a plain load to where its value is used.
SOURCE = """
#define LOAD(v, p) asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory")
#define LOAD_TILE(v, p) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) \\
    : "r"((unsigned)__cvta_generic_to_shared(p)) : "memory")
__global__ void in_place(float *x) {   // all threads load, half of them store
    int i = threadIdx.x % (blockDim.x / 2);
    float v;
    LOAD(v, x + i);
    if (threadIdx.x == i) x[i] = 2 * v + blockIdx.x;
}
__global__ void neighbour(float *x) {  // a thread loads what another one stores
    int i = threadIdx.x;
    float v;
    LOAD(v, x + (i + 1) % blockDim.x);
    x[i] = 2 * v;
}
__global__ void two_loads(float *x, float *y) {
    int i = threadIdx.x % (blockDim.x / 2);
    float v, w;
    LOAD(v, x + i);
    if (threadIdx.x == i) x[i] = 2 * v;
    LOAD(w, x + i);                    // what was stored, by another load
    y[threadIdx.x] = w;
}
__global__ void shared_tile(float *x) {
    __shared__ float tile[32];
    int i = threadIdx.x % 32;
    float v;
    if (threadIdx.x < 32) tile[i] = x[i];
    __syncthreads();
    LOAD_TILE(v, tile + i);
    if (threadIdx.x < 32) tile[i] = 2 * v;
}
"""


@pytest.fixture(scope="module")
def module():
    return ck.compile(SOURCE)


def numbers(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def test_copies_of_a_load_are_excused(module):
    launch = module.in_place, 1, 64, (numbers(32),)
    assert len(ck.racecheck(*launch)) == 1
    assert len(tile_racecheck(*launch)) == 0


def test_the_same_load_in_another_block_is_a_race(module):
    launch = module.in_place, 2, 64, (numbers(32),)
    assert any("of block (0, 0, 0)" in each.message for each in tile_racecheck(*launch))


def test_a_load_of_what_another_thread_stores_is_a_race(module):
    assert len(tile_racecheck(module.neighbour, 1, 64, (numbers(64),))) == 1


def test_another_load_of_the_place_is_a_race(module):
    found = tile_racecheck(module.two_loads, 1, 64, (numbers(32), numbers(64)))
    assert "LOAD(w, x + i)" in found[0].message
    assert len(found) == 1


def test_shared_memory_is_watched_as_ever(module):
    launch = module.shared_tile, 1, 64, (numbers(32),)
    assert len(tile_racecheck(*launch)) == len(ck.racecheck(*launch)) == 1
