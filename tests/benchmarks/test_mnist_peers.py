"""What the fused step races against: batches are whole, and steps are PyTorch's."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

import coursekit as ck
from coursekit.benchmarks import mnist
from coursekit.benchmarks.peers import mnist_batches, mnist_library, mnist_peers
from coursekit.lessons.mnist import FULL, initial_weights
from coursekit.lessons.mnist.fused.layout import Layout

BATCH, COUNT = 4, 5


# ---------------------------------------------------------------- overlapped copies


class Stream:
    """Stands for a stream: knows what has ended before its next work begins."""

    def __init__(self):
        self.ended = set()

    def wait_stream(self, other) -> None:
        self.ended |= other.ended


class Machine:
    """Streams of `torch.cuda`, and which of its work may run at the same time."""

    def __init__(self, monkeypatch):
        self.now = Stream()
        self.work = []
        monkeypatch.setattr(torch.cuda, "Stream", Stream)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda: self.now)
        monkeypatch.setattr(torch.cuda, "stream", self.on)

    @contextlib.contextmanager
    def on(self, stream):
        before, self.now = self.now, stream
        yield
        self.now = before

    def do(self, what: str, number: int) -> None:
        """Note work, and all that has ended before it begins."""
        self.work.append((what, number, frozenset(self.now.ended)))
        self.now.ended.add((what, number))

    def before(self, what: str, number: int) -> frozenset:
        """Return what has ended before some work begins."""
        (found,) = (ended for *w, ended in self.work if w == [what, number])
        return found


class Noted(mnist_batches.Batches):
    """Batches whose copies are noted."""

    machine: Machine

    def copy(self, number: int) -> None:
        self.machine.do("copy", number)
        super().copy(number)


class Reading:
    """Stands for a step: notes that it reads, and what it has read."""

    place = "cpu"

    def __init__(self, machine):
        self.machine, self.read = machine, []

    def __call__(self, images, labels) -> None:
        self.machine.do("step", len(self.read))
        self.read.append((images.numpy().copy(), labels.numpy().copy()))


def digits(count: int):
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (count, FULL.side, FULL.side), dtype=np.uint8)
    return images, random.integers(0, 10, count, dtype=np.uint8)


STARTS = (8, 0, 12, 4, 0)


def taken(monkeypatch, overlapped: bool):
    machine = Machine(monkeypatch)
    images, labels = digits(16)
    step = Reading(machine)
    Noted.machine = machine
    Noted(step, images, labels, BATCH, STARTS, overlapped=overlapped)()
    return machine, step.read, (images, labels)


@pytest.mark.parametrize("overlapped", [False, True])
def test_each_step_reads_its_batch(monkeypatch, overlapped):
    _, read, (images, labels) = taken(monkeypatch, overlapped)
    for (seen, named), start in zip(read, STARTS, strict=True):
        assert np.array_equal(seen, images[start : start + BATCH])
        assert np.array_equal(named, labels[start : start + BATCH])


@pytest.mark.parametrize("number", range(COUNT))
def test_a_step_begins_when_its_copy_has_ended(monkeypatch, number):
    machine, *_ = taken(monkeypatch, overlapped=True)
    assert ("copy", number) in machine.before("step", number)


@pytest.mark.parametrize("number", range(2, COUNT))
def test_no_batch_is_overwritten_while_it_is_read(monkeypatch, number):
    """Two places: the copy goes where the step before last has read."""
    machine, *_ = taken(monkeypatch, overlapped=True)
    assert ("step", number - 2) in machine.before("copy", number)


@pytest.mark.parametrize("number", range(1, COUNT))
def test_a_copy_and_the_step_before_it_do_not_wait_for_each_other(monkeypatch, number):
    machine, *_ = taken(monkeypatch, overlapped=True)
    assert ("step", number - 1) not in machine.before("copy", number)
    assert ("copy", number) not in machine.before("step", number - 1)


def test_all_copies_have_ended_before_what_follows(monkeypatch):
    machine, *_ = taken(monkeypatch, overlapped=True)
    assert {("copy", n) for n in range(COUNT)} <= machine.now.ended


def test_every_overlapped_form_has_a_twin_that_copies_first():
    forms = mnist_peers.FORMS | mnist_peers.AUTOTUNED | mnist_peers.LIBRARY
    for name, form in forms.items():
        if form.overlapped:
            twin = forms[name.removesuffix(", copies overlapped")]
            assert replace(form, overlapped=False) == twin


# ---------------------------------------------------------------- the library's step


class OfPyTorch:
    """Parts of a library's step, by functions of PyTorch on the CPU."""

    def __init__(self):
        self.positive = {}

    @staticmethod
    def into(out, make):
        return lambda: out.copy_(make())

    def convolution(self, x, w, y):
        return self.into(y, lambda: functional.conv2d(x, w, padding=1))

    def by_data(self, dy, w, dx):
        grad = torch.nn.grad.conv2d_input
        return self.into(dx, lambda: grad(dx.shape, w, dy, padding=1))

    def by_weights(self, x, dy, dw):
        grad = torch.nn.grad.conv2d_weight
        return self.into(dw, lambda: grad(x, dw.shape, dy, padding=1))

    def normalise(self, y, norm, z):
        def call():
            found, seen, unit = torch.native_batch_norm(
                y, *(norm[k].view(-1) for k in ("scale", "shift", "mean", "variance")),
                True, norm["momentum"].item(), norm["epsilon"].item(),
            )  # fmt: skip
            z.copy_(found.relu())
            norm["seen"].view(-1).copy_(seen)
            norm["unit"].view(-1).copy_(unit)

        return call

    def normalise_back(self, dz, y, norm, results):
        def call():
            unit = norm["unit"]
            z = (y - norm["seen"]) * unit * norm["scale"] + norm["shift"]
            found = torch.ops.aten.native_batch_norm_backward(
                dz * (z > 0), y, *(norm[k].view(-1) for k in ("scale", "mean")),
                norm["variance"].view(-1), norm["seen"].view(-1), unit.view(-1),
                True, norm["epsilon"].item(), [True] * 3,
            )  # fmt: skip
            for out, one in zip(results, found, strict=True):
                out.copy_(one.view(out.shape))

        return call

    def forward(self, x, w, out, bias, mask=None):
        if mask is not None:
            self.positive[mask.data_ptr()] = out
        cut = functional.relu if mask is not None else lambda values: values
        return self.into(out, lambda: cut(x @ w.T + bias))

    def back(self, dy, w, dx, sums=None, mask=None):
        def call():
            dx.copy_(dy @ w)
            if mask is not None:
                dx.mul_(self.positive[mask.data_ptr()] > 0)
                sums.copy_(dx.sum(0))

        return call

    def learn(self, dy, x, dw, sums=None):
        def call():
            dw.copy_(dy.T @ x)
            if sums is not None:
                sums.copy_(dy.sum(0))

        return call


