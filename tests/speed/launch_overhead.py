"""What a launch on a stream costs the host, beside CuPy's RawKernel in the same run.

Run `python tests/speed/launch_overhead.py` on a machine with a GPU. Nothing waits for
a kernel: the queue is drained between the samples. CuPy has no launches in clusters.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import coursekit as ck

PLAIN = """extern "C" __global__
void scale(const float* x, float* y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}"""
# The map lies in the parameters, as in steps 10 to 12 of the matrix product.
MAPPED = """struct alignas(64) Map { char bytes[128]; };
extern "C" __global__
void mapped(const __grid_constant__ Map a, const __grid_constant__ Map b, float* y) {
  y[threadIdx.x] = a.bytes[0] + b.bytes[0];
}"""
LAUNCHES, SAMPLES = 500, 21


def sample(launch: Callable[[], object], stream) -> float:
    """Microseconds of host time per launch."""
    stream.synchronize()
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    elapsed = time.perf_counter() - start
    stream.synchronize()
    return elapsed / LAUNCHES * 1e6


def plain(cupy, stream) -> tuple[Callable, Callable]:
    """A kernel of two arrays and two numbers."""
    raw, ours = cupy.RawKernel(PLAIN, "scale"), ck.compile(PLAIN).scale
    x, y = cupy.ones(1024, "float32"), cupy.empty(1024, "float32")
    factor, count = cupy.float32(2), cupy.int32(1024)
    return (
        lambda: raw((4,), (256,), (x, y, factor, count)),
        lambda: ours[4, 256, 0, stream](x, y, 2.0, 1024),
    )


def cooperative(cupy, stream) -> tuple[Callable, Callable]:
    """The same, with all blocks resident at once."""
    raw = cupy.RawKernel(PLAIN, "scale", enable_cooperative_groups=True)
    ours = ck.compile(PLAIN).scale
    x, y = cupy.ones(1024, "float32"), cupy.empty(1024, "float32")
    factor, count = cupy.float32(2), cupy.int32(1024)
    options = {"cooperative": True, "stream": stream}
    return (
        lambda: raw((4,), (256,), (x, y, factor, count)),
        lambda: ours.launch(4, 256, x, y, 2.0, 1024, **options),
    )


def clusters(cupy, stream) -> tuple[None, Callable]:
    """The same, in clusters of two blocks."""
    ours = ck.compile(PLAIN).scale
    x, y = cupy.ones(1024, "float32"), cupy.empty(1024, "float32")
    options = {"cluster": 2, "stream": stream}
    return None, lambda: ours.launch(4, 256, x, y, 2.0, 1024, **options)


def tensor_maps(cupy, stream) -> tuple[Callable | None, Callable]:
    """A kernel of two tensor maps and an array."""
    import numpy as np

    raw, ours = cupy.RawKernel(MAPPED, "mapped"), ck.compile(MAPPED).mapped
    array, y = ck.to_device(np.zeros((256, 64), "float32")), cupy.empty(256, "float32")
    boxed = ck.tensor_map(array, (64, 32), 128)
    struct = np.frombuffer(boxed.descriptor, np.dtype(("V", 128)))[0]

    def theirs():
        raw((4,), (256,), (struct, struct, y))

    def mine():
        ours[4, 256, 0, stream](boxed, boxed, y)

    try:
        theirs()
    except TypeError:  # CuPy takes no such argument
        return None, mine
    return theirs, mine


def tuned_product(cupy, stream) -> tuple[None, Callable]:
    """Step 11 of the matrix product as the benchmarks call it, its choices included."""
    from coursekit.benchmarks.matmul import squares, tuned_case
    from coursekit.runtime.launching import deferred

    product, arguments = tuned_case(), squares(256)

    def mine():
        with deferred():
            product(*arguments)

    return None, mine


KINDS = {
    "plain": plain,
    "cooperative": cooperative,
    "clusters": clusters,
    "tensor maps": tensor_maps,
    "matmul step 11, whole call": tuned_product,
}


def medians(theirs: Callable | None, ours: Callable, stream) -> tuple[float, float]:
    """Median microseconds of both, sampled in turn; 0 where CuPy has no way."""
    launches = [launch for launch in (theirs, ours) if launch]
    for launch in launches:
        sample(launch, stream)
    rounds = [[sample(launch, stream) for launch in launches] for _ in range(SAMPLES)]
    found = [statistics.median(each) for each in zip(*rounds, strict=True)]
    return (found[0] if theirs else 0.0, found[-1])


def main() -> None:
    """Print a line per kind of launch."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    print(f"{ck.device().name}: host microseconds per launch on a stream, medians")
    print(f"{'':28} {'RawKernel':>9} {'coursekit':>9}")
    for name, make in KINDS.items():
        with stream:
            theirs, ours = medians(*make(cupy, stream), stream)
        shown = f"{theirs:9.2f}" if theirs else f"{'-':>9}"
        print(f"{name:28} {shown} {ours:9.2f}")


if __name__ == "__main__":
    main()
