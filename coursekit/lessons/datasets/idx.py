"""Reading IDX files, the format that MNIST comes in."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path

import numpy as np

from coursekit.errors import DataError

_BYTES = 0x08  # the code of unsigned bytes, in the third byte of a file
_MOST_AXES = 32  # that every version of NumPy supports
_GZIP = b"\x1f\x8b"


def read_idx(path: str | os.PathLike) -> np.ndarray:
    """Read an array of bytes from an IDX file, compressed or not.

    The file begins with two zero bytes, the code of the element type, and the number
    of axes; then comes the length of each axis as four bytes, the highest one first,
    then the elements.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    numpy.ndarray
        uint8, with as many axes as the file says.

    Raises
    ------
    DataError
        There is no such file, it is damaged, or it holds anything else.

    Source
    ------
    Y. LeCun, C. Cortes, C. Burges: The MNIST database of handwritten digits.
    """
    file = Path(path)
    content = _content(file)
    axes = content[3] if len(content) >= 4 else 0
    if content[:3] != bytes((0, 0, _BYTES)) or not 0 < axes <= _MOST_AXES:
        raise DataError.explained(
            f"{file} begins with {content[:4].hex(' ') or 'nothing'}.",
            "An IDX file of bytes begins with 00 00 08 and the number of its axes.",
            "Look at what was stored there: often it is a page that says why not.",
        )
    start = 4 + 4 * axes
    lengths = np.frombuffer(content[4:start].ljust(4 * axes, b"\0"), ">u4").tolist()
    promised, present = math.prod(lengths), max(len(content) - start, 0)
    if promised != present or len(content) < start:
        shape = " x ".join(map(str, lengths))
        raise DataError.explained(
            f"{file} promises {shape} = {promised:,} bytes and holds {present:,}.",
            "It was cut short, or something was added." if present else _EMPTY,
            "Delete it and fetch it again.",
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(lengths).copy()


_EMPTY = "It ends with its header, or within it."


def _content(file: Path) -> bytes:
    try:
        stored = file.read_bytes()
    except OSError as error:
        raise DataError.explained(
            f"{file} cannot be read: {error.strerror or error}.",
            "It is not there, or not yours to read.",
            "Check the folder, or fetch the file again.",
        ) from None
    if not stored.startswith(_GZIP):
        return stored
    try:
        return gzip.decompress(stored)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError.explained(
            f"{file} cannot be unpacked: {error}.",
            "The compressed file was cut short or changed.",
            "Delete it and fetch it again.",
        ) from None
