"""PyTorch's training step in all its forms, and the float64 reference."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

import coursekit as ck
from coursekit.benchmarks.peers.mnist_batches import Batches, captured
from coursekit.benchmarks.peers.training import DEVIATION, MEAN, RATE, Form
from coursekit.lessons.mnist import FULL, pytorch
from coursekit.lessons.mnist.fused.layout import Layout

STEPS = {64: 100, 256: 50, 1024: 25, 4096: 10}  # of a call, by batch
MOST_COMPILED = 64  # more than all batches of all forms
SAMPLE = 4096  # bytes by which one draw of digits is told from another


PLAIN = Form()
BEST = {"channels_last": True, "fused_sgd": True, "graph": True}
BESIDE = BEST | {"overlapped": True}
FORMS = {
    "PyTorch eager": PLAIN,
    "PyTorch channels_last": Form(channels_last=True),
    "PyTorch fused SGD": Form(fused_sgd=True),
    "PyTorch graph": Form(graph=True),
    "PyTorch graph, channels_last, fused SGD": Form(**BEST),
    "PyTorch compile": Form(mode="default"),
    "PyTorch compile, graph, channels_last, fused SGD": Form(mode="default", **BEST),
    "PyTorch eager, copies overlapped": Form(overlapped=True),
    "PyTorch graph, copies overlapped": Form(graph=True, overlapped=True),
    "PyTorch compile, graph, channels_last, fused SGD, copies overlapped": Form(
        mode="default", **BESIDE
    ),
}
AUTOTUNED = {
    "PyTorch max-autotune": Form(mode="max-autotune"),
    "PyTorch max-autotune, graph, channels_last, fused SGD": Form(
        mode="max-autotune-no-cudagraphs", **BEST
    ),
    "PyTorch max-autotune, graph, channels_last, fused SGD, copies overlapped": Form(
        mode="max-autotune-no-cudagraphs", **BESIDE
    ),
}
LIBRARY = {
    "cuDNN + cuBLASLt, graph": Form(graph=True, library=True),
    "cuDNN + cuBLASLt, graph, copies overlapped": Form(
        graph=True, overlapped=True, library=True
    ),
}


def peers(forms: dict[str, Form], precision: str, starts: Callable) -> dict:
    """Return a function for each form that makes its case, or None if it cannot run."""
    return {
        name: functools.partial(_case, form, precision, starts)
        for name, form in forms.items()
    }


def steps(images, labels, start, after, batch: int) -> int:
    """Return how many steps a call takes."""
    return STEPS[batch]


def _case(form: Form, precision: str, starts: Callable):
    from coursekit.benchmarking import wall_clock

    if not _usable(form):
        return None
    return wall_clock(Training(form, precision, starts), steps=steps)


def _usable(form: Form) -> bool:
    if not importlib.util.find_spec("torch"):
        return False
    import torch

    needed = ["triton"] * bool(form.mode) + ["cudnn"] * form.library
    return torch.cuda.is_available() and all(map(importlib.util.find_spec, needed))


@contextlib.contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Let PyTorch round products to TF32 everywhere, or nowhere."""
    import torch

    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = cudnn.allow_tf32, matmul.allow_tf32, cudnn.benchmark
    cudnn.allow_tf32 = matmul.allow_tf32 = precision == "tf32"
    cudnn.benchmark = True  # the fastest of its algorithms
    try:
        yield
    finally:
        cudnn.allow_tf32, matmul.allow_tf32, cudnn.benchmark = before


class Step:
    """A model with its optimiser, and a step of a batch of bytes on the device."""

    def __init__(self, form: Form, kind=None, place: str = "cuda"):
        import torch

        self.torch, self.kind, self.place = torch, kind or torch.float32, place
        layouts = torch.contiguous_format, torch.channels_last
        self.layout = layouts[form.channels_last]
        model = pytorch.module(FULL).to(place, self.kind)
        self.model = model.to(memory_format=self.layout)
        fused = {"fused": True} if form.fused_sgd else {}
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=RATE, **fused)
        self.loss = self._loss
        if form.mode:
            options = {} if form.mode == "default" else {"mode": form.mode}
            self.loss = torch.compile(self._loss, dynamic=False, **options)
        held = self.model.state_dict()
        self.weights = [held[name] for name in FULL.learnt | FULL.kept]

    def _loss(self, images, labels):
        x = images.to(self.kind).mul(1 / (255 * DEVIATION)).sub(MEAN / DEVIATION)
        x = x.unsqueeze(1).contiguous(memory_format=self.layout)
        logits = self.model(x)
        return self.torch.nn.functional.cross_entropy(logits, labels.long())

    def __call__(self, images, labels) -> None:
        """Take a step: forward pass, backward pass, and update."""
        self.loss(images, labels).backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)

    def parts(self, row):
        """Return views of weights in a row, shaped as those of the model."""
        sizes = [weight.numel() for weight in self.weights]
        pairs = zip(row.split(sizes), self.weights, strict=True)
        return [part.view(weight.shape) for part, weight in pairs]

    def load(self, row) -> None:
        """Take weights in a row."""
        with self.torch.no_grad():
            self.torch._foreach_copy_(self.weights, self.parts(row))

    def store(self, row) -> None:
        """Write the weights in a row."""
        with self.torch.no_grad():
            self.torch._foreach_copy_(self.parts(row), self.weights)


