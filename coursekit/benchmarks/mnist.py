"""Benchmarks of a training step on MNIST: the fused steps beside PyTorch's.

A call of a case takes 100 steps, fewer of large batches: each copies a batch from
page-locked memory, goes forward, back and downhill. Its time is the mean of a step, by
the host's clock. All start with the same weights and see the same batches. Our graph
with overlapped copies is what ratios refer to: that of a peer is its speed relative to
ours, pair by pair.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import wall_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks.drawn import pinned
from coursekit.benchmarks.peers import mnist_peers
from coursekit.benchmarks.peers.mnist_peers import STEPS, steps
from coursekit.benchmarks.peers.training import DEVIATION, MEAN, RATE
from coursekit.lessons import datasets
from coursekit.lessons.mnist import BATCHES, FULL, initial_weights
from coursekit.lessons.mnist.buffers import reserved
from coursekit.lessons.mnist.fused.layout import PRECISIONS, Layout
from coursekit.lessons.mnist.fused.running import Run
from coursekit.lessons.mnist.fused.step import (
    KERNELS,
    PERSISTENT,
    TUNED,
    FusedStep,
    modules,
)
from coursekit.lessons.mnist.trainer import Trainer

POOL = 8000  # different pictures
FORMS = {
    "tuned, graph, copies overlapped": (TUNED, "overlapped"),
    "tuned, graph": (TUNED, "graph"),
    "fused, graph, copies overlapped": (KERNELS, "overlapped"),
    "fused, graph": (KERNELS, "graph"),
    "fused, launch by launch": (KERNELS, "launches"),
    "persistent, graph": (PERSISTENT, "graph"),
}
# Of the way of all steps, how far weights may be from those of float64. Another result,
# as of a step that leaves a gradient out, is as far away as the way is long.
FAR = 0.2


class Layers:
    """Chapter 26's steps as such a case, a kernel for each thing, in float32."""

    def __init__(self):
        weights = initial_weights(FULL)
        options = {"rate": RATE, "mean": MEAN, "deviation": DEVIATION}
        self.trainer = Trainer(FULL, weights, 1, **options)
        self.modules = [kernel.module for kernel in self.trainer.kernels.values()]
        self.row = ck.to_device(Layout(FULL).row(weights))
        at = 0
        for name, shape in (FULL.learnt | FULL.kept).items():
            size = math.prod(shape)
            self.trainer.weights[name] = self.row[at : at + size].reshape(shape)
            at += size

    def __call__(self, images, labels, start, after, batch: int) -> None:
        """Take steps from the weights `start`, and store those `after` them."""
        import cupy

        trainer = self.trainer
        if trainer.batch != batch:
            trainer.batch, trainer.values = batch, reserved(FULL, batch)
        row, given, taken = (cupy.asarray(each) for each in (self.row, start, after))
        cupy.copyto(row, given)
        pictures = images.reshape(-1, FULL.side, FULL.side)
        for first in starts(batch):
            part = slice(first, first + batch)
            trainer.step(pictures[part], labels[part])
        cupy.copyto(taken, row)


class Fused:
    """Our steps as a case ``(images, labels, start, after, batch)``."""

    def __init__(self, precision: str, form: str, running: str):
        self.precision, self.form, self.running = precision, form, running
        self.modules = modules(FULL, precision, form)
        self._runs: dict[tuple, Run] = {}

    def __call__(self, images, labels, start, after, batch: int) -> None:
        """Take steps from the weights `start`, and store those `after` them."""
        run = self._run(images, labels, batch)
        run.fused.load(start)
        run()
        run.fused.store(after)

    def _run(self, images, labels, batch: int) -> Run:
        key = images.ctypes.data, labels.ctypes.data, batch
        if key not in self._runs:
            self._runs.clear()  # one size after the other
            fused = FusedStep(
                FULL, batch, precision=self.precision, form=self.form,
                rate=RATE, mean=MEAN, deviation=DEVIATION,
            )  # fmt: skip
            self._runs[key] = Run(
                fused, images.reshape(-1, 28, 28), labels, starts(batch),
                form=self.running,
            )  # fmt: skip
        return self._runs[key]


