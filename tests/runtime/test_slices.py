"""Slices count, fail and are named as in a launch, on copies too."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coursekit as ck
from coursekit.analysis.counting import counted
from coursekit.runtime.launching import simulate

pytestmark = pytest.mark.usefixtures("simulated")

SOURCE = """__global__ void scale(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * x[i];
}
__global__ void wide(float *x)
{
    float4 *four = (float4 *)x;
    four[threadIdx.x] = make_float4(1, 2, 3, 4);
}
__global__ void shift(float *x, int away) { x[(int)threadIdx.x + away] += 1; }
__global__ void race(float *x) { x[0] = threadIdx.x; }
__global__ void next(float *y, const float *x) { y[threadIdx.x] = 1 + x[threadIdx.x]; }
"""
N = 2048


@pytest.fixture(scope="module")
def kernels():
    return ck.compile(SOURCE)


def filled(shape) -> ck.DeviceArray:
    return ck.to_device(np.ones(shape, np.float32))


def launched(kernel, grid, block, args):
    """Return the counts of a launch where its arrays lie."""
    with counted() as counts:
        kernel[grid, block](*args)
    return counts[0]


def sectors(counts) -> int:
    return counts.global_load_sectors


def test_a_slice_counts_the_sectors_that_hardware_needs(kernels):
    args = filled(N), filled(N + 8)[1:], N
    assert sectors(ck.count(kernels["scale"], 8, 256, args)) == 320


@pytest.mark.parametrize("first", [0, 1, 7, 8, 9, 32])
def test_a_slice_counts_as_in_a_launch(kernels, first):
    args = filled(N), filled(N + 64)[first:], N
    counts = ck.count(kernels["scale"], 8, 256, args)
    assert sectors(counts) == sectors(launched(kernels["scale"], 8, 256, args))


def test_a_slice_counts_alike_in_both_engines(kernels):
    args, n = (filled(1 << 20), filled((1 << 20) + 8)[1:]), 1 << 20
    engines = [
        simulate(kernels["scale"], n // 256, 256, (*args, n), counters=True, engine=one)
        for one in ("interpreter", "compiled")
    ]
    assert [sectors(one.result.counters) for one in engines] == [n // 32 * 5] * 2


@pytest.mark.parametrize("first", [0, 1, 8])
def test_a_numpy_slice_counts_as_in_a_launch(kernels, first):
    out, x = np.zeros(N, np.float32), np.ones(N + 64, np.float32)[first:]
    counts = ck.count(kernels["scale"], 8, 256, (out, x, N))
    assert sectors(counts) == sectors(launched(kernels["scale"], 8, 256, (out, x, N)))


def test_a_slice_of_a_slice_counts_from_where_it_lies(kernels):
    args = filled(N), filled(N + 64)[3:][6:], N
    assert sectors(ck.count(kernels["scale"], 8, 256, args)) == 320


def test_a_trace_of_a_slice_shows_its_sectors_and_its_elements(kernels):
    args = filled(N), filled(N + 8)[1:], N
    trace = ck.trace(kernels["scale"], 8, 256, args)
    (load,) = [a for _, _, a in trace.accesses() if (a.array, a.verb) == ("x", "reads")]
    assert load.distinct_sectors == 5
    assert (load.elements[:2], load.element_name(3)) == ((0, 1), "x[3]")


CHECKERS = [ck.memcheck, ck.racecheck, ck.initcheck, ck.synccheck]


@pytest.mark.parametrize("checker", CHECKERS)
def test_misaligned_float4_of_a_slice_is_found(kernels, checker):
    found = checker(kernels["wide"], 1, 4, (filled(40)[1:],))
    assert [(one.kind, one.line) for one in found] == [("OutOfBoundsError", 10)]


def test_misaligned_slice_is_named(kernels):
    (found,) = ck.memcheck(kernels["wide"], 1, 4, (filled(40)[1:],))
    assert re.search(r"byte 0 of x, which is byte 4 of the whole", found.message)
    assert "4 is not a multiple of" in found.message
    assert "x is a slice that begins at byte 4 of its array" in found.message
    assert "Let the slice begin at a multiple of" in found.message


def says(kernel, args) -> str:
    """Return the message of a launch, and check that memcheck finds the same."""
    with pytest.raises(ck.OutOfBoundsError) as caught:
        kernel[1, 1](*args)
    (found,) = ck.memcheck(kernel, 1, 1, args)
    assert found.message == str(caught.value)
    return found.message.splitlines()[0]


PARTS = {
    "slice": (lambda d: d[1:], "x[23], but x has 23 elements: it is elements 1 to 23"),
    "slice of a slice": (
        lambda d: d[3:][2:], "x[19], but x has 19 elements: it is elements 5 to 23"),
    "last element": (lambda d: d[23:], "x[1], but x has 1 element: it is element 23"),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_access_past_a_slice_names_the_part_and_the_whole(kernels, name):
    part, words = PARTS[name]
    x = part(filled(24))
    said = says(kernels["shift"], (x, x.size))
    assert f"reads {words} of an array of 24 elements." in said


def test_access_past_a_row_names_the_part_and_the_whole(kernels):
    said = says(kernels["shift"], (filled((4, 3))[3], 3))
    assert "x has 3 elements: it is elements 9 to 11 of an array" in said
    assert said.endswith("of 12 elements (4 x 3).")


def test_access_before_a_slice_that_stays_in_the_array_is_no_fault(kernels):
    x = filled(24)[8:]
    assert list(ck.memcheck(kernels["shift"], 1, 1, (x, -8))) == []
    kernels["shift"][1, 1](x, -8)


def test_access_before_the_array_counts_from_the_slice(kernels):
    said = says(kernels["shift"], (filled(24)[8:], -9))
    assert "reads x[-9], but x has 16 elements: it is elements 8 to 23" in said


def test_whole_array_is_no_part(kernels):
    assert says(kernels["shift"], (filled(24), 24)).endswith("x has 24 elements.")


def test_race_in_a_slice_is_named_by_the_slice(kernels):
    (found,) = ck.racecheck(kernels["race"], 1, 32, (filled(40)[4:],))
    assert "writes x[0]" in found.message


def test_unwritten_slice_is_found_and_a_copy_is_not_taken_for_it(kernels):
    found = ck.initcheck(kernels["next"], 1, 8, (filled(8), ck.empty(64)[8:]))
    assert "x[0]" in found[0].message
    assert list(ck.initcheck(kernels["next"], 1, 8, (filled(8), filled(64)[8:]))) == []


def test_two_slices_of_one_array_stay_in_one_array(kernels):
    d = filled(N + 64)
    before = ck.to_host(d)
    args = d[1 : N // 2], d[N // 2 + 1 :], N // 2 - 1
    counts = ck.count(kernels["scale"], 8, 256, args)
    np.testing.assert_array_equal(ck.to_host(d), before, strict=True)
    assert sectors(counts) == sectors(launched(kernels["scale"], 8, 256, args))


def test_names_of_an_earlier_launch_are_forgotten(kernels):
    d = filled(24)
    kernels["shift"][1, 1](d[1:], 0)
    assert says(kernels["shift"], (d, 24)).endswith("x has 24 elements.")
