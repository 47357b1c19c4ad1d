"""The model of engines: its rules by closed forms, and against a second model."""

from __future__ import annotations

import doctest
import importlib
import itertools
from types import SimpleNamespace

import pytest
from timeline_reference import enqueue, random_program, starts

import coursekit as ck
from coursekit.benchmarking.records import records
from coursekit.lessons.timeline import Timeline

SEEDS = range(12)
MACHINES = [(0, 2), (3, 2), (2, 1)]  # (launch_us, copy_engines)
CASES = [(seed, *machine) for seed in SEEDS for machine in MACHINES]
every_case = pytest.mark.parametrize(("seed", "launch_us", "engines"), CASES)
IN_US, KERNEL_US, OUT_US = 10, 14, 6


def line(launch_us=0, **more) -> Timeline:
    return Timeline(h2d_gbps=1, d2h_gbps=1, launch_us=launch_us, **more)


def chunk(stream, number, pinned=True) -> None:
    stream.copy_in(1000 * IN_US, f"x{number}", pinned=pinned)
    stream.kernel(KERNEL_US, f"k{number}")
    stream.copy_out(1000 * OUT_US, f"y{number}", pinned=pinned)


def depth_first(model: Timeline, chunks: int, pinned=True):
    for number in range(chunks):
        chunk(model.stream(str(number)), number, pinned)
    return model.run()


def breadth_first(model: Timeline, chunks: int):
    streams = [model.stream(str(number)) for number in range(chunks)]
    for number, stream in enumerate(streams):
        stream.copy_in(1000 * IN_US, f"x{number}")
    for number, stream in enumerate(streams):
        stream.kernel(KERNEL_US, f"k{number}")
    for number, stream in enumerate(streams):
        stream.copy_out(1000 * OUT_US, f"y{number}")
    return model.run()


# ------------------------------------------------------------ against a second model


@every_case
def test_operations_start_when_a_tick_by_tick_model_starts_them(
    seed, launch_us, engines
):
    program = random_program(seed)
    plan = enqueue(program, launch_us, engines).run()
    assert [each.start_us for each in plan.operations] == starts(
        program, launch_us, engines
    )


@every_case
def test_no_copy_engine_does_two_things_at_once(seed, launch_us, engines):
    plan = enqueue(random_program(seed), launch_us, engines).run()
    copies = [each for each in plan.operations if each.engine != "compute"]
    together = [
        (one.name, other.name)
        for one, other in itertools.combinations(copies, 2)
        if one.engine == other.engine
        and one.start_us < other.end_us
        and other.start_us < one.end_us
    ]
    assert together == []


@every_case
def test_kernels_that_run_together_fit_the_gpu(seed, launch_us, engines):
    plan = enqueue(random_program(seed), launch_us, engines).run()
    kernels = [each for each in plan.operations if each.engine == "compute"]
    shares = [
        sum(k.share for k in kernels if k.start_us <= now.start_us < k.end_us)
        for now in kernels
    ]
    assert max(shares, default=0) <= 1


@every_case
def test_critical_path_has_no_gap_and_makes_the_makespan(seed, launch_us, engines):
    plan = enqueue(random_program(seed), launch_us, engines).run()
    ends = [0.0, *(each.end_us for each in plan.critical_path)]
    assert ends[:-1] == [each.start_us for each in plan.critical_path]
    assert ends[-1] == plan.makespan_us


@every_case
def test_no_schedule_beats_its_bound(seed, launch_us, engines):
    plan = enqueue(random_program(seed), launch_us, engines).run()
    assert plan.bound_us <= plan.makespan_us


# ------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_one_stream_does_one_thing_after_another(chunks):
    model = line()
    for number in range(chunks):
        chunk(model.stream("one"), number)
    assert model.run().makespan_us == chunks * (IN_US + KERNEL_US + OUT_US)


@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_a_stream_for_each_chunk_is_bound_by_the_slowest_stage(chunks):
    plan = depth_first(line(), chunks)
    whole = IN_US + KERNEL_US + OUT_US
    assert plan.makespan_us == whole + (chunks - 1) * KERNEL_US


def test_issue_order_does_not_matter_with_two_copy_engines_and_free_launches():
    plans = depth_first(line(), 4), breadth_first(line(), 4)
    assert plans[0].makespan_us == plans[1].makespan_us


def test_one_copy_engine_issued_depth_first_overlaps_nothing():
    plan = depth_first(line(copy_engines=1), 4)
    assert plan.makespan_us == 4 * (IN_US + KERNEL_US + OUT_US)


def test_one_copy_engine_issued_breadth_first_overlaps():
    plan = breadth_first(line(copy_engines=1), 4)
    assert plan.makespan_us == IN_US + 4 * KERNEL_US + OUT_US


def test_pageable_copies_issued_depth_first_overlap_nothing():
    plan = depth_first(line(), 4, pinned=False)
    assert plan.makespan_us == 4 * (IN_US + KERNEL_US + OUT_US)


def test_pageable_copies_move_at_their_own_rate():
    model = line(pageable_gbps=0.5)
    model.stream().copy_in(1000 * IN_US, "x", pinned=False)
    assert model.run().makespan_us == 2 * IN_US


