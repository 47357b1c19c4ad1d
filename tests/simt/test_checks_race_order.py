"""racecheck: barriers and fences order memory; shuffles, votes and matches do not."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

EXCHANGE = """#include <cooperative_groups.h>
__global__ void k(int *x)
{{
    __shared__ int s[64];
    int t = threadIdx.x, seen = 0;
    s[t] = x[t];
    {between}
    x[t] = s[t ^ 1] + 0 * seen;
}}"""
NO_ORDER = {
    "shuffle": "seen = __shfl_sync(-1, t, 5);",
    "shuffle down": "seen = __shfl_down_sync(-1, x[t], 1);",
    "shuffle xor": "seen = __shfl_xor_sync(-1, x[t], 1);",
    "vote all": "seen = __all_sync(-1, x[t] < 99);",
    "vote any": "seen = __any_sync(-1, x[t] < 9);",
    "ballot": "seen = __ballot_sync(-1, x[t] < 9);",
    "match any": "seen = __match_any_sync(-1, x[t] / 2);",
    "match all": "seen = __match_all_sync(-1, x[t], &seen);",
    "reduction of the warp": "seen = __reduce_add_sync(-1, x[t]);",
    "active mask": "seen = __activemask();",
    "fence alone": "__threadfence_block();",
}
ORDER = {
    "barrier of the warp": "__syncwarp();",
    "barrier of pairs of lanes": "__syncwarp(3u << (t & 30));",
    "barrier of the block": "__syncthreads();",
    "barrier that counts": "seen = __syncthreads_count(t > 3);",
    "named barrier": 'asm volatile("bar.sync 1, 64;" ::: "memory");',
    "tile": "cooperative_groups::tiled_partition<4>("
            "cooperative_groups::this_thread_block()).sync();",
}  # fmt: skip
ENGINES = ["interpreter", "compiled"]


def check(source: str, grid, block, *arguments, engine="auto"):
    from coursekit.analysis import checking
    from coursekit.simt import RaceCheck

    kernel = ck.compile(source)["k"]
    launch = (kernel, grid, block, copy.deepcopy(arguments), 0, False)
    return checking._observed("racecheck", RaceCheck(), launch, False, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NO_ORDER)
def test_what_exchanges_registers_orders_no_memory(name, engine):
    source = EXCHANGE.format(between=NO_ORDER[name])
    found = check(source, 1, 64, np.arange(64, dtype=np.int32), engine=engine)
    assert [(one.severity, one.line) for one in found] == [("warning", 8)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ORDER)
def test_barrier_of_lanes_orders_their_memory(name, engine):
    source = EXCHANGE.format(between=ORDER[name])
    found = check(source, 1, 64, np.arange(64, dtype=np.int32), engine=engine)
    assert (list(found), found.notes) == ([], ())


def test_message_says_that_a_shuffle_orders_no_memory():
    source = EXCHANGE.format(between=NO_ORDER["shuffle"])
    (found,) = check(source, 1, 64, np.arange(64, dtype=np.int32))
    assert "no __syncwarp() between them" in found.message
    assert "shuffles, votes and __activemask() order no memory" in found.message


def test_line_that_writes_an_element_from_two_lanes_may_have_a_wrong_index():
    source = """__global__ void k(const int *x, int *y)
    {
        __shared__ int tile[64];
        int t = threadIdx.x;
        for (int r = 0; r < 2; ++r)
            tile[t + r] = x[32 * r + t];
        __syncwarp();
        y[t] = tile[t];
    }"""
    x = np.arange(64, dtype=np.int32)
    (found,) = check(source, 1, 32, x, x[:32].copy())
    assert "Put a __syncwarp() between the two lines." in found.message
    assert "was to have its own element, correct the index" in found.message


GUESS = """__global__ void k(const int *x, int *most)
{{
    int i = threadIdx.x, mine = x[i], seen;
    int *place = most + i / 64;
    int old = {first};
    do {{
        seen = old;
        if (seen >= mine)
            break;
        old = atomicCAS({place}, seen, mine);
    }} while (old != seen);
}}"""
FIRST_READS = {
    "ldcg": ("__ldcg(place)", "place"),
    "ldcg of an index": ("__ldcg(most + i / 64)", "most + i / 64"),
    "ldcv": ("__ldcv(&most[i / 64])", "&most[i / 64]"),
    "plain": ("*place", "place"),
}


@pytest.mark.parametrize("name", FIRST_READS)
def test_guess_by_any_load_before_an_atomic_is_a_note(name):
    first, place = FIRST_READS[name]
    source = GUESS.format(first=first, place=place)
    found = check(source, 1, 64, np.arange(64, dtype=np.int32), np.zeros(1, np.int32))
    assert len(found) == 0
    assert "a guess" in found.notes[0].message


def test_read_of_another_element_is_no_guess():
    source = GUESS.format(first="__ldcg(place + 1 - i % 2)", place="place")
    found = check(source, 1, 64, np.arange(64, dtype=np.int32), np.zeros(2, np.int32))
    assert [one.kind for one in found] == ["DataRaceError"]


# The pattern of NVIDIA's sample threadFenceReduction: the last block reads what the
# others have published, and has no fence of its own.
LAST_BLOCK = """__device__ unsigned int tickets = 0;
__global__ void k(const float *x, float *parts, float *sum)
{{
    __shared__ bool is_last;
    int b = blockIdx.x, t = threadIdx.x;
    if (t == 0) {{
        parts[b] = x[b];
        {writer}
        unsigned int ticket = atomicInc(&tickets, gridDim.x);
        is_last = ticket == gridDim.x - 1;
    }}
    __syncthreads();
    if (is_last) {{
        {reader}
        float all = 0;
        for (int i = 0; i < gridDim.x; i++)
            all += parts[i];
        sum[t] = all;
    }}
}}"""
FENCE = "__threadfence();"


def last_block(writer: str, reader: str):
    source = LAST_BLOCK.format(writer=writer, reader=reader)
    arrays = np.ones(8, np.float32), np.zeros(8, np.float32), np.zeros(64, np.float32)
    return check(source, 8, 64, *arrays)


def test_last_block_without_a_fence_of_its_own_is_a_warning():
    (found,) = last_block(FENCE, "")
    assert (found.severity, found.line) == ("warning", 17)
    assert "the reader's side lacks a fence" in found.message
    assert "Put a __threadfence() directly behind" in found.message


@pytest.mark.parametrize("reader", ["", FENCE])
def test_last_block_whose_writers_have_no_fence_is_an_error(reader):
    (found,) = last_block("", reader)
    assert (found.severity, found.line) == ("error", 17)
    assert "a __threadfence() in front of the atomic" in found.message


def test_last_block_with_both_fences_is_clean():
    assert list(last_block(FENCE, FENCE)) == []
