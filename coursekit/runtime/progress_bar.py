"""A progress bar for what takes over a second: a simulated launch, a download."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from coursekit.toolchain import nvrtc_watch

PATIENCE_S = 1.0
INTERVAL_S = 0.2
_WIDTH = 30


class ProgressBar:
    """A bar that appears after a second, and disappears at the end.

    `COURSEKIT_PROGRESS=0` turns it off, for outputs that are compared.

    Parameters
    ----------
    name : str
        The kernel, as the student calls it, or the file.
    verb, unit : str
        The verb before the name, and the noun for what is counted.

    Examples
    --------
    >>> with ProgressBar("matmul") as bar:
    ...     bar(1, 10)      # too early to show anything
    """

    def __init__(self, name: str, *, verb: str = "simulating", unit: str = "blocks"):
        self.name, self.verb, self.unit = name, verb, unit
        self._next = time.monotonic() + PATIENCE_S
        self._handle = None
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` units are done."""
        now = time.monotonic()
        if now < self._next or os.environ.get("COURSEKIT_PROGRESS") == "0":
            return
        self._next = now + INTERVAL_S
        share = done / total if total else 1.0
        filled = round(share * _WIDTH)
        self._show(
            f"{self.verb} {self.name}  {'█' * filled}{'░' * (_WIDTH - filled)}  "
            f"{done:,} of {total:,} {self.unit}"
        )

    def say(self, text: str) -> None:
        """Show a sentence at once, in the place of the bar."""
        if os.environ.get("COURSEKIT_PROGRESS") != "0":
            self._show(text)

    def still(self, text: str) -> None:
        """Show a sentence in the place of the bar once a second has passed."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL_S
            self.say(text)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._shown:
            return
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
        else:
            sys.stderr.write("\r" + " " * 100 + "\r")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        shell = _notebook()
        if shell:
            from IPython.display import display

            if self._handle is None:
                self._handle = display({"text/plain": text}, raw=True, display_id=True)
            else:
                self._handle.update({"text/plain": text}, raw=True)
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text)
            sys.stderr.flush()
        else:
            return
        self._shown = True


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Say that a source is being compiled, once it takes the block over a second."""
    bar = ProgressBar(name)
    with bar, nvrtc_watch.telling(lambda: bar.still(f"compiling {name} ...")):
        yield


def _notebook() -> bool:
    """Return whether this code runs in a notebook."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return getattr(get_ipython() if get_ipython else None, "kernel", None) is not None
