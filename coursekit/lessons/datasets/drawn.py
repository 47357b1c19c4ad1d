"""Digits drawn from strokes of a simulated pen, each one a little different."""

from __future__ import annotations

import math

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.datasets.dataset import Dataset

# How far each picture may differ from its plan; lengths in sides of the picture.
_SHIFT = 0.07
_SCALE = (0.72, 0.98)
_NARROWER = (0.72, 1.05)
_SLANT = (-0.15, 0.35)
_TURN = 0.16
_WOBBLE = 0.05
_THICKNESS = (0.022, 0.062)
_INK = (0.75, 1.0)
_NOISE = 0.1
_SPECKS, _SPECK = 0.01, 0.25  # share of dark pixels, and how much darker they are
_CHANCES = 9  # random numbers per picture, besides wobble and noise
_GRAIN = 4096


def _arc(x, y, width, height, start, end, steps=10) -> list[tuple[float, float]]:
    """Return points of an ellipse; degrees from the right, clockwise on paper."""
    turns = [start + (end - start) * k / steps for k in range(steps + 1)]
    return [
        (x + width * math.cos(a), y + height * math.sin(a))
        for a in map(math.radians, turns)
    ]


# The strokes of each digit, of some in two variants: points (x, y) of the unit square,
# from the top left.
_PLANS: dict[int, list[list[list[tuple[float, float]]]]] = {
    0: [[_arc(0.5, 0.5, 0.29, 0.42, -100, 260, 16)]],
    1: [
        [[(0.52, 0.08), (0.51, 0.5), (0.5, 0.92)]],
        [[(0.33, 0.27), (0.54, 0.08), (0.54, 0.92)]],
        [[(0.34, 0.26), (0.53, 0.08), (0.53, 0.92)], [(0.3, 0.92), (0.74, 0.92)]],
    ],
    2: [
        [[*_arc(0.49, 0.31, 0.25, 0.23, 190, 395), (0.22, 0.92), (0.8, 0.9)]],
        [
            [
                *_arc(0.5, 0.3, 0.24, 0.22, 200, 400),
                *_arc(0.33, 0.8, 0.12, 0.1, 320, 60, 5),
                (0.55, 0.84),
                (0.82, 0.9),
            ]
        ],
    ],
    3: [
        [
            [
                *_arc(0.47, 0.29, 0.24, 0.21, 205, 445, 9),
                *_arc(0.47, 0.71, 0.27, 0.21, 275, 515, 9),
            ]
        ],
        [
            [(0.24, 0.1), (0.74, 0.1), (0.46, 0.42)],
            _arc(0.46, 0.66, 0.28, 0.25, 275, 510),
        ],
    ],
    4: [
        [[(0.62, 0.92), (0.62, 0.08), (0.2, 0.64), (0.83, 0.64)]],
        [[(0.27, 0.1), (0.24, 0.53), (0.76, 0.51)], [(0.71, 0.1), (0.68, 0.92)]],
    ],
    5: [
        [
            [
                (0.76, 0.1),
                (0.33, 0.1),
                (0.28, 0.45),
                *_arc(0.47, 0.66, 0.28, 0.25, 240, 500),
            ]
        ]
    ],
    6: [
        [
            [
                (0.66, 0.08),
                (0.4, 0.33),
                (0.25, 0.6),
                *_arc(0.5, 0.68, 0.25, 0.23, 190, 545, 14),
            ]
        ],
        [
            [
                *_arc(0.6, 0.5, 0.36, 0.42, 290, 110),
                *_arc(0.5, 0.7, 0.24, 0.21, 110, -200, 12),
            ]
        ],
    ],
    7: [
        [[(0.22, 0.11), (0.78, 0.11), (0.55, 0.5), (0.4, 0.92)]],
        [[(0.22, 0.13), (0.79, 0.1), (0.43, 0.92)], [(0.34, 0.5), (0.72, 0.47)]],
    ],
    8: [
        [
            _arc(0.5, 0.29, 0.2, 0.2, 90, 450, 14),
            _arc(0.5, 0.71, 0.25, 0.22, -90, 270, 14),
        ]
    ],
    9: [
        [[*_arc(0.48, 0.32, 0.24, 0.23, 0, 360, 14), (0.71, 0.6), (0.62, 0.92)]],
        [
            [
                *_arc(0.48, 0.31, 0.24, 0.22, 10, 370, 14),
                *_arc(0.4, 0.6, 0.32, 0.32, 0, 130, 6),
            ]
        ],
    ],
}


def plan(digit: int) -> list[list[tuple[float, float]]]:
    """Return the strokes of a digit before any variation, as points of the unit square.

    Examples
    --------
    >>> plan(7)
    [[(0.22, 0.11), (0.78, 0.11), (0.55, 0.5), (0.4, 0.92)]]
    """
    return _PLANS[digit][0]


