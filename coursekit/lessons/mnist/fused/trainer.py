"""Training with the fused step, as `coursekit.lessons.mnist.Trainer` trains."""

from __future__ import annotations

import numpy as np

from coursekit.lessons.mnist.buffers import require_batch, require_weights
from coursekit.lessons.mnist.fused.step import KERNELS, FusedStep
from coursekit.lessons.mnist.network import Network
from coursekit.lessons.mnist.trainer import Trainer
from coursekit.runtime.arrays import to_device


class FusedTrainer:
    """The network with its weights in device memory, and fused steps that train it.

    The same code runs on a GPU and on the simulator. It takes what `Trainer` takes and
    gives what it gives; gradients and what layers make of a batch stay on chip.

    Parameters
    ----------
    network : Network
    weights : dict of str to ndarray
        As of `initial_weights`; copied to the device.
    batch : int
        The most pictures of a step; a step has two at least.
    rate, mean, deviation : float
        As of `Trainer`.
    precision : str
        "tf32" or "fp32".
    form : str
        "kernels", "persistent" or "tuned".

    Attributes
    ----------
    fused : FusedStep
    """

    def __init__(
        self,
        network: Network,
        weights: dict[str, np.ndarray],
        batch: int,
        *,
        rate: float = 0.1,
        mean: float = 0.0,
        deviation: float = 1.0,
        precision: str = "tf32",
        form: str = KERNELS,
    ):
        require_weights(network, weights, batch)
        self.network, self.batch = network, batch
        self.options = {"rate": rate, "mean": mean, "deviation": deviation}
        self.fused = FusedStep(
            network, batch, precision=precision, form=form, **self.options
        )
        self.fused.weights = weights

    def step(self, images: np.ndarray, labels: np.ndarray) -> None:
        """Run one step: load a batch, go forward, go backward, update the weights."""
        require_batch(self.network, self.batch, images, labels)
        self.fused.run(to_device(images), to_device(labels), len(images))

    def loss(self) -> float:
        """Return the mean loss of the batch of the last step.

        It is NaN where a training has diverged: from a weight or a gradient that is
        no number, at the latest in the step after it, as PyTorch's is; and already
        where what one block sums up is too large for the kernels' whole numbers.
        """
        return self.fused.loss

    def weights_on_host(self) -> dict[str, np.ndarray]:
        """Return copies of the weights, by PyTorch's names."""
        return self.fused.weights

    def logits(self, images: np.ndarray) -> np.ndarray:
        """Return the logits, (pictures, classes), with the layers' kernels."""
        layers = Trainer(
            self.network, self.weights_on_host(), self.batch, **self.options
        )
        return layers.logits(images)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """Return the likeliest class of each picture."""
        return self.logits(images).argmax(axis=1)
