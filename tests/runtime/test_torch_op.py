"""Operators of PyTorch made of kernels: what they compute, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.errors import ArgumentError, OutOfBoundsError

torch = pytest.importorskip("torch")


def both(name):
    """Return the module of a file, with kernels for float and double."""
    return ck.compile(f"extensions/{name}.cu")


def elementwise(*tensors):
    """Launch a thread for each element of the first tensor."""
    count = tensors[0].numel()
    return -(-count // 256), 256, count


def by_rows(x, *others):
    """Launch a thread for each element, in a grid of rows."""
    rows, cols = x.shape
    return (-(-cols // 256), rows), 256, cols


def second(x, grad_y, grad_grad_x):
    """Return the gradients of grad_y * (3 x^2 - 3) by x and by grad_y."""
    return grad_grad_x * grad_y * 6 * x, grad_grad_x * (3 * x * x - 3)


@pytest.fixture(scope="module")
def polynomial():
    gradient = ck.torch_op(
        "test::polynomial_backward",
        both("polynomial_backward"),
        second,
        launch=lambda x, grad_y, grad_x: elementwise(x),
        outputs=lambda x, grad_y: torch.empty_like(x),
    )
    return ck.torch_op(
        "test::polynomial",
        both("polynomial"),
        gradient,
        launch=lambda x, y: elementwise(x),
        outputs=lambda x: torch.empty_like(x),
    )


@pytest.fixture(scope="module")
def bias_gelu():
    gradient = ck.torch_op(
        "test::bias_gelu_backward",
        both("bias_gelu_backward"),
        launch=lambda x, bias, grad_y, grad_z: by_rows(x),
        outputs=lambda x, bias, grad_y: torch.empty_like(x),
    )

    def backward(x, bias, grad_y):
        grad_z = gradient(x, bias, grad_y)
        return grad_z, grad_z.sum(0)

    return ck.torch_op(
        "test::bias_gelu",
        both("bias_gelu"),
        backward,
        launch=lambda x, bias, y: by_rows(x),
        outputs=lambda x, bias: torch.empty_like(x),
    )


def numbers(*shape, dtype=torch.float64):
    """Return the same random tensor each time, which wants a gradient."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    return x.to(dtype).requires_grad_()


