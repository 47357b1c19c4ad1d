"""The layers of kernels/mnist/ and their reference are PyTorch's, and so is a step."""

from __future__ import annotations

import dataclasses
import functools
import json

import mnist_layers
import numpy as np
import pytest
from kernel_launches import ROUNDING
from mnist_layers import LAYERS

import coursekit as ck
from coursekit.lessons import datasets
from coursekit.lessons.mnist import (
    FULL,
    SMALL,
    Network,
    Trainer,
    full_run,
    initial_weights,
    pytorch,
    reference,
    reference_step,
    viewing,
)

torch = pytest.importorskip("torch", reason="PyTorch, to compare with, is not here")

CASES = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name, layer in LAYERS.items()
    for number in range(len(layer.inputs()))
]
every_layer = pytest.mark.parametrize("name", LAYERS)
every_input = pytest.mark.parametrize(("name", "number"), CASES)


def upstream(layer, y) -> np.ndarray:
    """Return a gradient that comes from above."""
    return np.random.default_rng(11).standard_normal(y.shape, dtype=np.float32)


def by_torch(layer, inputs, dy=None):
    """Return y, and the gradients if dy is given, in float64."""
    tensors = [torch.tensor(a.astype(np.float64), requires_grad=True) for a in inputs]
    y = layer.torch_forward(*tensors)
    if dy is None:
        return y.detach().numpy(), ()
    y.backward(torch.from_numpy(dy.astype(np.float64)))
    return y.detach().numpy(), [tensor.grad.numpy() for tensor in tensors]


def errors_allowed(layer, inputs, dy):
    """Bound the rounding of y, and of each gradient: additions * rounding * terms.

    A sum of n products errs by at most n roundings of the sum of their absolute
    values. Layers without such a bound have values of about 1, in up to n of them.
    """
    if layer.bound is None:
        return (8 * layer.sums * ROUNDING,) * (1 + len(inputs))
    sizes = [np.abs(array.astype(np.float64)) for array in inputs]
    y, gradients = layer.bound(np.abs(dy.astype(np.float64)), *sizes)
    return [(layer.sums + 1) * ROUNDING * each for each in (y, *gradients)]


def near(found, wanted, error) -> None:
    __tracebackhide__ = True
    assert found.shape == wanted.shape
    assert np.all(np.abs(found - wanted) <= error), np.abs(found - wanted).max()


# ---------------------------------------------------------------- kernels


@every_layer
def test_layer_gives_what_pytorch_gives(name, backend):
    layer = LAYERS[name]
    inputs = layer.inputs()
    wanted, _ = by_torch(layer, inputs)
    error, *_ = errors_allowed(layer, inputs, upstream(layer, wanted))
    near(layer.forward(*inputs), wanted, error)


@every_input
def test_gradient_is_what_pytorch_gives(name, number, backend):
    layer = LAYERS[name]
    inputs = layer.inputs()
    dy = upstream(layer, by_torch(layer, inputs)[0])
    _, wanted = by_torch(layer, inputs, dy)
    _, *errors = errors_allowed(layer, inputs, dy)
    found = layer.backward(dy, *inputs)[number]
    near(found, wanted[number], errors[number])


@every_input
def test_gradient_is_a_finite_difference(name, number, backend):
    layer = LAYERS[name]
    inputs = layer.inputs()
    dy = upstream(layer, layer.forward(*inputs))
    size = inputs[number].shape
    way = np.random.default_rng(5).choice([-1.0, 1.0], size).astype(np.float32)

    def moved(far: float) -> float:
        there = [*inputs]
        there[number] = inputs[number] + np.float32(far) * way
        return float((dy.astype(np.float64) * layer.forward(*there)).sum())

    step = layer.step
    difference = (moved(step) - moved(-step)) / (2 * step)
    gradient = layer.backward(dy, *inputs)[number].astype(np.float64)
    # What is left: the third derivative, step^2 = 6e-5 where there is one, and the
    # roundings of up to 8 layers' values divided by the step, 8 * 128 * 2^-24 = 6e-5.
    # Both by the length of the gradient times that of the way.
    allowed = 1e-3 * np.linalg.norm(gradient) * np.sqrt(way.size)
    assert abs(difference - (gradient * way).sum()) <= allowed


