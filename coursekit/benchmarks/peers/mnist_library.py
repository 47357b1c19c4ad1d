"""A training step composed of the operations of cuDNN and cublasLt.

Convolutions and batch normalisations are graphs of cuDNN, which take the ReLU in. The
linear layers are products of cublasLt, with biases, ReLU and their gradients behind
them. Pooling and the cross-entropy are kernels of PyTorch, called without its layers
and without its autograd. All weights lie in one row and all gradients in another, so
the update is one kernel. A bias in front of a batch normalisation has no gradient, and
only moves the running mean: it is added there, and nowhere else. Layouts are
channels_last throughout.
"""

from __future__ import annotations

import math

from coursekit.benchmarks.peers.training import DEVIATION, MEAN, RATE
from coursekit.lessons.mnist import FULL

PADDED = 16  # classes, so that rows of products are whole groups of 16 bytes
# What a class that pads has: its probability is 0, and its gradients too.
PADDING = {"weight": 0, "bias": -1e9}
PLACE = 64  # weights of each kind begin at a multiple of so many
POOL = [2, 2], [2, 2], [0, 0], [1, 1], False


class Parts:
    """The operations that a step is composed of, on a GPU; tests replace them."""

    def __init__(self, precision: str):
        from coursekit.benchmarks.peers import cudnn_graphs, lt_products

        self.graphs, self.lt, self.precision = cudnn_graphs, lt_products, precision

    def convolution(self, x, w, y):
        """Make y = x * w."""
        return self.graphs.convolution(x, w, y, self.precision)

    def by_data(self, dy, w, dx):
        """Make the gradient of a convolution's input."""
        return self.graphs.convolution_by_data(dy, w, dx, self.precision)

    def by_weights(self, x, dy, dw):
        """Make the gradient of a convolution's weights."""
        return self.graphs.convolution_by_weights(x, dy, dw, self.precision)

    def normalise(self, y, norm: dict, z):
        """Make z = relu(batch normalisation of y)."""
        return self.graphs.normalisation(y, self.graphs.Norm(**norm), z, self.precision)

    def normalise_back(self, dz, y, norm: dict, results):
        """Make the gradients of y, scale and shift."""
        norm = self.graphs.Norm(**norm)
        return self.graphs.normalisation_backward(dz, y, norm, results, self.precision)

    def forward(self, x, w, out, bias, mask=None):
        """Make out = x w' + bias; with a mask, relu of it, and the mask."""
        after = self.lt.After("bias" if mask is None else "relu_bias", bias, mask)
        left, right = self.lt.Matrix(w, turned=True), self.lt.Matrix(x)
        return self.lt.Product(left, right, out, self.precision, after)

    def back(self, dy, w, dx, sums=None, mask=None):
        """Make dx = dy w; with a mask, cut by it, and its sums over the batch."""
        after = self.lt.After("" if mask is None else "relu_backward", sums, mask)
        left, right = self.lt.Matrix(w), self.lt.Matrix(dy)
        return self.lt.Product(left, right, dx, self.precision, after)

    def learn(self, dy, x, dw, sums=None):
        """Make dw = dy' x, and the sums of dy over the batch."""
        after = self.lt.After("" if sums is None else "sum_right", sums)
        left, right = self.lt.Matrix(x), self.lt.Matrix(dy, turned=True)
        return self.lt.Product(left, right, dw, self.precision, after)


