"""The Kernel Microscope: the cost of each line, and a warp's lanes step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import traitlets

from coursekit.analysis.counting import spelt
from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.configuration import Shape
from coursekit.runtime.launching import Kernel
from coursekit.widgets import microscope_picture
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.microscope_launch import Launch, Look
from coursekit.widgets.microscope_state import HEATS, as_json, pair_lines, view
from coursekit.widgets.microscope_values import MOST_BYTES

LABELS = ("before", "after")


@spelt
def microscope(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    block_index: Shape = 0,
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
    it came to its index. Below it the kernel can be edited: what is compiled then is
    shown beside the first version.

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
        The cost that colours the lines at first, for example "bank conflicts"; by
        default the first kind of count that occurs.
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
    launch = Launch(kernel, grid, block, args, block_index, warp, shared_bytes)
    looks = []
    if isinstance(before, Kernel):
        looks.append(replace(launch, kernel=before).look())
    elif isinstance(before, Microscope):
        looks.append(before.looks[-1])
    elif before is not None:
        raise ArgumentError.explained(
            f"microscope got before={type(before).__name__}.",
            "The earlier version is a microscope, or a kernel of a compiled module.",
            "Keep the first microscope in a variable, and pass that.",
        )
    looks.append(launch.look())
    return Microscope(tuple(looks), heat=heat, predict=predict, launch=launch)


class Microscope(CourseWidget, files="microscope"):
    """One kernel, or an earlier and a later version of it, line by line, lane by lane.

    Attributes
    ----------
    looks : tuple of (Trace, Counters or None)
        The trace and the counts of each version.
    version, step, lane : int
        The version, step and lane that are shown.
    predicted : dict
        Predictions of the reader by line number: sectors or wavefronts a request.
    text : str
        The kernel, for the reader to edit; empty where there is nothing to launch.
    edited, answered : dict
        The text that the reader wants compiled, with its turn; which turn is done,
        and what was wrong with it.
    """

    views = traitlets.List(traitlets.Unicode()).tag(sync=True)
    labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    version = traitlets.Int(0, min=0).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    lane = traitlets.Int(0, min=0, max=31).tag(sync=True)
    heat = traitlets.Unicode("").tag(sync=True)
    predicting = traitlets.Bool(False).tag(sync=True)
    predicted = traitlets.Dict().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    edited = traitlets.Dict().tag(sync=True)
    answered = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        looks: tuple[Look, ...],
        *,
        heat: str | None = None,
        predict: bool = False,
        launch: Launch | None = None,
    ) -> None:
        if heat is not None and heat not in HEATS:
            raise ArgumentError.explained(
                f"microscope has no heat {heat!r}.",
                "The lines are heated by a kind of count.",
                f"Take one of {', '.join(HEATS)}.",
            )
        self._launch = launch
        text = "" if launch is None else launch.text
        self._room = MOST_BYTES - 1000 - len(as_json(text))
        traits = self._seen(looks, heat)
        super().__init__(**traits, predicting=predict, text=text)

    def _seen(self, looks: tuple[Look, ...], heat: str | None) -> dict[str, Any]:
        """Store traces and counts, and return the state that the page needs."""
        self.looks = looks
        self._views = [view(*look, self._room // len(looks)) for look in looks]
        pair_lines(self._views)
        shown = self._views[-1]
        heat = heat or next(iter(shown["heats"]), "")
        return {
            "views": [as_json(state) for state in self._views],
            "labels": list(LABELS[2 - len(looks) :]),
            "version": len(looks) - 1,
            "step": microscope_picture.most_expensive(shown, heat) or 0,
            "heat": heat,
        }

    @traitlets.observe("edited")
    def _compare(self, _change: object) -> None:
        """Compile the reader's edit, and show it beside the first version."""
        turn, trouble = self.edited.get("turn"), ""
        try:
            look = self._launch.edited(self.edited["text"]).look()
        except CourseError as error:
            trouble = str(error)
        else:
            with self.hold_sync():
                seen = self._seen((self.looks[0], look), self.heat)
                for name, value in (seen | {"predicted": {}}).items():
                    setattr(self, name, value)
        self.answered = {"turn": turn, "trouble": trouble}

    @property
    def nbytes(self) -> int:
        """The size of the widget's state as JSON."""
        return sum(map(len, [*self.views, as_json(self.text)]))

    @property
    def shown(self) -> dict[str, Any]:
        """The state of the version that is shown."""
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
