"""Turn the strokes of a drawing into a picture like those of MNIST."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Stroke = Sequence[Sequence[float]]  # points (x, y), from the top left
SIDE, BOX = 28, 20  # pixels: the picture, and what the ink fits into
PEN, EDGE = 2.5, 1.2  # pixels: how thick a line is, and how wide it fades
MIDDLE = 14.5  # where the ink's centre of mass lies, from the outer edge
SMALLEST = 0.1  # a smaller drawing is not enlarged: it is no digit


def scanned(strokes: Sequence[Stroke]) -> np.ndarray:
    """Turn strokes into bytes as MNIST's authors turned scanned digits.

    The ink is scaled to fit into 20 x 20 pixels, with its aspect kept and greys at
    its edges; then it is moved so that its centre of mass lies in the middle of
    28 x 28 pixels, which is the middle of pixel (14, 14), or as near to it as the ink
    has room. The pen is as thick as MNIST's are, however large the drawing was.

    Parameters
    ----------
    strokes : sequence of sequences of points (x, y)
        From the top left, of a field with side 1; a stroke of one point is a dot.

    Returns
    -------
    ndarray
        (28, 28), uint8, 0 for paper.

    Source
    ------
    Y. LeCun, C. Cortes, C. Burges, The MNIST database: how its pictures were made.

    Examples
    --------
    >>> scanned([[(0.5, 0.1), (0.5, 0.9)]]).sum(axis=0).argmax()
    np.int64(14)
    """
    lines = _lines(strokes)
    if not len(lines):
        return np.zeros((SIDE, SIDE), dtype=np.uint8)
    points = lines.reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (BOX - PEN) / max(float((high - low).max()), SMALLEST)
    placed = (lines - (low + high) / 2) * scale + MIDDLE
    moved = np.zeros(2)
    for _ in range(3):  # moving changes the greys, and so the centre
        moved += MIDDLE - _centre(_ink(placed + moved))
    reach = (BOX + EDGE) / 2  # from the ink's middle, so that nothing is cut off
    moved = np.clip(moved, reach - MIDDLE, SIDE - reach - MIDDLE)
    return np.round(255 * _ink(placed + moved)).astype(np.uint8)


def _lines(strokes: Sequence[Stroke]) -> np.ndarray:
    """Return all straight pieces of the strokes, (pieces, ends, 2)."""
    pieces = [
        pair
        for stroke in strokes
        for pair in zip(stroke, [*stroke[1:], stroke[-1]], strict=True)
    ]
    return np.array(pieces, dtype=np.float64).reshape(-1, 2, 2)


def _centre(ink: np.ndarray) -> np.ndarray:
    """Return the centre of mass, (x, y)."""
    along = np.arange(SIDE) + 0.5
    return np.array([ink.sum(axis=0) @ along, ink.sum(axis=1) @ along]) / ink.sum()


def _ink(lines: np.ndarray) -> np.ndarray:
    """Return how much ink is on each pixel, 0 to 1, by its distance to the lines."""
    middles = np.arange(SIDE) + 0.5
    nearest = np.full((SIDE, SIDE), np.inf)  # squared distance
    for (x0, y0), (x1, y1) in lines:
        x, y = middles[None, :] - x0, middles[:, None] - y0
        dx, dy = x1 - x0, y1 - y0
        along = (x * dx + y * dy) / max(dx * dx + dy * dy, 1e-12)
        along = np.clip(along, 0, 1)
        apart = (x - along * dx) ** 2 + (y - along * dy) ** 2
        np.minimum(nearest, apart, out=nearest)
    return np.clip((PEN / 2 - np.sqrt(nearest)) / EDGE + 0.5, 0, 1)
