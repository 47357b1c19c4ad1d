"""Small pictures with labels: MNIST, Fashion-MNIST, and digits drawn here.

`load` takes the first that can be had and says which; `mnist`, `fashion_mnist` and
`drawn_digits` insist on one; `scanned` makes such a picture of a drawing. Pixels stay
bytes until they are on the device. `valley` is one larger picture.
"""

from coursekit.lessons.datasets.dataset import Dataset
from coursekit.lessons.datasets.drawn import drawn_digits
from coursekit.lessons.datasets.idx import read_idx
from coursekit.lessons.datasets.scanning import scanned
from coursekit.lessons.datasets.sources import fashion_mnist, load, mnist
from coursekit.lessons.datasets.valley import valley

__all__ = [
    "Dataset",
    "drawn_digits",
    "fashion_mnist",
    "load",
    "mnist",
    "read_idx",
    "scanned",
    "valley",
]
