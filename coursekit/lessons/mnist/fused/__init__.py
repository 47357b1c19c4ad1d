"""The training step of the network in seven kernels, or in one.

`FusedTrainer` trains as `coursekit.lessons.mnist.Trainer` does, with the kernels of
`kernels/mnist_fast/`; `Plan` says what is launched for a batch, and `ladder` counts
what each way of running a step launches, moves and computes.
"""

from coursekit.lessons.mnist.fused.plan import Plan
from coursekit.lessons.mnist.fused.trainer import FusedTrainer

__all__ = ["FusedTrainer", "Plan"]
