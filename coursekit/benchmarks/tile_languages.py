"""One problem by PyTorch, torch.compile, Triton and CUDA: what each way costs."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable

from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks import first, layernorm, matmul, softmax
from coursekit.benchmarks.peers import peers

COLS = 4096  # of a row
SIDE = 4096  # of a matrix
LENGTH = 2**25  # of a vector


def _triton(name: str) -> Callable | None:
    if not importlib.util.find_spec("triton"):
        return None
    from coursekit.benchmarks.peers import triton_kernels

    return peers.torch(getattr(triton_kernels, name))


def _peers(name: str, plain: Callable, written: Callable) -> dict[str, Callable]:
    """Return PyTorch, torch.compile and Triton as cases.

    `plain` calls PyTorch, `written` writes PyTorch's result where it belongs, which
    torch.compile makes part of its kernel.
    """
    return {
        "PyTorch": lambda: peers.torch(plain),
        "torch.compile": lambda: peers.torch(written, compiled=True),
        "Triton": lambda: _triton(name),
    }


def _only(cases: Callable[[], dict[str, Callable]], name: str) -> Callable:
    return lambda: {"CUDA": cases()[name]}


def _add(torch, a, b, c, n):
    torch.add(a, b, out=c)


def _added(torch, a, b, c, n):
    c.copy_(a + b)


def _softmax(torch, x, y, copied, rows, cols):
    torch.softmax(x, 1, out=y)


def _softmaxed(torch, x, y, copied, rows, cols):
    y.copy_(torch.softmax(x, 1))


def _normalised(torch, x, gamma, beta, y, copied, rows, cols):
    y.copy_(torch.nn.functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5))


def _matmul(torch, A, B, C, M, N, K):
    torch.mm(A, B, out=C)


def _multiplied(torch, A, B, C, M, N, K):
    C.copy_(torch.mm(A, B))


_race = functools.partial(Definition, reference="PyTorch")
DEFINITIONS = (
    _race(
        key="tile_languages/vec_add",
        cases=_only(first.vec_add_cases, "many blocks"),
        sizes=(LENGTH,),
        setup=first.vectors,
        verify=first.is_sum,
        bytes_moved=lambda n: 3 * 4 * n,
        count_size=2**12,
        peers=_peers("add", _add, _added),
    ),
    _race(
        key="tile_languages/softmax",
        cases=_only(softmax.any_length_cases, "any length"),
        sizes=(COLS,),
        setup=softmax.normal_rows,
        verify=softmax.is_softmax,
        bytes_moved=lambda cols: 2 * 4 * softmax.rows_of(cols) * cols,
        count_size=128,
        peers=_peers("softmax", _softmax, _softmaxed),
    ),
    _race(
        key="tile_languages/layernorm",
        cases=_only(layernorm.any_length_cases, "any length"),
        sizes=(COLS,),
        setup=layernorm.layernorm_rows,
        verify=layernorm.is_layernorm,
        bytes_moved=lambda cols: 4 * cols * (2 * layernorm.rows_of(cols) + 2),
        count_size=128,
        peers=_peers("layernorm", _normalised, _normalised),
    ),
    _race(
        key="tile_languages/matmul",
        cases=lambda: {"CUDA": matmul.tuned_case()},
        sizes=(SIDE,),
        setup=matmul.squares,
        verify=matmul.is_product,
        flops=lambda n: 2 * n**3,
        count_size=20,
        peers=_peers("matmul", _matmul, _multiplied),
    ),
)
