"""`tensor_map` describes the boxes of an array that TMA copies move."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.runtime import backend as backends
from coursekit.runtime.arguments.complaints import summary
from coursekit.runtime.arguments.operands import Operand, describe

if TYPE_CHECKING:
    from coursekit.runtime.protocols import CudaArray

SWIZZLES = (0, 32, 64, 128)
LONGEST, MOST_AXES, ALIGNED = 256, 5, 16


@dataclass(frozen=True, eq=False)
class TensorMap:
    """An array on a device and the box of it that one copy moves.

    Pass it to a parameter ``const __grid_constant__ TensorMap`` (hopper.cuh). It keeps
    the array alive.

    Attributes
    ----------
    array
        As given to `tensor_map`.
    box : tuple of int
    swizzle : int
    descriptor : bytes
        What the kernel gets, 128 bytes.
    """

    array: Any
    box: tuple[int, ...]
    swizzle: int
    descriptor: bytes

    def __bytes__(self) -> bytes:
        return self.descriptor

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.array.shape))
        box = " x ".join(map(str, self.box))
        swizzled = f", swizzle {self.swizzle} B" if self.swizzle else ""
        return f"TensorMap({box} of {shape} {self.array.dtype}{swizzled})"


def tensor_map(
    array: CudaArray, box: Sequence[int], swizzle: int | None = None
) -> TensorMap:
    """Describe boxes of an array for TMA copies, on both backends.

    Parameters
    ----------
    array : DeviceArray, CuPy array or CUDA tensor
        Of one to five axes, its elements side by side; rows of a multiple of 16 bytes.
    box : sequence of int
        Elements of the box along each axis, in the order of the array's shape: at most
        256 each, the last a multiple of 16 bytes.
    swizzle : 32, 64 or 128, optional
        Bytes of a row of the box, at most, for which the copy changes the order of
        16-byte words: word w of line l (of 128 bytes) goes to place w ^ l % 8 with 128,
        w ^ l % 4 with 64, w ^ l % 2 with 32. Columns of rows are then free of bank
        conflicts. None leaves the order.

    Raises
    ------
    ArgumentError
        The hardware could not copy such a box.

    Examples
    --------
    >>> from coursekit import simulator, to_device
    >>> with simulator():
    ...     tensor_map(to_device(np.zeros((64, 32), np.float32)), (16, 32), 128)
    TensorMap(16 x 32 of 64 x 32 float32, swizzle 128 B)
    """
    operand = _device_array(array)
    lengths = _lengths(operand, box)
    span = 0 if swizzle is None else swizzle
    _check_bytes(operand, lengths, span)
    make = _on_gpu if operand.space == "gpu" else _simulated
    return TensorMap(array, lengths, span, make(operand, lengths, span))


def _device_array(array: object) -> Operand:
    """Describe the array; it must lie where kernels run."""
    operand, here = describe(array), backends.current().space
    if operand is None or operand.space != here:
        place = "the GPU" if here == "gpu" else "simulated memory"
        raise ArgumentError.explained(
            f"tensor_map got {summary(array) if operand is None else operand.kind}, "
            f"which does not lie on {place}.",
            "The map holds an address, which must stay the same until the kernel runs.",
            "Copy it there first: A = ck.to_device(A).",
        )
    if not operand.contiguous:
        raise ArgumentError.explained(
            "tensor_map got an array whose elements do not lie side by side.",
            "It is a transposed view, or a part of the columns.",
            "Make a copy whose elements do.",
        )
    return operand


def _lengths(operand: Operand, box: Any) -> tuple[int, ...]:
    try:
        lengths = tuple(map(operator.index, box))
    except TypeError:
        lengths = ()
    axes = len(operand.shape)
    fits = len(lengths) == axes and all(1 <= n <= LONGEST for n in lengths)
    if not fits or not 1 <= axes <= MOST_AXES or 0 in operand.shape:
        raise ArgumentError.explained(
            f"tensor_map got box={box!r} for an array of shape {operand.shape}.",
            f"A box has 1 to {LONGEST} elements along each of the array's axes, of "
            f"which there are at most {MOST_AXES}.",
            "Give one number for each axis, in the order of the shape.",
        )
    return lengths


def _check_bytes(operand: Operand, lengths: tuple[int, ...], swizzle: int) -> None:
    size = operand.dtype.itemsize
    row, inner = size * operand.shape[-1], size * lengths[-1]
    what = None
    if swizzle not in SWIZZLES:
        what = f"swizzle={swizzle!r}, which is not None, 32, 64 or 128"
    elif operand.address % ALIGNED:
        what = f"an array that begins {operand.address % ALIGNED} bytes past a multiple"
    elif len(lengths) > 1 and row % ALIGNED:
        what = f"rows of {row} bytes"
    elif inner % ALIGNED:
        what = f"a box whose rows have {inner} bytes"
    elif swizzle and inner > swizzle:
        what = f"a box whose rows have {inner} bytes with swizzle={swizzle}"
    if what is not None:
        raise ArgumentError.explained(
            f"tensor_map got {what}.",
            f"TMA copies multiples of {ALIGNED} bytes from addresses that are so "
            "too, and swizzles rows of no more bytes than the swizzle has.",
            "Pad the rows of the array, or choose another box.",
        )


def _simulated(operand: Operand, lengths: tuple[int, ...], swizzle: int) -> bytes:
    from coursekit.simt import TensorMap

    made = TensorMap(
        operand.address, operand.dtype.itemsize, operand.shape[::-1], lengths[::-1],
        swizzle,
    )  # fmt: skip
    return bytes(made)


_TYPES = {
    "uint8": "UINT8", "int8": "UINT8", "bool": "UINT8",
    "uint16": "UINT16", "int16": "UINT16", "float16": "FLOAT16",
    "uint32": "UINT32", "int32": "INT32", "float32": "FLOAT32",
    "uint64": "UINT64", "int64": "INT64", "float64": "FLOAT64", "complex64": "UINT64",
}  # fmt: skip


def _on_gpu(operand: Operand, lengths: tuple[int, ...], swizzle: int) -> bytes:
    """Let the driver encode the map."""
    from cuda.bindings import driver

    kind = "BFLOAT16" if operand.bits_of == "bfloat16" else _TYPES[operand.dtype.name]
    shape, size = operand.shape[::-1], operand.dtype.itemsize
    strides = size * np.cumprod(shape[:-1], dtype=np.int64)
    status, made = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{kind}"),
        len(shape),
        operand.address,
        [driver.cuuint64_t(n) for n in shape],
        [driver.cuuint64_t(int(n)) for n in strides],
        [driver.cuuint32_t(n) for n in lengths[::-1]],
        [driver.cuuint32_t(1)] * len(shape),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        _swizzle(driver, swizzle),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if int(status):
        raise ArgumentError.explained(
            f"The driver refuses a box of {lengths} in an array of {operand.shape} "
            f"{operand.type_name}, with error {int(status)}.",
            "The GPU has no TMA (it needs compute capability 9.0), or the array is "
            "larger than a map can say.",
            "Run it on such a GPU, or under `with ck.simulator():`.",
        )
    return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)


def _swizzle(driver: Any, nbytes: int) -> Any:
    name = f"{nbytes}B" if nbytes else "NONE"
    return getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{name}")
