"""Clusters: blocks that reach each other's shared memory, and their barrier."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

THREADS = 64
# Each block stores its values in the shared memory of the next one of its cluster.
ROTATE = """#include "cluster.cuh"
__global__ void DIMENSIONS rotate(const float2 *x, float2 *y)
{
    __shared__ float2 got[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned rank, count;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    BEFORE
    tell(got + t, (rank + 1) % count, x[i]);
    BETWEEN
    y[i] = got[t];
    AFTER
}
"""


def rotate(before="begin(); wait();", between="arrive(); wait();", after="", blocks=2):
    """Compile the kernel with other barriers, or without a size of its clusters."""
    dimensions = f"__cluster_dims__({blocks}, 1, 1)" if blocks else ""
    text = ROTATE.replace("BEFORE", before).replace("BETWEEN", between)
    text = text.replace("DIMENSIONS", dimensions)
    return ck.compile(text.replace("AFTER", after), defines={"SHARE": 2}).rotate


def numbers(blocks: int) -> np.ndarray:
    return (np.arange(THREADS * blocks) + 1j).astype(np.complex64)


@pytest.mark.parametrize("order", ["forward", "reverse", 0, 1])
@pytest.mark.parametrize(("grid", "cluster"), [(8, 4), (6, 2), (3, 3)])
def test_a_block_stores_in_the_next_one_of_its_cluster(grid, cluster, order):
    x = numbers(grid)
    y = np.zeros_like(x)
    with ck.simulator(order=order):
        rotate(blocks=0).launch(grid, THREADS, x, y, cluster=cluster)
    rows = x.reshape(-1, cluster, THREADS)
    np.testing.assert_array_equal(y, np.roll(rows, 1, axis=1).ravel())


PLACES = """
__global__ void places(unsigned *out)
{
    unsigned own[8];
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(own[0]));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(own[1]));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(own[2]));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(own[3]));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(own[4]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(own[5]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(own[6]));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(own[7]));
    for (int k = 0; k < 8; ++k)
        out[(blockIdx.y * gridDim.x + blockIdx.x) * 8 + k] = own[k];
}
"""


def test_special_registers_say_where_a_block_is_in_its_cluster():
    out = np.zeros((4, 6, 8), np.uint32)
    ck.compile(PLACES).places.launch((6, 4), 1, out, cluster=(3, 2))
    y, x = np.mgrid[:4, :6]
    expected = [x % 3 + 3 * (y % 2), 6, x % 3, y % 2, x // 3, y // 2, 2, 3]
    for k, wanted in enumerate(expected):
        np.testing.assert_array_equal(out[..., k], wanted * np.ones_like(x))


def test_a_generic_pointer_reaches_another_block():
    kernel = ck.compile("""
__global__ void __cluster_dims__(2, 1, 1) exchange(int *out)
{
    __shared__ int own;
    own = 10 + blockIdx.x;
    asm volatile("barrier.cluster.arrive;\\n barrier.cluster.wait;" ::: "memory");
    int *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&own), "r"(1 - blockIdx.x % 2));
    out[blockIdx.x] = atomicAdd(there, 100);
    asm volatile("barrier.cluster.arrive;\\n barrier.cluster.wait;" ::: "memory");
    out[4 + blockIdx.x] = own;
}
""").exchange
    out = np.zeros(8, np.int32)
    kernel[4, 1](out)
    assert out.tolist() == [11, 10, 13, 12, 110, 111, 112, 113]


def test_a_thread_that_has_exited_holds_no_cluster_up():
    kernel = ck.compile("""
__global__ void __cluster_dims__(2, 1, 1) leave(int *out)
{
    if (threadIdx.x >= 32 && blockIdx.x == 1)
        return;
    asm volatile("barrier.cluster.arrive.aligned;\\n barrier.cluster.wait.aligned;");
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}
""").leave
    out = np.zeros(128, np.int32)
    kernel[2, 64](out)
    assert out.sum() == 96


def test_stores_in_other_blocks_are_counted():
    x = numbers(4)
    counts = ck.count(rotate(), 4, THREADS, (x, x.copy()))
    requests = 4 * THREADS // 32
    assert counts.shared_store_requests == requests
    assert counts.shared_store_wavefronts == 2 * requests


# -- what goes wrong -------------------------------------------------------------------

RACES = {
    "no barrier": {"between": "", "after": "arrive(); wait();"},
    "relaxed": {"between": "begin(); wait();"},
    "of the block": {"between": "__syncthreads();", "after": "arrive(); wait();"},
    "read before the wait": {"between": "arrive();", "after": "wait();"},
}


@pytest.mark.parametrize("case", RACES)
def test_a_missing_barrier_of_the_cluster_is_a_race(case):
    x = numbers(4)
    found = ck.racecheck(rotate(**RACES[case]), 4, THREADS, (x, x.copy()))
    assert "no barrier of the cluster orders the two" in str(found)


def test_barriers_of_the_cluster_order_its_blocks():
    x, kernel = numbers(4), rotate()
    found = ck.racecheck(kernel, 4, THREADS, (x, x.copy()))
    assert not list(found)


ERRORS = {
    "has not arrived there": {"before": "wait();"},
    "a second time": {"between": "arrive(); arrive(); wait();"},
    "never arrives there": {
        "between": "if (t < 32) { arrive(); wait(); } __syncthreads();arrive(); wait();"
    },
    "without thread": {"between": "if (t != 5) { arrive(); wait(); }"},
    "of a block that has ended": {
        "before": "begin(); wait(); if (rank == 1) return; begin(); wait();"
    },
}


@pytest.mark.parametrize("message", ERRORS)
def test_a_misused_barrier_of_the_cluster_is_explained(message):
    x = numbers(4)
    with pytest.raises(ck.KernelError, match=message):
        rotate(**ERRORS[message]).launch(4, THREADS, x, x.copy())


def test_a_block_that_the_cluster_lacks_is_out_of_bounds():
    x = numbers(4)
    kernel = rotate(before="begin(); wait(); count = 8;")
    with pytest.raises(ck.OutOfBoundsError, match="which has 2 blocks"):
        kernel.launch(4, THREADS, x, x.copy())


def test_a_cooperative_launch_with_clusters_is_refused():
    x = numbers(4)
    with pytest.raises(ck.UnsupportedError, match="cooperative launch with clusters"):
        rotate().launch(4, THREADS, x, x.copy(), cooperative=True)