class Step:
    """A step of one batch, with weights that it is given and asked for in a row.

    Parameters
    ----------
    batch : int
    precision : str
        "tf32" or "fp32".
    parts : Parts, optional
    place : str
        A device of PyTorch.
    """

    def __init__(self, batch: int, precision: str, parts=None, place: str = "cuda"):
        import torch

        self.torch, self.place, self.batch = torch, place, batch
        self.sizes = [math.prod(s) for s in (FULL.learnt | FULL.kept).values()]
        self.learnt, self.gradients = self._rows(), self._rows()
        weights, changes = self._named(self.learnt), self._named(self.gradients)
        self.biases = [self._empty(channels) for channels in FULL.channels]
        self.norms = [self._norm(weights, layer) for layer in (1, 2)]
        self.places = self._places(weights)
        self._reserve()
        self._put_together(parts or Parts(precision), weights, changes)

    # ------------------------------------------------------------ places

    def _empty(self, *shape, layout=None):
        torch = self.torch
        layout = {"memory_format": torch.channels_last} if layout else {}
        return torch.zeros(shape, device=self.place).contiguous(**layout)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of weights in memory: channels last, and classes padded."""
        shapes = {
            name: shape for name, shape in FULL.learnt.items() if "conv" not in name
        }
        first, second = FULL.channels
        return shapes | {
            "conv1.weight": (first, 3, 3, 1),
            "conv2.weight": (second, 3, 3, first),
            "fc2.weight": (PADDED, FULL.hidden),
            "fc2.bias": (PADDED,),
        }

    def _rows(self):
        rounded = [-(-math.prod(s) // PLACE) * PLACE for s in self._shapes().values()]
        return self._empty(sum(rounded))

    def _named(self, row) -> dict:
        """Return views of a row, each at a place of its own."""
        views, at = {}, 0
        for name, shape in self._shapes().items():
            size = math.prod(shape)
            view = row[at : at + size].view(shape)
            if "conv" in name:
                view = view.permute(0, 3, 1, 2)
            if "bn" in name:
                view = self._channels(view)
            views[name] = view
            at += -(-size // PLACE) * PLACE
        return views

    def _channels(self, values):
        """View a value a channel as cuDNN wants it."""
        count = len(values)
        return values.as_strided((1, count, 1, 1), (count, 1, count, count))

    def _norm(self, weights: dict, layer: int) -> dict:
        channels = FULL.channels[layer - 1]
        averages = {
            name: self._channels(self._empty(channels))
            for name in ("mean", "variance", "seen", "unit")
        }
        on_host = {
            name: self.torch.full((1, 1, 1, 1), value)
            for name, value in (
                ("epsilon", FULL.epsilon), ("momentum", FULL.momentum),
            )
        }  # fmt: skip
        learnt = {"scale": f"bn{layer}.weight", "shift": f"bn{layer}.bias"}
        return averages | on_host | {k: weights[name] for k, name in learnt.items()}

    def _places(self, weights: dict) -> list:
        """Return for each part of a row of weights where it goes, shaped as there."""
        hidden, side = weights["fc1.weight"], FULL.sides[2]
        turned = hidden.view(-1, side, side, FULL.channels[1]).permute(0, 3, 1, 2)
        own = {
            "fc1.weight": turned,
            "fc2.weight": weights["fc2.weight"][: FULL.classes],
            "fc2.bias": weights["fc2.bias"][: FULL.classes],
        }
        for layer, (bias, norm) in enumerate(
            zip(self.biases, self.norms, strict=True), start=1
        ):
            own[f"conv{layer}.bias"] = bias
            own[f"bn{layer}.running_mean"] = norm["mean"].view(-1)
            own[f"bn{layer}.running_var"] = norm["variance"].view(-1)
        self.padding = [weights[f"fc2.{part}"][FULL.classes :] for part in PADDING]
        return [(weights | own)[name] for name in FULL.learnt | FULL.kept]

    def _pairs(self, row):
        parts = row.split(self.sizes)
        return [(p.view(w.shape), w) for p, w in zip(parts, self.places, strict=True)]

    def load(self, row) -> None:
        """Take weights in a row."""
        for part, weight in self._pairs(row):
            weight.copy_(part)
        for padding, value in zip(self.padding, PADDING.values(), strict=True):
            padding.fill_(value)
        for bias, norm in zip(self.biases, self.norms, strict=True):
            norm["mean"].view(-1).sub_(bias)

    def store(self, row) -> None:
        """Write the weights in a row."""
        names = list(FULL.learnt | FULL.kept)
        for name, (part, weight) in zip(names, self._pairs(row), strict=True):
            part.copy_(weight)
            if name.endswith("running_mean"):
                part.add_(self.biases[int(name[2]) - 1])

    # ------------------------------------------------------------ the step

    def _reserve(self) -> None:
        """Allocate activations, their gradients, and what the step keeps besides."""
        torch, n = self.torch, self.batch
        (first, second), (whole, half, quarter) = FULL.channels, FULL.sides
        last = {"layout": True}
        self.x = self._empty(n, 1, whole, whole)
        self.y = [self._empty(n, first, whole, whole, **last),
                  self._empty(n, second, half, half, **last)]  # fmt: skip
        self.z, self.dz, self.dy = (
            [torch.zeros_like(y) for y in self.y] for _ in "123"
        )
        self.p = [self._empty(n, first, half, half, **last),
                  self._empty(n, second, quarter, quarter, **last)]  # fmt: skip
        self.dp = [torch.zeros_like(p) for p in self.p]
        self.where = [torch.zeros_like(p, dtype=torch.int64) for p in self.p]
        self.h, self.dh = (self._empty(n, FULL.hidden) for _ in "12")
        self.mask = torch.zeros(
            n, FULL.hidden // 8, dtype=torch.uint8, device=self.place
        )
        self.logits, self.dlogits = (self._empty(n, PADDED) for _ in "12")
        self.one = torch.ones((), device=self.place)
        self.black = torch.tensor(-MEAN / DEVIATION, device=self.place)

    def _flat(self, pooled):
        """View the second pooling's values as rows, channels last."""
        return pooled.permute(0, 2, 3, 1).reshape(self.batch, -1)

    def _put_together(self, parts, weights: dict, changes: dict) -> None:
        w, d, norms = weights, changes, self.norms
        seen = self.x, self.p[0]
        self.ahead = [
            (
                parts.convolution(seen[n], w[f"conv{n + 1}.weight"], self.y[n]),
                parts.normalise(self.y[n], norms[n], self.z[n]),
            )
            for n in (0, 1)
        ]
        flat, dflat = self._flat(self.p[1]), self._flat(self.dp[1])
        linear = w["fc1.weight"], w["fc2.weight"]
        self.linear = [
            parts.forward(flat, linear[0], self.h, w["fc1.bias"], self.mask),
            parts.forward(self.h, linear[1], self.logits, w["fc2.bias"]),
        ]
        self.linear_back = [
            parts.learn(self.dlogits, self.h, d["fc2.weight"], d["fc2.bias"]),
            parts.back(self.dlogits, linear[1], self.dh, d["fc1.bias"], self.mask),
            parts.learn(self.dh, flat, d["fc1.weight"]),
            parts.back(self.dh, linear[0], dflat),
        ]
        self.back = []
        for n in (0, 1):
            learnt = (d[f"bn{n + 1}.{what}"] for what in ("weight", "bias"))
            results = self.dy[n], *learnt
            by_weights = seen[n], self.dy[n], d[f"conv{n + 1}.weight"]
            calls = [
                parts.normalise_back(self.dz[n], self.y[n], norms[n], results),
                parts.by_weights(*by_weights),
            ]
            if n:
                args = self.dy[1], w["conv2.weight"], self.dp[0]
                calls.append(parts.by_data(*args))
            self.back.append(calls)

    def __call__(self, images, labels) -> None:
        """Take a step: forward pass, backward pass, and update."""
        torch, aten = self.torch, self.torch.ops.aten
        scale = 1 / (255 * DEVIATION)
        torch.add(self.black, images, alpha=scale, out=self.x[:, 0])
        for layer, calls in enumerate(self.ahead):
            for call in calls:
                call()
            aten.max_pool2d_with_indices.out(
                self.z[layer], *POOL, out=self.p[layer], indices=self.where[layer]
            )
        for call in self.linear:
            call()
        self._loss(labels)
        for call in self.linear_back:
            call()
        for layer in (1, 0):
            aten.max_pool2d_with_indices_backward.grad_input(
                self.dp[layer], self.z[layer], *POOL, self.where[layer],
                grad_input=self.dz[layer],
            )  # fmt: skip
            for call in self.back[layer]:
                call()
        self.learnt.add_(self.gradients, alpha=-RATE)

    def _loss(self, labels) -> None:
        """Make the mean cross-entropy, and the gradient of the logits."""
        aten, mean = self.torch.ops.aten, (None, 1, -100)
        chances = aten._log_softmax(self.logits, 1, False)
        self.loss, total = aten.nll_loss_forward(chances, labels, *mean)
        back = aten.nll_loss_backward(self.one, chances, labels, *mean, total)
        aten._log_softmax_backward_data.out(
            back, chances, 1, self.torch.float32, out=self.dlogits
        )
