"""View: a matrix in device memory, seen through two strides."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.runtime.arrays import DeviceArray, empty, to_device, to_host
from coursekit.runtime.compiler import compile as compiled

BLOCK = 256
KERNELS = {
    "autograd/broadcast.cu": "add mul copy",
    "autograd/maps.cu": "tanh_forward tanh_dx exp_forward exp_dx log_forward log_dx",
    "autograd/matmul.cu": "matmul",
    "autograd/along.cu": "sum_along max_along max_dx",
    "mnist/relu.cu": "relu_forward relu_dx",
    "mnist/cross_entropy.cu": "cross_entropy_forward cross_entropy_dx",
    "mnist/sgd.cu": "sgd",
}
FILE_OF = {name: file for file, names in KERNELS.items() for name in names.split()}
Shape = tuple[int, int]


@dataclass(frozen=True)
class View:
    """A matrix whose element (row, col) lies at row * strides[0] + col * strides[1].

    Attributes
    ----------
    memory : DeviceArray
    shape, strides : tuple of int
        Of rows and columns; a stride of 0 repeats one value.
    """

    memory: DeviceArray
    shape: Shape
    strides: Shape

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.shape[0] * self.shape[1]

    @property
    def transposed(self) -> View:
        """The same memory with rows and columns exchanged."""
        return View(self.memory, self.shape[::-1], self.strides[::-1])

    def repeated(self, shape: Shape) -> View:
        """Return the same memory, with each axis of length 1 repeated."""
        steps = zip(self.strides, self.shape, shape, strict=True)
        row, col = (0 if have == 1 < want else step for step, have, want in steps)
        return View(self.memory, shape, (row, col))

    def packed(self) -> View:
        """Return the matrix row by row in memory; copy it where it does not lie so."""
        if self.strides == (self.shape[1], 1) and self.memory.size == self.size:
            return self
        return on_grid("copy", self.size, (self,), self.shape, *self.shape, self)

    def reshaped(self, shape: Shape) -> View:
        """Return the matrix under another shape."""
        return replace(self.packed(), shape=shape, strides=(shape[1], 1))

    def to_host(self) -> np.ndarray:
        """Return the values as a NumPy array."""
        return np.asarray(to_host(self.packed().memory)).reshape(self.shape)


def from_host(values: object) -> View:
    """Copy a number, a row or a matrix to the device."""
    array = np.asarray(values, np.float32)
    if array.ndim > 2 or not array.size:
        raise ArgumentError.explained(
            f"A tensor of shape {array.shape}.",
            "The engine of this chapter knows matrices that are not empty; a row is a "
            "matrix with one row, and a number one with one element.",
            "Reshape the array to rows and columns.",
        )
    array = np.atleast_2d(array)
    rows, cols = array.shape
    return View(to_device(np.ascontiguousarray(array).ravel()), (rows, cols), (cols, 1))


def fresh(shape: Shape) -> View:
    """Reserve memory for a matrix."""
    return View(empty(shape[0] * shape[1]), shape, (shape[1], 1))


def on_grid(
    kernel: str, threads: int, given: tuple, shape: Shape, *numbers: object
) -> View:
    """Launch a kernel that writes a new matrix.

    Parameters
    ----------
    kernel : str
    threads : int
        One for each thread that has work.
    given : tuple of View or DeviceArray
        What it reads, before the result in its arguments.
    shape : tuple of int
        Of the result.
    *numbers
        What follows the result; a View stands for its strides.
    """
    result = fresh(shape)
    launch(kernel, threads, *(memory_of(each) for each in given), result, *numbers)
    return result


def memory_of(given: View | DeviceArray) -> DeviceArray:
    """Return the memory of a matrix, or an array as it is."""
    return given.memory if isinstance(given, View) else given


def launch(kernel: str, threads: int, *arguments: object) -> None:
    """Launch a kernel; a View before the first number is memory, after it strides."""
    flat: list[object] = []
    for each in arguments:
        numbers_began = any(isinstance(before, (int, float)) for before in flat)
        if not isinstance(each, View):
            flat.append(each)
        elif numbers_began:
            flat += each.strides
        else:
            flat.append(each.memory)
    space = next(each.space for each in flat if isinstance(each, DeviceArray))
    _kernel(kernel, space)[-(-threads // BLOCK), BLOCK](*flat)


@functools.cache
def _kernel(name: str, space: str):
    """Find a kernel by its name, once for arrays of a GPU and once for simulated ones.

    The simulator compiles to machine code what is launched often; for that it has to
    be the same kernel.
    """
    return compiled(FILE_OF[name])[name]
