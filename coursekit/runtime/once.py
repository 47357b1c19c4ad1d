"""Objects that a process has once, though threads may ask for them at the same time."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


def once(make: Callable[[], Made]) -> _Once[Made]:
    """Call `make` a single time; threads that ask meanwhile wait for its result.

    ``functools.cache`` would call it once for each thread that asks before the first
    call has returned, and give each thread an object of its own.
    """
    return _Once(make)


class _Once(Generic[Made]):
    """The function that `once` returns."""

    def __init__(self, make: Callable[[], Made]):
        functools.update_wrapper(self, make)
        self._lock, self._kept = threading.RLock(), functools.cache(make)

    def __call__(self) -> Made:
        with self._lock:
            return self._kept()

    def cache_clear(self) -> None:
        """Forget the object; the next call makes another."""
        self._kept.cache_clear()