def test_first_of_equals_is_the_largest_as_in_pytorch(backend):
    x = np.zeros((1, 1, 4, 6), dtype=np.float32)
    dy = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    _, (wanted,) = by_torch(LAYERS["max pool"], [x], dy)
    (found,) = LAYERS["max pool"].backward(dy, x)
    np.testing.assert_array_equal(found, wanted.astype(np.float32), strict=True)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("name", ["relu", "max pool"])
def test_nan_is_not_swallowed(name, place, backend):
    x = np.ones((1, 1, 2, 2), dtype=np.float32)
    x.flat[place] = np.nan
    found = LAYERS[name].forward(x)
    wanted = LAYERS[name].torch_forward(torch.from_numpy(x)).numpy()
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shift", [0, -3000])
def test_loss_of_a_hopeless_label_is_finite(shift, backend):
    logits = np.array([[0, 1000, -1000]] * 6, dtype=np.float32) + np.float32(shift)
    labels = mnist_layers.LABELS % 3
    losses = mnist_layers.blank(6)
    arguments = (logits, labels, losses, 6, 3)
    mnist_layers.launch("cross_entropy", "cross_entropy_forward", 6, *arguments)
    assert losses.tolist() == [{0: 1000, 1: 0, 2: 2000}[label] for label in labels]


def test_running_variance_is_divided_by_one_less(backend):
    x = np.arange(6, dtype=np.float32).reshape(3, 1, 2)
    found = [np.zeros(1, np.float32) for _ in range(4)]
    kernel = mnist_layers.compiled("batchnorm").batchnorm_statistics
    kernel[1, 256](x, *found, 3, 1, 2, 1.0)
    # 17.5 is the sum of squares around 2.5.
    assert [float(each[0]) for each in found[:3]] == [2.5, np.float32(17.5 / 6), 2.5]
    assert found[3] == 17.5 / 5


# ---------------------------------------------------------------- the reference

