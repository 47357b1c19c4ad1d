"""Benchmarks of the chapter on profiling: launch overhead, and a fused layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import wall_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.peers import peers
from coursekit.runtime import backend as backends

STEPS, BLOCK, TILE = 20, 256, 64
SIZES = (2**10, 2**16, 2**20, 2**24, 2**27)
LAYERS = (256, 1024, 4096)


def _cover(n: int, block: int) -> int:
    return -(-n // block)


# ---------------------------------------------------------------- launches


def step_cases() -> dict[str, Callable]:
    """Return twenty steps: in a launch each, and in one launch.

    Launchers are made once: on a stream, each launch but the first is then a short way.
    """
    kernel = ck.compile("profiling/launch_overhead.cu").launch_overhead
    launchers: dict[int, Callable] = {}

    def launcher(n: int) -> Callable:
        if n not in launchers:
            launchers[n] = kernel[_cover(n, BLOCK), BLOCK, 0, _stream()]
        return launchers[n]

    def each(start, x, n):
        launch = launcher(n)
        for _ in range(STEPS):
            launch(x, n, 1)

    def together(start, x, n):
        launcher(n)(x, n, STEPS)

    return {"a launch a step": wall_clock(each), "one launch": wall_clock(together)}


def _stream():
    """Return the current stream of the GPU; None without a GPU."""
    if backends.current().space != "gpu":
        return None
    import cupy

    return cupy.cuda.get_current_stream()


def numbers(n: int) -> tuple:
    """Draw the initial state of the system, and copy it for the case to change."""
    start = drawn.normal(n)
    return start, ck.to_device(ck.to_host(start)), n


def has_stepped(start, x, n: int) -> None:
    """Take the steps in float32: halving is exact, so that each rounds once."""
    xp, expected, x = drawn.viewed(start, x)
    for _ in range(STEPS):
        expected = np.float32(0.5) * expected + np.float32(1)
    if not xp.array_equal(x, expected):
        raise AssertionError("the system is elsewhere")


# ---------------------------------------------------------------- a layer


def layer_cases() -> dict[str, Callable]:
    """Return the fused layer."""
    kernel = ck.compile("profiling/mlp_sgemm.cu").mlp_sgemm

    def fused(x, w, b, y, n):
        grid = (_cover(n, TILE), _cover(n, TILE))
        kernel[grid, (16, 16)](x, w, b, y, n, n, n)

    return {"mlp_sgemm": fused}


def layer(n: int) -> tuple:
    """Draw a layer of n neurons, and a batch of n."""
    rng = np.random.default_rng()
    x, w = (rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))
    b = rng.standard_normal(n, dtype=np.float32)
    return *map(ck.to_device, (x, w, b)), ck.empty((n, n)), n


def is_layer(x, w, b, y, n: int) -> None:
    """Compare with float64; n products are added in float32, so n roundings."""
    x, w, b, y = map(ck.to_host, (x, w, b, y))
    x, w = x.astype(np.float64), w.astype(np.float64)
    expected, scale = np.maximum(x @ w + b, 0), np.abs(x) @ np.abs(w) + np.abs(b)
    off = np.abs(y - expected) / scale
    if np.isnan(off).any() or off.max() >= n * 2.0**-24:
        raise AssertionError("the layer is wrong")


def _torch_layer(torch, x, w, b, y, n: int) -> None:
    torch.addmm(b, x, w, out=y)
    torch.relu_(y)


DEFINITIONS = (
    Definition(
        key="profiling/steps",
        cases=step_cases,
        sizes=SIZES,
        setup=numbers,
        verify=has_stepped,
        bytes_moved=lambda n: 2 * 4 * n,
        count_size=2**10,
    ),
    Definition(
        key="profiling/layer",
        cases=layer_cases,
        sizes=LAYERS,
        setup=layer,
        verify=is_layer,
        bytes_moved=lambda n: 4 * (3 * n * n + n),
        flops=lambda n: 2 * n**3 + n * n,
        count_size=128,
        peers={"torch, fp32": lambda: peers.torch(_torch_layer)},
    ),
)