class Training:
    """PyTorch's steps as a case ``(images, labels, start, after, batch)``."""

    def __init__(self, form: Form, precision: str, starts: Callable):
        self.form, self.precision, self.starts = form, precision, starts
        self._made: dict[tuple, Callable] = {}

    def __call__(self, images, labels, start, after, batch: int) -> None:
        """Take steps from the weights `start`, and store those `after` them."""
        key = images.ctypes.data, start.address, after.address, batch
        with products_in(self.precision):
            if key not in self._made:
                self._made.clear()  # one size after the other
                self._made[key] = self._prepare(images, labels, start, after, batch)
            self._made[key]()

    def step(self, batch: int):
        """Return the step; forms that only run it in another way have the same."""
        alone = replace(self.form, graph=False, overlapped=False)
        return _step(alone, self.precision, batch)

    def _prepare(self, images, labels, start, after, batch: int) -> Callable:
        import torch

        step, overlapped = self.step(batch), self.form.overlapped
        first, last = (torch.as_tensor(row, device="cuda") for row in (start, after))
        starts = self.starts(batch)
        run = Batches(step, images, labels, batch, starts, overlapped=overlapped)
        if self.form.graph:
            step.load(first)
            run = captured(run)

        def train():
            step.load(first)
            run()
            step.store(last)

        return train


@functools.lru_cache(maxsize=8)  # more than one batch has
def _step(form: Form, precision: str, batch: int):
    """Make a step, and compile it once for all forms that take it."""
    if form.library:
        from coursekit.benchmarks.peers import mnist_library

        return mnist_library.Step(batch, precision)
    if form.mode:
        _allow_compiling()
    return Step(form)


def _allow_compiling() -> None:
    """Let torch.compile compile each batch size, and raise an error if it does not."""
    import torch

    settings = {
        "recompile_limit": MOST_COMPILED, "cache_size_limit": MOST_COMPILED,
        "fail_on_recompile_limit_hit": True,
    }  # fmt: skip
    config = torch._dynamo.config
    for name, value in settings.items():
        if hasattr(config, name):
            setattr(config, name, value)


# ---------------------------------------------------------------- float64


_exact: dict[tuple, dict[str, np.ndarray]] = {}


def exactly(images, labels, start, batch: int, starts) -> dict[str, np.ndarray]:
    """Return the weights after the steps in float64, once for each draw."""
    key = images[:SAMPLE].tobytes(), ck.to_host(start)[:SAMPLE].tobytes(), batch
    if key not in _exact:
        _exact.clear()
        _exact[key] = trained(PLAIN, (images, labels, start, batch, starts), "float64")
    return _exact[key]


def trained(
    form: Form,
    given: tuple,
    kind: str = "float32",
    losses: list[float] | None = None,
    place: str = "cuda",
) -> dict[str, np.ndarray]:
    """Return the weights by name after PyTorch's steps in a type.

    The loss of each step is appended to `losses`, if there is such a list.
    """
    import torch

    images, labels, start, batch, starts = given
    step = Step(form, getattr(torch, kind), place)
    if losses is not None:
        step.loss = _noting(step.loss, losses)
    step.load(torch.as_tensor(ck.to_host(start), device=place))
    Batches(step, images, labels, batch, starts)()
    row = torch.cat([weight.reshape(-1).double() for weight in step.weights])
    return Layout(FULL).named(row.cpu().numpy())


def _noting(whole: Callable, losses: list[float]) -> Callable:
    def noted(images, labels):
        losses.append(float((loss := whole(images, labels)).detach()))
        return loss

    return noted


def distance(weights, exact, start) -> float:
    """Return how far weights are from exact ones, relative to how far these have gone.

    Running averages are left out: nothing is learnt by them.
    """
    far = gone = 0.0
    for name in FULL.learnt:
        far += float(np.sum((weights[name].astype(np.float64) - exact[name]) ** 2))
        gone += float(np.sum((exact[name] - start[name].astype(np.float64)) ** 2))
    return (far / gone) ** 0.5
