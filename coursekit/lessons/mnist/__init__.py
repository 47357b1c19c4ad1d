"""The network of the final project: layers, weights, a reference, and its training.

`Network` says how large it is; `initial_weights` starts it as PyTorch would;
`reference` has each layer in NumPy; `Trainer` trains it with the kernels of
`kernels/mnist/`, on a GPU or on the simulator; `save_weights` and `load_weights` keep
what it has learnt, `shipped` is what the course brings, and a `Reader` reads a drawing.
"""

from coursekit.lessons.mnist.initial import initial_weights
from coursekit.lessons.mnist.network import FULL, SMALL, Network
from coursekit.lessons.mnist.reading import Reader
from coursekit.lessons.mnist.shipping import shipped
from coursekit.lessons.mnist.trainer import Trainer
from coursekit.lessons.mnist.weights import (
    SavedWeights,
    Training,
    load_weights,
    save_weights,
)

__all__ = [
    "FULL",
    "SMALL",
    "Network",
    "Reader",
    "SavedWeights",
    "Trainer",
    "Training",
    "initial_weights",
    "load_weights",
    "save_weights",
    "shipped",
]
