"""How the tests launch the ladder of kernels/fft/: one function a step."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from kernel_launches import ROUNDING, Launch, blocks, launches

from coursekit.benchmarks.fft import chirp_filter, chirp_of, four_stage_places


def both_ways(*sizes: dict[str, int]) -> list[dict[str, int]]:
    """Return each of the sizes forward, and the first one as an inverse too."""
    return [*sizes, {**sizes[0], "sign": 1}]


def values(*shape: int) -> np.ndarray:
    """Return distinct complex values, of both signs, in no order."""
    count = 2 * int(np.prod(shape))
    shuffled = np.random.default_rng(0).permutation(count) / count - 0.4
    return shuffled.astype(np.float32).view(np.complex64).reshape(shape)


def pairs(array: np.ndarray) -> np.ndarray:
    """View complex numbers as pairs of real ones, in float64."""
    wide = np.ascontiguousarray(array, np.complex128)
    return wide.view(np.float64).reshape(*array.shape, 2)


def transformed(x: np.ndarray, sign: int, axis: int = -1) -> np.ndarray:
    """Return the transform of each row, in complex128."""
    function = np.fft.fft if sign < 0 else np.fft.ifft
    return function(x.astype(np.complex128), axis=axis)


def tolerance(wanted: np.ndarray, length: float) -> float:
    """Bound the absolute error of a result.

    A value passes log2(length) butterflies. In each it is rotated, by a root that is
    off by up to 5 roundings (a product of roots), and added. Errors are measured by
    the norm of the row, which a result may have in the worst case.
    """
    norm = np.sqrt((np.abs(wanted) ** 2).sum(axis=-1).max())
    return float(8 * max(np.log2(length), 1) * ROUNDING * norm)


def launch_of(kernel, grid, block, x, wanted, **changes) -> Launch:
    """Return a launch whose first two arrays are x and the result."""
    rest = changes.pop("rest", ())
    y = np.full((*wanted.shape, 2), np.nan, np.float32)
    given = x.view(np.float32).reshape(*x.shape, -1)
    length = changes.pop("terms", wanted.shape[-1])
    return Launch(
        kernel, grid, block, (given, y, *rest), {1: pairs(wanted)},
        atol={1: tolerance(wanted, length)}, **changes,
    )  # fmt: skip


def shared_bytes(length: int, copies: int = 1) -> int:
    """Return the shared memory of rows with a gap after 16 values."""
    return copies * length // 16 * 17 * 8


@launches(
    "fft/step_01_dft.cu",
    both_ways({"rows": 2, "n": 64}, {"rows": 3, "n": 1}, {"rows": 1, "n": 131}),
)
def dft_naive(rows: int, n: int, sign: int = -1) -> Launch:
    x = values(rows, n)
    grid, defines = (blocks(n, 128), rows), {"SIGN": sign}
    return launch_of(
        "dft_naive", grid, 128, x, transformed(x, sign),
        rest=(n,), terms=2.0**n, defines=defines,
    )  # fmt: skip


@launches(
    "fft/step_02_stages.cu",
    [{"rows": 2, "n": 128, "span": s} for s in (1, 8, 64)]
    + [{"rows": 1, "n": 2, "span": 1}, {"rows": 3, "n": 16, "span": 4, "sign": 1}],
)
def fft_stage(rows: int, n: int, span: int, sign: int = -1) -> Launch:
    x = values(rows, n)
    a, b = x.astype(np.complex128).reshape(rows, 2, -1, span).swapaxes(0, 1)
    b = b * np.exp(sign * 1j * np.pi * np.arange(span) / span)
    wanted = np.stack([a + b, a - b], axis=2).reshape(rows, n)
    grid = blocks(n // 2, 128), rows
    return launch_of(
        "fft_stage", grid, 128, x, wanted,
        rest=(n, span), terms=2, defines={"SIGN": sign},
    )  # fmt: skip


def one_row_per_block(kernel: str, rows: int, length: int, sign: int, per_thread: int):
    x = values(rows, length)
    defines = {"LENGTH": length, "SIGN": sign}
    block = length // per_thread
    wanted = transformed(x, sign)
    return launch_of(kernel, rows, block, x, wanted, defines=defines)


@launches(
    "fft/step_03_shared.cu",
    both_ways(*({"rows": 2, "length": n} for n in (256, 2, 64))),
)
def fft_shared(rows: int, length: int, sign: int = -1) -> Launch:
    return one_row_per_block("fft_shared", rows, length, sign, 2)


@launches(
    "fft/step_04_radix4.cu",
    both_ways(*({"rows": 2, "length": n} for n in (256, 4, 64))),
)
def fft_radix4(rows: int, length: int, sign: int = -1) -> Launch:
    return one_row_per_block("fft_radix4", rows, length, sign, 4)


def rows_per_block(kernel: str, rows, length, sign, share, **changes) -> Launch:
    x = values(rows, length)
    defines = {"LENGTH": length, "SIGN": sign, "ROWS": share}
    grid, block = blocks(rows, share), (length // 16, share)
    return launch_of(
        kernel, grid, block, x, transformed(x, sign),
        rest=(rows,), defines=defines, **changes,
    )  # fmt: skip


SEVERAL_ROWS = both_ways(
    {"rows": 2, "length": 1024},
    {"rows": 5, "length": 32, "share": 3},
    {"rows": 3, "length": 64, "share": 2},
    {"rows": 1, "length": 128},
    {"rows": 1, "length": 2048},
)


@launches("fft/step_05_registers.cu", SEVERAL_ROWS)
def fft_registers(rows: int, length: int, share: int = 1, sign: int = -1) -> Launch:
    return rows_per_block("fft_registers", rows, length, sign, share)


@launches(
    "fft/step_06_conflict_free.cu",
    [*SEVERAL_ROWS, {"rows": 1, "length": 8192}, {"rows": 1, "length": 16384}],
)
def fft_conflict_free(rows: int, length: int, share: int = 1, sign: int = -1) -> Launch:
    room = shared_bytes(length, share)
    return rows_per_block(
        "fft_conflict_free", rows, length, sign, share, shared_bytes=room
    )


@launches(
    "fft/step_07_vectorised.cu",
    both_ways(
        {"rows": 2, "length": 512},
        {"rows": 5, "length": 16, "share": 3},
        {"rows": 3, "length": 64, "share": 2},
        {"rows": 1, "length": 1024},
        {"rows": 1, "length": 2048},
    ),
)
def fft_vectorised(rows: int, length: int, share: int = 1, sign: int = -1) -> Launch:
    room = share * length // 8 * 9 * 8
    return rows_per_block(
        "fft_vectorised", rows, length, sign, share, shared_bytes=room
    )


@launches(
    "fft/step_08_real.cu",
    [{"rows": 2, "length": 512}, {"rows": 1, "length": 32}, {"rows": 3, "length": 64}],
)
def fft_real(rows: int, length: int) -> Launch:
    x = values(rows, length).view(np.float32)
    wanted = np.fft.rfft(x.astype(np.float64))
    return launch_of(
        "fft_real", rows, length // 16, x.view(np.complex64), wanted,
        defines={"LENGTH": length}, shared_bytes=shared_bytes(length),
    )  # fmt: skip


@launches(
    "fft/step_09_columns.cu",
    both_ways(
        {"matrices": 1, "length": 64, "cols": 16, "columns": 8},
        {"matrices": 2, "length": 32, "cols": 5, "columns": 4},
        {"matrices": 1, "length": 512, "cols": 3, "columns": 2},
    ),
)
def fft_columns(
    matrices: int, length: int, cols: int, columns: int, sign: int = -1
) -> Launch:
    x = values(matrices, length, cols)
    wanted = transformed(x, sign, axis=1)
    grid, block = (blocks(cols, columns), matrices), (columns, length // 16)
    return launch_of(
        "fft_columns", grid, block, x, wanted,
        rest=(cols,), terms=length,
        defines={"LENGTH": length, "SIGN": sign, "COLUMNS": columns},
        shared_bytes=shared_bytes(length, columns),
    )  # fmt: skip


def first_pass(x: np.ndarray, length: int, sign: int) -> np.ndarray:
    """Return what the first pass makes: transforms of columns, as rows."""
    columns = x.astype(np.complex128).reshape(len(x), length, -1)
    return transformed(columns, sign, axis=1) * (length if sign > 0 else 1)


@launches(
    "fft/step_10_two_passes.cu",
    [
        {"rows": 1, "n": 2048, "length": 32, "pass": 1},
        {"rows": 1, "n": 2048, "length": 64, "pass": 2},
        {"rows": 2, "n": 2048, "length": 64, "pass": 1, "sign": 1},
        {"rows": 2, "n": 2048, "length": 32, "pass": 2, "sign": 1},
        {"rows": 1, "n": 16384, "length": 128, "pass": 2},
    ],
)
def fft_two_passes(rows: int, n: int, length: int, sign: int = -1, **which) -> Launch:
    x, first = values(rows, n), which["pass"] == 1
    if first:
        wanted = first_pass(x, length, sign).swapaxes(1, 2).reshape(rows, n)
    else:
        whole, x = x, np.empty_like(x)
        other = n // length
        x[:] = first_pass(whole, other, sign).swapaxes(1, 2).reshape(rows, n)
        wanted = transformed(whole, sign)
    grid, block = (n // length // 8, rows), (8, length // 16)
    return launch_of(
        "fft_first_pass" if first else "fft_second_pass", grid, block, x, wanted,
        rest=(n,), terms=n,
        defines={"LENGTH": length, "SIGN": sign, "COLUMNS": 8},
        shared_bytes=shared_bytes(length, 8),
    )  # fmt: skip


@launches(
    "fft/step_11_cluster.cu",
    both_ways(
        {"rows": 1, "length": 4096, "share": 1},
        {"rows": 2, "length": 1024, "share": 2},
        {"rows": 1, "length": 8192, "share": 8},
    ),
)
def fft_cluster(rows: int, length: int, share: int, sign: int = -1) -> Launch:
    x = values(rows, length)
    return launch_of(
        "fft_cluster", rows * share, length // 16 // share, x, transformed(x, sign),
        defines={"LENGTH": length, "SIGN": sign, "SHARE": share},
        shared_bytes=shared_bytes(length) // share,
    )  # fmt: skip


@launches(
    "fft/step_12_other_factors.cu",
    both_ways(*({"rows": 2, "length": n} for n in (60, 1, 7, 210, 1000))),
)
def fft_other_factors(rows: int, length: int, sign: int = -1) -> Launch:
    x = values(rows, length)
    return launch_of(
        "fft_other_factors", rows, 256, x, transformed(x, sign),
        defines={"LENGTH": length, "SIGN": sign}, shared_bytes=16 * length,
    )  # fmt: skip


@launches(
    "fft/step_13_bluestein.cu",
    [
        {"rows": r, "n": n, "length": length}
        for r, n, length in ((2, 31, 64), (1, 1, 32), (3, 16, 32), (2, 127, 256))
    ],
)
def fft_bluestein(rows: int, n: int, length: int) -> Launch:
    x, wanted = values(rows, n), transformed(values(rows, n), -1)
    spectrum = chirp_filter(n, length).astype(np.complex64)
    found = np.full((rows, n, 2), np.nan, np.float32)
    off = 4 * tolerance(wanted, length)
    return Launch(
        "fft_bluestein", rows, length // 16,
        (x.view(np.float32).reshape(rows, n, 2),
         spectrum.view(np.float32).reshape(-1, 2), found, n),
        {2: pairs(wanted)}, atol={2: off},
        defines={"LENGTH": length}, shared_bytes=shared_bytes(length),
    )  # fmt: skip


@launches(
    "fft/step_17_one_exchange.cu",
    both_ways(
        {"rows": 1, "first": 64, "second": 64, "share": 1},
        {"rows": 2, "first": 32, "second": 32, "share": 2},
        {"rows": 1, "first": 64, "second": 128, "share": 4},
    ),
)
def fft_one_exchange(
    rows: int, first: int, second: int, share: int, sign: int = -1
) -> Launch:
    n = first * second
    x = values(rows, n)
    return launch_of(
        "fft_one_exchange", rows * share, n // 16 // share, x, transformed(x, sign),
        defines={"FIRST": first, "SECOND": second, "SHARE": share, "SIGN": sign},
        shared_bytes=shared_bytes(n // share),
    )  # fmt: skip


@launches(
    "fft/step_18_tiles.cu",
    [
        {"rows": 1, "first": 32, "second": 64, "pass": 1},
        {"rows": 1, "first": 32, "second": 64, "pass": 2},
        {"rows": 2, "first": 64, "second": 32, "pass": 1, "sign": 1},
        {"rows": 2, "first": 32, "second": 64, "pass": 2, "sign": 1},
    ],
)
def fft_tiles(rows: int, first: int, second: int, sign: int = -1, **which) -> Launch:
    n, tile = first * second, 512
    whole = values(rows, n)
    between = turned_columns(whole, first, sign)
    if which["pass"] == 1:
        name, x, wanted = "fft_columns_to_rows", whole, between
    else:
        name, x = "fft_columns_of_rows", between.astype(np.complex64)
        wanted = transformed(whole, sign)
    return launch_of(
        name, rows * n // tile, tile // 16, x, wanted, terms=n,
        defines={"FIRST": first, "SECOND": second, "TILE": tile, "SIGN": sign},
        shared_bytes=shared_bytes(tile),
    )  # fmt: skip


def turned_columns(x: np.ndarray, first: int, sign: int) -> np.ndarray:
    """Return transforms of columns as rows, times the roots between the passes."""
    n = x.shape[1]
    columns = first_pass(x, first, sign).swapaxes(1, 2)
    c, k = np.arange(n // first)[:, None], np.arange(first)
    return (columns * np.exp(sign * 2j * np.pi * c * k / n)).reshape(x.shape)


@launches(
    "fft/step_19_one_trip.cu",
    both_ways(
        {"rows": 1, "first": 32, "second": 32},
        {"rows": 5, "first": 32, "second": 64},
    ),
)
def fft_one_trip(rows: int, first: int, second: int, sign: int = -1) -> Launch:
    n, tile, lag, ring = first * second, 512, 1, min(2, rows)
    x = values(rows, n)
    y = np.full((ring, n, 2), np.nan, np.float32)
    result = np.full((rows, n, 2), np.nan, np.float32)
    done = np.zeros(2 * rows + 2, np.int32)
    wanted = transformed(x, sign)
    last = [max(range(slot, rows, ring)) for slot in range(ring)]  # row of each slot
    kept = turned_columns(x[last], first, sign)
    return Launch(
        "fft_one_trip", 2 * n // tile * (rows + lag), tile // 16,
        (x.view(np.float32).reshape(rows, n, 2), y, result, done, rows),
        {1: pairs(kept), 2: pairs(wanted), 3: done.astype(float)},
        atol={1: tolerance(kept, n), 2: tolerance(wanted, n)},
        defines={"FIRST": first, "SECOND": second, "TILE": tile, "SIGN": sign,
                 "LAG": lag, "RING": ring},
        shared_bytes=shared_bytes(tile),
    )  # fmt: skip


@launches(
    "fft/step_20_mixed_radix.cu",
    both_ways(
        {"rows": 2, "length": 60, "threads": 6},
        {"rows": 3, "length": 60, "threads": 10, "share": 2},
        {"rows": 2, "length": 210, "threads": 15},
        {"rows": 3, "length": 1000, "threads": 100, "share": 2},
        {"rows": 1, "length": 1536, "threads": 96},
        {"rows": 1, "length": 1287, "threads": 99},
        {"rows": 1, "length": 7, "threads": 1},
        {"rows": 1, "length": 96, "threads": 12},
        {"rows": 1, "length": 120, "threads": 20},
    ),
)
def fft_mixed_radix(
    rows: int, length: int, threads: int, share: int = 1, sign: int = -1
) -> Launch:
    x, radices = values(rows, length), RADICES[length]
    return launch_of(
        "fft_mixed_radix", blocks(rows, share), (threads, share), x,
        transformed(x, sign), rest=(rows,),
        defines={"LENGTH": length, "SIGN": sign, "RADICES": radices,
                 "THREADS": threads, "ROWS": share},
    )  # fmt: skip


# Every radix from 2 to 16, in stages of every kind.
RADICES = {
    7: "7", 60: "6,10", 96: "8,12", 120: "2,3,4,5", 210: "14,15", 1000: "10,10,10",
    1287: "9,11,13", 1536: "6,16,16",
}  # fmt: skip


@launches(
    "fft/step_21_mixed_cluster.cu",
    both_ways(
        {"rows": 1, "early": 6, "late": 5, "share": 1},
        {"rows": 2, "early": 6, "late": 5, "share": 5},
        {"rows": 1, "early": 5, "late": 8, "share": 2},
        {"rows": 1, "early": 14, "late": 15, "share": 5},
    ),
)
def fft_mixed_cluster(
    rows: int, early: int, late: int, share: int, sign: int = -1
) -> Launch:
    side = early * late
    x = values(rows, side**2)
    return launch_of(
        "fft_mixed_cluster", rows * share, side // share * max(early, late), x,
        transformed(x, sign),
        defines={"EARLY": early, "LATE": late, "SHARE": share, "SIGN": sign},
        shared_bytes=side // share * (side | 1) * 8,
    )  # fmt: skip


@launches(
    "fft/step_22_long_bluestein.cu",
    [
        {"rows": 1, "n": 500, "first": 32, "second": 32, "share": 1},
        {"rows": 2, "n": 512, "first": 32, "second": 32, "share": 2},
        {"rows": 1, "n": 1, "first": 32, "second": 32, "share": 2},
        {"rows": 1, "n": 1031, "first": 64, "second": 64, "share": 4},
    ],
)
def fft_long_bluestein(
    rows: int, n: int, first: int, second: int, share: int
) -> Launch:
    x, length = values(rows, n), first * second
    wanted = transformed(x, -1)
    given = [
        a.astype(np.complex64).view(np.float32).reshape(*a.shape, 2)
        for a in (x, chirp_of(n), chirp_filter(n, length))
    ]
    found = np.full((rows, n, 2), np.nan, np.float32)
    return Launch(
        "fft_long_bluestein", rows * share, length // 16 // share,
        (*given, found, n),
        {3: pairs(wanted)}, atol={3: 4 * tolerance(wanted, length)},
        defines={"FIRST": first, "SECOND": second, "SHARE": share},
        shared_bytes=shared_bytes(length // share),
    )  # fmt: skip


def convolution(step: str, rows: int, length: int, grid, block, room: int, **defines):
    x, filter = values(rows, length), values(length)[::-1]
    W = np.fft.fft(filter.astype(np.complex128)).astype(np.complex64)
    wanted = transformed(transformed(x, -1) * W.astype(np.complex128), 1)
    given = [a.view(np.float32).reshape(*a.shape, 2) for a in (x, W)]
    y = np.full((rows, length, 2), np.nan, np.float32)
    return Launch(
        step, grid, block, (*given, y, rows), {2: pairs(wanted)},
        atol={2: 3 * tolerance(wanted, length)},  # there, the product, and back
        shared_bytes=room, defines={"LENGTH": length, **defines},
    )  # fmt: skip


@launches(
    "fft/step_14_convolution.cu",
    [
        {"rows": 2, "length": 1024},
        {"rows": 5, "length": 32, "share": 3},
        {"rows": 1, "length": 8192},
    ],
)
def fft_convolution(rows: int, length: int, share: int = 1) -> Launch:
    return convolution(
        "fft_convolution", rows, length, blocks(rows, share), (length // 16, share),
        shared_bytes(length, share), ROWS=share,
    )  # fmt: skip


@launches(
    "fft/step_15_in_place.cu",
    [
        {"rows": 2, "length": 1024},
        {"rows": 1, "length": 2048, "grid": 2},
        {"rows": 1, "length": 8192},
    ],
)
def fft_in_place(rows: int, length: int, grid: int | None = None) -> Launch:
    room = (length + 16) * 8
    return convolution("fft_in_place", rows, length, grid or rows, length // 32, room)


@launches(
    "fft/step_16_ahead.cu",
    [
        {"rows": 3, "length": 1024},
        {"rows": 1, "length": 1024, "grid": 2},
        {"rows": 2, "length": 2048},
    ],
)
def fft_ahead(rows: int, length: int, grid: int = 1) -> Launch:
    room = (2 * length + 16) * 8
    plain = convolution("fft_ahead", rows, length, grid, length // 32, room)
    tickets = np.zeros(1, np.uint32)
    return replace(plain, arguments=(*plain.arguments, tickets))


@launches(
    "fft/step_23_two_exchanges.cu",
    both_ways(
        {"rows": 2, "middle": 2, "share": 1, "ahead": 1},
        {"rows": 1, "middle": 4, "share": 4},
    ),
)
def fft_two_exchanges(
    rows: int, middle: int, share: int, ahead: int = 0, sign: int = -1
) -> Launch:
    n = 1024 * middle
    x = values(rows, n)
    return launch_of(
        "fft_two_exchanges", rows * share, n // 32 // share, x, transformed(x, sign),
        defines={"MIDDLE": middle, "SHARE": share, "AHEAD": ahead, "SIGN": sign},
        shared_bytes=32 // share * (middle * 32 + 1) * 8,
    )  # fmt: skip


@launches(
    "fft/step_24_three_exchanges.cu",
    both_ways(
        {"rows": 2, "a": 8, "b": 8, "c": 8, "d": 8, "share": 1, "ahead": 1},
        {"rows": 1, "a": 8, "b": 8, "c": 8, "d": 16, "share": 4},
    ),
)
def fft_three_exchanges(rows: int, share: int, sign: int = -1, **shape: int) -> Launch:
    radices = tuple(shape[name] for name in "abcd")
    n = math.prod(radices)
    x = values(rows, n)
    defines = dict(zip("ABCD", radices, strict=True))
    return launch_of(
        "fft_three_exchanges", rows * share, n // 32 // share, x, transformed(x, sign),
        defines=defines | {
            "SHARE": share, "AHEAD": shape.get("ahead", 0), "SIGN": sign,
        },
        shared_bytes=8 * four_stage_places(radices, share),
    )  # fmt: skip
