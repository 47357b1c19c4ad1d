"""Pictures of times: speedups, ladders, rooflines and timelines."""

from __future__ import annotations

import pytest

import coursekit as ck
from coursekit import plot
from coursekit.benchmarking import Benchmark, Row
from coursekit.benchmarking.ceilings import ceiling
from coursekit.benchmarking.results import NO_RECORD
from coursekit.simt.memory.counters import Counters

SIZES = (1 << 20, 1 << 24)
NOTE = "recorded on NVIDIA H200, 2026-11-21; not measured here"


def benchmark(*, cases=("naive", "tiled"), sizes=SIZES, flops=None, **changes):
    """Make times: the first case moves 400 GB/s, each further one four times that."""
    rows = tuple(
        Row(case, n, 12 * n / 4e8 / 4**rank, 12 * n / 4e10 / 4**rank, 50, 4.0**rank)
        for n in sizes
        for rank, case in enumerate(("naive", "tiled"))
    )
    limit = ceiling(ck.device("H200"), sizes, lambda n: 12 * n, flops)
    given = {"cases": cases, "sizes": sizes, "rows": rows, "origin": "recorded"}
    given |= {"device": "NVIDIA H200", "date": "2026-11-21", "ceiling": limit}
    return Benchmark(**(given | changes))


@pytest.fixture
def stale():
    counts = {"mine": Counters({"global_load_sectors": 1024})}
    return benchmark(
        cases=("naive", "tiled", "mine"),
        missing={"mine": NO_RECORD},
        counts=counts,
        counted=4096,
    )


def texts(chart) -> list[str]:
    return [text.get_text() for text in chart.axes[0].texts]


DRAWN = {
    "speedup": lambda b: plot.speedup(b, title="Four times."),
    "speedup at one size": lambda b: plot.speedup(
        benchmark(sizes=SIZES[:1]), title="Four times."
    ),
    "ladder": lambda b: plot.ladder(b, title="Four times."),
    "rates": lambda b: plot.rates(b, title="Four times."),
    "roofline": lambda b: plot.roofline(
        benchmark(flops=lambda n: n), title="Four times."
    ),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_corner_has_device_and_date(draw):
    assert draw(benchmark()).get_supxlabel() == NOTE


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_alt_text_begins_with_the_claim_and_says_where_it_is_from(draw):
    alt = draw(benchmark()).alt
    assert alt.startswith("Four times. ")
    assert "ecorded on NVIDIA H200, 2026-11-21" in alt


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_table_has_every_case(draw):
    html = draw(benchmark())._repr_mimebundle_()["text/html"]
    assert "naive" in html.partition("<table>")[2]
    assert "tiled" in html.partition("<table>")[2]


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_axes_have_names(draw):
    axes = draw(benchmark()).axes[0]
    assert axes.get_xlabel() or axes.get_ylabel()


# ---------------------------------------------------------------- speedup


def test_speedup_draws_the_limit_over_the_sizes():
    axes = plot.speedup(benchmark(), title="t").axes[0]
    limit = next(line for line in axes.lines if "limit" in line.get_label())
    assert list(limit.get_ydata()) == pytest.approx([12, 12])  # 4,800 of 400 GB/s


def test_speedup_is_not_flattened_by_a_limit_far_above():
    limited = benchmark(cases=("naive",), rows=benchmark().rows[::2])  # 12 times
    axes = plot.speedup(limited, title="t").axes[0]
    assert axes.get_ylim()[1] == pytest.approx(1.8)
    assert "limit of the H200 (above)" in [line.get_label() for line in axes.lines]


def test_speedup_names_no_size_where_the_name_before_lies():
    axes = plot.speedup(benchmark(sizes=(1000, 1024, 2048)), title="t").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "1,000",
        "",
        "2,048",
    ]


def test_speedup_table_has_the_limit():
    chart = plot.speedup(benchmark(), title="t", along="elements")
    assert chart.headings == ("elements", "naive", "tiled", "limit of the H200")
    assert chart.rows[0] == (1 << 20, 1.0, 4.0, pytest.approx(12))


def test_speedup_cases_differ_in_more_than_colour():
    axes = plot.speedup(benchmark(), title="t").axes[0]
    markers = [line.get_marker() for line in axes.lines if "limit" not in line._label]
    assert len(set(markers)) == 2


def test_speedup_at_one_size_is_bars():
    axes = plot.speedup(benchmark(sizes=SIZES[:1]), title="t").axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1, 4]


