"""`from_numba` makes a kernel of a Python function, which Numba compiles to PTX."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from coursekit.errors import ArgumentError, CompileError, CourseError, UnsupportedError
from coursekit.runtime.arguments.complaints import Context
from coursekit.runtime.arguments.converters import described
from coursekit.runtime.arguments.signature import Signature
from coursekit.runtime.launching import Kernel
from coursekit.runtime.ptx_modules import PtxModule
from coursekit.toolchain import building, targets
from coursekit.toolchain.signature import CType, Parameter, parameters, slots

ARCH = "sm_80"
_POINTER_BYTES = 8
_NAMES = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long", "float16": "__half", "float32": "float",
    "float64": "double", "bool": "bool",
}  # fmt: skip
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
    types = _types(function, signature)
    module = _NumbaModule(function, types, targets.target(arch))
    return module[function.__name__]


class _NumbaModule(PtxModule):
    """The module of one function; its kernel takes whole arrays."""

    def __init__(
        self, function: Callable[..., Any], types: tuple[Any, ...], arch: targets.Target
    ):
        code = function.__code__
        self.python_names = code.co_varnames[: code.co_argcount]
        self.numba_types = types
        ptx = _compiled(function, types, arch)
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

    def convert(self, arguments: Sequence[Any]) -> list[Any]:
        """Check the arguments of the Python function, and unpack its arrays."""
        if len(arguments) != len(self.types):
            raise self._other_count(arguments)
        named = zip(self.python_names, self.types, arguments, strict=True)
        return super().convert([one for each in named for one in self._flat(*each)])

    def _flat(self, name: str, kind: Any, value: Any) -> Iterator[Any]:
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


def _types(function: Callable[..., Any], signature: Any) -> tuple[Any, ...]:
    """Return Numba's types of the parameters."""
    from numba.core import sigutils

    name, count = function.__name__, function.__code__.co_argcount
    try:
        types, result = sigutils.normalize_signature(_written(signature))
    except Exception as error:  # Numba evaluates the text, so any may come
        raise CompileError.explained(
            f"{name}: {signature!r} is no signature ({error}).",
            "A signature lists types of Numba, such as float32, int64, float32[:, :].",
            f'Write for example ck.from_numba({name}, "float32[:], int32").',
        ) from None
    if result is not None and str(result) != "none":
        raise CompileError.explained(
            f"{name}: the signature returns {result}.",
            "A kernel returns nothing; results go to arrays.",
            "Leave the result out, or write void(...).",
        )
    if len(types) != count:
        raise CompileError.explained(
            f"{name} has {count} parameters, and its signature has {len(types)} types.",
            "Each parameter of the Python function has one type.",
            f"The parameters are {', '.join(function.__code__.co_varnames[:count])}.",
        )
    return tuple(types)


def _written(signature: Any) -> Any:
    """Return a text as Numba reads it: with parentheses, and tuples as they are."""
    if isinstance(signature, str) and "(" not in signature:
        return f"void({signature})"
    return signature


def _compiled(
    function: Callable[..., Any], types: tuple[Any, ...], arch: targets.Target
) -> str:
    """Compile with Numba; the kernel has the function's name in the PTX."""
    from numba import cuda
    from numba.core.errors import NumbaError
    from numba.cuda.cudadrv.error import NvvmError, NvvmSupportError

    name = function.__name__
    capability = divmod(arch.number, 10)
    try:
        with _device_functions_for(capability):
            ptx, _ = cuda.compile_ptx(function, types, cc=capability, lineinfo=True)
    except NvvmSupportError:
        raise UnsupportedError.explained(
            f"{name} cannot be compiled: Numba finds no NVVM.",
            "NVVM is Numba's compiler for GPUs, in the package nvidia-nvvm.",
            "Install it: run `make setup`, or pip install nvidia-nvvm.",
        ) from None
    except (NumbaError, NvvmError) as error:
        raise _refusal(function, error) from None
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    if found and name.isascii():
        ptx = ptx.replace(found[1], name)
    return _without_wrapper(ptx)


@contextlib.contextmanager
def _device_functions_for(capability: tuple[int, int]) -> Iterator[None]:
    """Compile functions that a kernel calls for an architecture, too.

    For these, shuffles among them, Numba asks the GPU that is here for its own.
    """
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(
        compute_capability=capability
    )
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _without_wrapper(ptx: str) -> str:
    """Forget that Numba's wrapper, at the line of `def`, inlines the function."""
    first = re.search(r"^\s*\.loc\s+(\d+ \d+) \d+", ptx, re.MULTILINE)
    if first is None:
        return ptx
    call = rf", function_name [^,\n]*, inlined_at {first[1]} \d+[ \t]*$"
    return re.sub(call, "", ptx, flags=re.MULTILINE)


def _refusal(function: Callable[..., Any], error: Exception) -> CompileError:
    """Return the error for what Numba refuses, with the lines that say why."""
    lines = [
        line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()
    ]
    noise = ("During:", "File ", "Failed in ")
    told = [line for line in lines if line and not line.startswith(noise)]
    place = re.search(r'\.py", line (\d+)|\((\d+)\)', str(error))
    where = f", line {next(filter(None, place.groups()))}" if place else ""
    refused = CompileError.explained(
        f"Numba refuses {function.__name__}{where}: {' '.join(told[:3])}",
        "Numba compiles a part of Python: numbers, arrays, loops, its own functions.",
        "Compute with numbers and arrays of the types in the signature alone.",
    )
    refused.log = str(error)
    return refused


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