def trained(step, row, steps: int):
    """Return weights by name after some steps."""
    images, labels = (torch.from_numpy(a) for a in digits(BATCH * steps))
    step.load(torch.from_numpy(row))
    for number in range(steps):
        part = slice(number * BATCH, (number + 1) * BATCH)
        step(images[part], labels[part])
    after = torch.empty(len(row))
    step.store(after)
    return Layout(FULL).named(after.numpy())


@pytest.fixture(scope="module")
def both():
    """Weights after the same steps of the library's form and of PyTorch's."""
    weights = initial_weights(FULL, 0)
    random = np.random.default_rng(1)
    for name in FULL.learnt:
        if "bn" in name:  # scales of both signs, unlike at the start
            weights[name] = random.normal(size=FULL.learnt[name]).astype(np.float32)
    row = Layout(FULL).row(weights)
    library = mnist_library.Step(BATCH, "fp32", OfPyTorch(), "cpu")
    theirs = mnist_peers.Step(mnist_peers.PLAIN, place="cpu")
    return trained(library, row, 2), trained(theirs, row, 2), weights


@pytest.mark.parametrize("name", FULL.learnt | FULL.kept)
def test_a_step_out_of_parts_is_that_of_pytorch(both, name):
    """Both round in float32; biases in front of a normalisation get noise alone."""
    found, wanted, before = both
    scale = np.abs(wanted[name] - before[name]).max() + 1e-3
    np.testing.assert_allclose(
        found[name], wanted[name], rtol=0, atol=2e-3 * scale, equal_nan=False
    )


def test_classes_that_pad_have_no_part_in_a_step():
    step = mnist_library.Step(BATCH, "fp32", OfPyTorch(), "cpu")
    trained(step, Layout(FULL).row(initial_weights(FULL, 0)), 1)
    assert torch.count_nonzero(step.dlogits[:, FULL.classes :]) == 0


