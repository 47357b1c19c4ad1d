"""How the tests launch each file of kernels/: the plans, and what they are made of.

The module launches/FOLDER.py, in tests/kernels/, has one function for each file of
kernels/FOLDER/. A function takes the sizes that the file's `expect:` and `finds:` lines
name, and returns a `Launch`. To add a kernel, write such a function and put
`@launches("folder/file.cu")` above it; tests/kernels/test_kernels.py does the rest.
Values of inputs are distinct, and outputs start as NaN, so that a wrong index shows.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import coursekit as ck

LAUNCHES = Path(__file__).resolve().parents[1] / "kernels" / "launches"
RAGGED = (1, 31, 32, 33, 1023, 1025)
QUADS = [{"n": n} for n in (4, 128, 132, 4092, 4100)]
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
    cooperative : bool
        Whether all blocks must run at once.
    defines : dict of str to int
        Macros that the file is compiled with.
    atol : dict of int to float
        Absolute tolerance of a result, where values cancel.
    """

    kernel: str
    grid: Any
    block: Any
    arguments: tuple = ()
    results: dict[int, np.ndarray] = field(default_factory=dict)
    rtol: float = 0.0
    prints: tuple[str, ...] = ()
    shared_bytes: int = 0
    cooperative: bool = False
    defines: dict[str, int] = field(default_factory=dict)
    atol: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The function that launches a file, and the sizes that its result is tested at."""

    launch: Callable[..., Launch]
    sizes: tuple[dict[str, int], ...]


_registered: dict[str, Plan] = {}


def launches(path: str, sizes: Sequence[dict[str, int]] | None = None):
    """Register the function below for a file; sizes default to n from `RAGGED`."""
    chosen = tuple({"n": n} for n in RAGGED) if sizes is None else tuple(sizes)

    def register(function):
        _registered[path] = Plan(function, chosen)
        return function

    return register


class Boxes:
    """An array of which a kernel copies boxes: its tensor map, made at the launch."""

    def __init__(self, array: np.ndarray, box: tuple[int, int], swizzle=None):
        self.array, self.box, self.swizzle, self.map = array, box, swizzle, None

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self.array

    def __bytes__(self) -> bytes:
        self.map = ck.tensor_map(ck.to_device(self.array), self.box, self.swizzle)
        return bytes(self.map)


@functools.cache
def plans() -> Mapping[str, Plan]:
    """Return the plan of each file of kernels/, by its path there, in order."""
    if (place := str(LAUNCHES.parent)) not in sys.path:  # where no pytest has set it
        sys.path.append(place)
    for module in sorted(LAUNCHES.glob("[a-z]*.py")):
        importlib.import_module(f"launches.{module.stem}")
    return dict(sorted(_registered.items()))


def missing_plan(path: str) -> str:
    """Say what to write for a file that the tests cannot launch."""
    folder, _, file = path.partition("/")
    name = file.removesuffix(".cu")
    return f"""kernels/{path} has no launch. Write a function for it:
  in tests/kernels/launches/{folder}.py{new_module(folder)}
    @launches("{path}", [{{"n": 1}}, {{"n": 1000}}])  # the sizes to test
    def {name}(n: int) -> Launch:
        x = ramp(n)
        wanted = x.astype(np.float64)  # what must come out, in float64
        arguments = (x, blank(n), n)
        return Launch("{name}", blocks(n, 256), 256, arguments, {{1: wanted}})"""


def new_module(folder: str) -> str:
    """Return how the module of a folder begins, where there is none yet."""
    if (LAUNCHES / f"{folder}.py").exists():
        return ""
    return f""", a new file:
    \"\"\"How the tests launch the kernels of kernels/{folder}/.\"\"\"

    import numpy as np
    from kernel_launches import Launch, blank, blocks, launches, ramp
"""


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


PICTURES = [
    {"rows": 1, "cols": 1},
    {"rows": 7, "cols": 33},
    {"rows": 33, "cols": 7},
    {"rows": 31, "cols": 65},
]


def picture(rows: int, cols: int) -> np.ndarray:
    """Return distinct values from 0 to 1 in no order."""
    shuffled = np.random.default_rng(0).permutation(rows * cols)
    return (shuffled / (rows * cols)).astype(np.float32).reshape(rows, cols)


def matrices(batch: int, M: int, N: int, K: int) -> tuple:
    """Return A, B, a blank C, and A @ B in float64; no value is negative."""
    A = picture(batch * M, K).reshape(batch, M, K)
    B = picture(batch * K, N)[::-1].reshape(batch, K, N).copy()
    wanted = A.astype(np.float64) @ B.astype(np.float64)
    return A, B, np.full((batch, M, N), np.nan, dtype=np.float32), wanted
