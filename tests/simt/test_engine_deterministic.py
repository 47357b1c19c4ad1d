"""How busy a machine is changes no finding, no message and no engine."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime.launching import simulate

SOURCES = {
    "largest": "if (x[i] > *y) *y = x[i];",
    "sum": "*y += x[i];",
    "bins": "y[i % 7] += 1;",
    "same value": "*y = 1;",
    "exchange": "__shared__ float s[64]; s[t] = x[i]; y[i] = s[63 - t];",
    "past the end": "y[i + 200] = x[i];",
    "unset": "__shared__ float s[64]; if (t < 9) s[t] = 1; __syncthreads(); "
    "y[i] = s[t];",
    "branch": "if (t < 40) __syncthreads(); y[i] = x[i];",
    "long": "for (int k = 0; k < 3000; k++) y[i] = y[i] * 0.5f + x[i];",
    "long race": "for (int k = 0; k < 300; k++) y[i / 2] += x[i];",
    "endless": "while (y[i] >= 0) y[i] = 0;",
}
KERNEL = """__global__ void k(const float* x, float* y) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  BODY
}"""
CHECKERS = ("racecheck", "memcheck", "initcheck", "synccheck")
CLOCKS = ("perf_counter", "monotonic", "thread_time", "process_time", "time")


def told(body: str, folder) -> list:
    """Return all that a reader may see of a new kernel: results, findings, engines."""
    os.environ["COURSEKIT_CACHE"] = str(folder)
    kernel = ck.compile(KERNEL.replace("BODY", body) + f"// {folder}")["k"]

    def arguments():
        return np.arange(256, dtype=np.float32), np.zeros(256, np.float32)

    found = []
    with ck.simulator(timeout_s=1e9):
        for name in CHECKERS:
            said = getattr(ck, name)(kernel, 4, 64, arguments())
            found += [repr(said), said.engine]
        x, y = arguments()
        try:
            launched = simulate(kernel, 4, 64, (x, y))
            kernel[4, 64](x, y)
            found += [launched.result.engine, launched.result.note, y.tobytes()]
        except ck.KernelError as error:
            found += [str(error), y.tobytes()]
    return found


@pytest.mark.parametrize("factor", [0.01, 100.0])
@pytest.mark.parametrize("name", SOURCES)
def test_a_clock_that_goes_faster_or_slower_changes_nothing(
    name, factor, monkeypatch, tmp_path
):
    monkeypatch.setenv("COURSEKIT_CACHE", "")
    expected = told(SOURCES[name], tmp_path / "plain")
    for clock in CLOCKS:
        plain = getattr(time, clock)
        monkeypatch.setattr(time, clock, lambda plain=plain: plain() * factor)
    assert told(SOURCES[name], tmp_path / "other") == expected
