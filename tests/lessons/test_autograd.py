"""The engines of the autograd lesson, beside PyTorch and float64 differences."""

import numpy as np
import pytest
import torch

import coursekit as ck
from coursekit.lessons.autograd import Tensor, Value, descend, gradients, pushforward

EPS = 2.0**-24


def values(rows: int, cols: int, seed: int = 0) -> np.ndarray:
    """Return distinct values around zero, in float64, none within 0.05 of it."""
    x = np.random.default_rng(seed).permutation(rows * cols) - (rows * cols - 1) / 2
    x = np.where(x == 0, 0.3, x)
    return (1.7 * x / max(rows * cols / 2, 1)).reshape(rows, cols)


def softmax_loss(x, labels):
    return torch.nn.functional.cross_entropy(x, torch.tensor(labels))


# What each case computes with our tensors, and with PyTorch's: of a and b.
CASES = {
    "add": ((3, 5), (3, 5), lambda a, b: a + b, None),
    "add a row": ((3, 5), (1, 5), lambda a, b: a + b, None),
    "add a column": ((3, 5), (3, 1), lambda a, b: a + b, None),
    "add a number": ((3, 5), (1, 1), lambda a, b: a + b, None),
    "both repeated": ((3, 1), (1, 5), lambda a, b: a * b, None),
    "mul": ((3, 5), (3, 5), lambda a, b: a * b, None),
    "mul by a row": ((3, 5), (1, 5), lambda a, b: a * b, None),
    "square": ((3, 5), (1, 1), lambda a, b: a * a * b, None),
    "subtract": ((3, 5), (3, 1), lambda a, b: 2 - a - b, None),
    "matmul": ((3, 5), (5, 2), lambda a, b: a @ b, None),
    "matmul of transposes": ((5, 3), (2, 5), lambda a, b: a.T @ b.T, None),
    "relu": ((3, 5), (1, 1), lambda a, b: a.relu() * b, None),
    "tanh": ((3, 5), (1, 1), lambda a, b: a.tanh() * b, None),
    "exp": ((3, 5), (1, 1), lambda a, b: a.exp() * b, None),
    "log": ((3, 5), (1, 1), lambda a, b: (a * a + 0.5).log() * b, None),
    "sum down": ((3, 5), (1, 5), lambda a, b: a.sum(0) * b, "keep"),
    "sum across": ((3, 5), (3, 1), lambda a, b: a.sum(1) * b, "keep"),
    "mean": ((3, 5), (3, 1), lambda a, b: (a * b).mean() * a, None),
    "max down": (
        (3, 5), (1, 5), lambda a, b: a.max(0) * b,
        lambda a, b: a.max(0, keepdim=True).values * b,
    ),
    "max across": (
        (3, 5), (3, 1), lambda a, b: a.max(1) * b,
        lambda a, b: a.max(1, keepdim=True).values * b,
    ),
    "reshape": ((3, 4), (2, 6), lambda a, b: a.reshape(2, 6) * b, None),
    "reshape a transpose": ((3, 4), (2, 6), lambda a, b: a.T.reshape(2, 6) * b, None),
    "cross-entropy": (
        (3, 5), (1, 5), lambda a, b: (a * b).cross_entropy([4, 0, 2]),
        lambda a, b: softmax_loss(a * b, [4, 0, 2]),
    ),
}  # fmt: skip


def torchs(case: str):
    """Return the case's function for PyTorch's tensors."""
    _, _, ours, theirs = CASES[case]
    if theirs == "keep":
        axis = 0 if case == "sum down" else 1
        return lambda a, b: a.sum(axis, keepdim=True) * b
    return theirs or ours


def loss_of(y):
    """Return a number that depends on every value of y, and unevenly."""
    rows, cols = y.shape or (1, 1)
    weights = values(rows, cols, seed=9)
    if isinstance(y, Tensor):
        return (y * weights).sum()
    return (y * torch.tensor(weights)).sum()


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_pytorch_in_float64(case):
    shape_a, shape_b, function, _ = CASES[case]
    a, b = values(*shape_a), values(*shape_b, seed=1)
    ours = [Tensor(x, requires_grad=True) for x in (a, b)]
    loss_of(function(*ours)).backward()
    theirs = [torch.tensor(x, requires_grad=True) for x in (a, b)]
    loss_of(torchs(case)(*theirs)).backward()
    for mine, other in zip(ours, theirs, strict=True):
        # Some 40 roundings of terms that are below 40 each.
        wanted = other.grad.numpy()
        np.testing.assert_allclose(
            mine.grad.numpy(), wanted, rtol=64 * EPS, atol=40 * 40 * EPS
        )


@pytest.mark.parametrize("case", CASES)
def test_pytorchs_gradients_are_differences_in_float64(case):
    shape_a, shape_b, _, _ = CASES[case]
    pair = [
        torch.tensor(values(*shape), requires_grad=True) for shape in (shape_a, shape_b)
    ]
    assert torch.autograd.gradcheck(torchs(case), pair)


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_differences_of_the_kernels_results(case):
    shape_a, shape_b, function, _ = CASES[case]
    a, b = values(*shape_a), values(*shape_b, seed=1)
    direction = values(*shape_a, seed=3)
    tensor = Tensor(a, requires_grad=True)
    loss_of(function(tensor, Tensor(b))).backward()
    step = 2.0**-6
    ends = [
        loss_of(function(Tensor(a + h * direction), Tensor(b))).numpy().item()
        for h in (step, -step)
    ]
    slope = (tensor.grad.numpy().astype(np.float64) * direction).sum()
    # The step errs with its square, the difference by a rounding over the step.
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(slope, rel=0.02, abs=0.02)


