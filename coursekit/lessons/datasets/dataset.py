"""Pictures as bytes, with a label for each."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from coursekit.errors import ArgumentError, DataError

_ACROSS, _GAP, _WIDTH = 12, 2, 480


@dataclass(frozen=True, eq=False)
class Dataset:
    """Pictures and labels, in one order.

    Attributes
    ----------
    images : numpy.ndarray
        (pictures, rows, cols), uint8, 0 for paper; read-only.
    labels : numpy.ndarray
        (pictures,), uint8, from 0 to one less than there are classes; read-only.
    name : str
        The name of the data set, such as "MNIST".
    origin : str
        The origin of the pictures, as a sentence.
    """

    images: np.ndarray
    labels: np.ndarray
    name: str
    origin: str = ""

    def __post_init__(self):
        fits = self.images.ndim == 3 and self.labels.shape == self.images.shape[:1]
        if not fits or {self.images.dtype, self.labels.dtype} != {np.dtype(np.uint8)}:
            raise DataError.explained(
                f"{self.name}: {_kind(self.images)} as images with "
                f"{_kind(self.labels)} as labels.",
                "A picture is rows and columns of uint8, and each has one label.",
                "Check that both files belong together.",
            )
        for array in (self.images, self.labels):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> int:
        """The number of classes: one more than the largest label, at least 10."""
        return max(10, int(self.labels.max(initial=0)) + 1)

    def part(self, first: int, last: int) -> Dataset:
        """Take pictures `first` to `last`, the latter not included.

        Raises
        ------
        ArgumentError
            When there are not that many.
        """
        if not 0 <= first < last <= len(self):
            raise ArgumentError.explained(
                f"part({first}, {last}) of {len(self):,} pictures.",
                "The first counts from 0, and the last is not included.",
                f"Stay within part(0, {len(self)}).",
            )
        chosen = slice(first, last)
        return replace(self, images=self.images[chosen], labels=self.labels[chosen])

    def halved(self) -> Dataset:
        """Halve both sides: each pixel is the mean of four, rounded."""
        count, rows, cols = self.images.shape
        even = self.images[:, : rows // 2 * 2, : cols // 2 * 2]
        fours = even.reshape(count, rows // 2, 2, cols // 2, 2)
        sums = fours.sum(axis=(2, 4), dtype=np.uint16)
        return replace(self, images=((sums + 2) // 4).astype(np.uint8))

    def batches(self, size: int, seed: int = 0) -> Iterator[tuple]:
        """Yield (images, labels) of each batch of one pass, in a shuffled order.

        What is left over at the end is left out, so that all batches are equal.
        """
        order = np.random.default_rng(seed).permutation(len(self))
        for first in range(0, len(self) - size + 1, size):
            chosen = order[first : first + size]
            yield self.images[chosen], self.labels[chosen]

    def __repr__(self) -> str:
        rows, cols = self.images.shape[1:]
        text = f"{self.name}: {len(self):,} pictures of {rows} x {cols} pixels"
        return f"{text}. {self.origin}".strip()

    def _repr_html_(self) -> str:
        from html import escape

        words = f"Some pictures of each label of {self.name}, a row for each label"
        shown = base64.b64encode(self._sheet()).decode()
        return (
            f'<img alt="{escape(words)}" width="{_WIDTH}" '
            f'style="image-rendering: pixelated" src="data:image/png;base64,{shown}">'
            f"<br>{escape(repr(self))}"
        )

    def _sheet(self) -> bytes:
        """Draw the first pictures of each label, as a PNG."""
        from PIL import Image

        _, rows, cols = self.images.shape
        height, width = rows + _GAP, cols + _GAP
        sheet = np.zeros((height * self.classes, width * _ACROSS), dtype=np.uint8)
        for label in range(self.classes):
            for place, index in enumerate(np.flatnonzero(self.labels == label)):
                if place == _ACROSS:
                    break
                top, left = label * height, place * width
                sheet[top : top + rows, left : left + cols] = self.images[index]
        stored = io.BytesIO()
        Image.fromarray(255 - sheet).save(stored, "PNG", optimize=True)
        return stored.getvalue()


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype} of shape {array.shape}"
