"""The Kernel Microscope: what each line costs, what each lane of a warp does."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import Any

import traitlets

from coursekit.counting import count, spelt
from coursekit.errors import ArgumentError, KernelError
from coursekit.launching import Kernel
from coursekit.simt.counters import Counters
from coursekit.tracing import Trace, trace
from coursekit.widgets import microscope_picture
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.microscope_state import HEATS, as_json, pair_lines, view
from coursekit.widgets.microscope_values import MOST_BYTES

LABELS = ("before", "after")


@spelt
def microscope(
    kernel,
    grid,
    block,
    args,
    block_index=0,
    warp: int = 0,
    *,
    shared_bytes: int = 0,
    before: Microscope | Kernel | None = None,
    heat: str | None = None,
    predict: bool = False,
) -> Microscope:
    """Look at a launch through the Kernel Microscope.

    The lines of the kernel are heated by what the whole launch counts. The steps of
    one warp can be gone through, forwards and backwards: its active lanes, the
    registers, and for every access which lane reaches which sector or bank, and how
    it came to its index.

    Parameters
    ----------
    kernel, grid, block, args
        As for ``ck.count``; the arguments are left unchanged.
    block_index, warp
        Which warp to look at, as for ``ck.trace``.
    shared_bytes : int
        Dynamic shared memory of each block.
    before : Microscope or Kernel, optional
        An earlier version, shown beside this one on the same scale. A kernel is
        launched like this one.
    heat : str, optional
        What heats the lines at first, for example "bank conflicts"; the first kind
        of count that occurs, unless told otherwise.
    predict : bool
        Begin with the counts hidden, for the reader to predict them.

    Returns
    -------
    Microscope
        A widget; stored, it is a picture.

    Raises
    ------
    LaunchError, ArgumentError
        As a launch does. What goes wrong inside the kernel is shown, not raised.

    Examples
    --------
    ``ck.microscope(kernel, 4, 128, (a, b, n))``
    """
    place = {"block_index": block_index, "warp": warp, "shared_bytes": shared_bytes}
    pictures = []
    if isinstance(before, Kernel):
        pictures.append(_look(before, grid, block, args, **place))
    elif isinstance(before, Microscope):
        pictures.append(before.looks[-1])
    elif before is not None:
        raise ArgumentError.explained(
            f"microscope got before={type(before).__name__}.",
            "The earlier version is a microscope, or a kernel of a compiled module.",
            "Keep the first microscope in a variable, and pass that.",
        )
    pictures.append(_look(kernel, grid, block, args, **place))
    return Microscope(tuple(pictures), heat=heat, predict=predict)


def _look(kernel, grid, block, args, *, block_index, warp, shared_bytes):
    steps = trace(
        kernel, grid, block, args, block_index, warp, shared_bytes=shared_bytes
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # what the kernel prints
            return steps, count(kernel, grid, block, args, shared_bytes)
    except KernelError as error:
        found = steps.error or error.with_traceback(None)
        return replace(steps, error=found), None


class Microscope(CourseWidget, files="microscope"):
    """One kernel, or an earlier and a later version of it, line by line, lane by lane.

    Attributes
    ----------
    looks : tuple of (Trace, Counters or None)
        What was traced and counted, one pair a version.
    version, step, lane : int
        What is shown now.
    predicted : dict
        Predictions of the reader by line number: sectors or wavefronts a request.
    """

    views = traitlets.List(traitlets.Unicode()).tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    version = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    lane = traitlets.Int(0, min=0, max=31).tag(sync=True)
    heat = traitlets.Unicode("").tag(sync=True)
    predicting = traitlets.Bool(False).tag(sync=True)
    predicted = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        looks: tuple[tuple[Trace, Counters | None], ...],
        *,
        heat: str | None = None,
        predict: bool = False,
    ) -> None:
        if heat is not None and heat not in HEATS:
            raise ArgumentError.explained(
                f"microscope has no heat {heat!r}.",
                "The lines are heated by a kind of count.",
                f"Take one of {', '.join(HEATS)}.",
            )
        self.looks = looks
        share = (MOST_BYTES - 1000) // len(looks)
        self._views = [view(*look, share) for look in looks]
        pair_lines(self._views)
        shown = self._views[-1]
        heat = heat or next(iter(shown["heats"]), "")
        dearest = microscope_picture.dearest(shown, heat)
        super().__init__(
            views=[as_json(one) for one in self._views],
            labels=list(LABELS[2 - len(looks) :]),
            version=len(looks) - 1,
            step=dearest or 0,
            heat=heat,
            predicting=predict,
        )

    @property
    def nbytes(self) -> int:
        """Bytes of JSON that a page needs for it."""
        return sum(len(text) for text in self.views)

    @property
    def shown(self) -> dict[str, Any]:
        """The version that is shown, as the page sees it."""
        return self._views[self.version]

    def __repr__(self) -> str:
        return f"Kernel Microscope: {self.alt_text()}"

    def alt_text(self) -> str:
        return microscope_picture.words(self._views, self.version, self._hidden)

    def static_svg(self) -> str:
        return microscope_picture.svg(self._views, self.version, self._hidden)

    @property
    def _hidden(self) -> str | None:
        return None if self.predicting else self.heat
