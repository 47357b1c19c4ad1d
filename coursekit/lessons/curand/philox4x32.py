"""Philox 4x32-10 in NumPy, and the order in which cuRAND hands out its words."""

from __future__ import annotations

import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
LOW = 0xFFFFFFFF
SEQUENCES = 65536  # of which cuRAND's host interface takes four words each in turn


def philox(counter, key) -> np.ndarray:
    """Return the four words that Philox 4x32-10 makes of each counter.

    Parameters
    ----------
    counter : array_like, shape (..., 4)
        Words from 0 to 2^32 - 1.
    key : sequence of 2 int
        Words from 0 to 2^32 - 1.

    Returns
    -------
    ndarray of uint32, shape (..., 4)

    Source
    ------
    J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.

    Examples
    --------
    >>> [f"{word:08x}" for word in philox([0, 0, 0, 0], [0, 0])]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    words = [*np.moveaxis(np.asarray(counter, np.uint64), -1, 0)]
    shift, low = np.uint64(32), np.uint64(LOW)
    for number in range(ROUNDS):
        k0, k1 = (
            np.uint64((int(word) + number * step) & LOW)
            for word, step in zip(key, KEY_STEPS, strict=True)
        )
        left, right = (
            word * np.uint64(multiplier)
            for word, multiplier in zip(words[::2], MULTIPLIERS, strict=True)
        )
        words = [
            (right >> shift) ^ words[1] ^ k0,
            right & low,
            (left >> shift) ^ words[3] ^ k1,
            left & low,
        ]
    return np.stack([word.astype(np.uint32) for word in words], axis=-1)


def words_from(position: int, n: int, seed: int) -> np.ndarray:
    """Return n words of cuRAND's default and legacy order, beginning at a position.

    Words 4 i to 4 i + 3 are those of sequence i mod 65536, whose counter is i / 65536.
    """
    first, last = position // 4, -(-(position + n) // 4)
    quads = np.arange(first, last, dtype=np.uint64)
    turns, sequences = quads // SEQUENCES, quads % SEQUENCES
    halves = turns & np.uint64(LOW), turns >> np.uint64(32)
    counter = np.stack([*halves, sequences, np.zeros_like(quads)], axis=-1)
    words = philox(counter, (seed & LOW, seed >> 32)).reshape(-1)
    return words[position - 4 * first :][:n]
