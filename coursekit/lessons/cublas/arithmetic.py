"""The oracle's arithmetic: a product rounded where a compute type rounds."""

from __future__ import annotations

import numpy as np

from coursekit.lessons.cublas.numeric_types import ComputeType, three_parts


def product(a: np.ndarray, b: np.ndarray, rule: ComputeType) -> np.ndarray:
    """Return a @ b in the accumulator's type.

    Parameters
    ----------
    a, b : numpy.ndarray
        Numbers of float64 or int64, as `numeric_types.load` returns them.
    rule : ComputeType

    Returns
    -------
    numpy.ndarray
    """
    if np.issubdtype(rule.sum_type, np.integer):
        return (a @ b).astype(np.int32)  # exact; it wraps beyond 2^31
    if rule.code == 78:
        return _nine_products(a, b)
    if rule.round_input is not None:
        a, b = (rule.round_input(m).astype(np.float64) for m in (a, b))
    return _summed(a, b, rule)


def _summed(a: np.ndarray, b: np.ndarray, rule: ComputeType) -> np.ndarray:
    """Add the products of a chunk in float64, and round the sum after each chunk."""
    total = np.zeros((a.shape[0], b.shape[1]), rule.sum_type)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(0, a.shape[1], rule.chunk):
            part = a[:, k : k + rule.chunk] @ b[k : k + rule.chunk]
            total = (total.astype(np.float64) + part).astype(rule.sum_type)
    return total


def _nine_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Add the products of three parts of a with three parts of b, small ones first."""
    rule = ComputeType(np.float32, (), 78)
    left, right = ([part.astype(np.float64) for part in three_parts(m)] for m in (a, b))
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for order in range(4, -1, -1):
        for i in range(max(0, order - 2), min(2, order) + 1):
            total = total + _summed(left[i], right[order - i], rule)
    return total


def scaled(total: np.ndarray, alpha: float, beta: float, old: np.ndarray) -> np.ndarray:
    """Return alpha * total + beta * old in the type of the total.

    With beta = 0 the old values are not read, even where they are NaN.
    """
    kind = total.dtype.type
    with np.errstate(over="ignore", invalid="ignore"):
        result = kind(alpha) * total
        return result if beta == 0 else result + kind(beta) * old.astype(kind)
