"""How the tests launch each file of kernels/: one function a file.

A function takes the sizes that the file's `expect:` and `finds:` lines name, and
returns a `Launch`. To add a kernel, write such a function below and put
`@launches("folder/file.cu")` above it; tests/test_kernels.py does the rest. Values
of inputs are distinct, and outputs start as NaN, so that a wrong index shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RAGGED = (1, 31, 32, 33, 1023, 1025)
ROUNDING = 2.0**-24  # relative, of one float32 operation


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel, and what must come of it.

    Attributes
    ----------
    kernel : str
        Its name, with template arguments where it has any.
    grid, block : int or tuple of int
    arguments : tuple
    results : dict of int to ndarray
        What an argument must hold afterwards, by position, in float64. All other
        arrays must be unchanged.
    rtol : float
        Relative tolerance: roundings on the way, times `ROUNDING`.
    prints : tuple of str
        Lines to be printed, in any order.
    shared_bytes : int
    """

    kernel: str
    grid: Any
    block: Any
    arguments: tuple = ()
    results: dict[int, np.ndarray] = field(default_factory=dict)
    rtol: float = 0.0
    prints: tuple[str, ...] = ()
    shared_bytes: int = 0


@dataclass(frozen=True)
class Plan:
    """The function that launches a file, and the sizes that its result is tested at."""

    launch: Callable[..., Launch]
    sizes: tuple[dict[str, int], ...]


PLANS: dict[str, Plan] = {}


def launches(path: str, sizes: Sequence[dict[str, int]] | None = None):
    """Register the function below for a file; sizes default to n from `RAGGED`."""
    chosen = tuple({"n": n} for n in RAGGED) if sizes is None else tuple(sizes)

    def register(function):
        PLANS[path] = Plan(function, chosen)
        return function

    return register


def ramp(n: int, seed: int = 0) -> np.ndarray:
    """Return n distinct float32 values, small, of both signs, in no order."""
    shuffled = np.random.default_rng(seed).permutation(n)
    return ((shuffled - n / 3) / 7).astype(np.float32)


def blank(n: int) -> np.ndarray:
    """Return an output that nothing has written yet."""
    return np.full(n, np.nan, dtype=np.float32)


def blocks(n: int, block: int) -> int:
    """Return how many blocks cover n threads."""
    return -(-n // block)


@launches("start/hello.cu", [{"grid": 1, "block": 1}, {"grid": 3, "block": 33}])
def hello(grid: int, block: int) -> Launch:
    lines = (
        f"Hello from thread {thread} of block {number}"
        for number in range(grid)
        for thread in range(block)
    )
    return Launch("hello", grid, block, prints=tuple(lines))


@launches("start/vec_add.cu")
@launches("broken/vec_add_no_guard.cu")
def vec_add(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = a.astype(np.float64) + b
    arguments = (a, b, blank(n), n)
    return Launch("vec_add", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches(
    "start/read_strided.cu", [{"n": n, "stride": s} for n in RAGGED for s in (1, 3, 32)]
)
def read_strided(n: int, stride: int) -> Launch:
    x = ramp((n - 1) * stride + 1)
    wanted = x[::stride].astype(np.float64)
    arguments = (x, blank(n), n, stride)
    return Launch("read_strided", blocks(n, 256), 256, arguments, {1: wanted})


@launches("start/scale.cu")
def scale(n: int) -> Launch:
    x = ramp(n)
    wanted = 3.25 * x.astype(np.float64)
    arguments = (x, 3.25, blank(n), n)
    return Launch("scale", blocks(n, 256), 256, arguments, {2: wanted}, ROUNDING)


@launches("start/add_scale.cu")
def add_scale(n: int) -> Launch:
    a, b = ramp(n), ramp(n, seed=1)
    wanted = 3.25 * (a.astype(np.float64) + b)
    arguments = (a, b, 3.25, blank(n), n)
    # Two roundings: the sum, and its product.
    return Launch(
        "add_scale", blocks(n, 256), 256, arguments, {3: wanted}, 2.01 * ROUNDING
    )


@launches("broken/bad_launch.cu")
def bad_launch(n: int) -> Launch:
    x = ramp(n)
    wanted = x.astype(np.float64) ** 2
    return Launch("square", 1, n, (x,), {0: wanted}, ROUNDING)
