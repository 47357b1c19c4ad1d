"""Output of printf on a GPU, shown where Python's own output goes.

The driver writes it to the stdout of C when Python waits for the launch. In a notebook
that is the terminal of the server, or it shows late; here it becomes the cell's output.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import tempfile
from collections.abc import Iterator

from coursekit.runtime import terminal

STDOUT = 1


def prints(ptx: str) -> bool:
    """Tell whether the kernels of a module may call printf."""
    return "vprintf" in ptx


@contextlib.contextmanager
def to_python() -> Iterator[None]:
    """Capture what C writes to stdout, and write it to `sys.stdout` at the end.

    Text of a launch that is not waited for inside the ``with`` block is not caught.
    """
    _flush()
    try:
        kept = os.dup(STDOUT)
    except OSError:  # closed: there is nothing to hold back
        yield
        return
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), STDOUT)
        try:
            yield
        finally:
            _flush()
            os.dup2(kept, STDOUT)
            os.close(kept)
            caught.seek(0)
            terminal.write(caught.read().decode(errors="replace"))


def _flush() -> None:
    """Empty the buffers of Python and of C, so that texts keep their order."""
    if sys.stdout is not None:
        sys.stdout.flush()
    _c_library().fflush(None)


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None)
