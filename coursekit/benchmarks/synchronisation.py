"""Benchmarks of synchronisation: atomics, histograms, heat flow, sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition

ROUNDING = 2.0**-24  # relative, of one float32 operation
BLOCK, BLOCKS_A_SM = 256, 8
ROUNDS = 100  # of heat flow; an even number leaves the result in the first array


def _cover(n: int, block: int = BLOCK) -> int:
    return -(-n // block)


def _fitting(n: int, per_sm: int) -> int:
    """Return the blocks for n elements, at most `per_sm` for each SM."""
    return min(_cover(n), per_sm * ck.device().sm_count)


# ---------------------------------------------------------------- atomics

UPDATES = 2**23  # so that a float32 counts them exactly
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
    """Return atomics on global memory: int, float, and int aggregated per warp."""
    kernels = ck.compile(SOURCE, name="atomics.cu")

    def ints(keys, start, bins, sums, n, addresses):
        kernels.add_int[-(-n // BLOCK), BLOCK](keys, bins, n)

    def floats(keys, start, bins, sums, n, addresses):
        kernels.add_float[-(-n // BLOCK), BLOCK](keys, sums, n)

    def warps(keys, start, bins, sums, n, addresses):
        kernels.add_warp[-(-n // BLOCK), BLOCK](keys, bins, n)

    return {"int": ints, "float": floats, "int by warps": warps}


def shared_cases() -> dict[str, Callable]:
    """Return updates in global memory, and in shared memory first."""
    kernels = ck.compile(SOURCE, name="atomics.cu")

    def ints(keys, start, bins, sums, n, addresses):
        kernels.add_int[-(-n // BLOCK), BLOCK](keys, bins, n)

    def shared(keys, start, bins, sums, n, addresses):
        grid = min(-(-n // BLOCK), BLOCKS_A_SM * ck.device().sm_count)
        kernels.add_shared[grid, BLOCK, 4 * addresses](keys, bins, n, addresses)

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
    expected = ck.to_host(start) + np.bincount(ck.to_host(keys), minlength=addresses)
    right = any(np.array_equal(ck.to_host(counts), expected) for counts in (bins, sums))
    if not right:
        raise AssertionError("an update got lost, or came twice")


def _bytes(addresses: int) -> int:
    """Return the bytes of a size: keys are read, bins are read and written."""
    return 4 * UPDATES + 8 * addresses


# ---------------------------------------------------------------- histograms


def histogram_cases() -> dict[str, Callable]:
    """Return the histogram in global memory, in shared memory, by warps first."""
    cases = {}
    for where in ("global", "shared", "warp"):
        kernel = ck.compile(f"synchronisation/histogram_{where}.cu")
        cases[where] = _histogram(kernel[f"histogram_{where}"])
    return cases


def _histogram(kernel) -> Callable:
    def count(x, start, counts, n):
        kernel[_fitting(n, BLOCKS_A_SM), BLOCK](x, counts, n)

    return count


def random_bytes(n: int) -> tuple:
    """Draw uniform bytes, and counters that do not start at 0."""
    return _counters(np.random.default_rng().integers(0, 256, n, dtype=np.uint8))


def dark_bytes(n: int) -> tuple:
    """Draw bytes of which seven in eight are the same, as in a dark picture."""
    rng = np.random.default_rng()
    x = rng.integers(0, 256, n, dtype=np.uint8)
    x[rng.random(n, dtype=np.float32) < 7 / 8] = rng.integers(0, 256)
    return _counters(x)


def _counters(x: np.ndarray) -> tuple:
    start = np.random.default_rng().integers(0, 1000, 256, dtype=np.uint32)
    return ck.to_device(x), ck.to_device(start), ck.to_device(start), x.size


def is_histogram(x, start, counts, n: int) -> None:
    """Compare with NumPy's count of every value."""
    expected = ck.to_host(start) + np.bincount(ck.to_host(x), minlength=256)
    if not np.array_equal(ck.to_host(counts), expected):
        raise AssertionError("a value is miscounted")


