"""A field to draw a digit in, and a network's classification of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons.datasets import scanned
from coursekit.lessons.datasets.drawn import plan
from coursekit.widgets import draw_digit_picture as picture
from coursekit.widgets.base import CourseWidget

CLASSES = 10
OWN = -1  # the value of `example` for the reader's own drawing
MOST = 4000  # most points of a drawing
NOTHING = "Nothing is drawn yet."


def draw_digit(scores: Callable[[np.ndarray], Any], *, example: int = 3) -> DigitPad:
    """Draw a digit with mouse, finger or keyboard, and let a network read it.

    Parameters
    ----------
    scores : callable
        Takes a picture of (28, 28) bytes, 0 for paper; returns ten numbers, the
        larger the likelier, whose softmax are the probabilities. For example
        ``coursekit.lessons.mnist.Reader(trainer)``. If it has a method `seen`, that
        returns the picture as the network sees it, in another size.
    example : int
        The digit that is drawn at first, and stored in the notebook.

    Returns
    -------
    DigitPad
        A widget; `image` and `chances` are what is read now.

    Raises
    ------
    ArgumentError
        There is no such digit, or `scores` does not return ten finite numbers.

    Examples
    --------
    ``ck.draw_digit(mnist.Reader(mnist.load_weights("mine.safetensors").trainer()))``
    """
    if not callable(scores):
        raise ArgumentError.explained(
            f"draw_digit got {type(scores).__name__}, which cannot be called.",
            "Its first argument takes a picture and returns ten numbers.",
            "Write for example ck.draw_digit(ck.mnist.Reader(trainer)).",
        )
    if example not in range(CLASSES):
        raise ArgumentError.explained(
            f"draw_digit got example={example!r}.",
            "The example is one of the ten digits.",
            "Write for example ck.draw_digit(scores, example=7).",
        )
    return DigitPad(scores, example)


@dataclass(frozen=True, eq=False)
class Reading:
    """A picture and the probabilities that a network gives its digits.

    Attributes
    ----------
    image, seen : ndarray
        (28, 28), uint8; and the same as the network sees it.
    chances : ndarray
        The ten probabilities, float64; empty where nothing is drawn.
    """

    image: np.ndarray
    seen: np.ndarray
    chances: np.ndarray

    def __str__(self) -> str:
        if not len(self.chances):
            return NOTHING
        order = np.argsort(-self.chances, kind="stable")
        first, second = (
            f"{digit} ({picture.percent(self.chances[digit])})" for digit in order[:2]
        )
        return f"Read as {first}; the next likeliest is {second}."


def read(scores: Callable[[np.ndarray], Any], strokes: Sequence) -> Reading:
    """Scan strokes, and classify the picture.

    Raises
    ------
    ArgumentError
        The strokes are no points, or the scores not ten finite numbers.
    """
    image = scanned(_checked(strokes))
    seen = getattr(scores, "seen", np.array)(image)
    if not image.any():
        return Reading(image, seen, np.empty(0))
    logits = np.asarray(scores(image), dtype=np.float64)
    if logits.shape not in ((CLASSES,), (1, CLASSES)) or not np.isfinite(logits).all():
        raise ArgumentError.explained(
            f"scores returned {logits.dtype} of shape {logits.shape}, "
            f"{np.isfinite(logits).sum()} of them finite, for a picture of 28 x 28.",
            "It has to return a finite number for each of the ten digits.",
            "Return the ten logits of this one picture.",
        )
    apart = np.exp(logits.reshape(-1) - logits.max())
    return Reading(image, seen, apart / apart.sum())


def _checked(strokes: Sequence) -> list[list[tuple[float, float]]]:
    """Return the points as numbers in the field; refuse everything else."""
    try:
        points = [[(float(x), float(y)) for x, y in stroke] for stroke in strokes]
        flat = np.array([point for stroke in points for point in stroke])
        if len(flat) <= MOST and all(points) and np.all(np.abs(flat - 0.5) <= 0.5):
            return points
    except (TypeError, ValueError):
        pass
    raise ArgumentError.explained(
        "The drawing is no list of strokes in the field.",
        f"A stroke is a list of points (x, y) from 0 to 1; {MOST} points at most.",
        "Write for example pad.draw([[(0.5, 0.1), (0.5, 0.9)]]), or clear the field.",
    )


class DigitPad(CourseWidget, files="draw_digit"):
    """A drawing that a network classifies after every stroke.

    Attributes
    ----------
    drawing : dict
        `strokes`, lists of points (x, y) from 0 to 1; `example`, the digit of an
        example or -1; `turn`, how often it has changed.
    reading : dict
        The data that the view shows.
    found : Reading
        The present reading.

    Examples
    --------
    >>> pad = DigitPad(lambda image: np.eye(10)[1] * image[14, 14] / 25, example=1)
    >>> pad
    Example 1. Read as 1 (100 %); the next likeliest is 0 (0 %).
      0: 0 %, 1: 100 %, 2: 0 %, 3: 0 %, 4: 0 %, 5: 0 %, 6: 0 %, 7: 0 %, 8: 0 %, 9: 0 %
    >>> pad.draw([])
    >>> pad
    Own drawing. Nothing is drawn yet.
    """

    drawing = traitlets.Dict().tag(sync=True)
    reading = traitlets.Dict().tag(sync=True)
    examples = traitlets.List().tag(sync=True)

    def __init__(self, scores: Callable[[np.ndarray], Any], example: int) -> None:
        self._scores = scores
        examples = [[[*map(list, s)] for s in plan(k)] for k in range(CLASSES)]
        self.found = read(scores, examples[example])
        super().__init__(
            drawing={"strokes": examples[example], "example": example, "turn": 0},
            reading=picture.shown(self.found, turn=0),
            examples=examples,
        )
        self.observe(self._read, "drawing")

    @property
    def image(self) -> np.ndarray:
        return self.found.image

    @property
    def chances(self) -> np.ndarray:
        return self.found.chances

    def draw(self, strokes: Sequence) -> None:
        """Replace the drawing.

        Raises
        ------
        ArgumentError
            The strokes are no lists of points in the field.
        """
        turn = self.drawing["turn"] + 1
        checked = [[*map(list, stroke)] for stroke in _checked(strokes)]
        self.drawing = {"strokes": checked, "example": OWN, "turn": turn}

    def _read(self, _change: object) -> None:
        """Classify the reader's drawing; the view shows any error."""
        drawing, trouble = self.drawing, ""
        try:
            self.found = read(self._scores, drawing.get("strokes"))
        except Exception as error:  # of any kind: `scores` is the reader's own
            self.found = Reading(*np.zeros((2, 28, 28), np.uint8), np.empty(0))
            trouble = f"{type(error).__name__}: {error}"
        self.reading = picture.shown(self.found, drawing.get("turn"), trouble)

    def _title(self) -> str:
        example = self.drawing.get("example", OWN)
        return "Own drawing." if example == OWN else f"Example {example}."

    def __repr__(self) -> str:
        lines = [f"{self._title()} {self.reading['told']}"]
        if len(self.chances):
            lines.append(f"  {picture.in_words(self.chances)}")
        return "\n".join(lines)

    def alt_text(self) -> str:
        parts = [f"A field to draw a digit in. {self._title()} {self.reading['told']}"]
        if len(self.chances):
            parts.append(f"Of the ten digits, {picture.in_words(self.chances)}.")
        return " ".join(parts)

    def static_svg(self) -> str:
        return picture.svg(self.drawing["strokes"], self.found, str(self.found))
