"""Benchmarks of the ladder of Fourier transforms, beside cuFFT's own plans."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import numpy as np

import coursekit as ck
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import drawn
from coursekit.benchmarks.fft_plans import plan_of
from coursekit.benchmarks.grids import COPIED, cover
from coursekit.benchmarks.peers import cufft
from coursekit.runtime import backend as backends

VALUES = 2**27  # complex, of all rows together
SMALL = 32  # the length that is counted
SMALL_ROWS = 8
SHORT = tuple(2**k for k in range(6, 14))
BLOCK = (2**14,)  # the longest row of one block
CLUSTERED = tuple(2**k for k in range(15, 18))
LONG = tuple(2**k for k in range(18, 23))
REAL = tuple(2**k for k in range(10, 14))
FACTORED = 1000, 1536
SQUARES = {44100: (14, 15, 5)}  # of step 21: radices, and blocks of a row
PRIME = 10007, 44111
CONVOLVED = REAL
BLOCK_THREADS = 128  # of several short rows, at least
ROUNDING = 2.0**-24
VERIFIED = 2**22  # values that are compared, of the first rows


def rows_of(n: int) -> int:
    """Return the number of rows of a length; few of one that is counted."""
    return VALUES // n if n > SMALL else SMALL_ROWS


def gaps(values: int) -> int:
    """Return the bytes of shared memory for values with a gap after 16."""
    return values // 16 * 17 * 8


@functools.cache
def compiled(step: str, **defines: int | str):
    """Return the only kernel of a step, compiled for a length."""
    module = ck.compile(f"fft/step_{step}.cu", defines=defines)
    return module[module.kernels[0]]


def copy_case() -> Callable:
    """Return the copy of x, into an array that no other case writes."""
    copy = ck.compile("transpose/step_00_copy.cu").copy

    def case(x, X, copied, rows, n):
        copy[cover(2 * rows * n, COPIED), 256](x, copied, 2 * rows * n)

    return case


def of_rows(
    step: str, values: int, room: Callable[[int], int], sizes: Iterable[int]
) -> Callable:
    """Return a step whose block takes one row or several.

    Parameters
    ----------
    values : int
        Values of a thread.
    room : callable
        From the values of a block to its bytes of shared memory.
    sizes : iterable of int
        Lengths of rows, which it is compiled for.
    """
    shares = {n: max(1, min(BLOCK_THREADS * values // n, rows_of(n))) for n in sizes}
    kernels = {n: compiled(step, LENGTH=n, ROWS=shares[n]) for n in shares}

    def case(x, X, copied, rows, n):
        share = shares[n]
        grid, block = cover(rows, share), (n // values, share)
        kernels[n][grid, block, room(share * n)](x, X, rows)

    return case


def by_clusters() -> Callable:
    """Return step 11: 2^14 values per block."""
    kernels = {
        n: compiled("11_cluster", LENGTH=n, SHARE=max(1, n // 2**14)) for n in CLUSTERED
    }

    def case(x, X, copied, rows, n):
        share = max(1, n // 2**14)
        kernels[n][rows * share, n // 16 // share, gaps(n // share)](x, X)

    return case


def in_two_passes(sizes: Iterable[int]) -> Callable:
    """Return step 10, with lengths of the passes as equal as can be."""
    scratch = drawn.zeros()
    halves = {n: 1 << n.bit_length() // 2 for n in sizes}
    lengths = {*halves.values(), *(n // first for n, first in halves.items())}
    modules = {length: two_passes(length) for length in lengths}

    def case(x, X, copied, rows, n):
        first, columns = halves[n], 8
        y = scratch(f"y {n}", (rows, 2 * n))
        for length, name, arrays in (
            (first, "fft_first_pass", (x, y)),
            (n // first, "fft_second_pass", (y, X)),
        ):
            module = modules[length]
            grid, block = (n // length // columns, rows), (columns, length // 16)
            module[name][grid, block, gaps(columns * length)](*arrays, n)

    return case


# Rows of step 17: values of the first transform, and blocks of a row.
EXCHANGED = {2**14: (128, 2), 2**15: (128, 8), 2**16: (256, 8), 2**17: (256, 16)}
# Rows of steps 18 and 19: values of the first transform, and of a tile.
TILED = {2**18: (512, 8192), 2**19: (512, 8192), 2**20: (1024, 8192)}
TILED |= {2**21: (1024, 8192), 2**22: (2048, 16384)}
# Rows of step 19 as well: those of the second pass behind the first, and of y.
KEPT = {2**15: (128, 4096, 32, 64), 2**16: (256, 4096, 16, 32)}
KEPT |= {2**17: (256, 4096, 8, 20), 2**18: (512, 4096, 5, 12)}
KEPT |= {2**19: (512, 4096, 3, 6), 2**20: (1024, 8192, 1, 3)}
KEPT |= {2**21: (1024, 8192, 1, 3), 2**22: (2048, 16384, 1, 2)}


# Rows of step 23: the radix in the middle, blocks of a row, and rows ahead.
WIDE = {2**14: (16, 1, 33), 2**15: (32, 2, 16)}
# Rows of step 24: radices, blocks of a row, and rows ahead.
WIDER = {2**16: ((16, 16, 16, 16), 8, 16), 2**17: ((16, 32, 16, 16), 16, 8)}


def four_stage_places(radices: tuple[int, ...], share: int) -> int:
    """Return how many values a block of step 24 has places for in shared memory."""
    a, b, c, d = radices
    columns = c * d // share
    gap = columns * b // 32 if columns * b < 16 * 32 else 0
    return max(a * b // share * (c * d + 1), a * (b * columns + gap))


def with_wide_threads(sizes: Iterable[int]) -> Callable:
    """Return steps 23 and 24: 32 values per thread."""
    launches = {}
    for n in sizes:
        if n in WIDE:
            middle, share, ahead = WIDE[n]
            kernel = compiled(
                "23_two_exchanges", MIDDLE=middle, SHARE=share, AHEAD=ahead
            )
            places = 32 // share * (middle * 32 + 1)
        else:
            radices, share, ahead = WIDER[n]
            defines = dict(zip("ABCD", radices, strict=True))
            kernel = compiled("24_three_exchanges", SHARE=share, AHEAD=ahead, **defines)
            places = four_stage_places(radices, share)
        launches[n] = kernel, share, 8 * places

    def case(x, X, copied, rows, n):
        kernel, share, room = launches[n]
        kernel[rows * share, n // 32 // share, room](x, X)

    return case


def one_exchange(sizes: Iterable[int]) -> Callable:
    """Return step 17: two transforms in a cluster, one exchange between them."""
    kernels = {
        n: compiled("17_one_exchange", FIRST=first, SECOND=n // first, SHARE=share)
        for n, (first, share) in EXCHANGED.items()
        if n in sizes
    }

    def case(x, X, copied, rows, n):
        share = EXCHANGED[n][1]
        room = gaps(n // share)
        kernels[n][rows * share, n // 16 // share, room](x, X)

    return case


def in_tiles() -> Callable:
    """Return step 18: two passes with lengths that the compiler knows."""
    scratch = drawn.zeros()
    modules = {
        n: ck.compile(
            "fft/step_18_tiles.cu",
            defines={"FIRST": first, "SECOND": n // first, "TILE": tile},
        )
        for n, (first, tile) in TILED.items()
    }

    def case(x, X, copied, rows, n):
        tile = TILED[n][1]
        y = scratch(f"y {n}", (rows, 2 * n))
        for name, arrays in (
            ("fft_columns_to_rows", (x, y)),
            ("fft_columns_of_rows", (y, X)),
        ):
            modules[n][name][rows * n // tile, tile // 16, gaps(tile)](*arrays)

    return case


def one_trip(sizes: Iterable[int]) -> Callable:
    """Return step 19: two passes in one launch."""
    scratch, counters = drawn.zeros(), drawn.zeros()
    keys = "FIRST", "TILE", "LAG", "RING"
    kernels = {
        n: compiled(
            "19_one_trip",
            SECOND=n // KEPT[n][0],
            **dict(zip(keys, KEPT[n], strict=True)),
        )
        for n in sizes
    }

    def case(x, X, copied, rows, n):
        _, tile, lag, ring = KEPT[n]
        y = scratch(f"y {n}", (ring, 2 * n))
        done = counters(f"done {n}", 2 * rows + 2, np.int32)
        grid = 2 * n // tile * (rows + lag)
        kernels[n][grid, tile // 16, gaps(tile)](x, y, X, done, rows)

    return case


def two_passes(length: int):
    """Return the kernels of step 10 for passes of a length."""
    return ck.compile("fft/step_10_two_passes.cu", defines={"LENGTH": length})


def real_case() -> Callable:
    """Return step 8: n real values are n / 2 complex ones."""
    kernels = {n: compiled("08_real", LENGTH=n // 2) for n in REAL}

    def case(x, X, copied, rows, n):
        half = n // 2
        kernels[n][rows, half // 16, gaps(half)](x, X)

    return case


def by_one_pass() -> Callable:
    """Return step 14: there, times W, and back."""
    shares = {n: max(1, min(BLOCK_THREADS * 16 // n, rows_of(n))) for n in CONVOLVED}
    kernels = {
        n: compiled("14_convolution", LENGTH=n, ROWS=share)
        for n, share in shares.items()
    }

    def case(x, W, y, copied, rows, n):
        share = shares[n]
        grid, block = cover(rows, share), (n // 16, share)
        kernels[n][grid, block, gaps(share * n)](x, W, y, rows)

    return case


def in_place() -> Callable:
    """Return step 15: a block per row."""
    kernels = {n: compiled("15_in_place", LENGTH=n) for n in CONVOLVED}

    def case(x, W, y, copied, rows, n):
        kernels[n][rows, n // 32, (n + 16) * 8](x, W, y, rows)

    return case


def fetching_ahead() -> Callable:
    """Return step 16, with as many blocks as run at once."""
    kernels = {n: compiled("16_ahead", LENGTH=n) for n in CONVOLVED}
    scratch, resident = drawn.zeros(), ck.device().sm_count

    def ahead(x, W, y, copied, rows, n):
        blocks = max(1, 12288 // n) * resident
        tickets = scratch("tickets", (1,), np.uint32)
        room = (2 * n + 16) * 8
        kernels[n][min(rows, blocks), n // 32, room](x, W, y, rows, tickets)

    return ahead


def convolution_cases() -> dict[str, Callable]:
    """Return the steps that convolve rows with a filter, and the copy."""
    copy_of = copy_case()

    def copy(x, W, y, copied, rows, n):
        copy_of(x, y, copied, rows, n)

    return {
        "copy": copy,
        "one pass": by_one_pass(),
        "in place": in_place(),
        "ahead": fetching_ahead(),
    }


def short_cases() -> dict[str, Callable]:
    """Return the steps for rows of one block."""
    sizes = SMALL, *SHORT
    return {
        "copy": copy_case(),
        "registers": of_rows("06_conflict_free", 16, gaps, sizes),
        "vectorised": of_rows("07_vectorised", 16, lambda values: 9 * values, sizes),
    }


def block_cases() -> dict[str, Callable]:
    """Return the steps for the longest rows of one block."""
    return {
        "copy": copy_case(),
        "registers": of_rows("06_conflict_free", 16, gaps, BLOCK),
        "one exchange": one_exchange(BLOCK),
        "32 values": with_wide_threads(BLOCK),
        "two passes": in_two_passes(BLOCK),
    }


def cluster_cases() -> dict[str, Callable]:
    """Return the steps for rows of several blocks."""
    return {
        "copy": copy_case(),
        "cluster": by_clusters(),
        "one exchange": one_exchange(CLUSTERED),
        "two passes": in_two_passes(CLUSTERED),
        "one trip": one_trip(CLUSTERED),
        "32 values": with_wide_threads(CLUSTERED),
    }


def factored_cases() -> dict[str, Callable]:
    """Return the step for rows with factors 3, 5 and 7."""
    kernels = {n: compiled("12_other_factors", LENGTH=n) for n in FACTORED}

    def factors(x, X, copied, rows, n):
        kernels[n][rows, 256, 16 * n](x, X)

    return {"copy": copy_case(), "factors": factors}


def by_plans(sizes: Iterable[int]) -> Callable:
    """Return step 20, compiled for the plan of each length."""
    plans = {n: plan_of(n) for n in sizes}
    kernels = {
        n: compiled(
            "20_mixed_radix",
            LENGTH=n,
            RADICES=",".join(map(str, plan.radices)),
            THREADS=plan.threads,
            ROWS=plan.share,
        )
        for n, plan in plans.items()
    }

    def case(x, X, copied, rows, n):
        plan = plans[n]
        grid, block = cover(rows, plan.share), (plan.threads, plan.share)
        kernels[n][grid, block](x, X, rows)

    return case


def in_squares() -> Callable:
    """Return step 21: a row is a square, which a cluster of blocks transforms."""
    kernels = {
        n: compiled("21_mixed_cluster", EARLY=early, LATE=late, SHARE=share)
        for n, (early, late, share) in SQUARES.items()
    }

    def case(x, X, copied, rows, n):
        early, late, share = SQUARES[n]
        side = early * late
        block, room = side // share * max(early, late), side // share * (side | 1) * 8
        kernels[n][rows * share, block, room](x, X)

    return case


def mixed_cases() -> dict[str, Callable]:
    """Return the steps for rows with factors 3, 5 and 7 of one block."""
    return {**factored_cases(), "mixed radix": by_plans(FACTORED)}


def square_cases() -> dict[str, Callable]:
    """Return the step for longer rows with such factors."""
    return {"copy": copy_case(), "mixed cluster": in_squares()}


# Rows of step 22: the two lengths that the transform is made of, and blocks of a row.
PADDED = {SMALL: (32, 32, 2), 10007: (128, 256, 4), 44111: (256, 512, 16)}


def chirp_of(n: int) -> np.ndarray:
    """Return exp(-pi i j^2 / n) for j below n, its exponent reduced exactly."""
    j = np.arange(n, dtype=np.int64)
    return np.exp(-1j * np.pi * (j * j % (2 * n)) / n)


def chirp_filter(n: int, length: int) -> np.ndarray:
    """Return the transform of the conjugate chirp, on both sides of 0, else 0."""
    chirp = chirp_of(n).conj()
    padded = np.zeros(length, complex)
    padded[:n] = chirp
    padded[length - n + 1 :] = chirp[:0:-1]
    return np.fft.fft(padded)


@functools.cache
def chirps(space: str, n: int) -> tuple:
    """Return the chirp and the filter of a length as arrays of the device."""
    first, second, _ = PADDED[n]
    given = chirp_of(n), chirp_filter(n, first * second)
    return tuple(ck.to_device(a.astype(np.complex64).view(np.float32)) for a in given)


def prime_cases() -> dict[str, Callable]:
    """Return the step for rows of any length."""
    kernels = {
        n: compiled("22_long_bluestein", FIRST=first, SECOND=second, SHARE=share)
        for n, (first, second, share) in PADDED.items()
    }

    def bluestein(x, X, copied, rows, n):
        first, second, share = PADDED[n]
        part = first * second // share
        given = chirps(backends.current().space, n)
        kernels[n][rows * share, part // 16, gaps(part)](x, *given, X, n)

    return {"copy": copy_case(), "Bluestein": bluestein}


def long_cases() -> dict[str, Callable]:
    """Return the step for the longest rows."""
    return {
        "copy": copy_case(),
        "two passes": in_two_passes(LONG),
        "tiles": in_tiles(),
        "one trip": one_trip(LONG),
    }


def complex_rows(n: int) -> tuple:
    """Draw complex numbers in rows; room for their transform, and for a copy."""
    rows = rows_of(n)
    shape = (rows, 2 * n)
    return drawn.normal(*shape), ck.empty(shape), ck.empty(shape), rows, n


def real_rows(n: int) -> tuple:
    """Draw as many real numbers; room for half their frequencies and one more."""
    rows = rows_of(n)
    x, copied = drawn.normal(rows, n), ck.empty((rows, n))
    return x, ck.empty((rows, n + 2)), copied, rows, n


def convolved_rows(n: int) -> tuple:
    """Draw complex numbers in rows, and a filter's spectrum; room for two results."""
    x, y, copied, rows, _ = complex_rows(n)
    return x, drawn.normal(2 * n), y, copied, rows, n


