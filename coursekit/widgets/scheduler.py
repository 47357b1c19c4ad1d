"""Be the Scheduler: choose which warp runs next, and provoke a race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from coursekit.errors import CourseError
from coursekit.lessons import barrier_places
from coursekit.lessons.scheduling import MOST_ORDERS, Stage, Trial, check
from coursekit.runtime.configuration import Shape
from coursekit.runtime.launching import Kernel
from coursekit.simt import BARRIER, Event
from coursekit.toolchain.cuda_source import tokens
from coursekit.widgets import scheduler_picture
from coursekit.widgets.base import CourseWidget

_NAMED = 4


def scheduler(
    kernel: Kernel,
    block: Shape,
    args: Sequence[Any],
    *,
    shared_bytes: int = 0,
    expected: Mapping[str, np.ndarray] | None = None,
    players: int = 1,
) -> Scheduler:
    """Let the reader decide which warp of a block runs next.

    Every warp runs up to its next access that other warps may meet. The reader plays
    the warps in an order of their choice; races are drawn between the lines, and the
    result is compared with the right one. Then barriers are put in or taken out, and
    all orders are tried.

    Parameters
    ----------
    kernel : Kernel
        It is launched with one block, again and again, on the simulator.
    block : int or tuple of int
        33 to 256 threads: 2 to 8 warps; 4 of them are easy to survey.
    args : tuple
        As for ``ck.count``; they are left unchanged.
    shared_bytes : int
        Dynamic shared memory.
    expected : mapping of str to array, optional
        The right contents of output arrays by parameter. Without it, what comes out
        when the warps go in step.
    players : int
        1, or 2: one places the barriers, the other schedules.

    Returns
    -------
    Scheduler
        A widget; stored, it is a picture.

    Raises
    ------
    LaunchError, ArgumentError
        As a launch does; also for a block that is not of 2 to 8 warps.

    Examples
    --------
    ``ck.scheduler(kernel, 128, (out, values, n))``
    """
    return Scheduler(
        kernel, block, args,
        shared_bytes=shared_bytes, expected=expected, players=players,
    )  # fmt: skip


class Scheduler(CourseWidget, files="scheduler"):
    """A block whose warps the reader schedules.

    Attributes
    ----------
    played : list of int
        The warps in the order of their turns so far.
    barriers : list of int
        Lines at whose beginning a barrier stands.
    verdict : dict
        Whether the result of a whole play is right, and what is wrong with it.
    outcome : dict
        The results of all orders, or of a sample.
    best : int or None
        Fewest barriers with which every order came out right.
    """

    kernel = traitlets.Unicode().tag(sync=True)
    code = traitlets.List().tag(sync=True)
    first = traitlets.Int(1).tag(sync=True)
    slots = traitlets.List(traitlets.Int()).tag(sync=True)
    stage = traitlets.Dict().tag(sync=True)
    played = traitlets.List(traitlets.Int()).tag(sync=True)
    barriers = traitlets.List(traitlets.Int()).tag(sync=True)
    verdict = traitlets.Dict().tag(sync=True)
    trials = traitlets.Int(0).tag(sync=True)
    outcome = traitlets.Dict().tag(sync=True)
    best = traitlets.Int(None, allow_none=True).tag(sync=True)
    players = traitlets.Enum((1, 2), 1).tag(sync=True)

    def __init__(
        self, kernel, block, args, *, shared_bytes=0, expected=None, players=1
    ) -> None:
        check(kernel, args)
        self._kernel, self._block, self._args = kernel, block, tuple(args)
        self._shared_bytes = shared_bytes
        self._places = barrier_places.places(kernel.module.source, kernel.name)
        self._expected = expected
        self._stage = self._staged(kernel)
        super().__init__(
            kernel=kernel.name,
            code=_code(self._places),
            first=self._places.first,
            slots=list(self._places.slots),
            stage=_stage_state(self._stage),
            barriers=list(self._places.present),
            players=players,
        )

    def _staged(self, kernel) -> Stage:
        """Run all warps in step; the first run without error defines the result."""
        stage = Stage(
            kernel, self._block, self._args,
            shared_bytes=self._shared_bytes, expected=self._expected,
        )  # fmt: skip
        if stage.error is None:
            self._expected = stage.expected
        return stage

    @traitlets.observe("played")
    def _judge(self, _change: object) -> None:
        turns = sum(_turns(self._stage))
        if not turns or len(self.played) < turns:
            self.verdict = {}
            return
        outcome = self._stage.play(self.played)
        wrong = self._stage.wrong(outcome)
        self.verdict = {"played": list(self.played), "wrong": wrong}

    @traitlets.observe("barriers")
    def _rebuild(self, _change: object) -> None:
        text = self._places.with_barriers(self.barriers)
        name = self._kernel.name
        self.played, self.verdict, self.outcome = [], {}, {}
        try:
            self._stage = self._staged(self._kernel.module.edited(text)[name])
            self.stage = _stage_state(self._stage)
        except CourseError as error:
            self.stage = self.stage | {"error": str(error)}

    @traitlets.observe("trials")
    def _try_all(self, _change: object) -> None:
        if self.trials and not self.stage.get("error"):
            trial = self._stage.try_all()
            self.outcome = _outcome_state(self._stage, trial)
            count = len(self.barriers)
            if not trial.wrong and (self.best is None or count < self.best):
                self.best = count

    def __repr__(self) -> str:
        return f"Be the Scheduler: {self.alt_text()}"

    def alt_text(self) -> str:
        return scheduler_picture.words(self)

    def static_svg(self) -> str:
        return scheduler_picture.svg(self)


def _turns(stage: Stage) -> list[int]:
    return [sum(event.verb != BARRIER for event in events) for events in stage.plan]


def _code(places: barrier_places.Places) -> list[list[list[str]]]:
    lines: list[list[list[str]]] = [[]]
    for kind, part in tokens(places.text):
        for index, piece in enumerate(part.split("\n")):
            if index:
                lines.append([])
            if piece:
                lines[-1].append([kind, piece])
    return lines[places.first - 1 : places.last]


def _stage_state(stage: Stage) -> dict[str, Any]:
    numbers: dict[int, int] = {}
    warps = []
    for events in stage.plan:
        accesses = [event for event in events if event.verb != BARRIER]
        numbers.update({id(event): n for n, event in enumerate(accesses)})
        warps.append([_event_state(event) for event in accesses])
    races = [
        {
            "a": [first.warp, numbers[id(first)]],
            "b": [second.warp, numbers[id(second)]],
            "what": f"{first.array}[{element}]",
        }
        for first, second, element in stage.races()
    ]
    return {
        "warps": warps,
        "races": races,
        "orders": str(stage.orders),
        "every": stage.orders <= MOST_ORDERS,
        "error": "" if stage.error is None else str(stage.error),
    }


def _event_state(event: Event) -> dict[str, Any]:
    return {
        "verb": event.verb,
        "what": reached(event),
        "line": event.line,
        "epoch": event.epoch,
    }


def reached(event: Event) -> str:
    """Name a few of the elements that an event touches."""
    item = event.item_bytes
    elements = sorted(
        {(at + k) // item for at, width in event.spans for k in range(0, width, item)}
    )
    if len(elements) <= _NAMED:
        return ", ".join(f"{event.array}[{n}]" for n in elements)
    gaps = {b - a for a, b in zip(elements, elements[1:], strict=False)}
    if gaps == {1}:
        return f"{event.array}[{elements[0]}] to [{elements[-1]}]"
    shown = ", ".join(f"[{n}]" for n in elements[1:3])
    return f"{event.array}[{elements[0]}], {shown}, ... [{elements[-1]}]"


def _outcome_state(stage: Stage, trial: Trial) -> dict[str, Any]:
    state = {"tried": trial.tried, "wrong": trial.wrong, "every": trial.exhaustive}
    if trial.example is not None:
        state["order"] = list(trial.example.order)
        state["why"] = stage.wrong(trial.example)
    return state
