"""How the tests launch the ladder of kernels/sort/: one function a step."""

from __future__ import annotations

import numpy as np
from kernel_launches import RAGGED, Launch, blocks, launches

BYTES, DIGITS = 4, 256
ONE_SWEEP_TILE = 512 * 32  # keys; half as many pairs
ROOM_OF_TILE, ROOM_OF_COUNTS = 82976, 65536  # bytes of shared memory
OF_ALL = 2 << 30  # the state of a tile that knows what comes before it


def keys(n: int) -> np.ndarray:
    """Return n numbers of 32 bits: random, few different, equal, and in both orders."""
    random = np.random.default_rng(n).integers(0, 2**32, n, dtype=np.uint32)
    kinds = (random, random % 3 << 8, random * 0 + 7, np.sort(random))
    cut = np.linspace(0, n, 6).astype(int)
    parts = zip((*kinds, np.sort(random)[::-1]), cut[:-1], cut[1:], strict=True)
    return np.concatenate([kind[i:j] for kind, i, j in parts]).astype(np.uint32)


def unset(n: int) -> np.ndarray:
    return np.full(n, 0xDEADBEEF, np.uint32)


def sorted_by(x: np.ndarray, digits: np.ndarray) -> np.ndarray:
    """Return x in the order of its digits, as float64."""
    return x[np.argsort(digits, kind="stable")].astype(np.float64)


def table(digits: np.ndarray, base: int, tile: int) -> np.ndarray:
    """Count each digit in each tile, digit by digit."""
    tiles = blocks(len(digits), tile)
    counts = [
        np.bincount(digits[k * tile : (k + 1) * tile], minlength=base)
        for k in range(tiles)
    ]
    return np.array(counts).T.reshape(-1).astype(np.int32)


def of_kernel(kernel: str, digits: np.ndarray, x: np.ndarray, **shape) -> Launch:
    """Launch one of the two kernels of a pass: the one that counts, or the other."""
    n, tile, place = len(x), shape["tile"], shape["place"]
    tiles = blocks(n, tile)
    counts = table(digits, shape["base"], tile)
    if kernel == "count_digits":
        arguments = (x, np.full_like(counts, -1), place, n)
        return Launch(kernel, tiles, 256, arguments, {1: counts.astype(np.float64)})
    ends = counts.cumsum(dtype=np.int32)
    arguments = (x, unset(n), ends, place, n)
    return Launch(kernel, tiles, 256, arguments, {1: sorted_by(x, digits)})


def both(sizes, **more) -> list[dict]:
    """Return sizes for each of the two kernels of a pass."""
    names = ("count_digits", "scatter")
    return [{"n": n, "kernel": k, **more} for n in sizes for k in names]


@launches(
    "sort/step_01_bits.cu",
    [{"n": n, "kernel": k} for n in RAGGED for k in ("mark_zeros", "split")],
)
def bits(n: int, kernel: str, bit: int = 9) -> Launch:
    x = keys(n)
    ones = (x >> np.uint32(bit) & 1).astype(np.int32)
    if kernel == "mark_zeros":
        arguments = (x, np.full(n, -1, np.int32), bit, n)
        return Launch(
            kernel, blocks(n, 256), 256, arguments, {1: 1 - ones.astype(np.float64)}
        )
    upto = (1 - ones).cumsum(dtype=np.int32)
    arguments = (x, unset(n), upto, bit, n)
    return Launch(kernel, blocks(n, 256), 256, arguments, {1: sorted_by(x, ones)})


@launches("sort/step_02_digits.cu", both(RAGGED))
def digits(n: int, kernel: str, shift: int = 8) -> Launch:
    x = keys(n)
    digit = (x >> np.uint32(shift) & 15).astype(np.int64)
    return of_kernel(kernel, digit, x, tile=256, base=16, place=shift)


@launches("sort/step_03_tiles.cu", both((1, 33, 4095, 4097, 9000)))
def tiles(n: int, kernel: str) -> Launch:
    x = keys(n)
    digit = (x >> np.uint32(8) & 255).astype(np.int64)
    return of_kernel(kernel, digit, x, tile=4096, base=DIGITS, place=1)


@launches(
    "sort/step_04_one_sweep.cu",
    [
        *({"n": n, "kernel": "sweep"} for n in (33, 20000)),
        {"n": 9000, "kernel": "sweep_pairs"},
        *({"n": n, "kernel": "count_digits"} for n in (1, 1025, 40000)),
        {"n": 5000, "kernel": "begin_digits"},
    ],
)
def one_sweep(n: int, kernel: str) -> Launch:
    x = keys(n)
    bytes_of = x.view(np.uint8).reshape(n, BYTES)  # the lowest first
    counts = np.array([np.bincount(one, minlength=DIGITS) for one in bytes_of.T])
    if kernel == "count_digits":
        wanted = counts.reshape(-1).astype(np.float64)
        arguments = (x, np.zeros(BYTES * DIGITS, np.uint32), n)
        return Launch(
            "count_digits<unsigned>",
            2,
            1024,
            arguments,
            {1: wanted},
            shared_bytes=ROOM_OF_COUNTS,
        )
    begins = (counts.cumsum(axis=1) - counts).reshape(-1)
    if kernel == "begin_digits":
        arguments = (counts.reshape(-1).astype(np.uint32), unset(BYTES * DIGITS))
        wanted = {0: np.zeros(BYTES * DIGITS), 1: begins.astype(np.float64)}
        return Launch(kernel, BYTES, DIGITS, arguments, wanted)
    return swept(x, begins.astype(np.uint32), pairs=kernel == "sweep_pairs")


def swept(x: np.ndarray, begins: np.ndarray, *, pairs: bool, byte: int = 1) -> Launch:
    """Launch one pass; a pair's value is where it was, so that its order shows."""
    n = len(x)
    digit = (x >> np.uint32(8 * byte) & 255).astype(np.int64)
    item, tile = (
        ("uint2", ONE_SWEEP_TILE // 2) if pairs else ("unsigned", ONE_SWEEP_TILE)
    )
    items = np.stack([x, np.arange(n, dtype=np.uint32)], 1) if pairs else x
    tiles = blocks(n, tile)
    upto = table(digit, DIGITS, tile).reshape(DIGITS, tiles).cumsum(axis=1)
    # The last tile counts keys behind the last one, too: nobody asks it.
    upto[DIGITS - 1, -1] += tiles * tile - n
    own = begins[byte * DIGITS :][:DIGITS]
    states = (OF_ALL + own[:, None].astype(np.int64) + upto).T.reshape(-1)
    arguments = (
        items,
        np.full_like(items, 0xDEADBEEF),
        begins,
        np.zeros(tiles * DIGITS, np.uint32),
        np.full(tiles * DIGITS, 5, np.uint32),
        np.zeros(1, np.uint32),
        byte,
        n,
    )
    wanted = {
        1: sorted_by(items, digit),
        3: states.astype(np.float64),
        4: np.zeros(tiles * DIGITS),
        5: np.zeros(1),
    }
    kernel, room = f"sweep<{item}>", ROOM_OF_TILE
    return Launch(kernel, tiles, 512, arguments, wanted, shared_bytes=room)