def is_convolved(x, W, y, copied, rows: int, n: int) -> bool:
    """Compare some rows with a convolution in complex128, or the copy with x."""
    xp, x, W, y, copied = drawn.viewed(x, W, y, copied)
    if xp.array_equal(copied, x):
        return True
    few = max(1, min(rows, VERIFIED // n))
    given, W, found = (a.view(xp.complex64) for a in (x[:few], W, y[:few]))
    spectrum = xp.fft.fft(given.astype(xp.complex128)) * W
    return _near(xp, found, xp.fft.ifft(spectrum), n**3)  # there, the product, and back


def is_transform(x, X, copied, rows: int, n: int) -> bool:
    """Compare some rows with the transform in complex128, or the copy with x.

    A value passes log2(n) butterflies, which rotate and add: 8 roundings in each.
    """
    xp, x, X, copied = drawn.viewed(x, X, copied)
    if xp.array_equal(copied, x):
        return True
    few = max(1, min(rows, VERIFIED // n))
    given, found = (a[:few].view(xp.complex64) for a in (x, X))
    return _near(xp, found, xp.fft.fft(given.astype(xp.complex128)), n)


def is_real_transform(x, X, copied, rows: int, n: int) -> bool:
    """Compare some rows with the transform of real numbers in float64."""
    xp, x, X = drawn.viewed(x, X)
    few = max(1, min(rows, VERIFIED // n))
    expected = xp.fft.rfft(x[:few].astype(xp.float64))
    return _near(xp, X[:few].view(xp.complex64), expected, n)


def _near(xp, found, expected, n: int) -> bool:
    off = abs(found - expected).max(axis=1)
    norm = xp.sqrt((abs(expected) ** 2).sum(axis=1))
    return bool((off <= 8 * np.log2(n) * ROUNDING * norm).all())


_complex = functools.partial(
    Definition,
    setup=complex_rows,
    verify=is_transform,
    bytes_moved=lambda n: 2 * 8 * rows_of(n) * n,
    peers={"cuFFT": cufft.complex_case},
    reference="cuFFT",
)
DEFINITIONS = (
    _complex(key="fft/short", cases=short_cases, sizes=SHORT, count_size=SMALL),
    _complex(key="fft/block", cases=block_cases, sizes=BLOCK),
    _complex(key="fft/cluster", cases=cluster_cases, sizes=CLUSTERED),
    _complex(key="fft/long", cases=long_cases, sizes=LONG),
    _complex(key="fft/factors", cases=factored_cases, sizes=FACTORED),
    _complex(key="fft/mixed", cases=mixed_cases, sizes=FACTORED),
    _complex(key="fft/squares", cases=square_cases, sizes=tuple(SQUARES)),
    _complex(key="fft/prime", cases=prime_cases, sizes=PRIME, count_size=SMALL),
    Definition(
        key="fft/convolution",
        cases=convolution_cases,
        sizes=CONVOLVED,
        setup=convolved_rows,
        verify=is_convolved,
        bytes_moved=lambda n: 2 * 8 * rows_of(n) * n,
        peers={"cuFFT": cufft.convolution_case},
        reference="cuFFT",
    ),
    Definition(
        key="fft/real",
        cases=lambda: {"real": real_case()},
        sizes=REAL,
        setup=real_rows,
        verify=is_real_transform,
        bytes_moved=lambda n: rows_of(n) * (4 * n + 4 * (n + 2)),
        peers={"cuFFT": cufft.real_case},
        reference="cuFFT",
    ),
)
