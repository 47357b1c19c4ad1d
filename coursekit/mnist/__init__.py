"""The network of the final project: its shape, its start, a reference, and our step.

`Network` says how large it is; `initial_weights` starts it as PyTorch would;
`reference` has each layer in NumPy; `Trainer` trains it with the kernels of
`kernels/mnist/`, on a GPU or on the simulator.
"""

from coursekit.mnist.initial import initial_weights
from coursekit.mnist.network import FULL, SMALL, Network
from coursekit.mnist.trainer import Trainer

__all__ = ["FULL", "SMALL", "Network", "Trainer", "initial_weights"]