def test_a_pageable_copy_in_overlaps_a_kernel_that_was_issued_before():
    model = line()
    model.stream("a").kernel(KERNEL_US)
    model.stream("b").copy_in(1000 * IN_US, pinned=False)
    assert model.run().makespan_us == max(KERNEL_US, IN_US)


@pytest.mark.parametrize("launches", [1, 3, 20])
def test_empty_kernels_take_as_long_as_their_launches(launches):
    model = line(launch_us=5)
    for _ in range(launches):
        model.stream("a").kernel(0)
    assert model.run().makespan_us == 5 * launches


@pytest.mark.parametrize("launches", [1, 3, 20])
def test_a_graph_costs_one_launch(launches):
    model = line(launch_us=5)
    with model.graph("step"):
        for _ in range(launches):
            model.stream("a").kernel(1)
    assert model.run().makespan_us == 5 + launches


def test_an_operation_begins_when_its_call_returns():
    model = line(launch_us=5)
    model.stream().kernel(1, "k")
    assert model.run()["k"].start_us == 5


@pytest.mark.parametrize(("share", "makespan"), [(0.5, 10), (0.6, 20), (1, 20)])
def test_kernels_of_two_streams_share_the_sms(share, makespan):
    model = line()
    for name in "ab":
        model.stream(name).kernel(10, share=share)
    assert model.run().makespan_us == makespan


def test_ten_tenths_of_the_sms_fill_them_exactly():
    model = line()
    for number in range(10):
        model.stream(str(number)).kernel(10, share=0.1)
    assert model.run().makespan_us == 10


def test_host_work_runs_beside_the_device():
    model = line()
    model.stream().kernel(10)
    model.host(8)
    assert model.run().makespan_us == 10


def test_a_wait_of_the_host_delays_what_it_issues_next():
    model = line()
    model.stream("a").kernel(10)
    model.synchronize()
    model.stream("b").copy_in(1000, "x")
    assert model.run()["x"].start_us == 10


# ------------------------------------------------------------- events, default stream


def test_an_event_orders_two_streams():
    model = line()
    model.stream("a").copy_in(1000 * IN_US)
    model.stream("b").wait(model.stream("a").record())
    model.stream("b").kernel(KERNEL_US, "k")
    assert model.run()["k"].start_us == IN_US


def test_an_event_stands_for_what_was_there_when_it_was_recorded():
    model = line()
    event = model.stream("a").record()
    model.stream("a").copy_in(1000 * IN_US)
    model.stream("b").wait(event)
    model.stream("b").kernel(KERNEL_US, "k")
    assert model.run()["k"].start_us == 0


def test_waiting_for_an_event_before_it_is_recorded_waits_for_nothing():
    model = line()
    event = model.event()
    model.stream("b").wait(event)
    model.stream("a").copy_in(1000 * IN_US)
    model.stream("a").record(event)
    model.stream("b").kernel(KERNEL_US, "k")
    assert model.run()["k"].start_us == 0


def test_the_default_stream_waits_for_blocking_streams():
    model = line()
    model.stream("a").copy_in(1000 * IN_US)
    model.default_stream.kernel(KERNEL_US, "k")
    assert model.run()["k"].start_us == IN_US


@pytest.mark.parametrize(("blocking", "start"), [(True, KERNEL_US), (False, 0)])
def test_blocking_streams_alone_wait_for_the_default_stream(blocking, start):
    model = line()
    model.default_stream.kernel(KERNEL_US)
    model.stream("late", blocking=blocking).copy_in(1000, "x")
    assert model.run()["x"].start_us == start


# ------------------------------------------------------------------------- buffers


def shared_buffer(order) -> ck.Timeline:
    model = line()
    a, b = model.stream("a"), model.stream("b")
    a.copy_in(1000, "x", buffer="A")
    order(model, a, b)
    b.kernel(5, "k", reads="A")
    return model


def test_luck_does_not_order_two_uses_of_a_buffer():
    model = shared_buffer(lambda model, a, b: model.host(50))
    assert [str(each) for each in model.run().conflicts] == [
        "nothing orders x and k on A"
    ]


@pytest.mark.parametrize(
    "order",
    [
        lambda model, a, b: b.wait(a.record()),
        lambda model, a, b: a.synchronize(),
        lambda model, a, b: model.default_stream.record(),
    ],
    ids=["an event", "a wait of the host", "the default stream"],
)
def test_buffer_is_safe_where_something_orders(order):
    assert shared_buffer(order).run().conflicts == ()


def test_two_reads_of_a_buffer_need_no_order():
    model = line()
    for name in "ab":
        model.stream(name).kernel(5, reads="A")
    assert model.run().conflicts == ()


# --------------------------------------------------------------------------- figures


def test_overlap_ratio_of_one_stream_is_one():
    model = line()
    chunk(model.stream(), 0)
    assert model.run().overlap_ratio == 1


def test_bound_is_the_work_of_the_busiest_engine():
    plan = depth_first(line(), 4)
    assert (plan.bound_us, plan.bottleneck) == (4 * KERNEL_US, "compute")


