"""Interrupts of a launch: Ctrl-C, and the stop button of JupyterLab.

Python handles a signal between two of its own instructions, wherever it happens to be.
While machine code runs, the next of these is the first one of a callback from it, and
an exception that is raised there is lost: ctypes has no caller to give it to. During a
launch the handler of SIGINT therefore only counts, and the launch looks at the count
wherever it can stop with its data in order. Nothing is installed when no launch runs.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_received = [0]  # interrupts that came during launches of this process
_launch = threading.local()


def poll() -> None:
    """End this thread's launch if an interrupt has come since it began.

    Raises
    ------
    KeyboardInterrupt
    """
    if _received[0] != getattr(_launch, "began_at", _received[0]):
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT end the launch inside the ``with`` block where the launch polls.

    Handlers belong to the main thread. A launch of another thread ends with one of the
    main thread that runs at the same time.

    Raises
    ------
    KeyboardInterrupt
        Or what the handler raises that was there before; it is called at the end.
    """
    outer = getattr(_launch, "began_at", None)
    _launch.began_at = _received[0] if outer is None else outer
    handler = _replace_handler()
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)  # from here on it is the one to call
        interrupted = _received[0] != _launch.began_at
        if outer is None:
            del _launch.began_at
        if interrupted and handler is not None:
            _raise_what_it_raises(handler)


def _replace_handler():
    """Count interrupts from now on; return the handler of before, None if it stays.

    It stays where it is not Python's: the process ignores SIGINT, or dies of it.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or handler is _count:
        return None
    signal.signal(signal.SIGINT, _count)
    return handler


def _count(number, frame) -> None:
    _received[0] += 1


def _raise_what_it_raises(handler) -> None:
    """Call the handler of before, which mostly raises KeyboardInterrupt."""
    try:
        handler(signal.SIGINT, None)
    except BaseException as error:
        raise error from None
