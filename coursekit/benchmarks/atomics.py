"""Recorded times of atomics by contention: how many threads meet at an address."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition

UPDATES = 2**23  # so that a float32 counts them exactly
BLOCK, BLOCKS_A_SM = 256, 8
SPREAD = (1, 2, 4, 8, 16, 32, 64, 256, 2**12, 2**16, 2**20)  # addresses
ON_CHIP = (1, 4, 16, 64, 256, 2**12)  # of them in shared memory: 16 KiB at most

SOURCE = """
// Each thread adds 1 at an address that chance has chosen.
__global__ void add_int(const unsigned* keys, unsigned* bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1u);
}

__global__ void add_float(const unsigned* keys, float* bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1.0f);
}

// Lanes with the same address elect one that adds for all; blocks are full warps.
__global__ void add_warp(const unsigned* keys, unsigned* bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0xffffffff;
    unsigned same = __match_any_sync(0xffffffff, key);
    if (i < n && threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(&bins[key], (unsigned)__popc(same));
}

// Each block counts in its own shared memory, and adds up at the end.
__global__ void add_shared(
    const unsigned* keys, unsigned* bins, int n, int addresses)
{
    extern __shared__ unsigned part[];
    for (int bin = threadIdx.x; bin < addresses; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&part[keys[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < addresses; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&bins[bin], part[bin]);
}
"""


def global_cases() -> dict[str, Callable]:
    """Return updates of global memory: int, float, and one for equals of a warp."""
    found = ck.compile(SOURCE, name="atomics.cu")

    def ints(keys, start, bins, sums, n, addresses):
        found.add_int[-(-n // BLOCK), BLOCK](keys, bins, n)

    def floats(keys, start, bins, sums, n, addresses):
        found.add_float[-(-n // BLOCK), BLOCK](keys, sums, n)

    def warps(keys, start, bins, sums, n, addresses):
        found.add_warp[-(-n // BLOCK), BLOCK](keys, bins, n)

    return {"int": ints, "float": floats, "int by warps": warps}


def shared_cases() -> dict[str, Callable]:
    """Return updates in global memory, and in shared memory first."""
    found = ck.compile(SOURCE, name="atomics.cu")

    def ints(keys, start, bins, sums, n, addresses):
        found.add_int[-(-n // BLOCK), BLOCK](keys, bins, n)

    def shared(keys, start, bins, sums, n, addresses):
        grid = min(-(-n // BLOCK), BLOCKS_A_SM * ck.device().sm_count)
        found.add_shared[grid, BLOCK, 4 * addresses](keys, bins, n, addresses)

    return {"global": ints, "shared first": shared}


def keys(addresses: int) -> tuple:
    """Draw an address for each update, and what the bins hold before.

    On the simulator there are 4096 updates, which say as much.
    """
    rng = np.random.default_rng()
    start = rng.integers(0, 1000, addresses, dtype=np.uint32)
    bins, sums = ck.to_device(start), ck.to_device(start.astype(np.float32))
    n = UPDATES if bins.space == "gpu" else 2**12
    drawn = rng.integers(0, addresses, n, dtype=np.uint32)
    return ck.to_device(drawn), ck.to_device(start), bins, sums, n, addresses


def are_counted(keys, start, bins, sums, n: int, addresses: int) -> None:
    """Compare with NumPy's count; a case writes into the ints or into the floats."""
    wanted = ck.to_host(start) + np.bincount(ck.to_host(keys), minlength=addresses)
    right = any(np.array_equal(ck.to_host(found), wanted) for found in (bins, sums))
    assert right, "an update got lost, or came twice"


def _bytes(addresses: int) -> int:
    """Each address of an update is read, each bin read and written."""
    return 4 * UPDATES + 8 * addresses


DEFINITIONS = (
    Definition(
        key="synchronisation/atomics",
        cases=global_cases,
        sizes=SPREAD,
        setup=keys,
        verify=are_counted,
        bytes_moved=_bytes,
        count_size=16,
    ),
    Definition(
        key="synchronisation/atomics_shared",
        cases=shared_cases,
        sizes=ON_CHIP,
        setup=keys,
        verify=are_counted,
        bytes_moved=_bytes,
        count_size=16,
    ),
)
