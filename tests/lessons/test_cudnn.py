"""cuDNN's oracle against PyTorch in float64: layouts, types, and what it refuses."""

from __future__ import annotations

import doctest
import importlib
import sys
import types
from typing import ClassVar

import numpy as np
import pytest
import torch

import coursekit as ck
from coursekit.errors import ArgumentError, UnsupportedError
from coursekit.lessons import cudnn
from coursekit.lessons.cudnn import library
from coursekit.lessons.cudnn.tensors import packed

F = torch.nn.functional
HALF_ROUNDING = 2.0**-11
DEEP = "generic engine, fused at run time"


def drawn(*shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def declared(graph, array, name="t", last=False):
    """Declare a tensor for N, C, H, W, and return it with memory in its layout."""
    dim = array.shape
    stride = cudnn.channels_last(dim) if last else packed(dim, range(len(dim)))
    kind = {"float16": "HALF", "float32": "FLOAT"}[array.dtype.name]
    held = graph.tensor(dim=dim, stride=stride, data_type=kind, name=name)
    memory = np.empty(array.size, array.dtype)
    held.view(memory)[...] = array
    return held, memory


def floats():
    return cudnn.pygraph(io_data_type="FLOAT")


def single(name, *arrays, outputs=1, last=False, dims=None, **how):
    """Execute one operation of float32; return its results as N, C, H, W."""
    graph = floats()
    given = [declared(graph, a, f"in{i}", last) for i, a in enumerate(arrays)]
    made = getattr(graph, name)(*(t for t, _ in given), **how)
    made = list(made) if isinstance(made, tuple) else [made]
    made = made[:outputs]
    for tensor in made:
        tensor.set_output(True)
    if dims:
        made[0].set_dim(dims)
    graph.validate()
    memory = [np.full(int(np.prod(t.dim)), np.nan, np.float32) for t in made]
    graph.execute(dict(given) | dict(zip(made, memory, strict=True)))
    return [np.array(t.view(m)) for t, m in zip(made, memory, strict=True)]


def wide(*arrays):
    return [torch.from_numpy(a.astype(np.float64)) for a in arrays]


def near(found, wanted, count=1):
    """Sums of `count` products of numbers about 1, each rounded to float32."""
    wanted = np.asarray(wanted)
    scale = np.abs(wanted).max() + 1
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=4 * count * 2.0**-24 * scale, equal_nan=False
    )


# ---------------------------------------------------------------- convolutions

CASES = [
    {"padding": (1, 1)},
    {"padding": (0, 2), "stride": (2, 1)},
    {"padding": (2, 1), "stride": (1, 2), "dilation": (2, 1)},
]
each_case = pytest.mark.parametrize("how", CASES)
each_layout = pytest.mark.parametrize("last", [False, True], ids=["NCHW", "NHWC"])
X, W = drawn(2, 3, 7, 9), drawn(5, 3, 3, 2, seed=2)


def reference(how):
    x, w = (one.requires_grad_() for one in wide(X, W))
    return x, w, F.conv2d(x, w, **how)


@each_case
@each_layout
def test_convolution_is_pytorchs_in_any_layout(how, last):
    (found,) = single("conv_fprop", X, W, last=last, **how)
    near(found, reference(how)[2].detach(), 18)


@each_case
@each_layout
def test_gradients_of_a_convolution_are_pytorchs(how, last):
    x, w, y = reference(how)
    loss = drawn(*y.shape, seed=3)
    y.backward(*wide(loss))
    (dx,) = single("conv_dgrad", loss, W, last=last, dims=X.shape, **how)
    (dw,) = single("conv_wgrad", X, loss, last=last, dims=W.shape, **how)
    near(dx, x.grad, 30)
    near(dw, w.grad, 2 * 7 * 9)


def test_convolution_does_not_flip_the_filter():
    image = np.zeros((1, 1, 1, 4), np.float32)
    image[0, 0, 0, 1] = 1
    filters = np.float32([1, 2, 3]).reshape(1, 1, 1, 3)
    (found,) = single("conv_fprop", image, filters, padding=(0, 1))
    assert found.ravel().tolist() == [3, 2, 1, 0]


def test_weight_gradient_needs_its_extents():
    with pytest.raises(ArgumentError, match=r"extents of DW of conv_wgrad.*not known"):
        single("conv_wgrad", X, drawn(2, 5, 5, 8))


def test_channels_that_differ_are_refused():
    with pytest.raises(ArgumentError, match="3 channels.* has 4"):
        single("conv_fprop", X, drawn(5, 4, 3, 3))


# ---------------------------------------------------------------- the rest


