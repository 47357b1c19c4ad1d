"""racecheck's advice: an atomic or an index where a barrier would not help."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

BARRIERS = ("__syncthreads()", "__syncwarp()", "put a barrier", "no barrier between")


def check(source: str, grid, block, *arguments, order="forward", engine="auto"):
    from coursekit.analysis import checking
    from coursekit.simt import RaceCheck

    kernel = ck.compile(source)["k"]
    launch = (kernel, grid, block, copy.deepcopy(arguments), 0, False)
    with ck.simulator(timeout_s=20, order=order):
        return checking._observed("racecheck", RaceCheck(), launch, False, engine)


# Each updates an element that several threads share, without an atomic.
UPDATES = {
    "sum": "total[0] += x[i];",
    "count": "total[x[i] & 3]++;",
    "maximum": "if (x[i] > total[0]) total[0] = x[i];",
    "minimum": "total[0] = min(total[0], x[i] - 999);",
    "scaled": "total[i / 2] = 3 * total[i / 2] + i;",
    "in a loop": "for (int k = 0; k < 3; k++) total[k] += x[i];",
    "in shared memory": "__shared__ int s[4]; if (threadIdx.x < 4) s[threadIdx.x] = 0;"
                        "__syncthreads(); s[x[i] & 3] += 1; __syncthreads();"
                        "if (threadIdx.x < 4) atomicAdd(total + threadIdx.x, s[0]);",
}  # fmt: skip
HEAD = (
    "__global__ void k(int *total, const int *x)\n"
    "{{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n{body} }}"
)
# Lanes of one warp, warps of one block, and blocks.
SHAPES = [(1, 32), (1, 128), (4, 32), (3, 64)]


def said(name: str, grid: int, block: int, **options) -> set:
    """Return the cause and the cure of each finding about an update."""
    arrays = np.zeros(384, np.int32), np.arange(384, dtype=np.int32) // 2
    found = check(HEAD.format(body=UPDATES[name]), grid, block, *arrays, **options)
    return {(one.severity, *one.message.split("\n")[-2:]) for one in found}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", UPDATES)
def test_update_without_an_atomic_advises_the_atomic(name, shape):
    ((severity, cause, cure),) = said(name, *shape)
    assert severity == "error"
    assert "reads the element, computes, and writes it back" in cause
    assert "atomicAdd()" in cure
    assert "a barrier does not help" in cure


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("order", ["forward", "reverse", 3, 7])
@pytest.mark.parametrize("name", ["sum", "maximum", "in shared memory"])
def test_advice_is_the_same_in_every_engine_and_order(name, order, engine):
    expected = said(name, 1, 32)
    assert said(name, 3, 128, order=order, engine=engine) == expected


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
def test_update_is_not_called_a_missing_barrier(order):
    arrays = np.zeros(4, np.int32), np.arange(256, dtype=np.int32)
    (found,) = check(HEAD.format(body=UPDATES["sum"]), 1, 128, *arrays, order=order)
    assert "this update is not atomic" in found.message
    assert not [words for words in BARRIERS if words in found.message]


NOT_UNIQUE = "__global__ void k(int *x)\n{{\n    {body}\n}}"
STORES = {
    "device memory": "x[threadIdx.x / 2] = threadIdx.x;",
    "shared memory": "__shared__ int s[64]; s[threadIdx.x / 2] = threadIdx.x;"
                     "__syncthreads(); x[threadIdx.x] = s[threadIdx.x];",
}  # fmt: skip


@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize("name", STORES)
def test_lanes_of_one_store_never_need_a_barrier(name, block):
    source = NOT_UNIQUE.format(body=STORES[name])
    (found,) = check(source, 1, block, np.zeros(64, np.int32))
    what, *_, cause, cure = found.message.split("\n")
    assert "lanes of one instruction write the same element" in what
    assert "index" in cause
    assert "atomic" in cure
    assert not [words for words in BARRIERS if words in what + cause + cure]


@pytest.mark.parametrize("name", STORES)
def test_threads_of_one_store_are_told_of_the_index(name):
    body = STORES[name].replace("threadIdx.x / 2", "threadIdx.x % 32")
    (found,) = check(NOT_UNIQUE.format(body=body), 1, 64, np.zeros(64, np.int32))
    assert "an index that is not unique" in found.message


# A thread writes what the next one reads: here a barrier does help.
NEIGHBOURS = {
    "in place": "int t = threadIdx.x; if (t < 63) x[t] += x[t + 1];",
    "shared": "__shared__ int s[64]; int t = threadIdx.x; s[t] = x[t];"
              "s[t] += s[63 - t]; x[t] = s[t];",
}  # fmt: skip


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_read_of_a_neighbour_is_told_of_the_barrier(name):
    source = NOT_UNIQUE.format(body=NEIGHBOURS[name])
    for found in check(source, 1, 64, np.arange(64, dtype=np.int32)):
        assert "not atomic" not in found.message
        assert [words for words in BARRIERS if words in found.message]


LOCKED = """__global__ void k(int *lock, int *total)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    total[0] += 1;
    atomicExch(lock, 0);
}"""


def test_update_under_a_lock_without_fences_is_told_of_the_fences():
    (found,) = check(LOCKED, 4, 32, np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert (found.severity, found.line) == ("error", 6)
    assert "nothing orders blocks" in found.message
    assert "a __threadfence() in front of the atomic" in found.message


def test_atomics_of_one_block_race_with_those_of_another():
    source = NOT_UNIQUE.format(body="atomicAdd_block(x, 1);")
    (found,) = check(source, 2, 32, np.zeros(1, np.int32))
    assert "atomic within its own block only" in found.message
    assert "Use the function without _block" in found.message
    assert list(check(source, 1, 64, np.zeros(1, np.int32))) == []


PLAIN_LOCK = LOCKED.replace(
    "while (atomicCAS(lock, 0, 1) != 0) {}",
    "while (*(volatile int *)lock != 0) {}\n    *lock = 1; __threadfence();",
).replace("    atomicExch", "    __threadfence();\n    atomicExch")


@pytest.mark.parametrize("order", ["forward", "reverse", 1])
def test_a_lock_that_is_taken_by_a_plain_store_needs_an_atomic(order):
    arrays = np.zeros(1, np.int32), np.zeros(1, np.int32)
    found = check(PLAIN_LOCK, 4, 32, *arrays, order=order)
    of_lock = [one.message for one in found if "reads lock[0]" in one.message]
    assert found[0].severity == "error"
    assert "nothing orders blocks" in of_lock[0]
    assert "or use an atomic here as well" in of_lock[0]
