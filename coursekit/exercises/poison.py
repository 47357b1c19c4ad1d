"""Recognise the pattern of unwritten memory in a result.

On both backends memory that nothing has written holds 0xCB in every byte.
"""

from __future__ import annotations

import numpy as np

from coursekit.exercises.judging import number
from coursekit.simt import POISON

# A sum or product of pattern and small values: its ratio to the pattern, in steps
# that are exact in every float type.
MOST, STEP, CLOSE = 64, 0.25, 1e-5
# Integers this close to the pattern are counted as a sum with it.
NEAR = 4096


def explained(value: np.generic, expected: float = 0.0) -> str:
    """Explain a value that comes from unwritten memory; "" for any other.

    Parameters
    ----------
    value : NumPy scalar
    expected : float
        The right value, of which a part may have been added to the pattern.

    >>> explained(np.float32(-53423916)).split(",")[0]
    '-53423916 is 2 times -26711958'
    >>> explained(np.float32(1.5))
    ''
    """
    dtype = np.asarray(value).dtype
    if dtype.kind not in "fiu" or dtype.itemsize == 1:
        return ""  # a byte is 0xCB too often by itself
    unset = np.frombuffer(bytes([POISON]) * dtype.itemsize, dtype)[0]
    if dtype.kind == "f":
        relation = _of_float(value, unset, abs(float(expected)))
    else:
        relation = _of_integer(value, unset)
    if relation is None:
        return ""
    shown = number(unset)
    what = "the value of memory that nothing has written"
    pattern = f"(the simulator fills it with bytes of 0x{POISON:02X})"
    if not relation:
        return f"{number(value)} is {what} {pattern}."
    return f"{number(value)} is {relation} {shown}, {what} {pattern}."


def _of_float(value: np.generic, unset: np.generic, beside: float) -> str | None:
    """Return how a float relates to the pattern: "" if it is equal, None if not."""
    if value == unset:
        return ""
    if not np.isfinite(value):
        return None
    ratio = float(value) / float(unset)
    nearest = round(ratio / STEP) * STEP
    if not STEP <= abs(nearest) <= MOST:
        return None
    if unset.dtype.itemsize == 2 and nearest != 2:
        return None  # the pattern is -15.586 in float16: near it are plain results
    if float(value) == float(unset.dtype.type(nearest * float(unset))):
        return f"{nearest:g} times"
    share = beside / abs(float(unset))
    close = CLOSE * abs(nearest) + (2 * share if share < STEP / 100 else 0)
    if abs(ratio - nearest) > close:
        return None
    return "close to" if nearest == 1 else f"about {nearest:g} times"


def _of_integer(value: np.generic, unset: np.generic) -> str | None:
    """Return how an integer relates to the pattern, wrapped around as its type is."""
    if value == unset:
        return ""
    bits = 8 * unset.dtype.itemsize
    pattern, given = int(unset) % (1 << bits), int(value) % (1 << bits)
    for factor in range(2, MOST + 1):
        if bits > 16 and given == factor * pattern % (1 << bits):
            return f"{factor} times"
    more = (given - pattern + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    if bits > 16 and abs(more) <= NEAR:
        return f"{abs(more)} {'more' if more > 0 else 'less'} than"
    return None
