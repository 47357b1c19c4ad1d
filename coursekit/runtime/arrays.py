"""Arrays brought to device memory and back: to_device, to_host and empty."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.errors import ArgumentError, DeviceError
from coursekit.runtime import backend as backends
from coursekit.runtime import forks
from coursekit.runtime.arguments import operands
from coursekit.runtime.arguments.complaints import summary
from coursekit.runtime.device_arrays import DeviceArray as DeviceArray

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from coursekit.runtime.configuration import Shape
    from coursekit.runtime.protocols import AnyArray


@forks.held_off()
def to_device(array: AnyArray) -> DeviceArray:
    """Copy an array into device memory.

    Parameters
    ----------
    array : numpy.ndarray, torch.Tensor, cupy.ndarray or DeviceArray
        Any shape and element type; a part that is not contiguous is packed.
        A bfloat16 tensor becomes uint16, its bits.

    Returns
    -------
    DeviceArray
        A copy with the same shape and element type.

    Raises
    ------
    ArgumentError
        `array` is no array, or of a type that devices lack.
    DeviceError
        Not enough device memory.

    Examples
    --------
    >>> to_device(np.arange(6, dtype=np.int32)).nbytes
    24
    """
    values = to_host(array)
    copy = empty(values.shape, values.dtype)
    copy._buffer.write(0, operands.as_bytes(values))
    return copy


@forks.held_off()
def to_host(array: AnyArray) -> np.ndarray:
    """Copy an array to a fresh NumPy array.

    Parameters
    ----------
    array : DeviceArray, cupy.ndarray, torch.Tensor or numpy.ndarray
        On a GPU, work on other streams is waited for.

    Raises
    ------
    ArgumentError
        `array` is no array.
    DeviceError
        The GPU's context is lost.

    Examples
    --------
    >>> to_host(to_device(np.arange(3, dtype=np.int8)))
    array([0, 1, 2], dtype=int8)
    """
    try:
        return _on_host(array)
    except MemoryError as error:
        raise DeviceError.explained(
            f"out of memory: this machine cannot hold one more copy of the array"
            f"{f' ({error})' if error.args else ''}.",
            "Values go through a copy in the memory of the host.",
            "Use a smaller size, or close other programs.",
        ) from None


def _on_host(array: AnyArray) -> np.ndarray:
    operand = operands.describe(array)
    if operand is None:
        raise ArgumentError.explained(
            f"Expected an array, got {summary(array)}.",
            "Device memory holds arrays of one element type.",
            "Build one with np.array(values, dtype=np.float32), for example.",
        )
    if not operand.contiguous:
        return to_host(operands.packed(array))
    data = operand.read()
    data = data.copy() if operand.space == "host" else data
    return data.view(operand.dtype).reshape(operand.shape)


@forks.held_off()
def empty(shape: Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
    """Reserve device memory without setting it.

    The memory holds the pattern 0xCB in every byte, on both backends, so that a
    result that no thread wrote is seen (-2.67e+07 in float32).

    Parameters
    ----------
    shape : int or tuple of int
    dtype : numpy.dtype or what makes one

    Raises
    ------
    ArgumentError
        A negative length, or an element type that devices lack.
    DeviceError
        Not enough device memory.

    Examples
    --------
    >>> empty((2, 3), np.float32)
    DeviceArray(shape=(2, 3), dtype=float32, in simulated memory)
    """
    lengths, element = _checked_shape(shape), operands.checked_dtype(dtype)
    nbytes = math.prod(lengths) * element.itemsize
    buffer = backends.current().allocate(nbytes, shape=lengths, dtype=element)
    return DeviceArray(buffer, 0, lengths, element)


def _checked_shape(shape: Any) -> tuple[int, ...]:
    try:
        lengths = tuple(map(operator.index, shape))
    except TypeError:
        try:
            lengths = (operator.index(shape),)
        except TypeError:
            lengths = (-1,)
    if min(lengths, default=0) < 0:
        raise ArgumentError.explained(
            f"shape={shape!r} is no shape.",
            "A shape is a whole number of 0 or more, or a tuple of such numbers.",
            "Use // instead of / to compute a length.",
        )
    return lengths
