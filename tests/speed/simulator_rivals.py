"""What the simulator is compared with: loops in C, and Numba's simulator."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

LOOPS = """
void ijk(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void ikj(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    for (int i = 0; i < n * n; i++)
        c[i] = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}
"""
FLAGS = {"ijk": ["-O3"], "ikj": ["-O3", "-march=native"]}
NUMBA = Path(__file__).with_name("numba_matmul.py")
NUMBA_BLOCKS = 256


def c_compiler() -> str | None:
    """Path of a C compiler, gcc first."""
    return shutil.which("gcc") or shutil.which("cc")


def c_loop(name: str, folder: Path):
    """The loop `ijk` or `ikj` as a function of three n x n float32 matrices and n."""
    source, library = folder / "loops.c", folder / f"{name}.so"
    source.write_text(LOOPS)
    command = [c_compiler(), *FLAGS[name], "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    loop = getattr(ctypes.CDLL(str(library)), name)
    matrix = np.ctypeslib.ndpointer(np.float32, 2, flags="C")
    loop.argtypes, loop.restype = [matrix, matrix, matrix, ctypes.c_int], None
    return loop


def numba_seconds(full: bool) -> tuple[float, str]:
    """Seconds of Numba's simulator for the tiled matmul 256^3, and how they came about.

    Parameters
    ----------
    full : bool
        Run all its blocks, which takes minutes. Otherwise run two of the 256, which
        all do the same work, and multiply.
    """
    few = NUMBA_BLOCKS if full else 2
    child = subprocess.run(
        [sys.executable, NUMBA, str(few)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        check=True,
        stdout=subprocess.PIPE,
    )
    how = f"{few} of {NUMBA_BLOCKS} equal blocks, scaled"
    return float(child.stdout) * NUMBA_BLOCKS / few, "measured" if full else how
