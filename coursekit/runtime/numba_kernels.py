"""`from_numba` makes a kernel of a Python function, which Numba compiles to PTX."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coursekit.errors import ArgumentError, CourseError, UnsupportedError
from coursekit.runtime.arguments.complaints import Context
from coursekit.runtime.arguments.converters import described
from coursekit.runtime.arguments.signature import Signature
from coursekit.runtime.launching import Kernel
from coursekit.runtime.ptx_modules import PtxModule
from coursekit.toolchain import building, numba_compiler, targets
from coursekit.toolchain.signature import CType, Parameter, parameters, slots

ARCH = "sm_80"
_POINTER_BYTES = 8
_NAMES = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long", "float16": "__half", "float32": "float",
    "float64": "double", "bool": "bool",
}  # fmt: skip
# A shared array in Numba's PTX, and the line of Python that makes one.
_TILE = re.compile(r"\b_cudapy_smem_(\d+)\b")
_MADE = re.compile(r"^\s*(\w+)\s*=\s*cuda\.shared\.array\(", re.MULTILINE)
_LONG = CType("long long", "int", 8, "int64")


def from_numba(
    function: Callable[..., Any], signature: Any, *, arch: str | int = ARCH
) -> Kernel:
    """Compile a Python function as a kernel, with Numba's CUDA compiler.

    Nothing needs a GPU: the kernel is launched, counted and checked as those of
    `ck.compile`, and messages name its Python lines.

    Parameters
    ----------
    function : callable
        Python as Numba's CUDA target takes it, with ``cuda.grid(1)`` and the like; a
        function that ``cuda.jit`` decorates serves too.
    signature : str, tuple or numba signature
        Types of the parameters, for example ``"float32[:], float32[:], int32"``.
    arch : str or int
        What Numba compiles for.

    Returns
    -------
    Kernel
        ``kernel[grid, block](x, y, n)`` takes one argument for each parameter of the
        Python function.

    Raises
    ------
    CompileError
        Numba refuses the function or the signature.
    UnsupportedError
        Numba's compiler for GPUs is not here.
    """
    function = getattr(function, "py_func", function)
    if not hasattr(function, "__code__"):
        raise ArgumentError.explained(
            f"from_numba got {type(function).__name__}, which is no Python function.",
            "Numba compiles the source of a function.",
            "Pass the function itself: ck.from_numba(scale, 'float32[:], float32').",
        )
    types = numba_compiler.parameter_types(function, signature)
    module = _NumbaModule(function, types, targets.target(arch))
    return module[function.__name__]


def _named_as_in_python(ptx: str, function: Callable[..., Any]) -> str:
    """Give shared arrays the names that they have in Python, as C++ writes them.

    Numba counts them instead. Where the two do not correspond one to one, as with
    functions that a kernel calls, its names stay.
    """
    try:
        names = _MADE.findall(inspect.getsource(function))
    except (OSError, TypeError):
        return ptx
    tiles = sorted({int(number) for number in _TILE.findall(ptx)})
    if len(names) != len(tiles) or len(set(names)) != len(names):
        return ptx
    kernel = function.__name__
    mangled = {
        number: f"_ZZ{len(kernel)}{kernel}E{len(name)}{name}"
        for number, name in zip(tiles, names, strict=True)
    }
    return _TILE.sub(lambda found: mangled[int(found[1])], ptx)


class _NumbaModule(PtxModule):
    """The module of one function; its kernel takes whole arrays."""

    def __init__(
        self, function: Callable[..., Any], types: tuple[Any, ...], arch: targets.Target
    ):
        code = function.__code__
        self.python_names = code.co_varnames[: code.co_argcount]
        self.numba_types = types
        ptx = numba_compiler.compile_ptx(function, types, arch)
        ptx = _named_as_in_python(ptx, function)
        super().__init__(ptx, name=f"{function.__name__}.py", file=code.co_filename)

    def make_kernel(self, name: str, entry: building.Entry) -> Kernel:
        """Make a kernel whose arrays are one argument each."""
        named = zip(self.python_names, self.numba_types, strict=True)
        flat = [each for pair in named for each in _flattened(*pair)]
        names = tuple(name for name, _ in flat)
        types = tuple(ctype for _, ctype in flat)
        found = parameters(slots(self.ptx, entry.lowered), types, names)
        return _NumbaKernel(self, name, entry.lowered, found)


class _NumbaKernel(Kernel):
    """A kernel that unpacks each array into what Numba's code takes of it."""

    module: Any

    def __init__(
        self,
        module: _NumbaModule,
        name: str,
        lowered_name: str,
        parameters: Sequence[Parameter],
    ):
        super().__init__(module, name, lowered_name, parameters)
        self.signature = _Arrays(
            name, parameters, module.python_names, module.numba_types
        )


