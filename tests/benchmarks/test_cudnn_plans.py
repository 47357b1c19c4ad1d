"""Plans of cuDNN by rank and by note, and the references of its benchmarks.

A stand-in takes the place of cuDNN: it has four plans, of which one does not build and
one is not deterministic.
"""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import torch

from coursekit.benchmarks import cudnn as benchmarks
from coursekit.benchmarks.peers import cudnn_plans
from coursekit.errors import LaunchError


class RefusedError(Exception):
    """As cuDNN's."""


class Tensor:
    """Stands for a tensor of a graph."""

    def __getattr__(self, name):
        return lambda *values: self


class PyGraph:
    """Stands for a graph; it remembers which plan ran on what."""

    broken, loose = 1, 2

    def __init__(self, **options):
        self.left_out, self.ran = [], []

    def __getattr__(self, name):
        return lambda *values, **named: Tensor()

    def get_execution_plan_count(self) -> int:
        return 4

    def get_workspace_size_plan_at_index(self, number: int) -> int:
        return 0

    def deselect_numeric_notes(self, notes) -> None:
        self.left_out += notes

    def build_plan_at_index(self, number: int) -> None:
        if number == self.broken or (number == self.loose and self.left_out):
            raise RefusedError(number)

    def execute_plan_at_index(self, pack, workspace, number, handle) -> None:
        self.ran.append((number, list(pack.values())))


@pytest.fixture
def graph(monkeypatch):
    """Build a graph of the stand-in."""
    kinds = types.SimpleNamespace
    fake = kinds(
        pygraph=PyGraph, cudnnGraphNotSupportedError=RefusedError,
        data_type=kinds(HALF=0, FLOAT=1), heur_mode=kinds(A=0, FALLBACK=1),
        numerical_note=kinds(NONDETERMINISTIC="loose", TENSOR_CORE="tensor core"),
        backend_version=lambda: 91900, create_handle=lambda: 1,
        set_stream=lambda **named: None,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cudnn", fake)
    stream = types.SimpleNamespace(cuda_stream=0)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(cudnn_plans, "room", lambda torch, count: None)
    made = []

    def build(*tensors):
        made.append(cudnn_plans.convolution(*tensors))
        return made[-1]

    return build, made


def arguments():
    """Return images, weights and a result of shape N, H, W, C, and the size."""
    return (*(torch.zeros(1, 4, 4, 8, dtype=torch.float16) for _ in range(3)), 4)


def launched(graph, choose, left_out=()):
    build, made = graph
    cudnn_plans.Chosen(build, choose, left_out)(torch, *arguments())
    return made[0].pygraph.ran[-1][0]


def took(monkeypatch, times):
    """Say what each plan takes."""
    monkeypatch.setattr(cudnn_plans, "_time_ms", lambda g, t, plan, best: times[plan])


@pytest.mark.parametrize("rank, number", [(0, 0), (1, 2), (2, 3)])
def test_a_rank_skips_what_does_not_build(graph, rank, number):
    assert launched(graph, lambda g, tensors: cudnn_plans._at(g, rank)) == number


def test_a_rank_that_is_not_there_says_so(graph):
    with pytest.raises(LaunchError, match="no such plan"):
        launched(graph, lambda g, tensors: cudnn_plans._at(g, 3))


def test_the_fastest_of_all_plans_is_taken(graph, monkeypatch):
    took(monkeypatch, {0: 4.0, 2: 1.0, 3: 2.0})
    assert launched(graph, cudnn_plans._fastest) == 2


def test_a_plan_with_a_note_is_left_out(graph, monkeypatch):
    took(monkeypatch, {0: 4.0, 2: 1.0, 3: 2.0})
    assert launched(graph, cudnn_plans._fastest, ("nondeterministic",)) == 3


def test_a_graph_is_built_once_for_a_shape_and_takes_new_tensors(graph):
    build, made = graph
    case = cudnn_plans.Chosen(build, lambda g, tensors: 0)
    first, second = arguments(), arguments()
    case(torch, *first)
    case(torch, *second)
    assert len(made) == 1
    given = made[0].pygraph.ran[1][1]
    assert [one.data_ptr() for one in given] == [t.data_ptr() for t in second[:-1]]


# ---------------------------------------------------------------- references


def half(*shape, seed):
    values = np.random.default_rng(seed).standard_normal(shape)
    return values.astype(np.float16)


def exact(x, w):
    """Return PyTorch's convolution in float64, channels last."""
    x, w = (torch.from_numpy(a.astype(np.float64)).permute(0, 3, 1, 2) for a in (x, w))
    return torch.nn.functional.conv2d(x, w, padding=1)


X, W = half(4, 5, 6, 8, seed=1), half(3, 3, 3, 8, seed=2)
LOSS = half(4, 5, 6, 3, seed=3)


def last(tensor):
    return tensor.detach().permute(0, 2, 3, 1).numpy()


def test_reference_of_a_convolution_is_pytorchs():
    y = last(exact(X, W)).astype(np.float16)
    benchmarks.is_convolution(X, W, y, 5)


def test_a_wrong_pixel_is_found():
    y = last(exact(X, W)).astype(np.float16)
    y[-1, 2, 3, 1] += 0.25
    with pytest.raises(AssertionError, match=r"off by 0\.2"):
        benchmarks.is_convolution(X, W, y, 5)


def test_reference_of_a_layer_is_pytorchs():
    bias = half(1, 1, 1, 3, seed=4)
    y = np.maximum(last(exact(X, W)) + bias, 0).astype(np.float16)
    benchmarks.is_layer(X, W, bias, y, 5)


def test_reference_of_gradients_is_pytorchs():
    x = torch.from_numpy(X.astype(np.float64)).permute(0, 3, 1, 2)
    w = torch.from_numpy(W.astype(np.float64)).permute(0, 3, 1, 2).requires_grad_()
    y = torch.nn.functional.conv2d(x, w, padding=1)
    y.backward(torch.from_numpy(LOSS.astype(np.float64)).permute(0, 3, 1, 2))
    benchmarks.is_gradient(X, LOSS, last(w.grad).astype(np.float16), 5)


def test_operations_of_a_convolution():
    """64 images of 56 x 56 x 64 values, nine taps of 64 products each."""
    assert benchmarks.products(56) == 2 * 64 * 56 * 56 * 64 * 9 * 64
