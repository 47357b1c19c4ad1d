"""The race of languages: Triton's kernels compute what PyTorch computes."""

from __future__ import annotations

import pytest

import coursekit as ck

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the extra `dsl` is not installed")


@pytest.fixture
def kernels():
    from coursekit.benchmarks.peers import triton_kernels

    with ck.triton_simulator():
        yield triton_kernels


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def test_sum(kernels):
    a, b = drawn(2, 1500)
    c = torch.empty(1500)
    kernels.add(torch, a, b, c, 1500)
    assert torch.equal(c, a + b)


def test_softmax(kernels):
    x = drawn(3, 100)
    y = torch.empty_like(x)
    kernels.softmax(torch, x, y, None, *x.shape)
    torch.testing.assert_close(y, x.softmax(1))


def test_layernorm(kernels):
    x, (gamma, beta) = drawn(3, 100), drawn(2, 100)
    y = torch.empty_like(x)
    kernels.layernorm(torch, x, gamma, beta, y, None, *x.shape)
    wanted = torch.nn.functional.layer_norm(x, (100,), gamma, beta, 1e-5)
    torch.testing.assert_close(y, wanted)


def test_matmul(kernels):
    A, B = drawn(2, 128, 128)
    C = torch.empty_like(A)
    kernels.matmul(torch, A, B, C, 128, 128, 128)
    torch.testing.assert_close(C, A @ B, rtol=1e-5, atol=1e-4)
