"""ck.fusion: bytes and launches of chains, against kernels that are counted."""

from __future__ import annotations

import numpy as np
import pytest
from fused_kernels import CHAINS, COLUMNS, EPSILON, ROWS, SQUARE, N, counted, tensors

import coursekit as ck

LINES = CHAINS["sigmoid(a + b * c)"].lines
VECTORS = {"a": N, "b": N, "c": N}


@pytest.fixture(params=CHAINS)
def name(request, simulated):
    return request.param


# ---------------------------------------------------------------- counted


def test_unfused_bytes_are_those_the_simulator_counts(name):
    chain = CHAINS[name]
    model = ck.fusion(chain.lines, chain.shapes)
    assert counted(chain.apart, tensors(name)) == model.bytes_asked


def test_fused_bytes_are_those_the_simulator_counts(name):
    chain = CHAINS[name]
    model = ck.fusion(chain.lines, chain.shapes, fuse="all")
    assert counted((chain.together,), tensors(name)) == model.bytes_asked


def test_kernels_of_a_chain_are_as_many_as_its_launches(name):
    chain = CHAINS[name]
    assert ck.fusion(chain.lines, chain.shapes).launches == len(chain.apart)


def test_fused_kernel_computes_what_the_unfused_ones_do(name):
    chain, apart, together = CHAINS[name], tensors(name), tensors(name)
    counted(chain.apart, apart)
    counted((chain.together,), together)
    last = chain.lines[-1].split()[0]
    # A few roundings each, of sums of up to 128 terms in another order.
    rtol = (COLUMNS + 8) * EPSILON
    np.testing.assert_allclose(
        together[last], apart[last], rtol=rtol, equal_nan=False, strict=True
    )


# ---------------------------------------------------------------- the model


def test_fusing_halves_the_bytes_of_three_operations():
    apart, together = (
        ck.fusion(LINES, VECTORS, fuse=fuse).bytes_least for fuse in ((), "all")
    )
    assert (apart, together) == (8 * 4 * N, 4 * 4 * N)


def test_intermediate_of_a_fused_kernel_is_not_written():
    assert ck.fusion(LINES, VECTORS, fuse="all").kept_on_chip == ("t", "u")


def test_intermediate_that_another_kernel_needs_is_written():
    lines = [*LINES, "w = t + y"]
    found = ck.fusion(lines, VECTORS, fuse=[("t", "u", "y")])
    assert [part.name for part in found.kernels[0].writes] == ["t", "y"]


def test_groups_need_not_be_neighbours():
    lines = ["t = a * a", "u = b + c", "v = t + t"]
    found = ck.fusion(lines, VECTORS, fuse=[("t", "v")])
    assert [kernel.name for kernel in found.kernels] == ["t + v", "u"]


def test_kernels_come_in_an_order_that_can_run():
    lines = ["t = a * a", "u = b + c", "v = t + u", "w = t + t"]
    found = ck.fusion(lines, VECTORS, fuse=[("t", "v")])
    assert [kernel.name for kernel in found.kernels] == ["u", "t + v", "w"]


@pytest.mark.parametrize(
    ("dtypes", "least"),
    [
        ("float32", 12 * N),
        ("float16", 6 * N),
        ("bfloat16", 6 * N),
        ({"c": "float64"}, 16 * N),
    ],
)
def test_bytes_follow_the_types(dtypes, least):
    found = ck.fusion("c = a + b", {"a": N, "b": N}, dtypes=dtypes)
    assert found.bytes_least == least


def test_broadcast_tensor_is_asked_for_by_every_row_and_needed_once():
    found = ck.fusion("z = x + bias", {"x": SQUARE, "bias": COLUMNS})
    read = {part.name: part for part in found.kernels[0].reads}["bias"]
    assert (read.asked, read.least) == (4 * ROWS * COLUMNS, 4 * COLUMNS)


def test_value_of_a_row_is_asked_for_by_the_sector():
    found = ck.fusion("e = x - m", {"x": SQUARE, "m": (ROWS, 1)})
    read = {part.name: part for part in found.kernels[0].reads}["m"]
    assert (read.asked, read.least) == (32 * ROWS * COLUMNS // 32, 4 * ROWS)


def test_bound_is_the_least_bytes_over_the_bandwidth():
    found = ck.fusion("y = exp(x)", {"x": 600_000_000}, device="H200")
    assert found.bound_us == pytest.approx(1000)  # 4.8 GB at 4,800 GB/s


def test_bound_is_of_the_least_bytes_not_of_those_asked_for():
    found = ck.fusion(
        "z = x + bias", {"x": (60_000, 10_000), "bias": 10_000}, device="H200"
    )
    assert found.bytes_asked > 1.4 * found.bytes_least
    assert found.bound_us == pytest.approx(1000, rel=1e-4)  # 4.8 GB at 4,800 GB/s


def test_tensors_that_fit_l2_are_told_that_the_bound_is_for_larger_ones():
    small, large = (
        ck.fusion("y = exp(x)", {"x": n}, device="H200").remarks for n in (N, 1 << 28)
    )
    assert any("fit the L2 of 60 MiB" in remark for remark in small)
    assert not any("L2" in remark for remark in large)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "no line"),
        ("y = ", "no assignment"),
        ("y, z = a", "no assignment to one name"),
        ("y = q + a", "q is neither an input nor computed before"),
        ("a = b + c", "a has a value already"),
        ("y = 3.0", "reads no tensor"),
        ("y = exp(sum(a))", "a line of its own"),
        ("y = sum(a, axis=0)", "axis=-1, or no axis"),
        ("y = a[0]", "no operation on elements"),
        ("y = a + wide", "do not broadcast"),
    ],
)
def test_line_that_cannot_be_read_says_why(lines, why):
    with pytest.raises(ck.ArgumentError, match=why):
        ck.fusion(lines, {**VECTORS, "wide": 3})


def test_group_that_waits_for_itself_is_refused():
    with pytest.raises(ck.ArgumentError, match="wait for each other"):
        ck.fusion(LINES, VECTORS, fuse=[("t", "y")])


def test_sum_of_all_cannot_be_used_in_the_same_kernel():
    with pytest.raises(ck.ArgumentError, match="every block has added its part"):
        ck.fusion(["s = sum(a)", "y = a / s"], VECTORS, fuse="all")


@pytest.mark.parametrize("fuse", [[("t", "q")], [("t", "u"), ("u", "y")], [("t", "t")]])
def test_group_of_something_else_is_refused(fuse):
    with pytest.raises(ck.ArgumentError, match="cannot fuse"):
        ck.fusion(LINES, VECTORS, fuse=fuse)


@pytest.mark.parametrize("shape", [0, (4, 0), 1.5, ("a",)])
def test_shape_of_no_elements_is_refused(shape):
    with pytest.raises(ck.ArgumentError, match="the shape of x"):
        ck.fusion("y = exp(x)", {"x": shape})


# ---------------------------------------------------------------- how it reads


def test_summary_compares_with_the_unfused_chain():
    found = ck.fusion(LINES, VECTORS, fuse="all", device="H200")
    assert found.summary == (
        "1 launch, 65.54 kB at least: 0.0137 us or more through the memory of the "
        "H200. Unfused: 3 launches, 131.1 kB, 0.0273 us; 50% of the bytes remain."
    )


def test_html_says_what_the_text_says():
    found = ck.fusion(LINES, VECTORS, fuse="all")
    assert all(text in found._repr_html_() for text in (found.summary, *found.remarks))


def test_bound_is_called_a_bound():
    assert "A bound by bytes alone" in repr(ck.fusion(LINES, VECTORS))
