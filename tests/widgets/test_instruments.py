"""The instruments with sliders and switches: what they hold, store and refuse."""

from __future__ import annotations

import doctest
import importlib

import pytest
import traitlets

import coursekit as ck
from coursekit.simt.memory.counters import Counters
from coursekit.widgets.occupancy import curve

LINES = ["t = b * c", "u = a + t", "y = sigmoid(u)"]
VECTORS = {"a": 4096, "b": 4096, "c": 4096}
SGEMM = {"registers": 122, "shared_bytes": 12_800}
COUNTS = Counters({"flops_fp32": 3200, "bytes_read": 3200})


def sgemm():
    return ck.occupancy_explorer(SGEMM, 128, device="RTX 3070", grid=1536)


@pytest.mark.parametrize(
    "module", ["analysis.occupancy", "lessons.fusion", "benchmarking.nsight.reports"]
)
def test_examples_of_the_documentation_hold(module):
    found = importlib.import_module(f"coursekit.{module}")
    assert doctest.testmod(found).failed == 0


# ---------------------------------------------------------------- occupancy


def test_explorer_starts_with_what_ck_occupancy_says():
    found = ck.occupancy(SGEMM, 128, device="RTX 3070", grid=1536)
    assert repr(sgemm()) == repr(found)


def test_result_follows_the_sliders():
    widget = sgemm()
    widget.registers, widget.device = 32, "H200"
    found = ck.occupancy({**SGEMM, "registers": 32}, 128, device="H200", grid=1536)
    assert widget.result.limits == found.limits


def test_curve_passes_through_the_launch():
    found = sgemm().result
    held = dict(curve(found.device, found.demand, "registers"))
    assert held[122] == found.active_warps


def test_stored_picture_is_described_and_followed_by_a_table():
    html = sgemm().static_html()
    assert html.startswith('<img alt="Occupancy of the kernel')
    assert "<table>" in html


def test_unknown_gpu_is_refused():
    with pytest.raises(ck.DeviceError, match="toaster"):
        ck.occupancy_explorer(32, 128, device="toaster")


# ---------------------------------------------------------------- fusion


def test_counter_starts_unfused():
    widget = ck.fusion_counter(LINES, VECTORS)
    assert widget.result.launches == 3


def test_joined_neighbours_share_a_kernel():
    widget = ck.fusion_counter(LINES, VECTORS, joined=[True, False])
    assert widget.groups == [["t", "u"], ["y"]]


def test_result_follows_what_is_joined():
    widget = ck.fusion_counter(LINES, VECTORS)
    widget.joined = [True, True]
    found = ck.fusion(LINES, VECTORS, fuse="all")
    assert widget.result.bytes_least == found.bytes_least


def test_joined_has_a_value_for_each_pair():
    with pytest.raises(traitlets.TraitError, match="pair of neighbours"):
        ck.fusion_counter(LINES, VECTORS, joined=[True])


def test_counter_refuses_to_start_with_what_no_kernel_can_do():
    with pytest.raises(ck.ArgumentError, match="every block has added its part"):
        ck.fusion_counter(["s = sum(a)", "y = a / s"], VECTORS, joined=[True])


# ---------------------------------------------------------------- roofline


def test_counted_kernel_is_told_the_most_it_can_reach():
    widget = ck.roofline_explorer({"mine": COUNTS}, device="H200")
    assert widget.lines() == ["mine: bound by memory, at most 4.8 TFLOP/s."]


def test_timed_kernel_is_told_what_it_reaches():
    widget = ck.roofline_explorer({"mine": (100.0, 33.0)}, device="H200")
    told = "mine: bound by arithmetic, at most 66.9 TFLOP/s; it reaches 33."
    assert widget.lines() == [told]


def test_time_of_another_gpu_is_not_put_under_a_roof():
    widget = ck.roofline_explorer({"mine": (100.0, 33.0)}, device="H200")
    widget.device = "T4"
    told = "mine: bound by arithmetic, at most 8.14 TFLOP/s; its time is of the H200."
    assert widget.lines() == [told]
    assert "8.141 for mine" in widget.alt_text() and "33" not in widget.alt_text()


def test_roof_follows_the_choice():
    widget = ck.roofline_explorer({"mine": COUNTS}, device="H200")
    widget.device, widget.kind = "A100 SXM4 40GB", "bf16_tensor"
    assert widget.roof.peak_tflops == 312


def test_stored_roofline_is_the_plot():
    html = ck.roofline_explorer({"mine": COUNTS}, device="H200").static_html()
    assert '<img class="ck-chart" alt="Kernels under the roof of the H200.' in html


@pytest.mark.parametrize(
    ("points", "kind", "message"),
    [
        ({}, "fp32", "0 kernels"),
        ({"a": (0.0, 1.0)}, "fp32", "without operations"),
        ({"a": Counters({"bytes_read": 32})}, "fp32", "without operations"),
        ({"a": (1.0, 1.0)}, "fp4", "no peak of 'fp4'"),
        ({str(n): (1.0, 1.0) for n in range(13)}, "fp32", "13 kernels"),
    ],
)
def test_roofline_that_cannot_be_drawn_is_refused(points, kind, message):
    with pytest.raises(ck.ArgumentError, match=message):
        ck.roofline_explorer(points, device="H200", kind=kind)