def test_speedup_says_what_has_no_record(stale):
    note = plot.speedup(stale, title="t").get_supxlabel()
    assert "mine: no record of your version" in note
    assert "mine counts, at size 4,096: 1,024 global load sectors" in note


def test_speedup_without_any_time_says_the_bound():
    empty = benchmark(rows=(), origin="none", missing={"naive": NO_RECORD})
    alt = plot.speedup(empty, title="t").alt
    assert "an H200 cannot move 201,326,592 bytes in less than 41.9 us" in alt


# ---------------------------------------------------------------- ladder


def test_ladder_shows_bandwidth_and_share():
    assert texts(plot.ladder(benchmark(), title="t"))[:2] == [
        "400 GB/s, 8%",
        "1,600 GB/s, 33%",
    ]


def test_ladder_shows_arithmetic_where_it_is_known():
    chart = plot.ladder(benchmark(flops=lambda n: 1000 * n), title="t")
    assert chart.headings == ("step", "TFLOP/s", "of the limit")


def test_ladder_shows_times_where_nothing_else_is_known():
    plain = benchmark(ceiling=ceiling(ck.device("H200"), SIZES))
    assert plot.ladder(plain, title="t").rows[0][2] == "unknown"


def test_ladder_names_the_limit():
    assert "limit of the H200: 4,800 GB/s" in texts(plot.ladder(benchmark(), title="t"))


def test_ladder_goes_down_in_the_order_of_the_cases():
    axes = plot.ladder(benchmark(), title="t").axes[0]
    bottom, top = axes.get_ylim()
    assert bottom > top
    assert [label.get_text() for label in axes.get_yticklabels()] == ["naive", "tiled"]


def test_ladder_has_counts_and_bound_in_place_of_a_bar(stale):
    shown = texts(plot.ladder(stale, title="t"))
    assert (
        "no record of your version; at least 41.9 us on the H200\n"
        "at size 4,096: 1,024 global load sectors"
    ) in shown


def test_ladder_at_another_size():
    chart = plot.ladder(benchmark(), title="t", size=SIZES[0])
    assert chart.axes[0].get_xlabel().endswith("at size 1,048,576")


def test_more_steps_than_colours_still_differ():
    from coursekit.plot.drawing import look

    looks = {tuple(look(number).items()) for number in range(36)}
    assert len(looks) == 36


# ---------------------------------------------------------------- roofline


def test_roofline_says_its_roof_in_words():
    alt = plot.roofline({"a": (0.5, 1.0)}, title="t", device="H200").alt
    assert "4,800 GB/s up to 13.9 FLOP per byte, then 66.9 TFLOP/s of fp32" in alt


def test_roofline_of_counts_shows_what_is_possible():
    counts = Counters({"flops_fp32": 3200, "bytes_read": 3200})
    chart = plot.roofline({"a": counts}, title="t", device="H200")
    assert chart.rows == (("a", 1.0, "at most 4.8", "100%"),)


def test_roofline_of_counts_says_that_nothing_was_measured():
    counts = Counters({"flops_fp32": 3200, "bytes_read": 3200})
    chart = plot.roofline({"a": counts}, title="t", device="H200")
    assert "counted; points are what is possible, not measured" in chart.get_supxlabel()


def test_roofline_of_counts_is_a_line_up_to_the_roof():
    counts = Counters({"flops_fp32": 3200, "bytes_read": 3200})
    axes = plot.roofline({"a": counts}, title="t", device="H200").axes[0]
    line = next(one for one in axes.lines if one.get_linestyle() == ":")
    bottom, top = line.get_ydata()
    assert (bottom, top) == (axes.get_ylim()[0], pytest.approx(4.8))


@pytest.mark.parametrize("time", [2.0, Row("a", 1, 2.0, 0.1, 50, 1.0)], ids=str)
def test_roofline_of_counts_with_a_time_is_a_point(time):
    counts = Counters({"flops_fp32": 4_000_000, "bytes_read": 2_000_000})
    chart = plot.roofline({"a": (counts, time)}, title="t", device="H200")
    assert chart.rows[0][1:3] == (2.0, pytest.approx(2e-3))


def test_roofline_of_a_report_takes_the_bytes_of_memory():
    report = ck.report("start/vec_add")
    chart = plot.roofline({"a": report}, title="t", device="H200")
    # 2^25 additions, and 12 bytes for each but what L2 still holds of the result.
    assert 1 / 12 < chart.rows[0][1] < 1.05 / 12
    assert "by Nsight Compute on NVIDIA H200, 2026-11-21" in chart.alt


