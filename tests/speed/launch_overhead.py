"""What a launch on a stream costs, against CuPy's RawKernel in the same run.

Run `python tests/speed/launch_overhead.py` on a machine with a GPU. Host time
per launch, nothing waits: the queue is drained between the samples.
"""

from __future__ import annotations

import statistics
import time

import coursekit as ck

SOURCE = """extern "C" __global__
void scale(const float* x, float* y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}"""
LAUNCHES, SAMPLES = 1000, 21


def sample(launch, stream) -> float:
    """Microseconds of host time per launch."""
    stream.synchronize()
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    elapsed = time.perf_counter() - start
    stream.synchronize()
    return elapsed / LAUNCHES * 1e6


def main() -> None:
    """Print both medians and the median ratio of interleaved pairs."""
    import cupy

    n = 1024
    x, y = cupy.ones(n, "float32"), cupy.empty(n, "float32")
    stream = cupy.cuda.Stream(non_blocking=True)
    raw = cupy.RawKernel(SOURCE, "scale")
    ours = ck.compile(SOURCE).scale
    factor, count = cupy.float32(2), cupy.int32(n)

    def launch_raw():
        raw((4,), (256,), (x, y, factor, count))

    def launch_ours():
        ours[4, 256, 0, stream](x, y, 2.0, n)

    with stream:
        for launch in (launch_raw, launch_ours):
            sample(launch, stream)
        pairs = [
            (sample(launch_raw, stream), sample(launch_ours, stream))
            for _ in range(SAMPLES)
        ]
    theirs = statistics.median(a for a, _ in pairs)
    own = statistics.median(b for _, b in pairs)
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{ck.device().name}: CuPy RawKernel {theirs:.2f} us, coursekit {own:.2f} us")
    print(f"ratio (median of {SAMPLES} pairs): {ratio:.2f}")


if __name__ == "__main__":
    main()