def test_batch_normalisation_and_its_averages_are_pytorchs():
    scale, bias = drawn(1, 3, 1, 1, seed=2), drawn(1, 3, 1, 1, seed=3)
    mean, variance = drawn(1, 3, 1, 1, seed=4), np.abs(drawn(1, 3, 1, 1, seed=5))
    found = single("batchnorm", X, scale, bias, mean, variance, outputs=5, momentum=0.2)
    x, *rest = wide(X, mean, variance, scale, bias)
    flat = [one.flatten() for one in rest]
    y = F.batch_norm(x, *flat, training=True, momentum=0.2, eps=1e-5)
    near(found[0], y, 4)
    near(found[1].ravel(), x.mean((0, 2, 3)))
    near(found[2].ravel(), 1 / (x.var((0, 2, 3), correction=0) + 1e-5).sqrt(), 4)
    near(found[3].ravel(), flat[0])
    near(found[4].ravel(), flat[1], 4)


def test_batch_normalisation_at_inference_is_pytorchs():
    scale, bias, mean = (drawn(1, 3, 1, 1, seed=s) for s in (2, 3, 4))
    unit = np.abs(drawn(1, 3, 1, 1, seed=5)) + np.float32(0.5)
    (found,) = single("batchnorm_inference", X, mean, unit, scale, bias)
    x, m, u, s, b = wide(X, mean, unit, scale, bias)
    near(found, (x - m) * u * s + b, 4)


def test_layer_normalisation_is_pytorchs():
    scale, bias = drawn(1, 3, 7, 9, seed=2), drawn(1, 3, 7, 9, seed=3)
    (found,) = single("layernorm", X, scale, bias)
    x, s, b = wide(X, scale[0], bias[0])
    near(found, F.layer_norm(x, s.shape, s, b), 4)


def test_instance_normalisation_is_pytorchs():
    scale, bias = drawn(1, 3, 1, 1, seed=2), drawn(1, 3, 1, 1, seed=3)
    (found,) = single("instancenorm", X, scale, bias)
    x, s, b = wide(X, scale.ravel(), bias.ravel())
    near(found, F.instance_norm(x, weight=s, bias=b), 4)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_pytorchs(causal):
    q, k, v = (drawn(2, 3, 5, 8, seed=s) for s in (1, 2, 3))
    (found,) = single("sdpa", q, k, v, attn_scale=8**-0.5, use_causal_mask=causal)
    near(found, F.scaled_dot_product_attention(*wide(q, k, v), is_causal=causal), 8)


def test_statistics_of_attention_are_the_logarithms_of_sums():
    q, k, v = (drawn(1, 1, 4, 8, seed=s) for s in (1, 2, 3))
    found = single("sdpa", q, k, v, outputs=2, is_inference=False)
    a, b = wide(q, k)
    near(found[1][..., 0], torch.logsumexp(a @ b.transpose(2, 3), 3), 8)


def test_matmul_and_pointwise_operations():
    a, b = drawn(2, 3, 4), drawn(2, 4, 5, seed=2)
    near(single("matmul", a, b)[0], a.astype(np.float64) @ b, 4)
    near(single("sigmoid", a)[0], torch.sigmoid(*wide(a)))
    near(single("tanh", a)[0], np.tanh(a.astype(np.float64)))
    assert (single("add", a, a)[0] == a + a).all()
    assert (single("mul", a, a)[0] == a * a).all()


# ---------------------------------------------------------------- graphs


def layer(dtype=np.float16):
    """Return a graph of convolution, bias and ReLU, its memory and its result."""
    graph = cudnn.pygraph()
    x, w, b = (
        declared(graph, a.astype(dtype), name, last=True)
        for a, name in ((X, "x"), (W, "w"), (drawn(1, 5, 1, 1, seed=4), "b"))
    )
    y = graph.relu(graph.bias(graph.conv_fprop(x[0], w[0], padding=(1, 1)), b[0]))
    y.set_output(True)
    graph.validate()
    memory = np.zeros(int(np.prod(y.dim)), np.float16)
    return graph, dict([x, w, b]) | {y: memory}, y


def test_result_is_rounded_once_to_half():
    graph, pack, y = layer()
    graph.execute(pack)
    x, w = wide(*(a.astype(np.float16) for a in (X, W)))
    (bias,) = wide(drawn(5, seed=4).astype(np.float16))
    wanted = F.conv2d(x, w, bias, padding=1).relu()
    off = np.abs(y.view(pack[y]) - wanted.numpy())
    assert (off <= HALF_ROUNDING * (wanted.numpy() + 1e-3)).all()


def test_a_fused_graph_moves_what_has_memory():
    graph, pack, y = layer()
    run = graph.execute(pack)
    x, w, out = X.size, W.size, int(np.prod(y.dim))
    assert run.names == ("conv_fprop", "bias", "relu")
    assert run.bytes_moved == 2 * (x + w + 5 + out)
    assert run.bytes_apart == 2 * (x + w + out + out + 5 + out + out + out)
    assert run.operations == 2 * out * 3 * 3 * 2 + 2 * out


