"""PTX from a Python function, by Numba's compiler for CUDA."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from coursekit.errors import CompileError, UnsupportedError
from coursekit.toolchain.targets import Target


def parameter_types(function: Callable[..., Any], signature: Any) -> tuple[Any, ...]:
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


def compile_ptx(
    function: Callable[..., Any], types: tuple[Any, ...], arch: Target
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