def drawn_digits(count: int, *, size: int = 28, seed: int = 0) -> Dataset:
    """Draw digits: shifted, scaled, slanted, turned, thick or thin, with noise.

    They are no handwriting, and easier to tell apart than MNIST: a figure of merit
    from them is none of MNIST's. The same seed draws the same pictures everywhere.

    Parameters
    ----------
    count : int
        The number of pictures; labels are in random order, all about equally frequent.
    size : int
        Rows and columns, from 8 to 64.
    seed : int

    Returns
    -------
    Dataset

    Raises
    ------
    ArgumentError
        No pictures at all, or too small to tell, or too large.

    Examples
    --------
    >>> drawn_digits(100, size=14)
    Drawn digits: 100 pictures of 14 x 14 pixels. Drawn by coursekit from seed 0.
    """
    if count < 1 or not 8 <= size <= 64:
        raise ArgumentError.explained(
            f"drawn_digits({count}, size={size}) draws nothing.",
            "A picture has 8 to 64 rows, and there is one at least.",
            "Write for example drawn_digits(1000, size=28).",
        )
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % 10).astype(np.uint8)
    chances = random.random((count, _CHANCES), dtype=np.float32)
    noise = random.random((count, size, size), dtype=np.float32)
    images = np.empty((count, size, size), dtype=np.uint8)
    for digit, plans in _PLANS.items():
        way = (chances[:, 0] * len(plans)).astype(int)
        for number, plan in enumerate(plans):
            chosen = np.flatnonzero((labels == digit) & (way == number))
            wobble = random.random((len(chosen), 2, 4), dtype=np.float32)
            strokes = _strokes(plan, chances[chosen], wobble)
            ink = _ink(strokes, chances[chosen], size)
            images[chosen] = _bytes(ink, chances[chosen], noise[chosen])
    origin = f"Drawn by coursekit from seed {seed}."
    return Dataset(images, labels, "Drawn digits", origin)


def _between(limits: tuple[float, float], chance: np.ndarray) -> np.ndarray:
    return np.float32(limits[0]) + np.float32(limits[1] - limits[0]) * chance


def _strokes(plan, chances: np.ndarray, wobble: np.ndarray) -> list:
    """Bend the strokes of a plan for each picture: arrays (pictures, points, 2)."""
    scale = _between(_SCALE, chances[:, 1])
    wide = scale * _between(_NARROWER, chances[:, 2])
    slant = _between(_SLANT, chances[:, 3])
    turn = _between((-_TURN, _TURN), chances[:, 4])
    shift = _between((-_SHIFT, _SHIFT), chances[:, 5:7])
    bent = []
    for stroke in plan:
        points = np.round(np.array(stroke) * _GRAIN) / _GRAIN - 0.5
        x, y = points.astype(np.float32).T[:, None]
        x, y = _bent(x, y, wobble)
        x, y = wide[:, None] * (x - slant[:, None] * y), scale[:, None] * y
        x, y = x - turn[:, None] * y, y + turn[:, None] * x
        places = np.stack([x, y], axis=2) + shift[:, None] + np.float32(0.5)
        bent.append(places)
    return bent


def _bent(x, y, wobble: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displace points smoothly, as a hand does: neighbours move by about the same."""
    a = _between((-_WOBBLE, _WOBBLE), wobble)[..., None] * 4
    return (
        x + a[:, 0, 0] * x * y + a[:, 0, 1] * y * y + a[:, 0, 2] * (x * x - y * y) * y,
        y + a[:, 1, 0] * x * y + a[:, 1, 1] * x * x + a[:, 1, 2] * x * y * y,
    )


def _ink(strokes: list, chances: np.ndarray, size: int) -> np.ndarray:
    """Return how much ink is on each pixel, 0 to 1: by its distance to the strokes."""
    middle = ((np.arange(size) + 0.5) / size).astype(np.float32)
    nearest = np.full((len(chances), size, size), np.inf, dtype=np.float32)
    for places in strokes:
        for k in range(places.shape[1] - 1):
            apart = _squares(places[:, k], places[:, k + 1], middle)
            np.minimum(nearest, apart, out=nearest)
    thick = np.maximum(_between(_THICKNESS, chances[:, 7]), 0.35 / size)
    edge = (thick[:, None, None] - np.sqrt(nearest)) * np.float32(size)
    return np.clip(edge + np.float32(0.5), 0, 1)


def _squares(start: np.ndarray, end: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Return the squared distance of each pixel to one line of each picture."""
    dx, dy = (end - start).T[..., None, None]
    x = middle[None, None, :] - start[:, 0, None, None]
    y = middle[None, :, None] - start[:, 1, None, None]
    length = np.maximum(dx * dx + dy * dy, np.float32(1e-8))
    along = np.clip((x * dx + y * dy) / length, 0, 1)
    x, y = x - along * dx, y - along * dy
    return x * x + y * y


def _bytes(ink: np.ndarray, chances: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Turn ink into pixels: pens differ in darkness, and the scanner adds noise."""
    strength = _between(_INK, chances[:, 8])[:, None, None]
    grain = np.float32(_NOISE) * (2 * noise - 1) * (ink > 0)
    specks = np.float32(_SPECK) * (noise > np.float32(1 - _SPECKS))
    grey = np.clip(ink * strength + grain + specks, 0, 1)
    return np.round(grey * np.float32(255)).astype(np.uint8)