def test_results_take_the_layout_of_the_input():
    graph, _, y = layer()
    assert y.stride == cudnn.channels_last(y.dim)


def test_virtual_tensors_in_half_are_rounded():
    graph = cudnn.pygraph(io_data_type="FLOAT", intermediate_data_type="HALF")
    x, memory = declared(graph, np.float32([2049]).reshape(1, 1, 1, 1))
    y = graph.relu(graph.add(x, x)).set_output(True)
    out = np.zeros(1, np.float32)
    graph.execute({x: memory, y: out})
    assert out[0] == 4096  # 4098 lies between 4096 and 4100, and 4096 is even


def engine(*names):
    """Return the kind of engine for a chain of operations on one tensor."""
    graph = floats()
    held, _ = declared(graph, drawn(1, 4, 4, 4))
    side = {"conv_fprop": (4, 4, 1, 1), "instancenorm": (1, 4, 1, 1)}
    for name in names:
        count = len(ck.cudnn.graph.OPERATIONS[name].inputs) - 1
        others = [
            declared(graph, drawn(*side.get(name, (1, 4, 4, 4))))[0]
            for _ in range(count)
        ]
        held = getattr(graph, name)(held, *others)
        held = held[0] if isinstance(held, tuple) else held
    held.set_output(True)
    graph.build()
    return graph.engine


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["conv_fprop"], "pre-compiled engine of a single operation"),
        (["matmul"], DEEP),
        (["relu", "add"], DEEP),
        (["conv_fprop", "add", "relu"], DEEP),
        (["mul", "conv_fprop"], DEEP),
        (["instancenorm", "relu"], "specialised engine, pre-compiled"),
        (["sdpa"], "specialised engine, fused at run time"),
    ],
)
def test_kind_of_engine_for_a_pattern(names, kind):
    assert engine(*names) == kind


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["conv_fprop", "relu", "conv_fprop"], "has conv_fprop and conv_fprop"),
        (["relu", "instancenorm"], "relu stands before instancenorm"),
        (["sdpa", "relu"], "sdpa stands in a graph with relu"),
    ],
)
def test_what_no_kernel_computes_is_refused(names, message):
    with pytest.raises(UnsupportedError, match=message) as caught:
        engine(*names)
    assert "NOT_SUPPORTED_GRAPH_PATTERN" in str(caught.value)


# ---------------------------------------------------------------- messages


def identity():
    graph = floats()
    x = graph.tensor(dim=(1, 2, 3, 4), stride=(24, 12, 4, 1), name="x")
    return graph, x, graph.relu(x)


def test_a_graph_without_output_says_so():
    with pytest.raises(ArgumentError, match="set_output"):
        identity()[0].validate()


def test_a_tensor_without_memory_is_named():
    graph, x, y = identity()
    y.set_output(True)
    with pytest.raises(ArgumentError, match="x has no memory"):
        graph.execute({y: np.zeros(24, np.float32)})


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (np.zeros(23, np.float32), "reaches element 23, .* 23 elements"),
        (np.zeros(24), "x is FLOAT, but its memory holds float64"),
        (np.zeros(48, np.float32)[::2], "view with gaps"),
        ([0.0] * 24, "holds list"),
    ],
)
def test_memory_that_does_not_fit_is_refused(memory, message):
    graph, x, y = identity()
    y.set_output(True)
    with pytest.raises(ArgumentError, match=message):
        graph.execute({x: memory, y: np.zeros(24, np.float32)})


def test_bias_of_the_wrong_extents_is_refused():
    with pytest.raises(ArgumentError, match="1, C, 1, 1"):
        single("bias", X, drawn(1, 4, 1, 1))


def test_unknown_attribute_lists_those_there_are():
    graph, x, _ = identity()
    with pytest.raises(ArgumentError, match="padding=.*stride=.*dilation="):
        graph.conv_fprop(x, x, pad=1)


def test_an_array_is_no_tensor():
    with pytest.raises(ArgumentError, match=r"graph\.tensor"):
        floats().relu(np.zeros(3))


def test_unknown_type_and_compute_type_are_refused():
    with pytest.raises(ArgumentError, match="HALF"):
        cudnn.pygraph(io_data_type="FP16")
    with pytest.raises(ArgumentError, match="FLOAT"):
        cudnn.pygraph(compute_data_type="HALF")


def test_extents_and_strides_are_as_many():
    with pytest.raises(ArgumentError, match="2 extents and 1"):
        floats().tensor(dim=(1, 2), stride=(1,))


