"""How much workspace a call needs, and whether it was given that much."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cusolver import library, operands

CALLS = ("getrf", "potrf", "geqrf", "orgqr", "gesvd", "syevd")
ORACLES_PER_COLUMN = 32  # the library's own numbers depend on its version and the GPU


def buffer_size(call: str, m: int, n: int, dtype=np.float64) -> int:
    """Return how many elements of workspace a call needs: cusolverDn..._bufferSize.

    Parameters
    ----------
    call : str
        Such as "getrf".
    m, n : int
        The size of A; m = n for "potrf" and "syevd".
    dtype : dtype
        float32 or float64.

    Raises
    ------
    ArgumentError
        The call needs no workspace, or the size makes no sense.
    """
    if call not in CALLS:
        raise ArgumentError.explained(
            f"{call!r} needs no workspace.",
            "Solving with given factors works in the memory of the right-hand side.",
            f"Ask for one of {', '.join(CALLS)}.",
        )
    if min(m, n) < 0:
        raise operands.refused(
            f"the matrix is {m} x {n}", "A size is 0 at least.", "Check the sizes."
        )
    if library.is_here():
        return library.buffer_size(call, m, n, operands.LETTERS[np.dtype(dtype)])
    return ORACLES_PER_COLUMN * max(n, 1)


def check(call: str, shape: tuple[int, int], given: np.ndarray, dtype) -> None:
    """Demand a workspace of the right type and size."""
    needed = buffer_size(call, *shape, dtype)
    if given.dtype != dtype or given.size < needed:
        raise operands.refused(
            f"the workspace has {given.size} elements of {given.dtype}, and {call} "
            f"needs {needed} of {np.dtype(dtype)}",
            "The library allocates nothing itself: it asks for memory, and you own it.",
            f'Ask ck.cusolver.buffer_size("{call}", m, n) before.',
        )