def test_roofline_point_lies_where_it_was_measured():
    chart = plot.roofline(benchmark(flops=lambda n: 12 * n), title="t")
    assert chart.rows[0][1:3] == (pytest.approx(1), pytest.approx(0.4))


def test_roofline_takes_another_arithmetic():
    chart = plot.roofline(
        {"a": (500.0, 600.0)}, title="t", device="H200", kind="bf16_tensor"
    )
    assert chart.rows[0][3] == "61%"


@pytest.mark.parametrize(
    ("points", "more"),
    [
        pytest.param({}, {}, id="no point"),
        pytest.param({"a": (0.0, 1.0)}, {}, id="no operations"),
        pytest.param({"a": (1.0, 1.0)}, {"kind": "fp4"}, id="unknown peak"),
    ],
)
def test_roofline_that_cannot_be_drawn_is_refused(points, more):
    with pytest.raises(ck.ArgumentError, match=r"plot\.roofline"):
        plot.roofline(points, title="t", device="H200", **more)


def test_roofline_of_a_benchmark_without_operations_is_refused():
    with pytest.raises(ck.ArgumentError, match="without bytes, operations"):
        plot.roofline(benchmark(), title="t")


# ---------------------------------------------------------------- timeline

SPANS = [("copy", "in", 0, 1.0), ("compute", "kernel", 1.0, 2.5)]


def timeline(spans=SPANS, **changes):
    given = {"title": "One after the other.", "origin": "a computed schedule"}
    return plot.timeline(spans, **(given | changes))


def test_timeline_says_everything_in_words():
    assert timeline(limits={"bound": 2.0}).alt == (
        "One after the other. In ms. copy: in from 0 to 1. compute: kernel from 1 to "
        "2.5. Dashed line at 2: bound. A computed schedule."
    )


def test_timeline_has_a_table():
    assert timeline().headings == ("lane", "work", "start (ms)", "end (ms)")
    assert timeline().rows[1] == ("compute", "kernel", 1.0, 2.5)


def test_timeline_has_a_lane_for_each_engine():
    labels = timeline().axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["copy", "compute"]


def test_timeline_draws_its_limit():
    assert "bound" in texts(timeline(limits={"bound": 2.0}))


@pytest.mark.parametrize(
    "spans", [[], [("a", "b", 2, 1)], [("a", "b", -1, 1)], [("a", 0, 1)]], ids=str
)
def test_timeline_that_cannot_be_drawn_is_refused(spans):
    with pytest.raises(ck.ArgumentError, match=r"plot\.timeline"):
        timeline(spans)


# ---------------------------------------------------------------- rates over sizes


def test_rates_are_useful_bytes_a_second_and_their_limit():
    chart = plot.rates(benchmark(), title="t", along="elements")
    assert chart.headings[1:] == (
        "naive (GB/s)",
        "tiled (GB/s)",
        "limit of the H200 (GB/s)",
    )
    assert chart.rows[0] == pytest.approx((SIZES[0], 400, 1600, 4800))


def test_rates_count_pieces_of_work_a_second():
    chart = plot.rates(benchmark(), title="t", of="updates", each=1000)
    naive_ms = 12 * SIZES[0] / 4e8
    assert chart.rows[0][1] == pytest.approx(1000 / naive_ms * 1e-6)
    assert chart.axes[0].get_ylabel() == "updates per second (10^9)"


def test_rates_show_the_time_of_one_of_many():
    chart = plot.rates(benchmark(), title="t", of="a launch", each="size")
    assert chart.rows[0][1] == pytest.approx(12 / 4e5)  # us; the size cancels
    assert chart.axes[0].get_ylabel() == "time of a launch (us)"


def test_rates_without_bytes_are_times():
    plain = ceiling(ck.device("H200"), SIZES)
    chart = plot.rates(benchmark(ceiling=plain), title="t")
    assert chart.headings[1:] == ("naive (ms)", "tiled (ms)")


def test_rates_name_what_has_no_time(stale):
    chart = plot.rates(stale, title="t")
    assert [row[3] for row in chart.rows] == ["no time", "no time"]
    assert NO_RECORD in chart.get_supxlabel()


@pytest.mark.parametrize("each", [0, -1, True, 2.5, "sizes"])
def test_rates_refuse_what_is_no_number_of_pieces(each):
    with pytest.raises(ck.ArgumentError, match="pieces of work a call"):
        plot.rates(benchmark(), title="t", each=each)


def test_rates_refuse_more_cases_than_colours():
    cases = tuple("abcdefg")
    with pytest.raises(ck.ArgumentError, match="6 colours"):
        plot.rates(benchmark(cases=cases), title="t")
