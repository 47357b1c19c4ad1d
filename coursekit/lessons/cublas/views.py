"""Memory read as vectors and as matrices by columns, as cuBLAS is told to read it."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError

OPERATIONS = ("N", "T", "C")


def memory(array: np.ndarray, name: str) -> np.ndarray:
    """Return the elements of an array in the order in which they lie in memory."""
    if not isinstance(array, np.ndarray):
        raise ArgumentError.explained(
            f"{name} is a {type(array).__name__}.",
            "A call of cuBLAS takes an address, and changes what lies there.",
            "Give a NumPy array, such as np.zeros(n, np.float32).",
        )
    gapless = array.flags.c_contiguous or array.flags.f_contiguous
    if not gapless:
        raise ArgumentError.explained(
            f"{name} has strides of {array.strides} bytes, so it is a view with gaps.",
            "cuBLAS gets an address and a leading dimension, not NumPy's strides.",
            "Give the array whose memory it is, with inc or ld, or a copy of it.",
        )
    return array.reshape(-1, order="A")


def refuse(parameter: str, why: str, cure: str) -> ArgumentError:
    """Return the error for a value that the library refuses."""
    return ArgumentError.explained(
        f"CUBLAS_STATUS_INVALID_VALUE: {parameter}.", why, cure
    )


def need(array: np.ndarray, name: str, reach: int, how: str) -> np.ndarray:
    """Return the memory of an array that has at least ``reach`` elements."""
    flat = memory(array, name)
    if flat.size < reach:
        raise ArgumentError.explained(
            f"The call reaches {name}[{reach - 1}], but {name} has {flat.size} "
            "elements.",
            f"It goes through {how}. cuBLAS does not know how long {name} is: on a GPU "
            "it would read what lies behind.",
            "Compare the sizes and the leading dimension with the array's shape.",
        )
    return flat


def vector(array: np.ndarray, name: str, n: int, increment: int) -> np.ndarray:
    """Return the n elements that lie ``increment`` apart."""
    if increment < 1:
        raise ArgumentError.explained(
            f"inc{name} is {increment}.",
            "It is the distance from an element to the next. cuBLAS walks backwards "
            "where it is negative; here it is 1 at least.",
            "Take 1 for neighbours, or reverse the array.",
        )
    reach = (n - 1) * increment + 1 if n else 0
    how = f"{n} elements, {increment} apart"
    return need(array, name, reach, how)[:reach:increment]


def matrix(
    array: np.ndarray, name: str, rows: int, columns: int, ld: int
) -> np.ndarray:
    """Return the view of a matrix that lies by columns, ``ld`` elements apart."""
    if ld < max(1, rows):
        raise refuse(
            f"ld{name.lower()} is {ld}, but a column of {name} has {rows} elements",
            "The leading dimension is the distance from a column to the next, so that "
            "columns would overlap.",
            f"In memory by columns, without gaps, ld{name.lower()} is {rows}.",
        )
    reach = (columns - 1) * ld + rows if rows and columns else 0
    how = f"{columns} columns of {rows} elements, {ld} apart"
    flat = need(array, name, reach, how)
    step = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (step, ld * step))


def stored_shape(operation: str, rows: int, columns: int) -> tuple[int, int]:
    """Return the shape in memory of a matrix that is rows x columns after op()."""
    if operation not in OPERATIONS:
        raise refuse(
            f"the operation is {operation!r}",
            "op() leaves a matrix as it is, or transposes it.",
            "Take N, T or C; for real numbers C is T.",
        )
    return (rows, columns) if operation == "N" else (columns, rows)


def applied(operation: str, stored: np.ndarray) -> np.ndarray:
    """Return op(stored)."""
    return stored if operation == "N" else stored.T