def test_a_tensor_used_twice_gets_the_sum_of_both_gradients():
    x = Tensor([[3.0, -2.0]], requires_grad=True)
    (x * x + x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[7, -3]])


def test_backward_twice_adds_nothing():
    x = Tensor([[3.0]], requires_grad=True)
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.numpy().item() == 6


def test_no_gradient_is_computed_for_what_asks_for_none():
    x, w = Tensor([[3.0]]), Tensor([[2.0]], requires_grad=True)
    (x * w).sum().backward()
    assert x.grad is None


def test_views_share_their_memory():
    x = Tensor(values(3, 4))
    memory = x.T.sum().memory()
    assert memory.nbytes == 4 * 12 + 4
    assert [row[2] for row in memory.table.rows] == ["48", "shared", "4"]


def test_memory_tells_what_backward_reads():
    x, w = Tensor(values(3, 4)), Tensor(values(4, 2), requires_grad=True)
    memory = (x @ w).tanh().sum().memory()
    reads = [row[3] for row in memory.table.rows]  # x, w, @, tanh, sum
    assert reads == ["yes", "no", "no", "yes", "no"]
    assert memory.needed_nbytes == 4 * (3 * 4 + 3 * 2)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda x: x.backward(), "A gradient tells how one number"),
        (lambda x: x @ x, "The product of 2 x 3 and 2 x 3"),
        (lambda x: x + Tensor([[1.0, 2.0]]), r"2 x 3 \+ 1 x 2 has no shape"),
        (lambda x: x.reshape(4, 2), "It has 6 values"),
        (lambda x: x.max(2), "along axis 2"),
        (lambda x: x.cross_entropy([0, 3]), "from 0 to 2"),
        (lambda x: x.cross_entropy([0]), r"shape \(1,\)"),
        (lambda x: Tensor(np.zeros((1, 1, 1))), r"A tensor of shape \(1, 1, 1\)"),
        (lambda x: descend([x], 0.1), "has no gradient"),
    ],
)
def test_what_cannot_be_is_refused_with_the_shapes(attempt, words):
    with pytest.raises(ck.ArgumentError, match=words):
        attempt(Tensor(values(2, 3)))


def network(x, weights):
    """Return the logits of a layer with tanh, and one without."""
    w1, b1, w2, b2 = weights
    return (x @ w1 + b1).tanh() @ w2 + b2


def test_an_mlp_learns_like_pytorchs_in_float64():
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((20, 6)), rng.integers(0, 3, 20)
    shapes = ((6, 8), (1, 8), (8, 3), (1, 3))
    start = [rng.standard_normal(shape) / 2 for shape in shapes]
    ours = [Tensor(w, requires_grad=True) for w in start]
    theirs = [torch.tensor(w, requires_grad=True) for w in start]
    for _ in range(10):
        loss = network(Tensor(x), ours).cross_entropy(labels)
        loss.backward()
        descend(ours, 0.5)
        other = softmax_loss(network(torch.tensor(x), theirs), labels)
        other.backward()
        with torch.no_grad():
            for w in theirs:
                w -= 0.5 * w.grad
                w.grad = None
        assert loss.numpy().item() == pytest.approx(other.item(), rel=2000 * EPS)


# ---------------------------------------------------------------- numbers


def curve(x, y):
    """Return a function of two numbers that uses every operation."""
    return (x * y).tanh() * x + (y - x).exp() * y + (3 - x * x).relu() * y


def as_torch(x, y):
    return torch.tanh(x * y) * x + torch.exp(y - x) * y + torch.relu(3 - x * x) * y


PLACES = [(0.5, -1.25), (2.0, 0.75), (-0.5, 1.5)]


@pytest.mark.parametrize("place", PLACES)
def test_gradients_of_numbers_are_pytorchs(place):
    inputs = [Value(v) for v in place]
    found = [g.data for g in gradients(curve(*inputs), inputs)]
    wanted = torch.autograd.functional.jacobian(
        as_torch, tuple(torch.tensor(v, dtype=torch.float64) for v in place)
    )
    np.testing.assert_allclose(found, [w.item() for w in wanted], rtol=1e-12)


@pytest.mark.parametrize("place", PLACES)
def test_gradients_of_gradients_are_the_hessian(place):
    inputs = [Value(v) for v in place]
    first = gradients(curve(*inputs), inputs)
    found = [[h.data for h in gradients(g, inputs)] for g in first]
    wanted = torch.autograd.functional.hessian(
        as_torch, tuple(torch.tensor(v, dtype=torch.float64) for v in place)
    )
    wanted = [[h.item() for h in row] for row in wanted]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("place", PLACES)
def test_a_pushforward_is_the_jacobian_times_the_direction(place):
    x, y = inputs = [Value(v) for v in place]
    results, direction = [curve(x, y), x * y * y], (0.5, -2.0)
    jacobian = [[g.data for g in gradients(r, inputs)] for r in results]
    found = pushforward(results, inputs, direction)
    np.testing.assert_allclose(found, np.array(jacobian) @ direction, rtol=1e-12)


def test_a_picture_says_values_and_gradients():
    x = Value(3, "x")
    assert "x 3, gradient 7" in (x * x + x)._repr_html_()


def test_a_large_graph_is_not_drawn():
    x = y = Value(1)
    for _ in range(60):
        y = y + x
    assert "<svg" not in y._repr_html_()


def test_a_long_chain_needs_no_deep_stack():
    x = y = Value(1)
    for _ in range(5000):
        y = y + x
    assert gradients(y, [x])[0].data == 5001
