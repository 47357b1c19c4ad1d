"""Benchmark of bias and GELU, as two kernels and as one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import peers
from coursekit.benchmarks.rows import ROUNDING, compare

COLS = 4096
FURTHEST, STEP = 16.0, 2.0**-12  # of the table of the normal distribution


def cases() -> dict[str, Callable]:
    """Return the pair of kernels, and the fused one."""
    bias = ck.compile("fusion/bias.cu").bias
    gelu = ck.compile("fusion/gelu.cu").gelu
    fused = ck.compile("fusion/bias_gelu.cu").bias_gelu
    across = cover(COLS, 256)

    def two(x, offset, z, y, rows):
        bias[(across, rows), 256](x, offset, z, COLS)
        gelu[across * rows, 256](z, y, rows * COLS)

    def one(x, offset, z, y, rows):
        fused[(across, rows), 256](x, offset, y, COLS)

    return {"two kernels": two, "one kernel": one}


def arrays(rows: int) -> tuple:
    """Draw x and a bias; room for their sum, and for the result."""
    shape = rows, COLS
    return (
        drawn.normal(*shape),
        drawn.normal(COLS),
        ck.empty(shape),
        ck.empty(shape),
        rows,
    )


@functools.cache
def probabilities() -> tuple[np.ndarray, np.ndarray]:
    """Tabulate the normal distribution; linear interpolation is off by 2e-9."""
    places = np.arange(-FURTHEST, FURTHEST + STEP, STEP)
    values = [0.5 * math.erfc(-place / math.sqrt(2)) for place in places]
    return places, np.array(values)


def is_gelu(x, offset, z, y, rows: int) -> bool:
    """Compare with the GELU in float64.

    Sums are below 16, round once, and GELU passes on no more than 1.13 times that;
    normcdff is off by 5 units in the last place, and a product is left.
    """
    xp, x, offset, y = drawn.viewed(x, offset, y)
    expected = x.astype(xp.float64) + offset
    expected *= xp.interp(expected, *map(xp.asarray, probabilities()))
    compare(y, expected, 12 * ROUNDING, absolute=20 * ROUNDING)
    return True


def _torch(torch, x, offset, z, y, rows):
    torch.add(x, offset, out=z)
    torch.ops.aten.gelu.out(z, out=y)


def _compiled(torch, x, offset, z, y, rows):
    y.copy_(torch.nn.functional.gelu(x + offset))


DEFINITIONS = (
    Definition(
        key="fusion/bias_gelu",
        cases=cases,
        sizes=(256, 4096, 32768),
        setup=arrays,
        verify=is_gelu,
        bytes_moved=lambda rows: 4 * COLS * (2 * rows + 1),
        count_size=1,
        peers={
            "torch": lambda: peers.torch(_torch),
            "torch.compile": lambda: peers.torch(_compiled, compiled=True),
        },
    ),
)
