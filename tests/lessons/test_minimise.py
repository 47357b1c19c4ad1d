"""ck.minimise finds the smallest case that still fails as the first one did."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck


def fails_from(limit):
    """Return a launch that fails for sizes of `limit` and more."""

    def launch(n):
        return n < limit

    return launch


def off_by_one(n, block):
    """Launch a kernel whose guard lets in one thread too many."""
    kernel = ck.compile("broken/vec_add_off_by_one.cu").vec_add
    x = np.arange(n, dtype=np.float32)
    kernel[-(-n // block), block](x, x.copy(), np.zeros_like(x), n)


def index_overflow(n, step):
    """Launch a kernel whose product leaves the ints."""
    kernel = ck.compile("broken/scatter_index_overflow.cu").scatter
    x = np.arange(n, dtype=np.float32)
    kernel[-(-n // 256), 256](x, np.zeros_like(x), n, step)


@pytest.mark.parametrize("limit", [1, 2, 3, 31, 500, 999, 1000])
def test_size_is_the_smallest_that_fails(limit):
    assert ck.minimise(fails_from(limit), n=1000).case == {"n": limit}


def test_bisection_takes_few_cases():
    found = ck.minimise(fails_from(700_000), n=1_000_000)
    assert len(found.attempts) < 100


def test_a_gap_near_the_least_is_found():
    found = ck.minimise(lambda n: n not in (5, 6, 400, 401, 500), n=500)
    assert found.case == {"n": 5}


def test_sizes_that_depend_on_each_other_end_where_no_smaller_one_fails():
    found = ck.minimise(lambda a, b: a * b < 1000, a=100, b=100)
    a, b = found.case.values()
    assert a * b >= 1000 > max((a - 1) * b, a * (b - 1))


def test_least_is_kept_by_name():
    found = ck.minimise(lambda n, m: False, n=9, m=9, least={"m": 4})
    assert found.case == {"n": 1, "m": 4}


def test_out_of_bounds_shrinks_to_one_element_and_two_threads(simulated):
    assert ck.minimise(off_by_one, n=1000, block=256).case == {"n": 1, "block": 2}


def test_overflow_shrinks_to_the_edge_of_the_ints(simulated):
    n, step = ck.minimise(index_overflow, n=1000, step=10_000_019).case.values()
    assert (n - 1) * step >= 2**31 > max((n - 1) * (step - 1), (n - 2) * step)


def test_a_race_shrinks_to_the_first_thread_of_a_second_warp(simulated):
    rotate = ck.compile("broken/rotate_missing_barrier.cu").rotate

    def launch(n):
        x = np.arange(n, dtype=np.float32)
        ck.racecheck(rotate, 1, n, (x, np.zeros_like(x), n, 1), raise_=True)

    # Within one warp the race is a warning, which raise_ does not raise.
    found = ck.minimise(launch, n=100)
    assert (found.case, found.failure.kind) == ({"n": 33}, "DataRaceError")


def test_another_failure_is_not_followed():
    def launch(n):
        if n < 50:
            raise ck.LaunchError("too small to launch")
        assert n < 10

    found = ck.minimise(launch, n=100)
    assert (found.case, found.failure.kind) == ({"n": 50}, "AssertionError")
    assert "fails otherwise" in {attempt.verdict for attempt in found.attempts}


def test_another_line_is_another_failure(simulated):
    source = """__global__ void two(float *x, int n) {
    if (n > 10)
        x[n] = 1;
    x[2 * n] = 1;
}"""
    kernel = ck.compile(source).two

    def launch(n):
        kernel[1, 1](np.zeros(n, np.float32), n)

    assert ck.minimise(launch, n=100).case == {"n": 11}


def test_an_error_of_the_launch_function_is_raised_at_the_start():
    with pytest.raises(ZeroDivisionError):
        ck.minimise(lambda n: n // 0, n=3)


def test_an_error_of_the_launch_function_in_between_is_no_failure_alike():
    def launch(n):
        if n == 1:
            raise ValueError("no such size")
        return False

    assert ck.minimise(launch, n=100).case == {"n": 2}


def test_data_lose_what_the_failure_does_not_need():
    x = np.arange(100.0)
    found = ck.minimise(lambda x: not {3, 70} <= set(x), x=x)
    assert found.case["x"].tolist() == [3, 70]


def test_data_become_plain_where_that_changes_nothing():
    found = ck.minimise(lambda x: len(x) < 3 or x.max() < 9, x=[4.0, 5.0, 9.0, 2.0])
    assert sorted(found.case["x"].tolist()) == [0, 0, 9]


def test_data_keep_the_least_length():
    found = ck.minimise(lambda x: False, x=np.ones(10), least=4)
    assert found.case["x"].tolist() == [0, 0, 0, 0]


def test_launch_cannot_change_the_case():
    def launch(x):
        x[:] = -1
        return False

    assert ck.minimise(launch, x=np.arange(1.0, 4.0)).start["x"].tolist() == [1, 2, 3]


def test_a_passing_start_is_refused():
    with pytest.raises(ck.ArgumentError, match="passes with n=3"):
        ck.minimise(lambda n: True, n=3)


@pytest.mark.parametrize("value", ["abc", np.ones((2, 2)), [], True, None])
def test_what_cannot_be_shrunk_is_refused(value):
    with pytest.raises(ck.ArgumentError, match="minimise got n="):
        ck.minimise(lambda n: False, n=value)


def test_tries_end_the_search_and_the_result_says_so():
    found = ck.minimise(lambda a, b: a * b < 1000, a=100, b=100, tries=5)
    assert found.unfinished
    assert len(found.attempts) == 5


def test_launches_are_simulated():
    from coursekit.runtime import simulator

    found = ck.minimise(lambda n: simulator.active() is None, n=2)
    assert found.case == {"n": 1}


def test_result_says_what_is_left():
    told = repr(ck.minimise(fails_from(33), n=1000))
    assert "n: 1,000 -> 33" in told
    assert "fail alike" in told


def test_html_escapes_what_the_launch_says():
    def launch(n):
        raise AssertionError("<b>")

    assert "&lt;b&gt;" in ck.minimise(launch, n=2)._repr_html_()


def test_picture_has_a_row_for_each_case():
    found = ck.minimise(fails_from(33), n=1000)
    chart = found.plot()
    assert len(chart.rows) == len(found.attempts)
    assert "n = 33" in chart.alt
