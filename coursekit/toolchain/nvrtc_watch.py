"""End a compilation of NVRTC in this process that takes too long, or at Ctrl-C.

NVRTC asks thousands of times a compilation whether it shall go on, once it has read the
source. Until then it cannot be stopped: see `nvrtc_apart`.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

SECONDS = 120.0  # of computing
MEMORY_BYTES = 8 << 30  # more than before
EACH = 32  # of its questions after which memory is looked at: that takes long

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_telling: contextvars.ContextVar[Callable[[], object] | None] = contextvars.ContextVar(
    "telling", default=None
)


@contextlib.contextmanager
def telling(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` again and again while the block compiles."""
    token = _telling.set(tell)
    try:
        yield
    finally:
        _telling.reset(token)


def tell() -> None:
    """Call the function set by `telling`."""
    if (told := _telling.get()) is not None:
        told()


class Watch:
    """Answers NVRTC's questions for one program; a context manager.

    Python handles a signal where a function begins. There, in a callback, an exception
    would be lost, so SIGINT is noted, and handled at the end of the ``with`` block.

    Attributes
    ----------
    stopped : str
        "time" or "memory" once it was told to stop because of that.
    """

    def __init__(self, library: Any, program: Any) -> None:
        self.stopped = ""
        self._noted = False
        self._asked = 0
        self._usual: Callable[[int, Any], Any] | None = None
        self._interrupt: BaseException | None = None
        self._started, self._resident = time.thread_time(), _resident_bytes()
        self._callback = _CALLBACK(self._ask)  # must live as long as the program
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        if hasattr(library, "nvrtcSetFlowCallback"):  # since CUDA 13
            library.nvrtcSetFlowCallback(program, address, 0)

    def __enter__(self) -> Watch:
        main = threading.current_thread() is threading.main_thread()
        usual = signal.getsignal(signal.SIGINT) if main else None
        if callable(usual):
            self._usual = usual
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self._usual is not None:
            signal.signal(signal.SIGINT, self._usual)
            if self._noted:
                self._usual(signal.SIGINT, None)
        if self._interrupt is not None:
            raise self._interrupt

    def _note(self, _number: int, _frame: object) -> None:
        self._noted = True

    def _ask(self, _payload: int, _reserved: int) -> int:
        """Return 1 to stop, from then on always."""
        try:
            tell()
            self.stopped = self.stopped or self._exceeded()
        except BaseException as interrupt:  # it cannot pass through the compiler
            self._interrupt = interrupt
        return int(bool(self.stopped or self._noted or self._interrupt))

    def _exceeded(self) -> str:
        if time.thread_time() - self._started > SECONDS:
            return "time"
        self._asked += 1
        if self._asked % EACH != 1:
            return ""
        more = _resident_bytes() - self._resident > MEMORY_BYTES
        return "memory" if more else ""


def _resident_bytes() -> int:
    """Return the memory that this process takes; 0 where nothing tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0