REFERENCES = {
    "conv direct": (
        reference.conv,
        lambda dy, x, w, b: reference.conv_backward(dy, x, w),
    ),
    "batchnorm": (
        lambda x, g, b: reference.batchnorm(
            x, *reference.statistics(x), g, b, mnist_layers.EPSILON
        ),
        lambda dy, x, g, b: reference.batchnorm_backward(
            dy, x, g, mnist_layers.EPSILON
        ),
    ),
    "relu": (
        reference.relu,
        lambda dy, x: [reference.relu_backward(dy, reference.relu(x))],
    ),
    "max pool": (
        lambda x: reference.max_pool(x)[0],
        lambda dy, x: [
            reference.max_pool_backward(dy, reference.max_pool(x)[1], x.shape)
        ],
    ),
    "average pool": (
        reference.average_pool,
        lambda dy, x: [reference.average_pool_backward(dy, x.shape)],
    ),
    "linear": (
        reference.linear,
        lambda dy, x, w, b: reference.linear_backward(dy, x, w),
    ),
    "cross-entropy": (
        lambda x: reference.cross_entropy(x, mnist_layers.LABELS).mean(keepdims=True),
        lambda dy, x: [dy * reference.cross_entropy_backward(x, mnist_layers.LABELS)],
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_is_what_pytorch_gives(name):
    inputs = [a.astype(np.float64) for a in LAYERS[name].inputs()]
    found = REFERENCES[name][0](*inputs)
    wanted, _ = by_torch(LAYERS[name], inputs)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_of_the_reference_are_what_pytorch_gives(name):
    inputs = [a.astype(np.float64) for a in LAYERS[name].inputs()]
    dy = upstream(LAYERS[name], by_torch(LAYERS[name], inputs)[0]).astype(np.float64)
    found = REFERENCES[name][1](dy, *inputs)
    _, wanted = by_torch(LAYERS[name], inputs, dy)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("network", [FULL, SMALL], ids=["full", "small"])
@pytest.mark.parametrize("name", [*FULL.learnt, *FULL.kept])
def test_initial_weight_is_what_pytorch_gives(name, network):
    torch.manual_seed(7)
    wanted = pytorch.module(network).state_dict()[name].numpy()
    found = initial_weights(network, seed=7)[name]
    # PyTorch rounds once or twice, as the processor has a fused multiply-add or not.
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=2 * ROUNDING * np.abs(wanted).max(), strict=True
    )


def test_network_has_as_many_parameters_as_pytorchs():
    wanted = sum(p.numel() for p in pytorch.module(FULL).parameters())
    assert FULL.parameters == wanted == 421834


# ---------------------------------------------------------------- one step

COUNT, RATE, MEAN, DEVIATION = 8, 0.125, 0.125, 0.25
# Additions that a number may go through, forward and back, in the full network:
# 9, 288, 3136 and 128 products; 10, 128 and 576 of them on the way back; sums of 8 *
# 784 values by 256 threads and trees, 25 + 8, in each batchnorm and for each dw.
ADDITIONS = (9 + 288 + 3136 + 128) + (10 + 128 + 576) + 8 * (25 + 8)
AVERAGE = Network(side=9, channels=(3, 2), hidden=5, pooling="average")
NETWORKS = {"full": FULL, "average pooling": AVERAGE}


@functools.cache
def pictures(network: Network) -> datasets.Dataset:
    return datasets.drawn_digits(COUNT, size=network.side, seed=4)


@functools.cache
def torch_step(network: Network):
    """Take PyTorch's step in float64; return losses, gradients and weights after it."""
    weights, digits = initial_weights(network), pictures(network)
    model = pytorch.module(network, weights).double()
    x = reference.normalise(digits.images, MEAN, DEVIATION)[:, None]
    labels = torch.from_numpy(digits.labels.astype(np.int64))
    logits = model(torch.from_numpy(x))
    losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    losses.mean().backward()
    gradients = {name: p.grad.numpy() for name, p in model.named_parameters()}
    torch.optim.SGD(model.parameters(), lr=RATE).step()
    after = {name: value.numpy() for name, value in model.state_dict().items()}
    return losses.detach().numpy(), gradients, after


@functools.cache
def own_step(network: Network, backend: str) -> Trainer:
    """Take our step, once on each backend."""
    digits = pictures(network)
    trainer = Trainer(
        network,
        initial_weights(network),
        COUNT,
        rate=RATE,
        mean=MEAN,
        deviation=DEVIATION,
    )
    trainer.step(digits.images, digits.labels)
    return trainer


each_network = pytest.mark.parametrize("which", NETWORKS)
each_learnt = pytest.mark.parametrize("name", FULL.learnt)


def scale(trainer: Trainer, name: str, gradient: np.ndarray) -> float:
    """Return what rounding errors of a gradient are measured by: its length.

    Batchnorm takes every constant away, so that the true gradient by a bias before it
    is 0; the errors are those of the terms, which cancel.
    """
    if name not in ("conv1.bias", "conv2.bias"):
        return float(np.linalg.norm(gradient))
    terms = np.abs(ck.to_host(trainer.values[f"dconv{name[4]}"]).astype(np.float64))
    return float(np.linalg.norm(terms.sum(axis=(0, 2, 3))))


@each_network
@each_learnt
def test_gradient_of_a_step_is_pytorchs(which, name, backend):
    trainer = own_step(NETWORKS[which], backend)
    wanted = torch_step(NETWORKS[which])[1][name]
    found = ck.to_host(trainer.gradients[name]).astype(np.float64)
    error = np.linalg.norm(found - wanted)
    assert error <= ADDITIONS * ROUNDING * scale(trainer, name, wanted)


@each_network
@each_learnt
def test_weight_after_a_step_is_pytorchs(which, name, backend):
    trainer = own_step(NETWORKS[which], backend)
    _, gradients, after = torch_step(NETWORKS[which])
    found = ck.to_host(trainer.weights[name]).astype(np.float64)
    moved = RATE * ADDITIONS * ROUNDING * scale(trainer, name, gradients[name])
    stored = 2 * ROUNDING * np.linalg.norm(after[name])
    assert np.linalg.norm(found - after[name]) <= moved + stored


@each_network
@pytest.mark.parametrize("name", FULL.kept)
def test_running_statistics_after_a_step_are_pytorchs(which, name, backend):
    found = ck.to_host(own_step(NETWORKS[which], backend).weights[name])
    wanted = torch_step(NETWORKS[which])[2][name]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ADDITIONS * ROUNDING)


