"""Classify one picture of 28 x 28 bytes with a trainer's network of any side."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.datasets import Dataset
from coursekit.lessons.mnist.trainer import Trainer

SIDE = 28


class Reader:
    """Classifies one picture with the present weights of a trainer.

    Parameters
    ----------
    trainer : Trainer
        A trainer whose network sees 28 x 28 pixels, or the means of four, or of
        sixteen.

    Raises
    ------
    ArgumentError
        The side of the network is neither 28 nor 14 nor 7.

    Examples
    --------
    ``ck.draw_digit(mnist.Reader(trainer))``
    """

    def __init__(self, trainer: Trainer):
        self.trainer = trainer
        side = trainer.network.side
        if side not in (SIDE, SIDE // 2, SIDE // 4):
            raise ArgumentError.explained(
                f"A network that sees {side} x {side} pixels cannot read pictures of "
                f"{SIDE} x {SIDE}.",
                "They are made smaller by taking means of four pixels, once or twice.",
                "Take a network with side 28, 14 or 7.",
            )

    def seen(self, image: np.ndarray) -> np.ndarray:
        """Return the picture scaled to the side of the network."""
        picture = Dataset(image[None].copy(), np.zeros(1, np.uint8), "A picture")
        while picture.images.shape[1] > self.trainer.network.side:
            picture = picture.halved()
        return picture.images[0]

    def __call__(self, image: np.ndarray) -> np.ndarray:
        """Return the logits of a picture, (28, 28) of uint8."""
        return self.trainer.logits(self.seen(image)[None])[0]