def starts(batch: int, count: int | None = None) -> tuple[int, ...]:
    """Return the first picture of each step's batch, of as many as a call takes."""
    return tuple(step * batch % POOL for step in range(count or STEPS[batch]))


def cases(precision: str, forms: dict[str, tuple]) -> dict[str, Callable]:
    """Return our steps in some forms."""
    return {
        name: wall_clock(Fused(precision, *form), steps=steps)
        for name, form in forms.items()
    }


@functools.cache
def _digits():
    return datasets.drawn_digits(POOL, seed=1)


def batches(batch: int, seed: int | None = None) -> tuple:
    """Draw an order of digits and a start; the first digits follow the last again.

    The same seed draws the same; without one, each call draws others.
    """
    random = np.random.default_rng(seed)
    order = np.resize(random.permutation(POOL), POOL + batch)
    digits, layout = _digits(), Layout(FULL)
    weights = initial_weights(FULL, int(random.integers(2**31)))
    return (
        pinned(digits.images[order].ravel()),
        pinned(digits.labels[order]),
        ck.to_device(layout.row(weights)),
        ck.empty(layout.weights),
        batch,
    )


def is_trained(images, labels, start, after, batch: int) -> None:
    """Compare the weights after all steps with those of float64.

    Raises
    ------
    AssertionError
        They are further away than rounding takes them.
    """
    exact = mnist_peers.exactly(images, labels, start, batch, starts(batch))
    layout = Layout(FULL)
    first, last = (layout.named(ck.to_host(row)) for row in (start, after))
    far = mnist_peers.distance(last, exact, first)
    if not far < FAR:
        raise AssertionError(
            f"weights are off by {far:.2g} of the way that they have gone"
        )


def operations(batch: int) -> int:
    """Count what the convolutions and linear layers of a step must compute."""
    sides, (first, second) = FULL.sides, FULL.channels
    conv1 = 2 * 9 * first * sides[0] ** 2
    conv2 = 2 * 9 * first * second * sides[1] ** 2
    linear = 2 * FULL.hidden * (FULL.features + FULL.classes)
    # conv1 goes forward alone: its gradient follows from sums.
    return batch * (conv1 + 3 * conv2 + 3 * linear)


REFERENCE = "tuned, graph, copies overlapped"


def _definition(name: str, precision: str, forms: dict, peers: dict) -> Definition:
    """Define the race of a precision; float32 takes three TF32 products for one."""
    return Definition(
        key=f"mnist/{name}_{precision}",
        cases=functools.partial(cases, precision, forms),
        sizes=BATCHES,
        setup=batches,
        verify=is_trained,
        flops=("tf32_tensor", operations),
        peers=mnist_peers.peers(peers, precision, starts),
        reference=REFERENCE,
        through="link",
    )


# One kernel for each thing beside seven for all, both launched one by one.
FUSED = "fused, launch by launch"


def _layers() -> dict[str, Callable]:
    own = wall_clock(Layers(), steps=steps)
    return cases("fp32", {FUSED: FORMS[FUSED]}) | {"layers, launch by launch": own}


# What autotuning compiles takes minutes, and is recorded apart.
ONE = {REFERENCE: FORMS[REFERENCE]}
DEFINITIONS = tuple(
    _definition(name, precision, forms, peers)
    for name, forms, peers in (
        ("step", FORMS, mnist_peers.FORMS | mnist_peers.LIBRARY),
        ("autotuned", ONE, mnist_peers.AUTOTUNED),
    )
    for precision in PRECISIONS
) + (
    Definition(
        key="mnist/layers_fp32",
        cases=_layers,
        sizes=BATCHES[:-1],
        setup=batches,
        verify=is_trained,
        flops=("tf32_tensor", operations),
        reference=FUSED,
        through="link",
    ),
)
