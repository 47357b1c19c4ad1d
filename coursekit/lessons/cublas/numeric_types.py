"""Element types and compute types of cuBLAS: how memory holds numbers, what is rounded.

NumPy has no BF16 and no FP8; arrays of those hold bit patterns in uint16 and uint8.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons import formats

_EIGHT_BITS = {"R_8F_E4M3": formats.E4M3, "R_8F_E5M2": formats.E5M2}
# The type of the array that holds the elements, by cudaDataType without its CUDA_.
HELD_IN: dict[str, type[np.generic]] = {
    "R_64F": np.float64,
    "R_32F": np.float32,
    "R_16F": np.float16,
    "R_16BF": np.uint16,
    "R_8F_E4M3": np.uint8,
    "R_8F_E5M2": np.uint8,
    "R_8I": np.int8,
    "R_32I": np.int32,
}


def store(values, element_type: str) -> np.ndarray:
    """Round values to an element type, and return the memory that holds them.

    Parameters
    ----------
    values : array_like
    element_type : str
        A name of cudaDataType without CUDA_, such as "R_16BF".

    Returns
    -------
    numpy.ndarray
        BF16 is held in uint16 and FP8 in uint8, as bit patterns.

    Raises
    ------
    ArgumentError
        There is no such type.

    Examples
    --------
    >>> [hex(bits) for bits in store([1.0, 0.1], "R_16BF")]
    ['0x3f80', '0x3dcd']
    """
    held = _held(element_type)
    values = np.asarray(values)
    if element_type == "R_16BF":
        return (_cut(values.astype(np.float32), 16).view(np.uint32) >> 16).astype(held)
    if element_type in _EIGHT_BITS:
        bits = _EIGHT_BITS[element_type].bits
        return np.frompyfunc(lambda x: bits(float(x)), 1, 1)(values).astype(held)
    if np.issubdtype(held, np.integer):
        limits = np.iinfo(np.dtype(held).name)
        return np.clip(np.rint(values), limits.min, limits.max).astype(held)
    with np.errstate(over="ignore"):  # infinity, as on a GPU
        return values.astype(held)


def load(memory: np.ndarray, element_type: str) -> np.ndarray:
    """Return the numbers that memory holds, as float64; int64 for whole numbers.

    Parameters
    ----------
    memory : numpy.ndarray
    element_type : str
        A name of cudaDataType without CUDA_, such as "R_16BF".

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ArgumentError
        There is no such type, or the array cannot hold it.

    Examples
    --------
    >>> load(np.array([0x3F80, 0x3DCD], np.uint16), "R_16BF")
    array([1.        , 0.10009766])
    """
    held = _held(element_type)
    if memory.dtype != held:
        raise ArgumentError.explained(
            f"The call reads {element_type}, but the array holds {memory.dtype}.",
            f"{element_type} lies in arrays of {np.dtype(held)}.",
            f'Convert with ck.cublas.store(values, "{element_type}").',
        )
    if element_type == "R_16BF":
        return (memory.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if element_type in _EIGHT_BITS:
        return _patterns(element_type)[memory]
    whole = np.issubdtype(held, np.integer)
    return memory.astype(np.int64 if whole else np.float64)


def _held(element_type: str) -> type[np.generic]:
    if element_type not in HELD_IN:
        raise ArgumentError.explained(
            f"There is no element type {element_type!r}.",
            "cudaDataType names them, as in CUDA_R_32F.",
            f"Take one of {', '.join(HELD_IN)}.",
        )
    return HELD_IN[element_type]


@functools.cache
def _patterns(element_type: str) -> np.ndarray:
    return np.array([_EIGHT_BITS[element_type].value(bits) for bits in range(256)])


def _cut(values: np.ndarray, bits: int) -> np.ndarray:
    """Round float32 to nearest-even with this many bits fewer; not a NaN's pattern."""
    pattern = values.view(np.uint32).astype(np.uint64)
    rest = (pattern >> np.uint64(bits)) & np.uint64(1)
    pattern += np.uint64((1 << (bits - 1)) - 1) + rest
    kept = (pattern >> np.uint64(bits)) << np.uint64(bits)
    rounded = kept.astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(values), rounded, values).astype(np.float32)


def _single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32)


def _half(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return values.astype(np.float16)


def _bfloat(values: np.ndarray) -> np.ndarray:
    return _cut(_single(values), 16)


def _tf32(values: np.ndarray) -> np.ndarray:
    return _cut(_single(values), 13)


def three_parts(values: np.ndarray) -> list[np.ndarray]:
    """Split float32 into three numbers of BF16 whose sum it is.

    Examples
    --------
    >>> [float(part) for part in three_parts(np.float32([0.1]))]
    [0.10009765625, -9.775161743164062e-05, 1.0477378964424133e-07]
    """
    parts, rest = [], _single(values)
    for _ in range(3):
        parts.append(_bfloat(rest))
        rest = rest - parts[-1]
    return parts


@dataclass(frozen=True)
class ComputeType:
    """What a compute type rounds.

    Attributes
    ----------
    sum_type : numpy type
        The accumulator, and the type of alpha and beta.
    inputs : tuple of str
        Element types of A and B that it takes.
    round_input : callable, optional
        What it does to elements before they are multiplied.
    code : int
        Its value in cublasComputeType_t.
    chunk : int
        Products that are added exactly before the accumulator rounds: 1 as with FMA
        instructions, 16 as in a tensor core's instruction.
    """

    sum_type: type[np.generic]
    inputs: tuple[str, ...]
    code: int
    round_input: Callable[[np.ndarray], np.ndarray] | None = None
    chunk: int = 16


_FLOATS = ("R_32F", "R_16F", "R_16BF", "R_8F_E4M3", "R_8F_E5M2")
COMPUTE_TYPES = {
    "COMPUTE_16F": ComputeType(np.float16, ("R_16F",), 64),
    "COMPUTE_32F": ComputeType(np.float32, _FLOATS, 68, chunk=1),
    "COMPUTE_32F_FAST_16F": ComputeType(np.float32, ("R_32F",), 74, _half),
    "COMPUTE_32F_FAST_16BF": ComputeType(np.float32, ("R_32F",), 75, _bfloat),
    "COMPUTE_32F_FAST_TF32": ComputeType(np.float32, ("R_32F",), 77, _tf32),
    "COMPUTE_32F_EMULATED_16BFX9": ComputeType(np.float32, ("R_32F",), 78),
    "COMPUTE_64F": ComputeType(np.float64, ("R_64F",), 70, chunk=1),
    "COMPUTE_32I": ComputeType(np.int32, ("R_8I",), 72),
}


def compute_type(name: str, element_type: str) -> ComputeType:
    """Return a compute type by name, for elements that it takes."""
    if name not in COMPUTE_TYPES:
        raise ArgumentError.explained(
            f"There is no compute type {name!r}.",
            "computeType says how the library computes. CUDA_R_32F and the like say "
            "how memory holds elements.",
            f"Take one of {', '.join(COMPUTE_TYPES)}.",
        )
    found = COMPUTE_TYPES[name]
    if element_type not in found.inputs:
        raise ArgumentError.explained(
            f"CUBLAS_STATUS_NOT_SUPPORTED: {name} with elements of {element_type}.",
            f"{name} multiplies elements of {', '.join(found.inputs)}.",
            "Choose a compute type for the elements, or convert them first.",
        )
    return found
