"""Train the network with our own kernels, one launch for each operation."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.mnist.buffers import require_batch, require_weights, reserved
from coursekit.lessons.mnist.network import Network
from coursekit.runtime.arrays import DeviceArray, empty, to_device, to_host
from coursekit.runtime.compiler import compile as compiled

FILES = (
    "normalise", "conv_direct", "batchnorm", "relu", "max_pool", "average_pool",
    "linear", "cross_entropy", "sgd",
)  # fmt: skip
BLOCK = 256


class Trainer:
    """The network with its weights in device memory, and the steps that train it.

    The same code runs on a GPU and on the simulator. Everything that a step needs is
    reserved once; a gradient is written anew by each step, so that none is zeroed.

    Parameters
    ----------
    network : Network
    weights : dict of str to ndarray
        As of `initial_weights`; copied to the device.
    batch : int
        The most pictures of a step.
    rate : float
        The learning rate.
    mean, deviation : float
        Mean and deviation of the training pixels, divided by 255.

    Attributes
    ----------
    weights, gradients, values : dict of str to DeviceArray
        Parameters, their gradients, and the results of each layer for the last batch.
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
    ):
        self.network, self.batch, self.rate = network, batch, rate
        self.mean, self.deviation = mean, deviation
        require_weights(network, weights, batch)
        self.kernels = {
            name: module[name]
            for module in (compiled(f"mnist/{file}.cu") for file in FILES)
            for name in module.kernels
        }
        self.weights = {
            name: to_device(np.asarray(array, np.float32))
            for name, array in weights.items()
        }
        self.gradients = {name: empty(shape) for name, shape in network.learnt.items()}
        self.values = reserved(network, batch)
        self.labels: DeviceArray | None = None
        self.count = 0

    # ------------------------------------------------------------ what a step is

    def step(self, images: np.ndarray, labels: np.ndarray) -> None:
        """Run one step: load a batch, go forward, go backward, update the weights."""
        self.load(images, labels)
        self.forward()
        self.backward()
        self.update()

    def load(self, images: np.ndarray, labels: np.ndarray | None = None) -> None:
        """Copy pictures to the device as bytes, and normalise them there.

        Parameters
        ----------
        images : ndarray
            (pictures, side, side), uint8.
        labels : ndarray, optional
            (pictures,), uint8; for `loss` and `backward`.
        """
        require_batch(self.network, self.batch, images, labels)
        self.count = len(images)
        self.labels = None if labels is None else to_device(labels)
        n, x = images.size, self.values["x1"]
        self._launch_threads(
            "normalise", n, to_device(images), x, n, self.mean, self.deviation
        )

    def forward(self, *, learning: bool = True) -> None:
        """Compute all layers; without `learning` with the running statistics."""
        for layer in (1, 2):
            self._convolve(layer)
            self._normalise(layer, learning)
            self._pool(layer)
        self._linear("fc1", "x3", "fc1")
        n = self.count * self.network.hidden
        self._launch_threads(
            "relu_forward", n, self.values["fc1"], self.values["relu3"], n
        )
        self._linear("fc2", "relu3", "logits")

    def backward(self) -> None:
        """Compute the gradients of the mean loss, from the last layer to the first."""
        v, n = self.values, self.count * self.network.hidden
        classes = self.network.classes
        self._launch_threads("cross_entropy_dx", self.count, *self._answers(),
                             v["dlogits"], self.count, classes)  # fmt: skip
        self._linear_back("fc2", "relu3", "dlogits", "drelu3")
        self._launch_threads("relu_dx", n, v["drelu3"], v["relu3"], v["dfc1"], n)
        self._linear_back("fc1", "x3", "dfc1", "dx3")
        for layer in (2, 1):
            self._pool_back(layer)
            self._normalise_back(layer)
            self._convolve_back(layer)

    def update(self) -> None:
        """Move each weight against its gradient."""
        for name, gradient in self.gradients.items():
            n = gradient.size
            self._launch_threads("sgd", n, self.weights[name], gradient, n, self.rate)

    # ------------------------------------------------------------ what is asked

    def loss(self) -> float:
        """Return the mean loss of the last batch that went forward."""
        losses = self.values["losses"]
        classes = self.network.classes
        self._launch_threads("cross_entropy_forward", self.count, *self._answers(),
                             losses, self.count, classes)  # fmt: skip
        return float(to_host(losses)[: self.count].mean(dtype=np.float64))

    def logits(self, images: np.ndarray) -> np.ndarray:
        """Return the logits, (pictures, classes), computed batch by batch."""
        batches = []
        for first in range(0, len(images), self.batch):
            self.load(images[first : first + self.batch])
            self.forward(learning=False)
            batches.append(to_host(self.values["logits"])[: self.count].copy())
        return np.concatenate(batches)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """Return the likeliest class of each picture."""
        return self.logits(images).argmax(axis=1)

    def weights_on_host(self) -> dict[str, np.ndarray]:
        """Return copies of the weights, by PyTorch's names."""
        return {name: to_host(array) for name, array in self.weights.items()}

    # ------------------------------------------------------------ layers

    def _convolve(self, layer: int) -> None:
        shape, elements = self._shape(layer), self._elements(layer)
        v, w, b = self.values, *self._pair(f"conv{layer}")
        x, y = v[f"x{layer}"], v[f"conv{layer}"]
        self._launch_threads("conv_forward", elements, x, w, b, y, *shape)

    def _normalise(self, layer: int, learning: bool) -> None:
        N, _, K, H, W = self._shape(layer)
        v, net = self.values, self.network
        x, y = v[f"conv{layer}"], v[f"bn{layer}"]
        kept = [self.weights[f"bn{layer}.running_{what}"] for what in ("mean", "var")]
        statistics = [v[f"mean{layer}"], v[f"variance{layer}"]]
        if learning:
            self._launch("batchnorm_statistics", K, x, *statistics, *kept,
                         N, K, H * W, net.momentum)  # fmt: skip
        gamma, beta = self._pair(f"bn{layer}")
        used = statistics if learning else kept
        n = self._elements(layer)
        self._launch_threads("batchnorm_apply", n, x, *used, gamma, beta, y,
                             N, K, H * W, net.epsilon)  # fmt: skip
        self._launch_threads("relu_forward", n, y, v[f"relu{layer}"], n)

    def _pool(self, layer: int) -> None:
        N, _, K, H, W = self._shape(layer)
        x, y = self.values[f"relu{layer}"], self.values[f"x{layer + 1}"]
        n = N * K * (H // 2) * (W // 2)
        kept = self._where(layer)
        kernel = f"{self.network.pooling}_pool_forward"
        self._launch_threads(kernel, n, x, y, *kept, N * K, H, W)

    def _pool_back(self, layer: int) -> None:
        N, _, K, H, W = self._shape(layer)
        dy, dx = self.values[f"dx{layer + 1}"], self.values[f"drelu{layer}"]
        kernel = f"{self.network.pooling}_pool_dx"
        n, kept = self._elements(layer), self._where(layer)
        self._launch_threads(kernel, n, dy, *kept, dx, N * K, H, W)

    def _normalise_back(self, layer: int) -> None:
        N, _, K, H, W = self._shape(layer)
        n, v, size = self._elements(layer), self.values, (N, K, H * W)
        dy = v[f"dbn{layer}"]
        self._launch_threads("relu_dx", n, v[f"drelu{layer}"], v[f"relu{layer}"], dy, n)
        seen = v[f"conv{layer}"], v[f"mean{layer}"], v[f"variance{layer}"]
        dgamma, dbeta = self._pair(f"bn{layer}", self.gradients)
        epsilon = self.network.epsilon
        self._launch("batchnorm_sums", K, dy, *seen, dgamma, dbeta, *size, epsilon)
        gamma = self.weights[f"bn{layer}.weight"]
        self._launch_threads("batchnorm_dx", n, dy, *seen, gamma, dgamma, dbeta,
                             v[f"dconv{layer}"], *size, epsilon)  # fmt: skip

    def _convolve_back(self, layer: int) -> None:
        N, C, K, H, W = shape = self._shape(layer)
        v, w = self.values, self.weights[f"conv{layer}.weight"]
        x, dy = v[f"x{layer}"], v[f"dconv{layer}"]
        dw, db = self._pair(f"conv{layer}", self.gradients)
        self._launch("conv_dw", (9, C, K), x, dy, dw, *shape)
        self._launch("conv_db", K, dy, db, N, K, H, W)
        if layer > 1:  # the pictures need no gradient
            self._launch_threads(
                "conv_dx", N * C * H * W, dy, w, v[f"dx{layer}"], *shape
            )

    def _linear(self, layer: str, x: str, y: str) -> None:
        (w, b), v, N = self._pair(layer), self.values, self.count
        made, seen = w.shape
        self._launch_threads(
            "linear_forward", N * made, v[x], w, b, v[y], N, seen, made
        )

    def _linear_back(self, layer: str, x: str, dy: str, dx: str) -> None:
        N, v, w = self.count, self.values, self.weights[f"{layer}.weight"]
        dw, db = self._pair(layer, self.gradients)
        made, seen = w.shape
        self._launch_threads("linear_dx", N * seen, v[dy], w, v[dx], N, seen, made)
        self._launch_threads("linear_dw", w.size, v[x], v[dy], dw, N, seen, made)
        self._launch_threads("linear_db", made, v[dy], db, N, made)

    # ------------------------------------------------------------ launches, shapes

    def _launch(self, kernel: str, grid, *arguments) -> None:
        self.kernels[kernel][grid, BLOCK](*arguments)

    def _launch_threads(self, kernel: str, n: int, *arguments) -> None:
        """Launch a kernel with at least n threads."""
        self._launch(kernel, -(-n // BLOCK), *arguments)

    def _shape(self, layer: int) -> tuple[int, int, int, int, int]:
        """Return N, C, K, H and W of a convolution."""
        side, channels = self.network.sides[layer - 1], (1, *self.network.channels)
        return self.count, channels[layer - 1], channels[layer], side, side

    def _elements(self, layer: int) -> int:
        N, _, K, H, W = self._shape(layer)
        return N * K * H * W

    def _pair(self, layer: str, of: dict | None = None):
        of = self.weights if of is None else of
        return of[f"{layer}.weight"], of[f"{layer}.bias"]

    def _where(self, layer: int) -> tuple:
        """Return the indices that max pooling keeps; no array for average pooling."""
        remembers = self.network.pooling == "max"
        return (self.values[f"where{layer}"],) if remembers else ()

    def _answers(self):
        if self.labels is None:
            raise ArgumentError.explained(
                "A loss was asked for, and the batch has no labels.",
                "load(images) without labels is for predictions.",
                "Call load(images, labels), then forward().",
            )
        return self.values["logits"], self.labels
