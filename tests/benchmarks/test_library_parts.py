"""The parts of the library's step: the fastest plan is taken, and products are right.

Stand-ins take the place of cuDNN and cublasLt: one lists plans, the other multiplies
by columns on the host, as the library does on a GPU.
"""

from __future__ import annotations

import ctypes
import math
import sys
import types
from typing import ClassVar

import numpy as np
import pytest
import torch

from coursekit.benchmarks.peers import cublas, cudnn_graphs, lt_products, trying
from coursekit.benchmarks.peers.mnist_library import Parts
from coursekit.errors import LaunchError

# ---------------------------------------------------------------- a time to choose by


class Event:
    """Stands for an event of the GPU: remembers what had been queued."""

    queue: ClassVar[list] = []

    def __init__(self, enable_timing: bool):
        assert enable_timing

    def record(self) -> None:
        self.at = len(self.queue)

    def synchronize(self) -> None: ...

    def elapsed_time(self, last) -> float:
        assert self.queue[self.at - 1] == "hold"
        return float(sum(one for one in self.queue[self.at : last.at]))


@pytest.fixture
def queue(monkeypatch):
    found = []
    monkeypatch.setattr(Event, "queue", found)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: found.append("hold"))
    return found


def test_a_launch_is_timed_behind_a_stream_that_is_held(queue):
    """Two ms a launch; the first one, which loads, does not count."""
    took = iter([9.0])
    assert trying.best_ms(lambda: queue.append(next(took, 2.0))) == 2.0
    assert queue.count(2.0) == trying.TRIALS * trying.LAUNCHES + 1


def test_a_launch_that_is_far_from_the_best_is_timed_once(queue):
    assert trying.best_ms(lambda: queue.append(7.0), best=2.0) == 7.0
    assert queue.count(7.0) == 2


def test_the_fastest_is_compared_with_the_best_so_far():
    times, seen = {"a": 3.0, "b": 5.0, "c": 2.0, "d": 4.0}, []
    best = trying.fastest(times, lambda way, best: seen.append(best) or times[way])
    assert best == "c"
    assert seen == [math.inf, 3.0, 3.0, 2.0]


# ---------------------------------------------------------------- plans of cuDNN


class RefusedError(Exception):
    """As cuDNN's."""


class Plans:
    """Stands for a graph of cuDNN that has four plans, of which two round."""

    rounding = frozenset({1, 3})

    def __init__(self, **options):
        self.deselected = frozenset()

    def deselect_numeric_notes(self, notes) -> None:
        assert {"tensor core", "down convert"} == set(notes)
        self.deselected = self.rounding

    def get_execution_plan_count(self) -> int:
        return 4

    def build_plan_at_index(self, plan: int) -> None:
        if plan in self.deselected:
            raise RefusedError(plan)

    def validate(self) -> None: ...
    def build_operation_graph(self) -> None: ...
    def create_execution_plans(self, modes) -> None: ...