class _Arrays(Signature):
    """The parameters of a Python function, of which an array is several in the PTX."""

    def __init__(
        self,
        kernel_name: str,
        parameters: Sequence[Parameter],
        python_names: tuple[str, ...],
        types: tuple[Any, ...],
    ):
        super().__init__(kernel_name, parameters)
        self.python_names, self.types = python_names, types

    def __str__(self) -> str:
        named = zip(self.python_names, self.types, strict=True)
        return f"{self.kernel_name}({', '.join(f'{n}: {_shown(t)}' for n, t in named)})"

    @property
    def names(self) -> str:
        return ", ".join(self.python_names)

    def flat(self, arguments: Sequence[Any]) -> list[Any]:
        """Unpack the arrays of the Python function's arguments."""
        if len(arguments) != len(self.types):
            raise self._other_count(arguments)
        named = zip(self.python_names, self.types, arguments, strict=True)
        return [one for each in named for one in self._unpacked(*each)]

    def convert(self, arguments: Sequence[Any]) -> list[Any]:
        """Check the arguments of the Python function, and unpack its arrays."""
        return super().convert(self.flat(arguments))

    def _unpacked(self, name: str, kind: Any, value: Any) -> Iterator[Any]:
        """Yield what stands in the PTX for one parameter."""
        if not _is_array(kind):
            yield value
            return
        parameter = next(each for each in self.parameters if each.name == name)
        operand = described(Context(self.kernel_name, parameter), value)
        shape = operand.shape if operand else (0,) * kind.ndim
        if len(shape) != kind.ndim:
            raise self._other_rank(name, kind, shape)
        item = kind.dtype.bitwidth // 8
        yield from (None, None, _product(shape), item, value, *shape)
        yield from (item * _product(shape[axis + 1 :]) for axis in range(kind.ndim))

    def _other_count(self, arguments: Sequence[Any]) -> CourseError:
        return ArgumentError.explained(
            f"{self.kernel_name} takes {len(self.types)} arguments, got "
            f"{len(arguments)}.",
            "The arguments of a launch are the parameters of the Python function.",
            f"The kernel is declared as {self}.",
        )

    def _other_rank(self, name: str, kind: Any, shape: tuple[int, ...]) -> CourseError:
        return ArgumentError.explained(
            f"{self.kernel_name} got an array of shape {shape} for {name}.",
            f"{name} is declared as {_shown(kind)}, with {kind.ndim} dimensions.",
            f"Pass an array of {kind.ndim} dimensions, or declare another type.",
        )


def _product(lengths: Sequence[int]) -> int:
    product = 1
    for length in lengths:
        product *= length
    return product


def _is_array(kind: Any) -> bool:
    return hasattr(kind, "ndim") and hasattr(kind, "layout")


def _shown(kind: Any) -> str:
    """Return a type as it is written in a signature: float32[:, :]."""
    if _is_array(kind):
        return f"{kind.dtype}[{', '.join(':' * kind.ndim)}]"
    return str(kind)


def _flattened(name: str, kind: Any) -> Iterator[tuple[str, CType]]:
    """Yield names and types of what stands in the PTX for one parameter."""
    if not _is_array(kind):
        yield name, _ctype(str(kind), kind.bitwidth // 8 if str(kind) != "bool" else 1)
        return
    opaque = CType("8-byte value", "unknown", _POINTER_BYTES)
    element = _ctype(str(kind.dtype), kind.dtype.bitwidth // 8)
    pointer = CType("", "pointer", _POINTER_BYTES, pointee=element)
    yield f"{name}_meminfo", opaque
    yield f"{name}_parent", opaque
    yield f"{name}_size", _LONG
    yield f"{name}_itemsize", _LONG
    yield name, pointer
    for axis in range(kind.ndim):
        yield f"{name}_shape_{axis}", _LONG
    for axis in range(kind.ndim):
        yield f"{name}_stride_{axis}", _LONG


def _ctype(name: str, size: int) -> CType:
    if name not in _NAMES:
        raise UnsupportedError.explained(
            f"from_numba knows no parameters of type {name}.",
            "It passes numbers, and arrays of numbers.",
            f"Take one of {', '.join(_NAMES)}, or an array of them.",
        )
    kind = "bool" if name == "bool" else re.sub(r"\d", "", name)
    return CType(_NAMES[name], kind, size, name)
