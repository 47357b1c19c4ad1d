"""What is no argument of a public function is refused with an error of the course."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

LONG = "a" * 10_000
KERNEL = "__global__ void k(float* x) { x[threadIdx.x] += 1; }"
X = np.zeros(32, np.float32)
ODD = {
    "busiest_loop of None": lambda: ck.busiest_loop(None, "FFMA"),
    "clocks_per_ffma of a number": lambda: ck.clocks_per_ffma(3),
    "draw_digit of a number": lambda: ck.draw_digit(3),
    "empty of an unknown type": lambda: ck.empty(3, "\ud800"),
    "fusion of a number": lambda: ck.fusion(3, {}),
    "fusion of shapes in a list": lambda: ck.fusion(["y = a + b"], [3]),
    "leaderboard of a long name": lambda: ck.leaderboard(LONG),
    "minimise of a number": lambda: ck.minimise(3, n=4),
    "module of a list": lambda: ck.module([]),
    "occupancy_explorer of registers": lambda: ck.occupancy_explorer(10**30, 32),
    "overlap of a text": lambda: ck.overlap("line"),
    "recorded_benchmark of None": lambda: ck.recorded_benchmark(None),
    "report of a long name": lambda: ck.report(LONG),
    "roofline_explorer of a list": lambda: ck.roofline_explorer([]),
    "scheduler of a text": lambda: ck.scheduler("k", 64, (X,)),
    "show_profile of a text": lambda: ck.show_profile("counters"),
    "Timeline of texts": lambda: ck.Timeline(h2d_gbps="fast", d2h_gbps=3, launch_us=1),
    "trace of a block in floats": lambda: ck.trace(
        ck.compile(KERNEL).k, 1, 32, (X,), block_index=np.zeros(3)
    ),
    "try_all_orders of a text": lambda: ck.try_all_orders("k", 64, (X,)),
    "try_all_orders of one array": lambda: ck.try_all_orders(
        ck.compile(KERNEL).k, 64, X
    ),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_argument_is_refused_with_an_error_of_the_course(what):
    with pytest.raises(ck.errors.CourseError) as caught:
        ODD[what]()
    assert caught.value.what
