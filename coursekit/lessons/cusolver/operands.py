"""Matrices by columns, vectors and workspaces of a call, and what is refused."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError

LETTERS = {np.dtype(np.float32): "S", np.dtype(np.float64): "D"}


def refused(what: str, cause: str, cure: str) -> ArgumentError:
    """Return the error for a value that the library refuses."""
    return ArgumentError.explained(
        f"CUSOLVER_STATUS_INVALID_VALUE: {what}.", cause, cure
    )


def letter(array: np.ndarray, name: str = "A") -> str:
    """Return the letter of a type in the names of calls: S or D."""
    kind = LETTERS.get(getattr(array, "dtype", None))
    if kind is None:
        found = getattr(array, "dtype", type(array).__name__)
        raise ArgumentError.explained(
            f"{name} is of {found}.",
            "These calls take float32, letter S, or float64, letter D.",
            f"Convert it: {name}.astype(np.float64).",
        )
    return kind


def flat(array: np.ndarray, name: str, reach: int, dtype=None) -> np.ndarray:
    """Return an array's memory, which has at least ``reach`` elements."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ArgumentError.explained(
            f"{name} has strides of {array.strides} bytes, so it is a view with gaps.",
            "cuSOLVER gets an address and a leading dimension, not NumPy's strides.",
            "Give the array whose memory it is, or a copy of it.",
        )
    if dtype is not None and array.dtype != dtype:
        raise ArgumentError.explained(
            f"{name} has elements of {array.dtype}, and must have {np.dtype(dtype)}.",
            "All arrays of a call have the type of A; pivots are int32.",
            f"Make it with dtype np.{np.dtype(dtype)}.",
        )
    if array.size < reach:
        raise ArgumentError.explained(
            f"The call reaches {name}[{reach - 1}], but {name} has {array.size} "
            "elements.",
            "cuSOLVER does not know how long an array is: on a GPU it would go beyond.",
            "Compare the sizes and the leading dimension with the array's shape.",
        )
    return array.reshape(-1, order="A")


def matrix(array: np.ndarray, name: str, rows: int, cols: int, ld: int) -> np.ndarray:
    """Return the view of a matrix that lies by columns, ``ld`` elements apart."""
    if min(rows, cols) < 0 or ld < max(1, rows):
        raise refused(
            f"{name} is {rows} x {cols}, with ld{name.lower()} = {ld}",
            "Matrices lie by columns, and columns would overlap.",
            f"ld{name.lower()} is {max(rows, 1)} at least.",
        )
    memory = flat(array, name, (cols - 1) * ld + rows if rows and cols else 0)
    step = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory, (rows, cols), (step, ld * step))


def triangle(uplo: str) -> bool:
    """Say whether a letter names the lower triangle."""
    if uplo not in ("L", "U"):
        raise refused(
            f"uplo is {uplo!r}",
            "It names the triangle of a symmetric matrix that is read and written.",
            "Take L or U.",
        )
    return uplo == "L"
