"""Fast conversion of arguments of usual types, for repeated launches on a GPU.

A fetcher returns the value to pack for one argument. For any other value it returns
None, which cannot be packed: the launch then goes the way that checks everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from coursekit.runtime.arguments.converters import alignment
from coursekit.runtime.arguments.signature import Rule
from coursekit.runtime.device_arrays import DeviceArray
from coursekit.runtime.tensor_maps import TensorMap
from coursekit.toolchain.signature import CType

_INTS = frozenset({int, np.int32, np.int64, np.uint32, np.uint64})
_FLOATS = frozenset({float, int, np.float32, np.float64})
_Fetcher = Callable[[Any], Any]


def fetchers(
    cupy: Any, rules: tuple[Rule, ...], *, tensors: bool = True
) -> tuple[_Fetcher, ...]:
    """Make one fetcher for each parameter.

    Parameters
    ----------
    cupy
        The module.
    rules : tuple of Rule
        One for each parameter of the kernel.
    tensors : bool
        Whether torch tensors are taken; without a stream of its own, a launch on them
        goes to torch's current stream, which the thorough way finds.
    """
    return tuple(_fetcher(cupy, rule, tensors) for rule in rules)


def _fetcher(cupy: Any, rule: Rule, tensors: bool) -> _Fetcher:
    ctype = rule.parameter.type
    if ctype.is_pointer and ctype.pointee is not None:
        return _pointer(cupy, ctype.pointee, tensors)
    if ctype.lanes == 1 and ctype.kind in ("int", "uint"):
        return _number(_INTS)
    if ctype.lanes == 1 and ctype.kind == "float":
        return _number(_FLOATS)
    if rule.code == "Q":
        return _unknown
    return _tensor_map_or(rule.convert, rule.parameter.size)


def _tensor_map_or(convert: _Fetcher, size: int) -> _Fetcher:
    """Fetch a tensor map's descriptor, and convert any other value."""

    def fetch(value: Any) -> Any:
        if type(value) is TensorMap and len(value.descriptor) == size:
            return value.descriptor
        return convert(value)

    return fetch


def _unknown(value: object) -> None:
    return None


def _number(types: frozenset[type]) -> _Fetcher:
    def fetch(value: Any) -> Any:
        return value if type(value) in types else None

    return fetch


def _pointer(cupy: Any, target: CType, tensors: bool) -> _Fetcher:
    ndarray, lanes = cupy.ndarray, target.lanes
    dtypes, torch_types = _element_types(target)
    tensor = getattr(sys.modules.get("torch"), "Tensor", None) if tensors else None
    last_bits = alignment(target) - 1

    def fetch(value: Any) -> int | None:
        address: int
        kind = type(value)
        if kind is DeviceArray:
            address = value.address
            if value.space != "gpu":
                return None
            if value.dtype not in dtypes and not _is_record(value.dtype, target):
                return None
        elif kind is ndarray:
            address = value.data.ptr
            if value.dtype not in dtypes or not value.flags.c_contiguous:
                return None
        elif kind is tensor and lanes == 1 and value.is_cuda:
            address = value.data_ptr()
            if value.dtype not in torch_types or not value.is_contiguous():
                return None
        else:
            return None
        if address & last_bits or (lanes > 1 and value.size % lanes):
            return None
        return address

    return fetch


def _is_record(dtype: np.dtype, target: CType) -> bool:
    """Return whether elements are records that the structs of a pointer may be."""
    sizes = 0, dtype.itemsize
    return target.kind == "struct" and dtype.kind == "V" and target.size in sizes


def _element_types(target: CType) -> tuple[tuple[np.dtype, ...], tuple[object, ...]]:
    """Return the element types, NumPy's and torch's, that need no further check.

    They are tuples, since `in` finds the same object there without hashing it.
    """
    if target.dtype is None:
        return (), ()
    names = {target.dtype}
    if target.name == "char":
        names.add("uint8")
    torch = sys.modules.get("torch")
    torch_names = {"bfloat16"} if target.kind == "bfloat16" else names
    torch_types = {getattr(torch, name, None) for name in torch_names} - {None}
    return tuple(map(np.dtype, names)), tuple(torch_types)
