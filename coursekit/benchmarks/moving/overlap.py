"""Benchmark of a pipeline whose copies in, kernels and copies out overlap."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import wall_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks.drawn import pinned

N, BLOCK, ROUNDS = 2**23, 256, 160
CHUNKS = (1, 2, 4, 8, 16)
ROUNDING = 2.0**-22  # relative: a quotient and a sum are rounded, twice as much allowed

SOURCE = """
// roots[i] = square root of x[i] by Newton's method: work that takes its time.
__global__ void newton_roots(const float* x, float* roots, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i], root = value;
    for (int round = 0; round < rounds; round++)
        root = 0.5f * (root + value / root);
    roots[i] = root;
}
"""


class Pipeline:
    """Copies in, computes and copies out chunk by chunk, on some streams."""

    def __init__(self, streams: int, *, depth_first: bool = True):
        self.kernel = ck.compile(SOURCE, name="newton_roots.cu").newton_roots
        self.count = streams
        self.depth_first = depth_first

    def __call__(self, x, roots, chunks: int) -> None:
        """Queue all work: chunk by chunk, or phase by phase."""
        work = [self._phases(x, roots, chunks, number) for number in range(chunks)]
        order = work if self.depth_first else zip(*work, strict=True)
        for phases in order:
            for phase in phases:
                phase()

    def _phases(self, x, roots, chunks: int, number: int) -> tuple[Callable, ...]:
        import cupy

        stream = _streams()[number % self.count]
        length = x.size // chunks
        part = slice(number * length, (number + 1) * length)
        source, target = x[part], roots[part]
        given, results = (array[part] for array in _on_gpu())
        copy, runtime = _queue, cupy.cuda.runtime
        grid = -(-length // BLOCK)
        return (
            lambda: copy(given, source, runtime.memcpyHostToDevice, stream),
            lambda: self.kernel[grid, BLOCK, 0, stream](given, results, length, ROUNDS),
            lambda: copy(target, results, runtime.memcpyDeviceToHost, stream),
        )


def _queue(target, source, kind: int, stream) -> None:
    import cupy

    to, place = (
        array.ctypes.data if isinstance(array, np.ndarray) else array.address
        for array in (target, source)
    )
    cupy.cuda.runtime.memcpyAsync(to, place, source.nbytes, kind, stream.ptr)


@functools.cache
def _streams() -> tuple:
    import cupy

    return tuple(cupy.cuda.Stream(non_blocking=True) for _ in range(4))


@functools.cache
def _on_gpu() -> tuple:
    return ck.empty(N), ck.empty(N)


def overlap_cases() -> dict[str, Callable]:
    """Return the serial way, which is what ratios refer to, and the pipelines."""
    return {
        "1 stream": wall_clock(Pipeline(1)),
        "2 streams": wall_clock(Pipeline(2)),
        "3 streams": wall_clock(Pipeline(3)),
        "4 streams": wall_clock(Pipeline(4)),
        "4 streams breadth first": wall_clock(Pipeline(4, depth_first=False)),
    }


def overlap_arrays(chunks: int) -> tuple:
    """Draw numbers from 1 to 100 in pinned memory; allocate their roots there too."""
    x = 1 + 99 * np.random.default_rng().random(N, dtype=np.float32)
    return pinned(x), pinned(np.zeros_like(x)), chunks


def are_roots(x, roots, chunks: int) -> None:
    """Compare with NumPy's roots, in float64."""
    off = np.abs(roots.astype(np.float64) / np.sqrt(x, dtype=np.float64) - 1).max()
    if not off <= ROUNDING:
        raise AssertionError(f"a root is off by {off:.1e} of its value")


DEFINITIONS = (
    Definition(
        key="moving/overlap",
        cases=overlap_cases,
        sizes=CHUNKS,
        setup=overlap_arrays,
        verify=are_roots,
        bytes_moved=lambda chunks: 2 * 4 * N,
        through="links",
    ),
)
