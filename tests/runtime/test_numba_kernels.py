"""`ck.from_numba`: kernels in Python, launched, counted and checked without a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32

import coursekit as ck
from coursekit import errors
from coursekit.toolchain import numba_compiler


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


def scale(x, out, factor):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * factor


def scale_without_guard(x, out, factor):
    i = cuda.grid(1)
    out[i] = x[i] * factor


def reverse(x):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    x[i] = tile[63 - i]


def reverse_with_race(x):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    x[i] = tile[63 - i]


def count(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


def warp_sum(x, out):
    value = x[cuda.grid(1)]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)


@cuda.jit(device=True)
def squared(value):
    return value * value


def squares(x):
    i = cuda.grid(1)
    x[i] = squared(x[i])


def matmul(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


def line_of(function, text: str) -> int:
    """Return the line of this file on which a function has a text."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


VECTORS = "float32[:], float32[:], float32"


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).random(shape, np.float32)


def test_kernel_computes(backend):
    x, out = numbers(70), np.zeros(70, np.float32)
    ck.from_numba(scale, VECTORS)[3, 32](x, out, 2.5)
    np.testing.assert_array_equal(out, x * np.float32(2.5))


@pytest.mark.parametrize(
    "signature",
    [VECTORS, f"void({VECTORS})", (float32[:], float32[:], float32)],
    ids=["types", "whole", "objects"],
)
def test_signature_is_written_as_numba_reads_it(signature):
    kernel = ck.from_numba(scale, signature)
    shown = "scale(x: float32[:], out: float32[:], factor: float32)"
    assert str(kernel) == f"Kernel {shown}"


def test_decorated_function_serves_too():
    x, out = numbers(64), np.zeros(64, np.float32)
    ck.from_numba(cuda.jit(scale), VECTORS)[2, 32](x, out, 1.0)
    np.testing.assert_array_equal(out, x)


def test_matrices_are_passed_with_their_shapes(backend):
    a, b, c = numbers(20, 30), numbers(30, 25), np.zeros((20, 25), np.float32)
    kernel = ck.from_numba(matmul, "float32[:, :], float32[:, :], float32[:, :]")
    kernel[(3, 4), (8, 8)](a, b, c)
    np.testing.assert_allclose(c, a.astype(float) @ b, rtol=30 * 2**-24, strict=False)


def test_shared_memory_and_barriers():
    x = numbers(64)
    out = x.copy()
    ck.from_numba(reverse, "float32[:]")[1, 64](out)
    np.testing.assert_array_equal(out, x[::-1])


def test_atomics():
    x = np.random.default_rng(3).integers(0, 8, 100)
    bins = np.zeros(8, np.int32)
    ck.from_numba(count, "int64[:], int32[:]")[4, 32](x, bins)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=8))


def test_shuffles():
    x, out = numbers(64), np.zeros(1, np.float32)
    ck.from_numba(warp_sum, "float32[:], float32[:]")[2, 32](x, out)
    np.testing.assert_allclose(out[0], x.sum(dtype=float), rtol=64 * 2**-24)


def test_functions_that_a_kernel_calls():
    x = numbers(32)
    out = x.copy()
    ck.from_numba(squares, "float32[:]")[1, 32](out)
    np.testing.assert_array_equal(out, x * x)


def test_launch_is_counted():
    x = numbers(64)
    kernel = ck.from_numba(scale, VECTORS)
    counts = ck.count(kernel, 2, 32, (x, x.copy(), 2.0))
    assert (counts.global_load_sectors, counts.global_store_sectors) == (8, 8)


def test_costs_stand_beside_python():
    x = numbers(64)
    kernel = ck.from_numba(scale, VECTORS)
    counts = ck.count(kernel, 2, 32, (x, x.copy(), 2.0))
    place = "tests/runtime/test_numba_kernels.py", line_of(scale, "out[i]")
    assert counts.by_line()[place].global_store_sectors == 8


