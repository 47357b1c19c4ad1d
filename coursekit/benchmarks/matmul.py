"""Benchmarks of the float32 matrix products, beside the fastest of cuBLAS."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import coursekit as ck
from coursekit.benchmarking import repeated
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.grids import cover
from coursekit.benchmarks.peers import cublas
from coursekit.benchmarks.tilings import WHOLE, Maps, Tiling, check_fours, tuned_case

ROUNDING = 2.0**-24


@dataclass(frozen=True)
class Step:
    """How a step without tensor maps is launched.

    Attributes
    ----------
    block : int or tuple of int
    tile : (int, int)
        Rows and columns of C that a block computes.
    fours : bool
        Whether K and N must be multiples of 4.
    by_rows : bool
        Whether x counts rows of C, not columns.
    """

    block: int | tuple[int, int]
    tile: tuple[int, int]
    fours: bool = False
    by_rows: bool = False


STEPS = {
    "01_naive": Step((32, 32), (32, 32), by_rows=True),
    "02_coalesced": Step((32, 32), (32, 32)),
    "03_shared_tiling": Step((32, 32), (32, 32)),
    "04_column": Step((64, 8), (64, 64)),
    "05_patch": Step(256, (128, 128)),
    "06_vectorised": Step(256, (128, 128), fours=True),
    "07_conflict_free": Step(256, (128, 128), fours=True),
    "08_warp_tiles": Step(256, (128, 128), fours=True),
    "09_double_buffered": Step(256, (128, 128), fours=True),
}


def step_case(name: str) -> Callable:
    """Return a portable step as a case ``(A, B, C, M, N, K)``."""
    step = STEPS[name]
    kernel = ck.compile(f"matmul/step_{name}.cu")[f"matmul_{name[3:]}"]

    def product(A, B, C, M, N, K):
        if step.fours:
            check_fours(kernel.name, N, K)
        grid = cover(N, step.tile[1]), cover(M, step.tile[0])
        kernel[grid[::-1] if step.by_rows else grid, step.block](A, B, C, M, N, K)

    return product


def ring_case() -> Callable:
    """Return step 10 as a case."""
    kernel = ck.compile("matmul/step_10_tma_ring.cu").matmul_tma_ring
    maps = Maps()

    def product(A, B, C, M, N, K):
        check_fours(kernel.name, N, K)
        grid, shared = (cover(N, 128), cover(M, 128)), 4 * 16 * 1024
        boxes = maps(A, (128, 16), 64), maps(B, (16, 128))
        kernel[grid, 256, shared](*boxes, C, M, N, K)

    return product


def split_case(stages: int = 4, group: int = 16) -> Callable:
    """Return step 12 as a case, which includes splitting B."""
    sizes = {"STAGES": stages, "GROUP": group}
    source, target = "matmul/step_12_tf32_split.cu", "sm_90a"
    module = ck.compile(source, arch=target, defines=sizes)
    maps, scratch = Maps(), drawn.zeros()

    def product(A, B, C, M, N, K):
        check_fours("matmul_tf32_split", N, K)
        high, low = scratch("high", (N, K)), scratch("low", (N, K))
        grid = cover(N, 32), cover(K, 32)
        module.split_transposed[grid, (32, 8)](B, high, low, K, N)
        boxes = [maps(array, (128, 32), 128) for array in (A, high, low)]
        grid, shared = cover(M, 128) * cover(N, 128), stages * 3 * 128 * 32 * 4
        module.matmul_tf32_split[grid, 256, shared](*boxes, C, M, N, K)

    return product


# ---------------------------------------------------------------- what is recorded


def ladder_cases() -> dict[str, Callable]:
    """Return all float32 steps."""
    cases = {name[3:].replace("_", " "): step_case(name) for name in STEPS}
    return {**cases, "TMA ring": ring_case(), "tuned": tuned_case()}


TRIED = ((8, 8, 8), (16, 4, 8), (32, 3, 8), (32, 4, 4), (32, 4, 16))


def tuning_cases() -> dict[str, Callable]:
    """Return step 11 for several choices of its sizes, to find the fastest."""
    return {
        f"depth {depth}, stages {stages}, group {group}": tuned_case(
            Tiling(depth=depth, stages=stages, group=group)
        )
        for depth, stages, group in TRIED
    }


def sizes_cases() -> dict[str, Callable]:
    """Return step 11 as it is, and without cutting the last tiles of C."""
    return {"tuned": tuned_case(), "whole tiles": tuned_case(least=WHOLE)}


def squares(n: int) -> tuple:
    """Draw normal A and B, n x n, and make room for C."""
    return drawn.normal(n, n), drawn.normal(n, n), ck.empty((n, n)), n, n, n


def errors(A, B, C) -> tuple[float, float]:
    """Return root mean square and maximum of C - A B, in float64."""
    if getattr(C, "space", "") == "gpu" and importlib.util.find_spec("torch"):
        import torch

        A, B, C = (torch.as_tensor(x, device="cuda").double() for x in (A, B, C))
        off = (torch.matmul(A, B) - C).abs()
        return float((off * off).mean() ** 0.5), float(off.max())
    xp, A, B, C = drawn.viewed(A, B, C)
    off = abs(A.astype(xp.float64) @ B.astype(xp.float64) - C)
    return float((off * off).mean() ** 0.5), float(off.max())


def is_product(A, B, C, M: int, N: int, K: int) -> None:
    """Compare with the product in float64.

    A sum of k products of normal numbers has the size sqrt(k); an addition rounds it by
    ROUNDING / sqrt(3) of that, in the root mean square. K of them, each independent of
    the others, make ROUNDING * K / sqrt(6). Twice that is allowed, since few elements
    scatter; and ten times as much for the worst of all.

    Raises
    ------
    AssertionError
        The results are further off than float32 makes them, or no numbers.
    """
    mean, most = errors(A, B, C)
    allowed = 2 * ROUNDING * max(K, 16) / 6**0.5
    if not (mean <= allowed and most <= 10 * allowed):
        raise AssertionError(f"off by {mean:.3g} in the mean, {most:.3g} at most.")


def large_cases() -> dict[str, Callable]:
    """Return the steps that take milliseconds for large matrices, not seconds."""
    slow = ("naive", "coalesced")
    return {name: case for name, case in ladder_cases().items() if name not in slow}


def burst(case: Callable) -> Callable:
    """Time eight launches after half a second of rest."""
    return repeated(case, calls=8, idle_s=0.5)


def sustained(case: Callable) -> Callable:
    """Time many launches in a row, without rest."""
    return repeated(case, calls=20)


def _peers(way: Callable) -> dict[str, Callable]:
    def peer():
        case = cublas.case()
        return way(case) if case else None

    return {"cuBLAS": peer}


def _timed(way: Callable, name: str, make: Callable) -> Callable[[], dict]:
    return lambda: {name: way(make())}


_square = functools.partial(
    Definition,
    setup=squares,
    verify=is_product,
    flops=lambda n: 2 * n**3,
    count_size=20,
    reference="cuBLAS",
)
SHAPES = (512, 1000, 1024, 1536, 2048, 3000, 5000)  # thousands leave tiles unfilled
LARGE = (4096, 8192)
DEFINITIONS = (
    _square(
        key="matmul/ladder",
        cases=ladder_cases,
        sizes=(1024, 2048, 4096),
        peers=_peers(lambda case: case),
    ),
    _square(
        key="matmul/ladder_large",
        cases=large_cases,
        sizes=(8192,),
        peers=_peers(lambda case: case),
        count_size=None,  # counted as matmul/ladder
    ),
    _square(
        key="matmul/sizes",
        cases=sizes_cases,
        sizes=SHAPES,
        peers=_peers(lambda case: case),
        count_size=None,  # counted as matmul/ladder
    ),
    _square(
        key="matmul/largest",
        cases=_timed(lambda case: case, "tuned", tuned_case),
        sizes=(16384,),
        peers=_peers(lambda case: case),
        count_size=None,  # counted as matmul/ladder
    ),
    _square(
        key="matmul/tuning",
        cases=tuning_cases,
        sizes=LARGE,
        peers=_peers(lambda case: case),
        count_size=None,  # counted as matmul/cublas
    ),
    _square(
        key="matmul/cublas",
        cases=_timed(burst, "tuned", tuned_case),
        sizes=LARGE,
        peers=_peers(burst),
    ),
    _square(
        key="matmul/cublas_sustained",
        cases=_timed(sustained, "tuned", tuned_case),
        sizes=LARGE,
        peers=_peers(sustained),
    ),
    _square(
        key="matmul/tf32_split",
        cases=_timed(burst, "3xTF32", split_case),
        sizes=LARGE,
        peers=_peers(burst),
        flops=("tf32_tensor", lambda n: 2 * n**3),
        count_size=None,  # what wgmma reads by descriptors is in no count
    ),
)