@pytest.mark.parametrize("shape", [(), (1,), (33,), (3, 5), (2, 3, 43)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_kernel_serves_any_shape_and_its_type(polynomial, shape, dtype):
    x = numbers(*shape, dtype=dtype).detach()
    exact = x.double().numpy() ** 3 - 3 * x.double().numpy() + 1
    # Three roundings, relative to the terms, which are 100 at most.
    bound = 300 * torch.finfo(dtype).eps
    found = polynomial(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.numpy(), exact, atol=bound, rtol=0)


def test_an_empty_tensor_launches_nothing(polynomial):
    assert polynomial(torch.empty(0, 3)).shape == (0, 3)


def test_a_transposed_tensor_is_packed(polynomial):
    x = numbers(3, 5).detach()
    assert torch.equal(polynomial(x.T), polynomial(x).T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_opcheck_finds_nothing(polynomial, dtype):
    found = torch.library.opcheck(polynomial, (numbers(3, 5, dtype=dtype),))
    assert set(found.values()) == {"SUCCESS"}


def test_opcheck_finds_nothing_with_two_inputs(bias_gelu):
    found = torch.library.opcheck(bias_gelu, (numbers(3, 5), numbers(5)))
    assert set(found.values()) == {"SUCCESS"}


def test_gradients_agree_with_finite_differences(polynomial, bias_gelu):
    assert torch.autograd.gradcheck(polynomial, (numbers(3, 5),))
    assert torch.autograd.gradcheck(bias_gelu, (numbers(3, 5), numbers(5)))


def test_second_gradients_agree_with_finite_differences(polynomial):
    assert torch.autograd.gradgradcheck(polynomial, (numbers(7),))


def test_a_fused_operator_agrees_with_pytorch(bias_gelu):
    x, bias = numbers(3, 5), numbers(5)
    ours, theirs = bias_gelu(x, bias), torch.nn.functional.gelu(x + bias)
    pairs = [(ours, theirs)]
    pairs += zip(
        torch.autograd.grad(ours.sum(), (x, bias)),
        torch.autograd.grad(theirs.sum(), (x, bias)),
        strict=True,
    )
    for own, other in pairs:
        torch.testing.assert_close(own, other)


def test_it_compiles_without_a_graph_break(polynomial):
    def loss(x):
        return polynomial(2 * x).sum()

    x = numbers(3, 5)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(x), x)
    assert torch.equal(found[0], torch.autograd.grad(loss(x), x)[0])


def test_outputs_that_read_a_value_do_not_compile():
    operator = ck.torch_op(
        "test::as_many_as_the_largest",
        both("polynomial"),
        launch=lambda x, y: (1, 256, y.numel()),
        outputs=lambda x: x.new_empty(int(x.max())),
    )
    compiled = torch.compile(operator, fullgraph=True, backend="aot_eager")
    with pytest.raises(torch._dynamo.exc.UserError, match="data-dependent"):
        compiled(torch.tensor([3.0, 4.0]))


def test_it_is_one_node_of_an_exported_model(polynomial):
    class Model(torch.nn.Module):
        def forward(self, x):
            return polynomial(x) + 1

    exported = torch.export.export(Model(), (torch.randn(4),))
    targets = [str(node.target) for node in exported.graph.nodes]
    assert targets.count("test.polynomial.default") == 1
    x = torch.randn(4)
    assert torch.equal(exported.module()(x), polynomial(x) + 1)


def test_the_fake_kernel_runs_no_kernel(polynomial):
    fake = polynomial(torch.empty(3, 5, device="meta"))
    assert (fake.shape, fake.device.type) == ((3, 5), "meta")


def test_numbers_and_defaults_are_in_the_schema():
    kernel = ck.compile("layernorm/step_02_one_pass.cu").layernorm_one_pass
    norm = ck.torch_op(
        "test::layernorm",
        kernel,
        launch=lambda x, gamma, beta, epsilon, y: (len(x), 256, x.shape[1], epsilon),
        outputs=lambda x, gamma, beta, epsilon=1e-5: torch.empty_like(x),
    )
    x, gamma, beta = (
        numbers(*s, dtype=torch.float32) for s in ((3, 300), (300,), (300,))
    )
    with torch.no_grad():
        expected = torch.nn.functional.layer_norm(x, (300,), gamma, beta)
        torch.testing.assert_close(norm(x, gamma, beta), expected)
    assert "float epsilon=1.0" in str(norm._opoverload._schema)


def test_backward_may_ask_for_the_result():
    softmax = ck.torch_op(
        "test::softmax",
        ck.compile("softmax/step_03_online.cu").softmax_online,
        lambda y, grad_y: y * (grad_y - (y * grad_y).sum(-1, keepdim=True)),
        launch=lambda x, y: (len(x), 256, x.shape[1]),
        outputs=lambda x: torch.empty_like(x),
    )
    x = numbers(3, 300, dtype=torch.float32)
    weights = torch.arange(300.0)
    ours, theirs = (f(x) @ weights for f in (softmax, lambda x: x.softmax(-1)))
    torch.testing.assert_close(ours, theirs)
    pair = (torch.autograd.grad(each.sum(), x)[0] for each in (ours, theirs))
    torch.testing.assert_close(*pair, rtol=1e-4, atol=1e-5)


def made(**changes):
    """Return a good operator with some arguments replaced."""
    arguments = {
        "forward": ck.compile("extensions/polynomial.cu")["polynomial<float>"],
        "launch": lambda x, y: elementwise(x),
        "outputs": lambda x: torch.empty_like(x),
    } | changes
    return ck.torch_op("test::made", arguments.pop("forward"), **arguments)


def called(**changes):
    """Call such an operator, forwards and backwards."""
    made(**changes)(torch.ones(3, requires_grad=True)).sum().backward()


WRITES = ck.compile(
    "__global__ void twice(float *x, float *y, int n) { *y = *x *= 2; }"
).twice


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": lambda x: x}, "outputs returned an input"),
        ({"outputs": lambda x: x[:2]}, "outputs returned an input"),
        ({"outputs": lambda x: 3}, "outputs returned int"),
        ({"outputs": lambda x: x.new_empty(3, 3).T}, "with the strides (1, 3)"),
        ({"outputs": lambda x: x.new_empty(3).double()}, "parameter y (float*)"),
        ({"backward": lambda q: q}, "a parameter q"),
        ({"backward": lambda x: (x, x)}, "backward returned 2 gradients"),
        ({"launch": lambda x: 1}, "launch has 1"),
        ({"schema": "(Tensor x"}, "cannot be read"),
        ({"schema": "(Tensor(a!) x) -> Tensor"}, "an input that changes"),
        ({"schema": "(str x) -> Tensor"}, "has str"),
        ({"forward": [3]}, "forward is int"),
        ({"forward": WRITES}, "twice takes the input x as float* x"),
        ({"forward": []}, "forward is nothing"),
    ],
)
def test_a_broken_part_is_named(changes, message):
    with pytest.raises(ArgumentError) as caught:
        called(**changes)
    assert message in str(caught.value)
    assert caught.value.cause
    assert caught.value.cure


def test_a_result_that_is_too_short_is_found_by_the_simulator():
    with ck.simulator(), pytest.raises(OutOfBoundsError, match="writes y"):
        called(outputs=lambda x: x.new_empty(2))


def test_without_a_backward_pytorch_refuses():
    with pytest.raises(RuntimeError, match="no autograd formula"):
        called()


def test_a_type_without_a_kernel_is_named(polynomial):
    with pytest.raises(ArgumentError, match="is of float16, but the kernels are for"):
        polynomial(torch.ones(3, dtype=torch.float16))


def test_tensors_on_two_devices_are_named():
    operator = made(
        forward=ck.compile("extensions/polynomial_backward.cu"),
        launch=lambda x, b, y: elementwise(x),
        outputs=lambda x, b: torch.empty_like(x),
    )
    with pytest.raises(ArgumentError, match="are on cpu and meta"):
        operator._init_fn(torch.ones(3), torch.ones(3, device="meta"))


def test_tensors_on_the_cpu_are_simulated_as_the_open_simulation_says(polynomial):
    x = numbers(64).detach()
    with ck.simulator(order="reverse") as simulation:
        polynomial(x)
        with ck.simulator():
            polynomial(x)
        polynomial(x)
        assert simulation.order == "reverse"
    assert torch.equal(polynomial(x), polynomial(x))