def test_a_step_that_was_spoiled_is_as_new_after_loading():
    row = Layout(FULL).row(initial_weights(FULL, 0))
    wanted = trained(mnist_library.Step(BATCH, "fp32", OfPyTorch(), "cpu"), row, 1)
    step = mnist_library.Step(BATCH, "fp32", OfPyTorch(), "cpu")
    step.learnt.fill_(math.nan)
    found = trained(step, row, 1)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_weights_of_the_library_come_back_as_they_were():
    row = torch.from_numpy(Layout(FULL).row(initial_weights(FULL, 3)))
    step = mnist_library.Step(BATCH, "fp32", OfPyTorch(), "cpu")
    step.load(row)
    again = torch.empty_like(row)
    step.store(again)
    learnt = sum(step.sizes[: len(FULL.learnt)])
    assert torch.equal(again[:learnt], row[:learnt])


# ---------------------------------------------------------------- records


def test_peers_of_the_race_are_named_for_what_they_are():
    (definition,) = (d for d in mnist.DEFINITIONS if d.key == "mnist/step_tf32")
    forms = mnist_peers.FORMS | mnist_peers.LIBRARY
    assert set(definition.peers) == set(forms)
    for name, form in forms.items():
        assert ("overlapped" in name) == form.overlapped
        assert ("graph" in name) == form.graph
        assert ("compile" in name) == bool(form.mode)
        assert ("cuDNN" in name) == form.library != name.startswith("PyTorch")


def test_losses_of_a_race_are_those_of_its_steps():
    images, labels = digits(8)
    row = Layout(FULL).row(initial_weights(FULL, seed=3))
    given, losses = (images, labels, ck.to_device(row), 4, (0, 4)), []
    noted = mnist_peers.trained(mnist_peers.PLAIN, given, "float64", losses, "cpu")
    weights = mnist_peers.trained(mnist_peers.PLAIN, given, "float64", place="cpu")
    assert all(np.array_equal(noted[name], weights[name]) for name in weights)
    assert len(losses) == 2 and all(1.5 < loss < 4 for loss in losses)


def test_forms_that_run_the_same_step_have_it_compiled_once(monkeypatch):
    made = []
    monkeypatch.setattr(mnist_peers, "Step", lambda form: made.append(form) or form)
    monkeypatch.setattr(mnist_peers, "_allow_compiling", lambda: None)
    mnist_peers._step.cache_clear()
    for form in mnist_peers.FORMS.values():
        mnist_peers.Training(form, "tf32", mnist.starts).step(64)
    mnist_peers._step.cache_clear()
    assert sorted(form.mode for form in made) == ["", "", "", "", "default", "default"]


def test_steps_of_two_precisions_are_not_shared(monkeypatch):
    monkeypatch.setattr(mnist_peers, "Step", lambda form: object())
    mnist_peers._step.cache_clear()
    tf32, fp32 = (
        mnist_peers.Training(mnist_peers.PLAIN, name, mnist.starts).step(64)
        for name in ("tf32", "fp32")
    )
    mnist_peers._step.cache_clear()
    assert tf32 is not fp32


FOUND = mnist_peers.FORMS | mnist_peers.LIBRARY


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name, f in FOUND.items() if not f.mode])
def test_weights_of_a_form_are_those_of_float64(name, gpu):
    if FOUND[name].library:
        pytest.importorskip("cudnn", reason="nvidia-cudnn-frontend is not installed.")
    arguments = mnist.batches(64)
    mnist_peers.Training(FOUND[name], "tf32", mnist.starts)(*arguments)
    mnist.is_trained(*arguments)


# ---------------------------------------------------------------- a kernel for each


def test_weights_of_chapter_26_are_parts_of_the_row():
    weights = initial_weights(FULL, 0)
    with ck.simulator():
        case = mnist.Layers()
        row, trainer = case.row, case.trainer
        parts = Layout(FULL).named(ck.to_host(row))
        places = [array.address for array in trainer.weights.values()]
        found = {name: ck.to_host(array) for name, array in trainer.weights.items()}
    assert found.keys() == weights.keys()
    assert all(np.array_equal(found[name], parts[name]) for name in weights)
    assert row.address == min(places) <= max(places) < row.address + row.nbytes
