"""Variables of a running program as boxes, and its pointers as arrows."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from coursekit.errors import ArgumentError
from coursekit.widgets import memory_picture
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.memory_shown import Shown, parsed, scenes

MOST_STEPS = 200


def memory_boxes(run: Any) -> MemoryBoxes:
    """Draw the variables that a program has shown while it ran.

    Parameters
    ----------
    run : Run
        Of a program that includes coursekit_boxes.h and calls SHOW.

    Returns
    -------
    MemoryBoxes
        A widget; stored, it is the picture of the last step.

    Raises
    ------
    ArgumentError
        The program has shown no variable.

    Examples
    --------
    >>> import coursekit as ck
    >>> ck.memory_boxes(ck.program("start/boxes.cpp").run())
    MemoryBoxes(4 variables, 6 steps)
    """
    return MemoryBoxes(parsed(getattr(run, "boxes", "")))


class MemoryBoxes(CourseWidget, files="memory_boxes"):
    """The steps of a program that shows its variables, one SHOW a step.

    Attributes
    ----------
    scenes : list of dict
        For each step its boxes, its arrows, and a sentence.
    step : int
        The one that is drawn.
    """

    geometry: ClassVar[dict[str, int]] = memory_picture.GEOMETRY

    scenes = traitlets.List(traitlets.Dict()).tag(sync=True)
    sizes = traitlets.Dict(memory_picture.GEOMETRY).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, shown: list[Shown]) -> None:
        if not shown:
            raise ArgumentError.explained(
                "memory_boxes got a run that has shown no variable.",
                "SHOW tells it of a variable; it may not have been reached.",
                'Write #include "coursekit_boxes.h" in the program, and SHOW(x); where '
                "x has its value.",
            )
        drawn = scenes(shown[:MOST_STEPS])
        super().__init__(scenes=drawn, step=len(drawn) - 1)

    def __repr__(self) -> str:
        variables = len(self.scenes[-1]["boxes"])
        return f"MemoryBoxes({variables} variables, {len(self.scenes)} steps)"

    def alt_text(self) -> str:
        scene = self.scenes[self.step]
        # Without addresses: they are others on another machine.
        boxes = (f"{b['name']}: {b['kind']}, {b['state']}." for b in scene["boxes"])
        return " ".join([scene["told"], *boxes])

    def static_svg(self) -> str:
        return memory_picture.picture(self.scenes[self.step])
