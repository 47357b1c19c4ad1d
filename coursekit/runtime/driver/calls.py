"""What all calls of the stand-in share: handles, contexts, results and refusals."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from coursekit.errors import UnsupportedError
from coursekit.hardware import DeviceProperties
from coursekit.runtime.driver.refusals import MEANINGS, Refused

_FIRST_HANDLE, _HANDLE_STEP = 0x10000, 0x100


def bindings() -> Any:
    """Return `cuda.bindings.driver`, whose types work without a driver.

    Raises
    ------
    UnsupportedError
        The package is not installed, as on macOS.
    """
    try:
        from cuda.bindings import driver
    except ImportError:
        raise UnsupportedError.explained(
            "ck.driver needs the package cuda-bindings.",
            "It is not installed; for macOS there is none.",
            "Install it with `pip install cuda-bindings`, or use another machine.",
        ) from None
    return driver


class Image(NamedTuple):
    """A loaded image: the simulator's program and its PTX."""

    program: Any
    ptx: str


@dataclass
class Context:
    """A context: its device, what lives in it, and the error that ended it."""

    device: DeviceProperties
    modules: dict[int, Image] = field(default_factory=dict)
    functions: dict[int, tuple[Image, str]] = field(default_factory=dict)
    buffers: dict[int, Any] = field(default_factory=dict)
    fault: Refused | None = None


Answer = tuple[Any, ...]  # a CUresult, then values
_Decorator = Callable[[Callable[..., Any]], Callable[..., Answer]]


def call(result: str = "", *, needs: str = "context") -> _Decorator:
    """Make a method a call of the driver: it returns a CUresult and `result`.

    Parameters
    ----------
    result : str
        Name of the type of the second value; empty where there is none, "value" where
        the method's own value is returned.
    needs : "nothing", "init" or "context"
        What must have been done before.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Answer]:
        count = method.__code__.co_argcount - 1

        @functools.wraps(method)
        def wrapper(self: Calls, *arguments: Any) -> Answer:
            if len(arguments) != count:
                raise TypeError(
                    f"{method.__name__}() takes exactly {count} positional arguments "
                    f"({len(arguments)} given)"
                )
            try:
                self.require(needs)
                value = method(self, *arguments)
            except Refused as refused:
                return self.refused(refused, method.__name__, bool(result))
            return (self.success, *self.wrapped(result, value))

        return wrapper

    return decorate


class Calls:
    """The state of a driver, and how its calls return."""

    def __init__(self) -> None:
        self._library = bindings()
        self._numbers = itertools.count(_FIRST_HANDLE, _HANDLE_STEP)
        self._initialised = False
        self._contexts: dict[int, Context] = {}
        self._stack: list[int] = []
        self._primaries: dict[str, int] = {}  # by the device's name
        self._last: Refused | None = None
        self.success = self._library.CUresult.CUDA_SUCCESS

    def __getattr__(self, name: str) -> Any:
        if name.startswith("CU"):  # types and enumerations
            return getattr(self._library, name)
        raise AttributeError(f"the stand-in for the driver has no {name}")

    # ------------------------------------------------------------ bookkeeping

    def require(self, needs: str) -> None:
        """Refuse a call that comes too early, or after a kernel's fault."""
        if needs != "nothing" and not self._initialised:
            raise Refused("CUDA_ERROR_NOT_INITIALIZED", "cuInit comes first.")
        if needs != "context":
            return
        if not self._stack:
            raise Refused(
                "CUDA_ERROR_INVALID_CONTEXT",
                "No context is current: create one, or make one current.",
            )
        if self.context.fault is not None:
            raise self.context.fault

    @property
    def context(self) -> Context:
        """The current context."""
        return self._contexts[self._stack[-1]]

    def refused(self, refused: Refused, call: str, has_value: bool) -> Answer:
        """Return what a refused call returns, and remember why."""
        self._last = Refused(refused.result, f"{call}: {refused.why}")
        result = getattr(self._library.CUresult, refused.result)
        return (result, None) if has_value else (result,)

    def wrapped(self, kind: str, value: Any) -> Answer:
        """Return the second value of a call as its type."""
        if not kind:
            return ()
        return (value if kind == "value" else getattr(self._library, kind)(value),)

    def explain(self, result: Any) -> str:
        """Say what a result means, and why the latest call had it."""
        name = self._library.CUresult(result).name
        said = f"{name}: {MEANINGS.get(name, 'see the manual of the driver API')}"
        last = self._last
        return f"{said}\n{last.why}" if last and last.result == name else said

    def _handle(self, value: Any, kind: str) -> int:
        known = getattr(self._library, kind)
        return int(value) if isinstance(value, known) else int(known(value))

    def _keep(self, table: dict[int, Any], value: Any) -> int:
        number = next(self._numbers)
        table[number] = value
        return number

    def _find(self, table: dict[int, Any], value: Any, kind: str) -> Any:
        number = self._handle(value, kind)
        if number not in table:
            result = "CONTEXT" if kind == "CUcontext" else "HANDLE"
            raise Refused(
                f"CUDA_ERROR_INVALID_{result}",
                f"No {kind} with the handle {number:#x} lives in this context.",
            )
        return table[number]
