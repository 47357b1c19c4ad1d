"""What a benchmark reports and what it refuses, with a pretended GPU and clock."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from fake_stopwatch import install

import coursekit as ck
from coursekit import benchmarking
from coursekit.benchmarking import measuring, own_clock, wall_clock
from coursekit.benchmarking.verification import Returned

N = 1 << 20
BYTES = 8 * N  # read once, written once, float32
FASTEST_MS = BYTES / 4800e6  # the H200's memory carries 4.8e9 bytes a ms


@pytest.fixture
def watch(monkeypatch):
    """Pretend that there is a GPU, and that NumPy arrays lie in its memory."""
    return install(monkeypatch)


@pytest.fixture
def setup():
    """Draw other numbers each time; the output holds nothing yet."""
    rng = np.random.default_rng(3)

    def draw(n):
        return rng.standard_normal(n, dtype=np.float32), np.full(n, np.nan, "f4")

    return draw


def test_no_module_hides_a_function_of_its_name():
    modules = {path.stem for path in Path(benchmarking.__file__).parent.glob("*")}
    assert modules.isdisjoint(
        name for name, value in vars(benchmarking).items() if callable(value)
    )


def is_double(x, out):
    np.testing.assert_array_equal(out, 2 * x)


def double(watch, milliseconds=2 * FASTEST_MS):
    """Make an honest case: its work is on the stream and takes this long."""

    def case(x, out):
        watch.run(milliseconds, lambda: np.multiply(x, 2, out=out))

    return case


def bench(cases, setup, **changes):
    given = {"sizes": [N], "setup": setup, "verify": is_double}
    given["bytes_moved"] = lambda n: 8 * n
    if not isinstance(cases, dict):
        cases = {"case": cases}
    return ck.benchmark(cases, **(given | changes))


def refusal(cases, setup, **changes) -> str:
    with pytest.raises(ck.CheckFailed) as caught:
        bench(cases, setup, **changes)
    return str(caught.value)


# ---------------------------------------------------------------- what it reports


def test_median_is_the_time_of_the_work_alone(watch, setup):
    row = bench(double(watch), setup).row("case")
    assert row.median_ms == pytest.approx(2 * FASTEST_MS)


def test_a_library_may_queue_slower_after_a_pause_than_in_the_warm_up(watch, setup):
    def late(x, out):
        watch.spend(0.4 if watch.log[-1:] == ["flush"] else 0.01)
        double(watch)(x, out)

    row = bench(late, setup).row("case")
    assert row.median_ms == pytest.approx(2 * FASTEST_MS)


def test_host_time_of_queueing_is_no_part_of_it(watch, setup):
    def slow_to_queue(x, out):
        watch.spend(0.3)
        double(watch)(x, out)
        watch.spend(0.3)

    row = bench(slow_to_queue, setup).row("case")
    assert row.median_ms == pytest.approx(2 * FASTEST_MS)


def test_host_time_is_part_of_a_wall_clock(watch, setup):
    def slow_to_queue(x, out):
        watch.spend(0.3)
        double(watch)(x, out)

    row = bench(wall_clock(slow_to_queue), setup).row("case")
    assert row.median_ms == pytest.approx(0.304 + 2 * FASTEST_MS)


def test_wall_clock_waits_for_side_streams(watch, setup):
    def aside(x, out):
        watch.run_aside(1.0, lambda: np.multiply(x, 2, out=out))

    row = bench(wall_clock(aside), setup).row("case")
    assert row.median_ms == pytest.approx(1.004)


def test_wall_clock_of_several_steps_is_that_of_one(watch, setup):
    def five_steps(x, out):
        watch.spend(0.3)
        double(watch)(x, out)

    case = wall_clock(five_steps, steps=lambda x, out: 5)
    row = bench(case, setup).row("case")
    assert row.median_ms == pytest.approx((0.304 + 2 * FASTEST_MS) / 5)


def test_own_clock_tells_what_the_case_measured(watch, setup):
    def told(x, out):
        return 1e-6 * float(out[0] / x[0])  # 2 ns, which only the results tell

    case = own_clock(double(watch), elapsed_ms=told)
    row = bench(case, setup, bytes_moved=None).row("case")
    assert row.median_ms == pytest.approx(2e-6)


def test_ratio_is_relative_to_the_first_case(watch, setup):
    cases = {"slow": double(watch, 0.06), "fast": double(watch, 0.02)}
    assert bench(cases, setup).row("fast").ratio == pytest.approx(3)


def test_ratio_is_of_pairs_so_that_a_drift_cancels(watch, setup):
    drift = iter(np.linspace(1, 3, 10_000))

    def at(milliseconds):
        def case(x, out):
            double(watch, milliseconds * next(drift))(x, out)

        return case

    found = bench({"slow": at(0.06), "fast": at(0.02)}, setup)
    assert found.row("fast").ratio == pytest.approx(3, rel=0.01)


def test_ratio_is_the_median_over_pairs():
    # The pairs have the ratios 1/3, 2 and 3/2; both medians are 2.
    _, row = measuring._rows({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]}, N)
    assert row.ratio == pytest.approx(1.5)


def test_spread_is_that_of_the_middle_half(watch, setup):
    times = iter(np.tile([0.02, 0.03, 0.04, 0.05], 1000))
    row = bench(lambda x, out: double(watch, next(times))(x, out), setup).row("case")
    assert row.iqr_ms == pytest.approx(0.02, rel=0.3)


def test_caches_are_flushed_before_every_time(watch, setup):
    row = bench(double(watch), setup).row("case")
    assert watch.log.count("flush") == row.n


def test_cases_take_turns(watch, setup):
    order = []

    def noting(name):
        def case(x, out):
            order.append(name)
            double(watch)(x, out)

        return case

    n = bench({"a": noting("a"), "b": noting("b")}, setup).row("a").n
    timed = "".join(order)[-(2 * n + 2) : -2]  # the last two verify again
    assert timed == ("abba" * n)[: 2 * n]


def test_slow_first_call_is_not_timed(watch, setup):
    first = iter([100.0])

    def warms_up(x, out):
        watch.spend(next(first, 0.0))
        double(watch)(x, out)

    row = bench(wall_clock(warms_up), setup).row("case")
    assert row.median_ms + row.iqr_ms < 0.1


def test_bandwidth_and_share_follow_from_the_bytes(watch, setup):
    found = bench(double(watch), setup)
    row = found.row("case")
    assert found.bandwidth_gbs(row) == pytest.approx(2400)
    assert found.share(row) == pytest.approx(0.5)


def test_operations_have_a_limit_of_their_own(watch, setup):
    found = bench(double(watch), setup, bytes_moved=None, flops=lambda n: 100 * n)
    row = found.row("case")
    assert found.tflops(row) == pytest.approx(100 * N / row.median_ms * 1e-9)


def test_limit_is_the_later_of_bytes_and_operations(watch, setup):
    found = bench(double(watch, 1.0), setup, flops=("fp64", lambda n: 10_000 * n))
    peak = watch.device.fp64_tflops
    assert found.ceiling.bound_ms(N) == pytest.approx(10_000 * N / peak * 1e-9)


def test_result_says_device_and_day(watch, setup):
    note = bench(double(watch), setup).note
    assert re.fullmatch(r"measured here on H200, \d{4}-\d\d-\d\d", note)


def test_every_size_is_measured(watch, setup):
    found = bench(double(watch, 1.0), setup, sizes=[1000, 3000])
    assert [row.size for row in found.rows] == [1000, 3000]


def test_update_in_place_gets_its_own_data_back(watch):
    rng = np.random.default_rng(5)

    def setup(n):
        x = rng.standard_normal(n, dtype=np.float32)
        return x, x.copy()

    def add(x, y):
        watch.run(0.01, lambda: np.add(x, y, out=y))

    assert bench(add, setup, bytes_moved=lambda n: 12 * n).row("case").n > 1


def test_terminal_shows_a_table(watch, setup):
    shown = repr(bench({"one": double(watch), "two": double(watch)}, setup))
    headings, *rows = shown.splitlines()[1:]
    assert headings.split()[:5] == ["case", "size", "median", "IQR", "times"]
    assert [row.split()[0] for row in rows] == ["one", "two"]


def test_notebook_shows_a_table_with_a_caption(watch, setup):
    html = bench({"a<b>": double(watch)}, setup)._repr_html_()
    assert "<caption" in html
    assert "a&lt;b&gt;" in html


def test_missing_row_is_explained(watch, setup):
    with pytest.raises(ck.ArgumentError, match="no time of 'other'"):
        bench(double(watch), setup).row("other")


# ---------------------------------------------------------------- what it refuses


def test_wrong_result_has_no_speed(watch, setup):
    def triple(x, out):
        watch.run(0.01, lambda: np.multiply(x, 3, out=out))

    assert "wrong result at size 1,048,576, before timing" in refusal(triple, setup)


def test_verify_may_return_false(watch, setup):
    said = refusal(double(watch), setup, verify=lambda x, out: False)
    assert "verify returns False" in said


def test_verify_that_returns_a_number_is_refused(watch, setup):
    with pytest.raises(ck.ArgumentError, match="verify returns float"):
        bench(double(watch), setup, verify=lambda x, out: 0.5)


def test_place_that_is_left_out_shows(watch, setup):
    def all_but_one(x, out):
        watch.run(0.01, lambda: np.multiply(x[1:], 2, out=out[1:]))

    assert "wrong result" in refusal(all_but_one, setup)


def test_update_that_leaves_a_constant_alone_is_no_replay(watch):
    rng = np.random.default_rng(3)

    def draw(n):
        start = rng.standard_normal(n, dtype=np.float32)
        return start, start.copy()

    def swap_ends(start, x):
        watch.run(1.0, lambda: x.__setitem__([0, -1], x[[-1, 0]]))

    def is_swapped(start, x):
        return bool(x[0] == start[-1] and x[-1] == start[0])

    found = ck.benchmark({"swap": swap_ends}, sizes=[N], setup=draw, verify=is_swapped)
    assert found.row("swap").median_ms == pytest.approx(1.0)


def test_replay_that_does_no_work_is_refused(watch, setup):
    known = set()

    def replay(x, out):
        if id(out) not in known:
            known.add(id(out))
            double(watch)(x, out)

    assert "still hold the pattern" in refusal(replay, setup)


def test_replay_of_a_kept_result_is_refused(watch, setup):
    kept = {}

    def cached(x, out):
        result = kept.setdefault(id(x), 2 * x)
        watch.run(0.01, lambda: np.copyto(out, result))

    assert "wrong for fresh ones" in refusal(cached, setup)


def returned(watch, result_of):
    """Make a case that writes in memory of its own, and the copy of its result."""

    def case(x, out):
        made = np.empty_like(x)
        watch.run(2 * FASTEST_MS, lambda: np.copyto(made, result_of(x)))
        return made

    def copy(made, x, out):
        watch.run(1.0, lambda: np.copyto(out, made))

    return Returned(case, copy)


def test_copy_of_a_returned_result_is_not_timed(watch, setup):
    row = bench(returned(watch, lambda x: 2 * x), setup).row("case")
    assert row.median_ms == pytest.approx(2 * FASTEST_MS)


def test_wrong_returned_result_is_refused(watch, setup):
    assert "wrong" in refusal(returned(watch, lambda x: 3 * x), setup)


def test_returned_result_that_is_kept_is_refused(watch, setup):
    kept = {}
    case = returned(watch, lambda x: kept.setdefault(id(x), 2 * x))
    assert "wrong for fresh ones" in refusal(case, setup)


def test_work_in_every_other_call_is_refused(watch, setup):
    calls = []

    def every_other(x, out):
        calls.append(1)
        if len(calls) % 2:
            watch.run(0.01, lambda: np.multiply(x, 2, out=out))

    assert "leaves its outputs alone" in refusal(every_other, setup)


def test_setup_that_draws_the_same_data_twice_is_refused(watch):
    def same(n):
        rng = np.random.default_rng(0)
        return rng.standard_normal(n, dtype=np.float32), np.full(n, np.nan, "f4")

    assert "the same data twice" in refusal(double(watch), same)


def test_setup_that_returns_the_same_arrays_is_refused(watch, setup):
    arrays = setup(N)
    assert "the same data twice" in refusal(double(watch), lambda n: arrays)


def test_case_that_changes_nothing_is_refused(watch, setup):
    assert "changes none of its arrays" in refusal(lambda x, out: None, setup)


def test_part_of_l2_that_persists_is_refused(watch, setup):
    watch.persisting = 1 << 20
    assert "1,048,576 bytes of the L2 cache are set aside" in refusal(
        double(watch), setup
    )


def test_case_that_makes_l2_persist_is_refused(watch, setup):
    def persist(x, out):
        watch.persisting = 4096
        double(watch)(x, out)

    assert "after 'case'" in refusal(persist, setup)


def test_side_stream_that_does_not_wait_is_refused(watch, setup):
    def aside(x, out):
        watch.run_aside(0.01, lambda: np.multiply(x, 2, out=out))
        watch.join()

    assert "while the current stream is held back" in refusal(aside, setup)


def test_side_stream_that_nobody_waits_for_is_refused(watch, setup):
    def aside(x, out):
        work = lambda: np.multiply(x, 2, out=out)  # noqa: E731
        watch.run_aside(1.0, work, after="stream")

    assert "A synchronisation is missing" in refusal(aside, setup)


def test_device_that_is_slow_to_answer_for_a_while_is_no_reason_to_refuse(
    watch, setup, monkeypatch
):
    slow, synchronize, hold = iter([0.04] * 12), watch.synchronize, watch.hold
    held = []

    def answer():
        synchronize()
        watch.spend(next(slow, 0.001) if held else 0.001)

    monkeypatch.setattr(watch, "hold", lambda ms: [held.append(ms), hold(ms)])
    monkeypatch.setattr(watch, "synchronize", answer)
    assert bench(double(watch), setup).row("case").n > 0


def test_side_stream_that_forks_and_joins_is_timed(watch, setup):
    def aside(x, out):
        work = lambda: np.multiply(x, 2, out=out)  # noqa: E731
        watch.run_aside(1.0, work, after="stream")
        watch.join()

    assert bench(aside, setup).row("case").median_ms == pytest.approx(1.0)


SOURCE = "__global__ void k(float* x) { *x = 1; }"


def test_compiling_in_the_first_call_is_refused(watch, setup):
    compiled = []

    def lazy(x, out):
        if not compiled:
            compiled.append(ck.compile(SOURCE, name="late.cu"))
        double(watch)(x, out)

    assert "compiles late.cu in its call" in refusal(lazy, setup)


def test_compiling_before_is_fine(watch, setup):
    ck.compile(SOURCE)
    assert bench(double(watch), setup).rows


def test_fewer_bytes_than_are_written_are_refused(watch, setup):
    said = refusal(double(watch), setup, bytes_moved=lambda n: n)
    assert "bytes_moved(1048576) is 1,048,576, but the cases write 4,194,304" in said


def test_more_bytes_than_there_are_are_refused(watch, setup):
    said = refusal(double(watch), setup, bytes_moved=lambda n: 12 * n)
    assert "must move at most 8,388,608 bytes" in said


def test_more_than_105_percent_of_the_memory_is_refused(watch, setup):
    said = refusal(double(watch, FASTEST_MS / 1.06), setup)
    assert "106% of what is possible: an H200 cannot move 8,388,608 bytes" in said


def test_just_below_105_percent_is_reported(watch, setup):
    found = bench(double(watch, FASTEST_MS / 1.04), setup)
    assert found.share(found.row("case")) == pytest.approx(1.04)


def test_more_than_105_percent_of_the_arithmetic_is_refused(watch, setup):
    said = refusal(
        double(watch, 1.0), setup, bytes_moved=None, flops=lambda n: 7.2e10
    )  # 72 TFLOP/s of 66.9
    assert "cannot do 72,000,000,000 operations" in said


def test_other_shapes_each_time_are_refused(watch):
    sizes = iter(range(100, 200))

    def setup(n):
        m = next(sizes)
        return np.zeros(m, "f4"), np.zeros(m, "f4")

    with pytest.raises(ck.ArgumentError, match="other shapes each time"):
        bench(double(watch), setup)


@pytest.mark.parametrize(
    ("returned", "what"),
    [
        pytest.param([1], "returns list, no tuple", id="list"),
        pytest.param((1, 2), "returns no array", id="no array"),
        pytest.param((np.zeros((4, 4), "f4")[:, 1],), "an array with gaps", id="gaps"),
    ],
)
def test_arguments_that_cannot_be_checked_are_refused(watch, returned, what):
    with pytest.raises(ck.ArgumentError, match=what):
        bench(double(watch), lambda n: returned)


# ---------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param({"sizes": []}, "sizes", id="no size"),
        pytest.param({"sizes": [0]}, "sizes", id="size 0"),
        pytest.param({"sizes": 5}, "sizes", id="no list"),
        pytest.param({"setup": None}, "'setup' is NoneType", id="no setup"),
        pytest.param({"record": "../x"}, "record='../x'", id="key"),
        pytest.param({"bytes_moved": 8}, "bytes_moved=8", id="no function"),
        pytest.param({"bytes_moved": lambda n: 0}, "returns 0", id="no bytes"),
        pytest.param({"flops": ("fp5", lambda n: n)}, "no arithmetic 'fp5'", id="kind"),
    ],
)
def test_wrong_arguments_are_named(change, what):
    given = {"sizes": [4], "setup": lambda n: (), "verify": lambda: None} | change
    with pytest.raises(ck.ArgumentError, match=what):
        ck.benchmark({"a": lambda: None}, **given)


def test_cases_need_names():
    with pytest.raises(ck.ArgumentError, match="list as its cases"):
        ck.benchmark([print], sizes=[1], setup=print, verify=print)
