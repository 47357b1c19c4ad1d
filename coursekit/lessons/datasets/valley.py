"""The picture of a valley with a lake, which several chapters work on."""

from __future__ import annotations

import numpy as np

from coursekit import paths


def valley() -> np.ndarray:
    """Return the picture: grey values from 0, black, to 255.

    Returns
    -------
    ndarray
        (110, 150), uint8, writable; rows from the top.

    Examples
    --------
    >>> valley().shape
    (110, 150)
    """
    from PIL import Image

    with Image.open(paths.repository() / "assets" / "05_valley.png") as picture:
        return np.array(picture)
