"""Forks of the process, which wait until no other thread launches or compiles.

The child of a fork has only the thread that forked. A lock that another thread held
stays locked in the child, where nobody is left to release it: locks of this package,
of LLVM, and of the imports that a first launch makes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import Counter
from collections.abc import Iterator

_gate = threading.Condition()
_launching: Counter[int] = Counter()  # launches by thread
_waiting: list[None] = []  # one for each fork that waits; new launches let it pass


@contextlib.contextmanager
def held_off() -> Iterator[None]:
    """Let no other thread fork inside the ``with`` block."""
    _watch_forks()
    thread = threading.get_ident()
    with _gate:
        while _waiting and thread not in _launching:
            _gate.wait()
        _launching[thread] += 1
    try:
        yield
    finally:
        with _gate:
            _launching[thread] -= 1
            if not _launching[thread]:
                del _launching[thread]
            _gate.notify_all()


@functools.cache
def _watch_forks() -> None:
    """Wait before each fork from now on; some systems have no fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_wait, after_in_parent=_gate.release, after_in_child=_gate.release
        )


def _wait() -> None:
    """Hold the gate once no other thread launches, unless this one does."""
    _gate.acquire()
    _waiting.append(None)
    try:
        while _launching and threading.get_ident() not in _launching:
            _gate.wait()
    finally:
        _waiting.pop()
        _gate.notify_all()