@each_network
def test_loss_of_a_step_is_pytorchs(which, backend):
    network = NETWORKS[which]
    wanted = torch_step(network)[0].mean()
    assert own_step(network, backend).loss() == pytest.approx(
        wanted, rel=ADDITIONS * ROUNDING
    )


@pytest.mark.parametrize("name", [*FULL.learnt, *FULL.kept])
def test_step_of_the_reference_is_pytorchs(name):
    weights = {n: w.astype(np.float64) for n, w in initial_weights(AVERAGE).items()}
    digits = pictures(AVERAGE)
    x = reference.normalise(digits.images, MEAN, DEVIATION)[:, None]
    found = reference_step.step(AVERAGE, weights, x, digits.labels, RATE)
    wanted = torch_step(AVERAGE)[2][name]
    np.testing.assert_allclose(found.weights[name], wanted, rtol=0, atol=1e-12)


def test_predictions_use_the_running_statistics(backend):
    network, digits = AVERAGE, datasets.drawn_digits(11, size=9, seed=9)
    random = np.random.default_rng(1)
    weights = initial_weights(network)
    weights |= {
        name: random.uniform(0.5, 2, shape).astype(np.float32)
        for name, shape in network.kept.items()
    }
    trainer = Trainer(network, weights, 4, mean=MEAN, deviation=DEVIATION)
    model = pytorch.module(network, weights).double().eval()
    x = reference.normalise(digits.images, MEAN, DEVIATION)[:, None]
    with torch.no_grad():
        wanted = model(torch.from_numpy(x)).numpy()
    found = trainer.logits(digits.images)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ADDITIONS * ROUNDING)


# ---------------------------------------------------------------- training


def test_small_network_learns(simulated):
    digits = datasets.drawn_digits(1600, size=14)
    unseen = datasets.drawn_digits(200, size=14, seed=1)
    trainer = Trainer(
        SMALL, initial_weights(SMALL), 40, rate=0.2, mean=0.125, deviation=0.25
    )
    for images, labels in digits.batches(40):
        trainer.step(images, labels)
    accuracy = (trainer.predict(unseen.images) == unseen.labels).mean()
    assert accuracy > 0.7  # a tenth, if it had learnt nothing


ONE = datasets.drawn_digits(4, size=9)


@pytest.fixture
def trainer(simulated) -> Trainer:
    return Trainer(AVERAGE, initial_weights(AVERAGE), 4)


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (ONE.images[:0], ONE.labels[:0], "takes 1 to 4 pictures"),
        (np.zeros((5, 9, 9), np.uint8), np.zeros(5, np.uint8), "takes 1 to 4"),
        (ONE.images[:, 1:], ONE.labels, r"shape \(4, 8, 9\)"),
        (ONE.images / 255, ONE.labels, "of uint8"),
        (ONE.images, ONE.labels[1:], r"shape \(3,\) for 4 pictures"),
        (ONE.images, ONE.labels.astype(np.int64), "Labels of int64"),
        (ONE.images, ONE.labels + np.uint8(10), "of 10 classes"),
    ],
)
def test_batch_that_does_not_fit_is_refused(images, labels, words, trainer):
    with pytest.raises(ck.ArgumentError, match=words):
        trainer.step(images, labels)


def test_loss_without_labels_is_refused(trainer):
    trainer.load(ONE.images)
    trainer.forward()
    with pytest.raises(ck.ArgumentError, match="the batch has no labels"):
        trainer.loss()


@pytest.mark.parametrize("network", [SMALL, AVERAGE], ids=["other", "missing"])
def test_weights_of_another_network_are_refused(network, simulated):
    weights = initial_weights(network)
    weights.pop("fc2.bias")
    with pytest.raises(ck.ArgumentError, match="where the network needs"):
        Trainer(AVERAGE, weights, 4)


