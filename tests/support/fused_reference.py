"""The arrays of the fused training step in float64, phase by phase.

Everything follows from `coursekit.lessons.mnist.reference`; here it is only cut and put
in the order in which the kernels of kernels/mnist_fast/ keep it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from coursekit.lessons.mnist import Network, initial_weights, reference, reference_step
from coursekit.lessons.mnist.fused.layout import CLASSES, HIDDEN, TAPS, Layout
from coursekit.lessons.mnist.fused.plan import Plan, pixel_scale

TINY = Network(side=8, channels=(16, 32))
DEFINES = {"NET_SIDE": 8, "NET_C1": 16, "NET_C2": 32, "PRECISION": 3}
MEAN, DEVIATION, RATE = 0.25, 0.375, 0.125
FORWARD_UNIT, BACKWARD_UNIT = 2.0**32, 2.0**44


def start(network: Network, seed: int = 5) -> dict[str, np.ndarray]:
    """Return weights with norms that are neither 1 nor 0, and some gammas negative."""
    weights, random = initial_weights(network, seed), np.random.default_rng(seed)
    for name, value in weights.items():
        if name.startswith("bn"):
            value += random.normal(0, 0.5, value.shape).astype(np.float32)
        if name.endswith("var"):
            value[:] = np.abs(value) + 0.1
    weights["bn1.weight"][3] *= -1
    weights["bn2.weight"][:5] = -np.abs(weights["bn2.weight"][:5])
    return weights


def batch(network: Network, count: int, seed: int = 0):
    """Return pictures of which four pixels in ten are blank, and labels."""
    random, shape = np.random.default_rng(seed), (count, *[network.side] * 2)
    images = random.integers(0, 256, shape) * (random.random(shape) < 0.6)
    labels = random.integers(0, CLASSES, count, np.uint8)
    return images.astype(np.uint8), labels


def inner(pictures: np.ndarray) -> np.ndarray:
    """Put the channels of (N, C, H, W) innermost."""
    return np.ascontiguousarray(np.moveaxis(pictures, 1, -1))


@dataclass
class Phases:
    """What each phase reads and makes, of one step.

    Attributes
    ----------
    plan : Plan
    images, labels : ndarray
    weights : dict of str to ndarray
        float64.
    arrays : dict of str to ndarray
        float64, or uint8.
    sums : dict of str to ndarray
        By what they sum up, without unit.
    after : reference_step.Step
    """

    plan: Plan
    images: np.ndarray
    labels: np.ndarray
    weights: dict[str, np.ndarray]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    sums: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self):
        network, w = self.plan.network, self.weights
        scale, shift = map(float, pixel_scale(MEAN, DEVIATION))
        self.x = (scale * self.images + shift)[:, None]
        self.after = reference_step.step(network, w, self.x, self.labels, RATE)
        self._moments()
        y1 = reference.conv(self.x, w["conv1.weight"], w["conv1.bias"])
        z1, p1 = self._normalised(1, y1)
        c2 = reference.conv(p1, w["conv2.weight"], w["conv2.bias"])
        z2, p2 = self._normalised(2, c2)
        self._forward(c2, p1, p2)
        self._head(p2)
        dz2 = self._hidden_back(c2, p2)
        self._convolution_back(y1, z1, p1, c2, z2, dz2)

    def _normalised(self, layer: int, y):
        w, epsilon = self.weights, self.plan.network.epsilon
        pair = w[f"bn{layer}.weight"], w[f"bn{layer}.bias"]
        z = reference.batchnorm(y, *reference.statistics(y), *pair, epsilon)
        return z, reference.max_pool(reference.relu(z))[0]

    def _moments(self) -> None:
        windows = reference._windows(self.x)  # n, c, i, j, r, s
        patches = windows.reshape(-1, TAPS)
        pairs = [(a, b) for a in range(TAPS) for b in range(a, TAPS)]
        products = [(patches[:, a] * patches[:, b]).sum() for a, b in pairs]
        self.sums["patch"] = np.concatenate([patches.sum(axis=0), products])

    def _forward(self, c2, p1, p2) -> None:
        """p1, c2, the pooled c2, and where each pooled value is from."""
        w, arrays = self.weights, self.arrays
        y1 = reference.conv(self.x, w["conv1.weight"], 0 * w["conv1.bias"])
        signs = [np.where(w[f"bn{n}.weight"] < 0, -1.0, 1.0) for n in (1, 2)]
        best = [
            reference.max_pool(sign[:, None, None] * y)
            for sign, y in zip(signs, (y1, c2), strict=True)
        ]
        arrays["p1"], arrays["c2"] = inner(p1), inner(c2)
        arrays["where1"], arrays["where2"] = (
            inner(where).astype(np.uint8) for _, where in best
        )
        self.m2 = signs[1][:, None, None] * best[1][0]
        arrays["m2"] = inner(self.m2)
        away = c2 - w["bn2.running_mean"][:, None, None]
        self.sums["conv2"] = np.concatenate(
            [away.sum(axis=(0, 2, 3)), (away**2).sum(axis=(0, 2, 3))]
        )

    def _head(self, p2) -> None:
        """Parts of fc1's results, and the way there and back."""
        w, plan = self.weights, self.plan
        pixels = plan.pooled_pixels
        of_pixel = p2.reshape(len(p2), -1, pixels)
        weight = w["fc1.weight"].reshape(HIDDEN, -1, pixels)
        each = np.einsum("ncq,hcq->qnh", of_pixel, weight)
        ends = [pixels * y // plan.fc1_parts for y in range(plan.fc1_parts + 1)]
        self.arrays["part"] = np.stack(
            [each[a:b].sum(axis=0) for a, b in zip(ends, ends[1:], strict=False)]
        )
        h = reference.relu(each.sum(axis=0) + w["fc1.bias"])
        back = reference.cross_entropy_backward(self.after.logits, self.labels)
        dh = reference.relu_backward(back @ w["fc2.weight"], h)
        self.arrays["dh"] = dh
        self.sums["fc2"] = np.concatenate([(back.T @ h).ravel(), back.sum(axis=0)])
        self.sums["fc1"] = dh.sum(axis=0)
        self.sums["loss"] = self.after.losses.sum(keepdims=True)

    def _hidden_back(self, c2, p2):
        """dz2, the gradient of fc1's weights in parts, and the sums of bn2."""
        w, plan, pixels = self.weights, self.plan, self.plan.pooled_pixels
        dh = self.arrays["dh"]
        dp2 = (dh @ w["fc1.weight"]).reshape(p2.shape)
        dz2 = reference.relu_backward(dp2, p2)
        self.arrays["dz2"] = inner(dz2)
        mean, variance = reference.statistics(c2)
        scale = 1 / np.sqrt(variance + plan.network.epsilon)
        unit = (self.m2 - mean[:, None, None]) * scale[:, None, None]
        self.sums["norm2"] = np.concatenate(
            [dz2.sum(axis=(0, 2, 3)), (dz2 * unit).sum(axis=(0, 2, 3))]
        )
        chunks, layout = plan.rows, plan.layout
        ends = [64 * (chunks * y // plan.dw1_parts) for y in range(plan.dw1_parts + 1)]
        flat, places = p2.reshape(len(p2), -1), layout._fc1_places()
        parts = np.zeros((plan.dw1_parts, layout.sizes["fc1"]))
        for y, (a, b) in enumerate(zip(ends, ends[1:], strict=False)):
            parts[y, places.ravel()] = (dh[a:b].T @ flat[a:b]).ravel()
        assert pixels * HIDDEN * plan.network.channels[1] == parts.shape[1]
        self.arrays["dw1"] = parts
        return dz2

    def _convolution_back(self, y1, z1, p1, c2, z2, dz2) -> None:
        """The gradient of conv2's weights by block, and the sums of conv1."""
        w, plan, epsilon = self.weights, self.plan, self.plan.network.epsilon
        where = np.moveaxis(self.arrays["where2"], -1, 1)
        above = reference.max_pool_backward(dz2, where, c2.shape)
        gamma = w["bn2.weight"]
        dy2, _, _ = reference.batchnorm_backward(above, c2, gamma, epsilon)
        blocks = plan.backward_blocks
        parts = np.zeros((blocks, plan.layout.sizes["exact"]))
        places = plan.layout._conv2_places(turned=False)
        for block in range(blocks):
            own = slice(block, None, blocks)
            dw = reference.conv_backward(dy2[own], p1[own], w["conv2.weight"])[1]
            parts[block, places.ravel()] = dw.ravel()
        self.arrays["dw2"] = parts
        dp1 = reference.conv_backward(dy2, p1, w["conv2.weight"])[0]
        dz1 = reference.relu_backward(dp1, p1)
        where = np.moveaxis(self.arrays["where1"], -1, 1)
        spread = reference.max_pool_backward(dz1, where, y1.shape)
        patches = reference._windows(self.x)[:, 0]
        self.sums["conv1"] = np.concatenate(
            [
                np.einsum("nkij,nijrs->krs", spread, patches).ravel(),
                spread.sum(axis=(0, 2, 3)),
            ]
        )

    @property
    def parameters(self) -> np.ndarray:
        """The kernels' array of parameters, not rounded."""
        return packed(self.plan.layout, self.weights)

    def summed(self, *names: str) -> np.ndarray:
        """The array of sums, with those of some phases in it."""
        order = ("conv2", "norm2", "conv1", "fc2", "fc1", "loss")
        parts = [self.sums[name] * (name in names) * unit_of(name) for name in order]
        return whole(np.concatenate(parts))

    def patch(self, known: bool) -> np.ndarray:
        """The array of sums over patches; zeros before they are known."""
        return whole(self.sums["patch"] * FORWARD_UNIT * known)


def whole(sums: np.ndarray) -> np.ndarray:
    """Round to whole numbers; even ones, since an odd sum is spoiled."""
    return 2 * np.rint(sums / 2)


def unit_of(name: str) -> float:
    """What one of a sum is worth."""
    return FORWARD_UNIT if name in ("conv2", "loss") else BACKWARD_UNIT


def packed(layout: Layout, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Return weights in the kernels' order, in their own type."""
    row = np.concatenate([np.ravel(weights[name]) for name in layout.shapes])
    return row[layout.into]
