"""Grey pictures side by side: arrays of values from black to white."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from PIL import Image

from coursekit.errors import ArgumentError

WIDTH_PIXELS, WIDEST_PIXELS = 720, 450  # of a row of pictures, of one


@dataclass(frozen=True, repr=False)
class Pictures:
    """Grey pictures side by side, with alt text and statistics.

    Attributes
    ----------
    title, alt : str
        What they show, as a sentence, and for who cannot see them.
    values : dict of str to ndarray
        Each picture by its name: 0 is black, 1 is white.
    """

    title: str
    alt: str
    values: Mapping[str, np.ndarray]

    @property
    def rows(self) -> tuple[tuple, ...]:
        """Name, size, mean and standard deviation of each."""
        return tuple(
            (name, *np.shape(values), float(np.mean(values)), float(np.std(values)))
            for name, values in self.values.items()
        )

    def __repr__(self) -> str:
        lines = (
            f"  {name}: {rows} rows of {cols}, mean {mean:.3f}, deviation {spread:.3f}"
            for name, rows, cols, mean, spread in self.rows
        )
        return "\n".join([f"{self.title}. {self.alt}", *lines])

    def _repr_html_(self) -> str:
        width = min(WIDTH_PIXELS // len(self.values), WIDEST_PIXELS)
        shown = "".join(
            f'<div style="display:inline-block;margin:4px 8px 4px 0">'
            f'<div style="margin:2px 0">{escape(name)}</div>'
            f'<img alt="{escape(f"{name}. {self.alt}")}" width="{width}" '
            f'src="data:image/jpeg;base64,{_jpeg(values)}"></div>'
            for name, values in self.values.items()
        )
        return f"<div><b>{escape(self.title)}</b></div>{shown}"


def images(pictures: Mapping[str, np.ndarray], *, title: str, alt: str) -> Pictures:
    """Show grey pictures side by side, 0 as black and 1 as white.

    Parameters
    ----------
    pictures : mapping of str to ndarray
        What each picture is, and its values, in rows and columns.
    title : str
        What the pictures show, as a sentence.
    alt : str
        The same for who cannot see them.

    Returns
    -------
    Pictures

    Raises
    ------
    ArgumentError
        If there is no picture, or one has not two dimensions.
    """
    _check_images(pictures)
    return Pictures(title, alt, dict(pictures))


def _jpeg(values: np.ndarray) -> str:
    """Return a picture as JPEG, which takes a fifth of the bytes where it is noisy."""
    grey = np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)
    drawn = io.BytesIO()
    Image.fromarray(grey).save(drawn, format="jpeg", quality=60, optimize=True)
    return base64.b64encode(drawn.getvalue()).decode("ascii")


def _check_images(pictures: Mapping[str, np.ndarray]) -> None:
    shapes = {name: np.shape(values) for name, values in pictures.items()}
    if not shapes or any(len(shape) != 2 for shape in shapes.values()):
        raise ArgumentError.explained(
            f"plot.images got pictures of the shapes {shapes}.",
            cure="Give at least one, each with rows and columns.",
        )
