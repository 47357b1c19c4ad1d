"""Append the IR of a NumPy call, for the arrays of `tracing`."""

from __future__ import annotations

import functools

import numpy as np

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.casts import converted
from coursekit.simt.compiled.remainder import Remainder
from coursekit.simt.compiled.tracing import BOOL, Lanes, choose
from coursekit.simt.compiled.ufuncs import UFUNCS


@functools.cache
def _loop_types(ufunc: np.ufunc, types: tuple) -> tuple:
    """Return the types in which a ufunc computes, of operands and then of results."""
    return ufunc.resolve_dtypes((*types, *[None] * ufunc.nout))


def _type_for_numpy(x):
    if isinstance(x, Lanes):
        return x.dtype
    return type(x) if type(x) in (int, float) else np.asarray(x).dtype


def _lanes(x, model: Lanes, dtype) -> Lanes:
    """Return an operand as lanes of a type."""
    if isinstance(x, Lanes):
        return x if x.dtype == dtype else converted(x, np.dtype(dtype))
    if np.ndim(x):
        raise UnsupportedError("an array of constants")
    return model.like(x, dtype)


def record(ufunc, model: Lanes, inputs: tuple):
    """Append the IR of a ufunc's call."""
    handler = UFUNCS.get(ufunc)
    if handler is None:
        raise UnsupportedError(f"np.{ufunc.__name__}")
    if ufunc in (np.logical_and, np.logical_or, np.logical_xor):
        types = (BOOL, BOOL)
    else:
        types = _loop_types(ufunc, tuple(map(_type_for_numpy, inputs)))
    operands = []
    for x, dtype in zip(inputs, types, strict=False):
        same = operands and x is inputs[0]
        operands.append(operands[0] if same else _lanes(x, model, dtype))
    if len({operand.dtype for operand in operands}) > 1 and ufunc is not np.ldexp:
        raise UnsupportedError(f"np.{ufunc.__name__} of unlike types")
    return handler(*operands)


# -- functions that are no ufuncs ------------------------------------------------------


def _where(condition, a, b):
    model = next(x for x in (condition, a, b) if isinstance(x, Lanes))
    dtype = np.result_type(*(x.dtype if isinstance(x, Lanes) else x for x in (a, b)))
    if not isinstance(condition, Lanes):
        raise UnsupportedError("a choice that is the same in all lanes")
    condition = converted(condition, BOOL)
    if isinstance(a, Remainder):
        a = a.where(condition)
    return choose(condition, _lanes(a, model, dtype), _lanes(b, model, dtype))


def _clip(x, low, high):
    return np.minimum(np.maximum(x, low), high)


def _count_nonzero(x) -> int:
    """Return a count for the general path, or all lanes where zeros do no harm."""
    return x.size if x.zeros_are_right else 1


FUNCTIONS = {
    np.where: _where, np.clip: _clip, np.count_nonzero: _count_nonzero,
    np.ones_like: lambda x: x.like(1), np.zeros_like: lambda x: x.like(0),
}  # fmt: skip
