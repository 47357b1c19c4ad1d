"""Pictures of a training: losses, activations of the layers, and mistakes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from coursekit import plot
from coursekit.errors import ArgumentError
from coursekit.hardware import device
from coursekit.lessons.datasets import Dataset
from coursekit.lessons.mnist.trainer import Trainer
from coursekit.plot.pictures import Pictures, images
from coursekit.runtime.arrays import to_host

SCALE, GAP = 6, 1


def learning(
    losses: Mapping[str, Sequence[float]], *, title: str, every: int, chance: float
) -> plot.Chart:
    """Draw the losses of trainings over their steps, as means of several steps.

    Parameters
    ----------
    losses : mapping of str to sequence of float
        The loss of each step, by the name of the training.
    title : str
        The title of the picture.
    every : int
        The number of steps of which a point shows the mean.
    chance : float
        The loss of a network that knows nothing, drawn as a line.

    Returns
    -------
    Chart

    Raises
    ------
    ArgumentError
        There are fewer steps than make two points, or not equally many.
    """
    steps = {len(values) // every for values in losses.values()} or {0}
    if len(steps) > 1 or min(steps) < 2:
        raise ArgumentError.explained(
            f"learning got {sorted(map(len, losses.values()))} steps, {every} a point.",
            "Lines to compare have the same number of points, two or more.",
            "Take more steps, or a smaller `every`.",
        )
    count = steps.pop()
    means = {name: _means(values, every, count) for name, values in losses.items()}
    ends = [every * (k + 1) for k in range(count)]
    limits, note = {"knowing nothing": chance}, f"trained on {_where()}"
    with rc_context(plot.STYLE):
        chart = plot.new_chart()
        axes = chart.add_subplot()
        plot.draw_lines(axes, ends, list(means.values()), list(means))
        plot.draw_limits(axes, limits)
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.set(xlabel="steps", ylabel=f"loss, mean of {every} steps", ylim=(0, None))
        plot.draw_title(axes, title)
        plot.draw_grid(axes, "both")
        plot.sign(chart, note)
    chart.headings = ("steps", *means)
    chart.rows = tuple(zip(ends, *means.values(), strict=True))
    chart.alt = plot.in_words(chart, title, limits, note)
    return chart


def _means(values: Sequence[float], every: int, count: int) -> list[float]:
    parts = np.reshape(values[: every * count], (count, every))
    return [float(mean) for mean in parts.mean(axis=1)]


def _where() -> str:
    gpu = device()
    return "the simulator" if gpu.simulated else gpu.name


def tiled(maps: np.ndarray) -> np.ndarray:
    """Arrange maps (maps, rows, cols) in a square; the largest value of each is white.

    Values that are not finite stay grey, as the gaps are.
    """
    count, rows, cols = maps.shape
    across = math.isqrt(count - 1) + 1
    down = -(-count // across)
    sheet = np.full((down * (rows + GAP), across * (cols + GAP)), 0.5)
    for number, values in enumerate(maps):
        top, left = number // across * (rows + GAP), number % across * (cols + GAP)
        finite = np.where(np.isfinite(values), values, 0)
        shown = np.where(finite == values, finite / max(finite.max(), 1e-30), 0.5)
        sheet[top : top + rows, left : left + cols] = shown
    return np.kron(sheet[:-GAP, :-GAP], np.ones((SCALE, SCALE)))


def activations(trainer: Trainer, image: np.ndarray) -> Pictures:
    """Show the output of each convolution's ReLU for one picture.

    Parameters
    ----------
    trainer : Trainer
    image : ndarray
        (side, side), uint8.

    Returns
    -------
    Pictures
        The picture, and a map for each channel of each layer, brighter where more.
    """
    trainer.load(image[None])
    trainer.forward(learning=False)
    seen = {"the picture": tiled(image[None] / 255)}
    for layer, channels in enumerate(trainer.network.channels, start=1):
        maps = to_host(trainer.values[f"relu{layer}"])[0]
        seen[f"layer {layer}: {channels} channels"] = tiled(maps)
    return images(
        seen,
        title="What the layers see",
        alt="White is the most that a channel lets through of this picture",
    )


def mistakes(digits: Dataset, predicted: np.ndarray, most: int = 5) -> Pictures | str:
    """Show pictures that were classified wrongly.

    Parameters
    ----------
    digits : Dataset
    predicted : ndarray
        A class for each picture.
    most : int
        The most pictures to show, from the first one on.

    Returns
    -------
    Pictures or str
        A sentence when there is no mistake.
    """
    wrong = np.flatnonzero(predicted != digits.labels)
    if not len(wrong):
        return f"No mistake in {len(digits):,} pictures."
    shown = {
        f"{digits.labels[k]} taken for {predicted[k]} (no. {k})": tiled(
            digits.images[k][None] / 255
        )
        for k in wrong[:most]
    }
    title = f"{len(wrong):,} of {len(digits):,} pictures are taken for something else"
    return images(shown, title=title, alt="The picture that was misread")
