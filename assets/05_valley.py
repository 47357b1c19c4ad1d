"""Draw 05_valley.png: a mountain lake at dusk, with the noise of a small sensor.

    .venv/bin/python assets/05_valley.py

Everything is computed from one seed, so the picture belongs to this course.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

ROWS, COLS = 110, 150
FINER = 4  # drawn finer, then averaged: soft edges
SHORE = 0.68  # height of the shore, as a share of the picture
SUN = (0.66, 0.20, 0.050)  # centre (x, y) and radius
TARGET = Path(__file__).with_suffix(".png")


def ridge(x: np.ndarray, rng: np.random.Generator, roughness: float) -> np.ndarray:
    """Return heights from -1 to 1 along x: waves that get shorter and lower."""
    height = np.zeros_like(x)
    for octave in range(8):
        wave = 2 * np.pi * 1.3 * 2.17**octave * x + rng.uniform(0, 2 * np.pi)
        height += np.abs(np.sin(wave)) * roughness**octave
    return 2 * (height - height.min()) / np.ptp(height) - 1


def land(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the brightness of sky, sun, mountains and wood."""
    distance = np.hypot((x - SUN[0]) * COLS / ROWS, y - SUN[1])
    view = 0.38 + 0.42 * y / SHORE + 0.30 * np.exp(-((distance / 0.16) ** 2))
    view[distance < SUN[2]] = 1.0
    layers = (
        (0.40, 0.13, 0.5, 0.58),
        (0.48, 0.08, 0.55, 0.40),
        (0.57, 0.05, 0.6, 0.25),
    )
    for middle, height, roughness, shade in layers:
        top = middle - height * ridge(x[0], rng, roughness)
        haze = 0.14 * np.clip((y - top) / 0.2, 0, 1)
        view = np.where(y > top, shade + haze, view)
    trees = SHORE - 0.035 - 0.05 * spruces(x[0], rng)
    return np.where(y > trees, 0.08, view)


def spruces(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the heights, from 0 to 1, of a row of pointed trees."""
    heights = np.zeros_like(x)
    for place in rng.uniform(0, 1, 90):
        tall, wide = rng.uniform(0.3, 1), rng.uniform(0.006, 0.012)
        heights = np.maximum(heights, tall * (1 - np.abs(x - place) / wide))
    return heights


def lake(view: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mirror what is above the shore, darker, in lines that sway."""
    rows, cols = view.shape
    shore = int(SHORE * rows)
    for row in range(shore, rows):
        depth = (row - shore) / (rows - shore)
        source = max(int(shore - 1 - 1.35 * (row - shore)), 0)
        sway = int(np.sin(row / 3.1 + 4 * depth) * (1 + 9 * depth)) + rng.integers(3)
        view[row] = 0.78 * np.roll(view[source], sway) + 0.05
        view[row, rng.random(cols) < 0.01] += 0.12
    return view


def valley() -> np.ndarray:
    """Return the picture, float values from 0 to 1."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0 : ROWS * FINER, 0 : COLS * FINER].astype(float)
    x, y = x / (COLS * FINER), y / (ROWS * FINER)
    fine = lake(land(x, y, rng), y, rng)
    picture = fine.reshape(ROWS, FINER, COLS, FINER).mean(axis=(1, 3))
    light = np.clip(picture, 0, 1)
    grain = rng.normal(0, 0.04 + 0.03 * np.sqrt(light))
    return np.clip(light + grain, 0, 1)


if __name__ == "__main__":
    pixels = np.round(255 * valley()).astype(np.uint8)
    Image.fromarray(pixels).save(TARGET, optimize=True)