@pytest.mark.parametrize(
    "sizes", [{"side": 3}, {"hidden": 0}, {"channels": (1, 2, 3)}, {"pooling": "none"}]
)
def test_network_that_cannot_be_is_refused(sizes):
    with pytest.raises(ck.ArgumentError, match="Network"):
        Network(**sizes)


# ---------------------------------------------------------------- records, pictures


def test_comparison_trains_both_from_the_same_weights(simulated):
    digits = datasets.drawn_digits(96, size=9)
    parts = digits.part(0, 64), digits.part(64, 96)
    found = full_run.compare(*parts, network=AVERAGE, batch=8, rates=(0.1, 0.1))
    # 16 steps are too few for roundings to grow much: nearly all are decided alike.
    apart = np.abs(np.subtract(found.ours, found.pytorch))
    assert (len(apart), apart.max() <= 1 / 8) == (2, True)


def test_nothing_is_recorded_without_a_gpu(simulated, tmp_path):
    with pytest.raises(ck.DeviceError, match="no GPU here to train"):
        full_run.record(place=tmp_path / "record.json")


def test_record_is_read_as_it_was_written(tmp_path):
    measured = (64, (0.1,), 0, (0.5,), (0.25,))
    found = full_run.FullRun("GPU", "2026-11-21", "Digits", *measured)
    place = tmp_path / "record.json"
    place.write_text(json.dumps(dataclasses.asdict(found)))
    assert full_run.recorded(place) == found


def test_record_that_is_not_there_is_none(tmp_path):
    assert full_run.recorded(tmp_path / "none.json") is None


def test_record_of_the_full_run_reaches_the_goal():
    found = full_run.recorded()
    if found is None:
        pytest.skip("the full network has not been trained on a GPU yet")
    assert found.ours[-1] >= full_run.GOAL
    assert abs(found.ours[-1] - found.pytorch[-1]) <= full_run.CLOSE


def test_losses_are_drawn_as_means():
    chart = viewing.learning(
        {"one": [4, 2, 3, 1, 9]}, title="A title", every=2, chance=2.5
    )
    assert chart.rows == ((2, 3.0), (4, 2.0))


@pytest.mark.parametrize("losses", [{"a": [1.0]}, {"a": [1] * 4, "b": [1] * 6}, {}])
def test_losses_that_make_no_lines_are_refused(losses):
    with pytest.raises(ck.ArgumentError, match="learning got"):
        viewing.learning(losses, title="", every=1, chance=2.3)


def test_activations_show_every_channel(trainer):
    shown = viewing.activations(trainer, ONE.images[0])
    assert list(shown.values) == [
        "the picture",
        "layer 1: 3 channels",
        "layer 2: 2 channels",
    ]


def test_mistakes_name_what_was_taken_for_what():
    predicted = ONE.labels.copy()
    predicted[2] = (ONE.labels[2] + 1) % 10
    shown = viewing.mistakes(ONE, predicted)
    assert list(shown.values) == [f"{ONE.labels[2]} taken for {predicted[2]} (no. 2)"]


def test_no_mistakes_are_said_in_words():
    assert viewing.mistakes(ONE, ONE.labels) == "No mistake in 4 pictures."


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (4, (2, 2)), (8, (3, 3))])
def test_maps_make_a_square(count, shape):
    sheet = viewing.tiled(np.ones((count, 5, 5)))
    assert sheet.shape == tuple(viewing.SCALE * (6 * n - 1) for n in shape)


def test_values_that_are_not_finite_are_grey():
    maps = np.array([[[np.nan, np.inf], [1.0, 4.0]]])
    sheet = viewing.tiled(maps)[:: viewing.SCALE, :: viewing.SCALE]
    np.testing.assert_array_equal(sheet, [[0.5, 0.5], [0.25, 1]])


def test_loss_of_a_smaller_batch_is_its_own(simulated):
    losses = []
    for batch in (4, 3):
        one = Trainer(AVERAGE, initial_weights(AVERAGE), batch)
        one.step(ONE.images[:batch], ONE.labels[:batch])
        one.load(ONE.images[:3], ONE.labels[:3])
        one.weights = Trainer(AVERAGE, initial_weights(AVERAGE), 1).weights
        one.forward()
        losses.append(one.loss())
    assert losses[0] == losses[1]