def test_no_statistics_at_inference():
    graph = floats()
    x, _ = declared(graph, X)
    s, _ = declared(graph, drawn(1, 3, 7, 9))
    y, mean, unit = graph.layernorm(x, s, s, norm_forward_phase="INFERENCE")
    assert (mean, unit) == (None, None)
    assert y.name == "Y of layernorm"


@pytest.mark.parametrize("module", ["graph", "tensors"])
def test_examples(module):
    found = importlib.import_module(f"coursekit.lessons.cudnn.{module}")
    with ck.simulator():
        assert doctest.testmod(found, extraglobs={"np": np}).failed == 0


# ---------------------------------------------------------------- the library


class RefusedError(Exception):
    """As cuDNN's."""


class Held:
    """Stands for a tensor of the package."""

    def __getattr__(self, name):
        return lambda *values: self


class PyGraph:
    """Stands for a graph of the package; it remembers what it is told."""

    told: ClassVar[list] = []

    def __init__(self, **options): ...

    def build(self, modes):
        raise RefusedError

    def __getattr__(self, name):
        def tell(**named):
            self.told.append((name, named))
            return Held()

        return tell


@pytest.fixture
def package(monkeypatch):
    """Let a stand-in take the place of cuDNN, which refuses all graphs."""
    kinds = types.SimpleNamespace
    fake = kinds(
        pygraph=PyGraph, cudnnGraphNotSupportedError=RefusedError,
        data_type=kinds(HALF="half", FLOAT="float"), heur_mode=kinds(A=0, FALLBACK=1),
        norm_forward_phase=kinds(TRAINING="training"),
        backend_version=lambda: 92801, create_handle=lambda: 1,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cudnn", fake)
    monkeypatch.setattr(library, "is_here", lambda: True)
    monkeypatch.setattr(library, "_handle", lambda: 1)
    monkeypatch.setattr(PyGraph, "told", [])
    return PyGraph


def test_what_cudnn_refuses_numpy_computes_and_says_so(package):
    graph, x, y = identity()
    y.set_output(True)
    run = graph.execute({x: np.ones(24, np.float32), y: np.zeros(24, np.float32)})
    assert "NumPy, for cuDNN 9.28.1 has no engine for this graph" in repr(run)


def test_the_package_is_told_each_operation_and_its_attributes(package):
    single("conv_fprop", X, W, padding=(1, 2))
    names = [name for name, _ in package.told]
    assert names == ["tensor", "tensor", "conv_fprop"]
    assert package.told[0][1]["dim"] == [2, 3, 7, 9]
    assert package.told[2][1]["padding"] == [1, 2]


def test_the_package_gets_epsilon_by_value(package):
    scale = drawn(1, 3, 7, 9)
    single("layernorm", X, scale, scale, epsilon=0.5)
    (epsilon,) = (n for name, n in package.told if n.get("is_pass_by_value"))
    assert epsilon["dim"] == [1, 1, 1, 1]
    assert package.told[-1][1]["norm_forward_phase"] == "training"


@pytest.mark.gpu
def test_cudnn_computes_what_the_oracle_does(gpu):
    pytest.importorskip("cudnn", reason="nvidia-cudnn-frontend is not installed.")
    n, c, h = 2, 16, 8
    x, w = drawn(n, c, h, h, dtype=np.float16), drawn(c, c, 3, 3, dtype=np.float16)
    bias = drawn(1, c, 1, 1, seed=3, dtype=np.float16)
    graph, results = cudnn.pygraph(), []
    (x, a), (w, b), (s, d) = (
        declared(graph, one, name, True)
        for one, name in ((x, "x"), (w, "w"), (bias, "b"))
    )
    y = graph.relu(graph.bias(graph.conv_fprop(x, w, padding=(1, 1)), s))
    y.set_output(True)
    for where in (ck.simulator, None):
        out = np.zeros(n * c * h * h, np.float16)
        if where:
            with where():
                graph.execute({x: a, w: b, s: d, y: out})
        else:
            assert graph.execute({x: a, w: b, s: d, y: out}).computed_by == "cuDNN"
        results.append(out.astype(np.float64))
    np.testing.assert_allclose(*results, rtol=2 * HALF_ROUNDING, atol=1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["layernorm", "instancenorm", "batchnorm"])
def test_normalisations_of_cudnn_are_the_oracles(gpu, name):
    pytest.importorskip("cudnn", reason="nvidia-cudnn-frontend is not installed.")
    x = drawn(4, 16, 8, 8)
    side = (1, 16, 8, 8) if name == "layernorm" else (1, 16, 1, 1)
    others = [
        np.abs(drawn(*side, seed=s)) for s in range(4 if name == "batchnorm" else 2)
    ]
    outputs = 5 if name == "batchnorm" else 3
    found = single(name, x, *others, outputs=outputs, last=True)
    with ck.simulator():
        wanted = single(name, x, *others, outputs=outputs, last=True)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