@pytest.fixture
def cudnn(monkeypatch):
    kinds = types.SimpleNamespace
    fake = kinds(
        pygraph=Plans, cudnnGraphNotSupportedError=RefusedError,
        data_type=kinds(FLOAT=0), heur_mode=kinds(A=0, FALLBACK=1),
        numerical_note=kinds(
            TENSOR_CORE="tensor core", DOWN_CONVERT_INPUTS="down convert"
        ),
        backend_version=lambda: 91900, create_handle=lambda: 1,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cudnn", fake)
    monkeypatch.setattr(cudnn_graphs.Graph, "_reserve", lambda self, plan: None)
    return monkeypatch


def chosen(cudnn, precision: str, times: dict, proposals: int = 10):
    cudnn.setattr(cudnn_graphs.Graph, "_best_ms", lambda self, plan, best: times[plan])
    return cudnn_graphs.Graph("a sum", precision).ready(proposals).plan


def test_the_fastest_plan_is_taken(cudnn):
    assert chosen(cudnn, "tf32", {0: 4.0, 1: 1.0, 2: 3.0, 3: 2.0}) == 1


def test_no_plan_that_rounds_products_is_taken_in_float32(cudnn):
    assert chosen(cudnn, "fp32", {0: 4.0, 1: 1.0, 2: 3.0, 3: 2.0}) == 2


def test_only_so_many_plans_are_tried(cudnn):
    assert chosen(cudnn, "tf32", {0: 4.0, 1: 5.0, 2: 3.0, 3: 2.0}, proposals=2) == 0


def test_a_graph_without_a_plan_says_so(cudnn):
    with pytest.raises(LaunchError, match="no plan for a sum in tf32"):
        chosen(cudnn, "tf32", dict.fromkeys(range(4), math.inf))


# ---------------------------------------------------------------- products of cublasLt

KINDS = {1: "alone", 4: "bias", 134: "relu_bias", 152: "relu_backward", 512: "sum"}


def held(pointer):
    """Return what a `ctypes.byref` or a pointer's value names."""
    return getattr(pointer, "_obj", pointer)


class Columns:
    """Stands for cublasLt: multiplies what lies by columns, in the host's memory."""

    def __init__(self):
        self.known, self.made = {}, 0

    def _new(self, into, what) -> int:
        self.made += 1
        held(into).value = self.made
        self.known[self.made] = what
        return 0

    def cublasLtCreate(self, into):
        return self._new(into, "handle")

    def cublasLtMatmulPreferenceCreate(self, into):
        return self._new(into, "preference")

    def cublasLtMatmulPreferenceSetAttribute(self, *_):
        return 0

    def cublasLtMatmulPreferenceDestroy(self, *_):
        return 0

    def cublasLtMatmulDescCreate(self, into, compute, kind):
        return self._new(into, {"compute": compute})

    def cublasLtMatmulDescSetAttribute(self, product, name, value, size):
        self.known[product.value][name] = held(value).value
        return 0

    def cublasLtMatrixLayoutCreate(self, into, kind, rows, columns, pitch):
        return self._new(into, (rows.value, columns.value, pitch.value))

    def cublasLtMatmulAlgoGetHeuristic(self, *arguments):
        held(arguments[-1]).value = 2
        return 0

    def _matrix(self, pointer, layout):
        rows, columns, pitch = self.known[layout.value]
        size = pitch * columns
        floats = (ctypes.c_float * size).from_address(pointer.value)
        return np.frombuffer(floats, np.float32).reshape(columns, pitch).T[:rows]

    def cublasLtMatmul(self, handle, product, one, a, A, b, B, zero, c, C, d, D, *_):
        told, out = self.known[product.value], self._matrix(d, D)
        left, right = self._matrix(a, A), self._matrix(b, B)
        left = left.T if told.get(lt_products.TRANSPOSED_LEFT) else left
        right = right.T if told.get(lt_products.TRANSPOSED_RIGHT) else right
        self._after(told, left @ right, right, out)
        return 0

    def _after(self, told, found, right, out) -> None:
        kind = KINDS[told.get(lt_products.AFTERWARDS, 1)]
        counts = {"sum": right.shape[1]}
        bias = told.get(lt_products.BIAS)
        if bias:
            count = counts.get(kind, len(found))
            bias = np.frombuffer((ctypes.c_float * count).from_address(bias), "f4")
        if kind in ("bias", "relu_bias"):
            found = found + bias[:, None]
        if kind == "relu_bias":
            found = self.cut = np.maximum(found, 0)
        if kind == "relu_backward":
            found = found * (self.cut > 0)
            bias[:] = found.sum(1)
        if kind == "sum":
            bias[:] = right.sum(0)
        out[:] = found


@pytest.fixture
def parts(monkeypatch):
    fake = Columns()
    monkeypatch.setattr(lt_products, "library", lambda: fake)
    monkeypatch.setattr(lt_products, "_handle", lambda: ctypes.c_void_p(1))
    monkeypatch.setattr(lt_products, "_stream", lambda: 0)
    monkeypatch.setattr(lt_products, "best_ms", lambda launch, best: 1.0)
    return Parts("tf32")


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


N, FROM, TO = 6, 12, 8


def same(found, wanted) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_linear_layer_goes_forward(parts):
    x, w, bias, out = random(N, FROM), random(TO, FROM), random(TO), torch.empty(N, TO)
    parts.forward(x, w, out, bias)()
    same(out, x @ w.T + bias)


def test_the_peer_of_matrix_products_is_row_major():
    a, b, c = random(3, 4), random(4, 5), torch.empty(3, 5)
    plan = cublas.Plan.of(Columns(), (3, 5, 4), workspace=0)
    addresses = tuple(tensor.data_ptr() for tensor in (b, a, c))
    plan.launch(plan.proposals()[0], addresses, stream=0)
    same(c, a @ b)


def test_a_product_that_the_library_refuses_is_an_error():
    plan = cublas.Plan.of(Columns(), (3, 5, 4), workspace=0)
    plan.lt.cublasLtMatmul = lambda *_: 15
    with pytest.raises(LaunchError, match=r"cublasLtMatmul returns the status 15"):
        plan.launch(cublas.Proposal(), (0, 0, 0), stream=0)


def test_a_linear_layer_learns(parts):
    dy, x, dw, sums = random(N, TO), random(N, FROM), torch.empty(TO, FROM), random(TO)
    parts.learn(dy, x, dw, sums)()
    same(dw, dy.T @ x)
    same(sums, dy.sum(0))


def test_a_linear_layer_goes_back(parts):
    dy, w, dx = random(N, TO), random(TO, FROM), torch.empty(N, FROM)
    parts.back(dy, w, dx)()
    same(dx, dy @ w)


def test_relu_cuts_forward_what_it_cuts_back(parts):
    x, w, bias, h = random(N, FROM), random(TO, FROM), random(TO), torch.empty(N, TO)
    dy, other, dh, sums = random(N, 4), random(4, TO), torch.empty(N, TO), random(TO)
    mask = torch.zeros(N, 16, dtype=torch.uint8)
    parts.forward(x, w, h, bias, mask)()
    parts.back(dy, other, dh, sums, mask)()
    same(h, (x @ w.T + bias).relu())
    same(dh, (dy @ other) * (h > 0))
    same(sums, dh.sum(0))


def test_a_product_that_the_library_refuses_says_so(parts, monkeypatch):
    monkeypatch.setattr(lt_products, "best_ms", lambda launch, best: math.inf)
    with pytest.raises(LaunchError, match="no product with 'nothing'"):
        parts.back(random(N, TO), random(TO, FROM), torch.empty(N, FROM))