def test_fault_names_the_python_line():
    x = numbers(50)
    kernel = ck.from_numba(scale_without_guard, VECTORS)
    with pytest.raises(errors.OutOfBoundsError) as caught:
        kernel[2, 32](x, x.copy(), 2.0)
    line = line_of(scale_without_guard, "out[i]")
    message = str(caught.value)
    assert f"test_numba_kernels.py:{line}    out[i] = x[i] * factor" in message
    assert "reads x[50], but x has 50 elements" in message
    assert "`if i < n:`" in message
    assert "called from" not in message


def test_race_names_both_python_lines():
    kernel = ck.from_numba(reverse_with_race, "float32[:]")
    (finding,) = ck.racecheck(kernel, 1, 64, (numbers(64),))
    assert "tile[i] = x[i]    <- thread" in finding.message
    assert "x[i] = tile[63 - i]    <- thread" in finding.message
    assert "Put a cuda.syncthreads() between the two" in finding.message


def test_shared_array_has_its_python_name():
    kernel = ck.from_numba(reverse_with_race, "float32[:]")
    (finding,) = ck.racecheck(kernel, 1, 64, (numbers(64),))
    assert " reads tile[" in finding.message


def test_right_kernel_has_no_race():
    kernel = ck.from_numba(reverse, "float32[:]")
    assert len(ck.racecheck(kernel, 1, 64, (numbers(64),))) == 0


def test_function_is_shown_alone():
    shown = str(ck.show(ck.from_numba(reverse, "float32[:]")))
    assert "tile[63 - i]" in shown
    assert "def reverse_with_race" not in shown


REFUSED = {
    "count": ((numbers(8),), "scale takes 3 arguments, got 1"),
    "rank": ((numbers(2, 4), numbers(8), 1.0), r"shape \(2, 4\) for x"),
    "dtype": ((np.zeros(8), numbers(8), 1.0), "a NumPy array of float64"),
    "no array": ((7, numbers(8), 1.0), r"x \(float\*\) got int 7"),
    "strides": ((numbers(16)[::2], numbers(8), 1.0), "not contiguous"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments_are_refused(case):
    arguments, message = REFUSED[case]
    kernel = ck.from_numba(scale, VECTORS)
    with pytest.raises(errors.ArgumentError, match=message):
        kernel[1, 32](*arguments)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("float32[:]", "scale has 3 parameters, and its signature has 1 types"),
        ("float3[:], float32[:], int32", "is no signature"),
        ("float32(float32[:], float32[:], float32)", "the signature returns float32"),
    ],
)
def test_wrong_signature_is_refused(signature, message):
    with pytest.raises(errors.CompileError, match=message):
        ck.from_numba(scale, signature)


def test_type_without_a_place_in_ptx_is_refused():
    with pytest.raises(
        errors.UnsupportedError, match="no parameters of type complex64"
    ):
        ck.from_numba(squares, "complex64[:]")


def test_what_numba_refuses_is_told_with_its_line():
    def wrong(x):
        x.missing(1)

    with pytest.raises(
        errors.CompileError, match="Unknown attribute 'missing'"
    ) as told:
        ck.from_numba(wrong, "float32[:]")
    assert f"line {line_of(wrong, 'x.missing')}" in str(told.value)


def test_something_else_than_a_function_is_refused():
    with pytest.raises(errors.ArgumentError, match="got int, which is no Python funct"):
        ck.from_numba(7, "float32[:]")


def test_missing_compiler_says_how_to_get_it(monkeypatch):
    from numba.cuda.cudadrv.error import NvvmSupportError

    def missing(*_, **__):
        raise NvvmSupportError("libNVVM cannot be found")

    monkeypatch.setattr(cuda, "compile_ptx", missing)
    with pytest.raises(errors.UnsupportedError, match="pip install nvidia-nvvm"):
        ck.from_numba(scale, VECTORS)


def test_numba_keeps_its_own_device(monkeypatch):
    from numba.cuda import dispatcher

    before = dispatcher.get_current_device
    with numba_compiler._device_functions_for((8, 0)):
        assert dispatcher.get_current_device().compute_capability == (8, 0)
    assert dispatcher.get_current_device is before