# ---------------------------------------------------------------- heat


def heat_cases() -> dict[str, Callable]:
    """Return one launch per round, and one launch for all with grid barriers."""
    step = ck.compile("synchronisation/heat_step.cu").heat_step
    whole = ck.compile("synchronisation/heat_grid.cu").heat_grid

    def a_launch_a_round(start, x, y, n):
        grid = _cover(n)
        for _ in range(ROUNDS // 2):
            step[grid, BLOCK](x, y, n)
            step[grid, BLOCK](y, x, n)

    def one_launch(start, x, y, n):
        whole.launch(_fitting(n, 2), BLOCK, x, y, n, ROUNDS, cooperative=True)

    return {"a launch a round": a_launch_a_round, "one launch": one_launch}


def rod(n: int) -> tuple:
    """Draw temperatures from 0 to 1; the second array is for the rounds between."""
    start = np.random.default_rng().random(n, dtype=np.float32)
    return ck.to_device(start), ck.to_device(start), ck.empty(n), n


def is_cooled(start, x, y, n: int) -> None:
    """Compare with NumPy's rounds in float64; each rounds twice."""
    expected = ck.to_host(start).astype(np.float64)
    for _ in range(ROUNDS):
        expected[1:-1] = (expected[:-2] + 2 * expected[1:-1] + expected[2:]) / 4
    rtol = 2.01 * ROUNDS * ROUNDING
    np.testing.assert_allclose(ck.to_host(x), expected, rtol=rtol, equal_nan=False)


# ---------------------------------------------------------------- sums


def sum_cases() -> dict[str, Callable]:
    """Return the sum by one atomic per thread, and by one per warp."""
    each = ck.compile("synchronisation/sum_atomic.cu").sum_atomic
    warp = ck.compile("warps/warp_sum_shuffle.cu").warp_sum_shuffle

    def by_thread(x, start, total, parts, n):
        each[_cover(n), BLOCK](x, total, n)

    def by_warp(x, start, total, parts, n):
        warp[_cover(n), BLOCK](x, parts, n)
        each[_cover(_cover(n, 32)), BLOCK](parts, total, _cover(n, 32))

    return {"an atomic a thread": by_thread, "an atomic a warp": by_warp}


def summands(n: int) -> tuple:
    """Draw numbers from 0 to 1, and a total to add them to."""
    rng = np.random.default_rng()
    x, start = rng.random(n, dtype=np.float32), rng.random(1, dtype=np.float32)
    parts = ck.empty(_cover(n, 32))
    return ck.to_device(x), ck.to_device(start), ck.to_device(start), parts, n


def is_total(x, start, total, parts, n: int) -> None:
    """Compare with NumPy's sum in float64; n additions, in any order."""
    expected = ck.to_host(start) + ck.to_host(x).sum(dtype=np.float64)
    np.testing.assert_allclose(
        ck.to_host(total), expected, rtol=n * ROUNDING, equal_nan=False
    )


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
    Definition(
        key="synchronisation/histograms",
        cases=histogram_cases,
        sizes=(2**25,),
        setup=random_bytes,
        verify=is_histogram,
        bytes_moved=lambda n: n + 2 * 256 * 4,
        count_size=2**10,
    ),
    Definition(
        key="synchronisation/histograms_dark",
        cases=histogram_cases,
        sizes=(2**25,),
        setup=dark_bytes,
        verify=is_histogram,
        bytes_moved=lambda n: n + 2 * 256 * 4,
        count_size=2**10,
    ),
    Definition(
        key="synchronisation/heat",
        cases=heat_cases,
        sizes=(2**12, 2**20),
        setup=rod,
        verify=is_cooled,
        bytes_moved=lambda n: 2 * 4 * n,
        count_size=2**5,
    ),
    Definition(
        key="synchronisation/sums",
        cases=sum_cases,
        sizes=(2**20,),
        setup=summands,
        verify=is_total,
        bytes_moved=lambda n: 4 * n + 8 + 4 * _cover(n, 32),
        count_size=2**10,
    ),
)
