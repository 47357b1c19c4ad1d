"""The operations of the tensor engine, forward and back, each a launch or two."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.autograd.view import Shape, View, launch, on_grid
from coursekit.runtime.arrays import DeviceArray, empty, to_device


def elementwise(kernel: str, a: View, b: View, shape: Shape) -> View:
    """Add or multiply two matrices, each repeated to a shape."""
    a, b = a.repeated(shape), b.repeated(shape)
    return on_grid(kernel, shape[0] * shape[1], (a, b), shape, *shape, a, b)


def matmul(a: View, b: View) -> View:
    """Return the matrix product; either operand may be a transpose."""
    (rows, inner), cols = a.shape, b.shape[1]
    shape = rows, cols
    return on_grid("matmul", rows * cols, (a, b), shape, *shape, inner, a, b)


def mapped(name: str, x: View) -> View:
    """Apply a function of one value."""
    return on_grid(f"{name}_forward", x.size, (x.packed(),), x.shape, x.size)


def mapped_back(name: str, kept: View, dy: View) -> View:
    """Return dy times the slope, from the result, or for log from the argument."""
    given = (kept.packed(), dy.packed())
    if name == "relu":  # this kernel takes dy first
        given = given[::-1]
    return on_grid(f"{name}_dx", dy.size, given, dy.shape, dy.size)


def without(shape: Shape, axis: int | None) -> Shape:
    """Return the shape after a reduction along an axis, or along both."""
    if axis is None:
        return 1, 1
    if axis not in (0, 1):
        raise ArgumentError.explained(
            f"A reduction along axis {axis}.",
            "A matrix has the axes 0, down its columns, and 1, along its rows.",
            "Take 0, 1, or None for both.",
        )
    return (1, shape[1]) if axis == 0 else (shape[0], 1)


def summed_to(x: View, shape: Shape) -> View:
    """Add up every axis that has length 1 in the shape."""
    for axis in (1, 0):
        if shape[axis] == 1 < x.shape[axis]:
            n, m = x.shape[1 - axis], x.shape[axis]
            strides = x.strides[1 - axis], x.strides[axis]
            shorter = without(x.shape, axis)
            x = on_grid("sum_along", n, (x,), shorter, n, m, *strides)
    return x


def total(x: View) -> View:
    """Return the sum of all values."""
    return summed_to(x, (1, 1))


def largest(x: View, axis: int) -> tuple[View, DeviceArray]:
    """Return the maxima along an axis, and where the first of each is."""
    shape = without(x.shape, axis)
    n, m = x.shape[1 - axis], x.shape[axis]
    where = empty(n, np.int32)
    y = View(empty(n), shape, (shape[1], 1))
    numbers = (n, m, x.strides[1 - axis], x.strides[axis])
    launch("max_along", n, x, y, where, *numbers)
    return y, where


def largest_back(dy: View, where: DeviceArray, shape: Shape, axis: int) -> View:
    """Return dy in the place of each maximum, and 0 elsewhere."""
    n, m = shape[1 - axis], shape[axis]
    keep, along = (shape[1], 1) if axis == 1 else (1, shape[1])
    return on_grid("max_dx", n * m, (dy.packed(), where), shape, n, m, keep, along)


def labels(wanted: np.ndarray) -> DeviceArray:
    """Copy labels to the device, a byte each."""
    return to_device(wanted.astype(np.uint8))


def cross_entropy(logits: View, wanted: DeviceArray) -> View:
    """Return the loss of each row."""
    rows, classes = logits.shape
    given = (logits, wanted)
    return on_grid("cross_entropy_forward", rows, given, (rows, 1), rows, classes)


def cross_entropy_back(dy: View, logits: View, wanted: DeviceArray) -> View:
    """Return the gradient of the mean loss, times dy."""
    shape = rows, classes = logits.shape
    given = (logits, wanted)
    dx = on_grid("cross_entropy_dx", rows, given, shape, rows, classes)
    return elementwise("mul", dx, dy, shape)


def descend(w: View, dw: View, rate: float) -> None:
    """Subtract a share of the gradient from the weights, in place."""
    launch("sgd", w.size, w, dw.packed(), w.size, rate)