def test_an_engine_is_busy_once_while_two_kernels_run():
    model = line()
    for name in "ab":
        model.stream(name).kernel(10, share=0.5)
    assert model.run().busy("compute") == 10


def test_the_host_is_not_busy_while_it_waits():
    model = line(launch_us=3)
    model.stream().kernel(10)
    model.synchronize()
    assert model.run().busy("host") == 3


def test_an_empty_line_takes_no_time():
    assert line().run().makespan_us == 0


def test_schedule_says_that_it_is_a_model():
    assert "a model, not a measurement" in repr(depth_first(line(), 1))


def test_plot_says_that_it_is_a_model():
    assert "model, not a measurement" in depth_first(line(), 1).plot().alt


def test_plot_has_a_row_for_each_bar():
    plan = depth_first(line(), 2)
    assert len(plan.plot().rows) == len(plan.operations) + len(plan.host)


def test_kernels_that_run_together_have_lanes_of_their_own():
    model = line()
    for name in "ab":
        model.stream(name).kernel(10, share=0.5)
    lanes = {row[0] for row in model.run().plot().rows}
    assert {"compute (1)", "compute (2)"} <= lanes


# ---------------------------------------------------------------------------- refusals

WRONG = {
    "a rate of 0": (lambda: Timeline(0, 1, 1), "h2d_gbps=0"),
    "three engines": (lambda: line(copy_engines=3), "copy_engines=3"),
    "negative bytes": (lambda: line().stream().copy_in(-1), "nbytes=-1"),
    "text for a time": (lambda: line().stream().kernel("5 us"), "us='5 us'"),
    "more than all SMs": (lambda: line().stream().kernel(1, share=2), "share=2"),
    "a stream waited for": (
        lambda: line().stream().wait(line().stream()),
        "wait got Stream",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refusal_names_what_is_wrong(case):
    make, words = WRONG[case]
    with pytest.raises(ck.ArgumentError, match=words):
        make()


@pytest.mark.parametrize(
    "act",
    [
        lambda model: model.synchronize(),
        lambda model: model.host(1),
        lambda model: model.default_stream.kernel(1),
        lambda model: model.stream().copy_in(1000, pinned=False),
    ],
    ids=["waiting", "host work", "default stream", "pageable copy"],
)
def test_a_graph_refuses_what_it_cannot_hold(act):
    model = line()
    with pytest.raises(ck.ArgumentError, match="inside a graph"), model.graph():
        act(model)


# --------------------------------------------------------------------------- the record


def record(key: str, rows: dict[tuple[str, int], float]):
    """Return a record of an imaginary GPU: {(case, size): median in ms}."""
    return SimpleNamespace(
        key=key,
        device="NVIDIA Imaginary",
        date="2026-01-02",
        rows=[
            SimpleNamespace(case=case, size=size, median_ms=median)
            for (case, size), median in rows.items()
        ],
    )


@pytest.fixture
def recorded(monkeypatch):
    """Put records in place: 40 GB/s in, 50 out, 8 pageable, 2.5 us a launch."""
    small, large = 2**12, 2**28
    found = [
        record("moving/to_device", {
            ("pinned", small): 1, ("pinned", large): large / 40e6,
            ("pageable", small): 1, ("pageable", large): large / 10e6,
        }),
        record("moving/to_host", {
            ("pinned", large): large / 50e6, ("pageable", large): large / 8e6,
        }),
        record("moving/launches", {
            ("machine code", 1): 1, ("machine code", 1000): 2.5, ("Python", 1000): 9,
        }),
    ]  # fmt: skip
    by_key = {each.key: each for each in found}
    monkeypatch.setattr(records, "load", by_key.get)


def test_rates_come_from_the_record(recorded):
    found = Timeline().rates
    assert (found.h2d_gbps, found.d2h_gbps, found.launch_us, found.pageable_gbps) == (
        40, 50, 2.5, 8,
    )  # fmt: skip


def test_plan_names_the_device_and_the_day_of_its_numbers(recorded):
    origin = Timeline().run().origin
    assert origin.startswith("numbers of an NVIDIA Imaginary, recorded 2026-01-02")


def test_plan_names_what_was_given_in_place_of_the_record(recorded):
    assert "but launch_us given" in Timeline(launch_us=0).run().origin


def test_without_a_record_the_numbers_must_be_given(monkeypatch):
    monkeypatch.setattr(records, "load", lambda key: None)
    with pytest.raises(ck.ArgumentError, match="needs h2d_gbps, d2h_gbps, launch_us"):
        Timeline()


def test_a_line_can_be_had_again_on_the_same_machine():
    model = line(launch_us=3)
    model.stream("a").kernel(10)
    assert model.again().run().operations == ()


@pytest.mark.parametrize(
    "name", ["lessons.timeline.line", "lessons.timeline.rates", "display.listing"]
)
def test_examples_of_the_documentation_hold(name):
    module = importlib.import_module(f"coursekit.{name}")
    assert doctest.testmod(module).failed == 0
