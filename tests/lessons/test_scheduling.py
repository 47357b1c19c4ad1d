"""Be the Scheduler without a browser: orders, results, races, barriers."""

from __future__ import annotations

import doctest
import re
from itertools import islice

import numpy as np
import pytest
from traced_kernels import SHIFT, SMALL, kernel, shift_left, small

import coursekit as ck
from coursekit.lessons import barrier_places, scheduling
from coursekit.lessons.scheduling import Stage

REPAIRED = SHIFT.replace("    if (i", "    __syncthreads();\n    if (i")
RACY = SMALL.replace("    __syncthreads();\n", "")
GLOBAL = """
__global__ void shift(int* x) {
    int i = threadIdx.x;
    if (i < 63) x[i] = x[i + 1];
}
"""


def on_global():
    return kernel(GLOBAL, "shift"), 64, (np.arange(64, dtype=np.int32),)


@pytest.fixture(scope="module")
def stage():
    return Stage(*shift_left())


def test_examples_of_the_documentation_hold():
    assert doctest.testmod(scheduling).failed == 0


# ---------------------------------------------------------------- what warps do


def test_warps_stop_at_accesses_that_others_meet(stage):
    assert [(e.verb, e.array, e.line) for e in stage.plan[0]] == [
        ("writes", "tile", 5),
        ("reads", "tile", 7),
    ]


def test_global_memory_counts_where_warps_meet_in_it():
    stage = Stage(*on_global())
    assert [(e.verb, e.array) for e in stage.plan[0]] == [
        ("reads", "x"),
        ("writes", "x"),
    ]


def test_barriers_are_events_and_begin_a_new_stretch():
    stage = Stage(*small())
    assert [(e.verb, e.epoch) for e in stage.plan[1]] == [
        ("writes", 0), ("barrier", 0), ("reads", 1),
    ]  # fmt: skip


def test_arguments_are_left_unchanged():
    launch, block, arguments = shift_left()
    Stage(launch, block, arguments).play([0, 0, 1, 1, 2, 2, 3, 3])
    assert not arguments[0].any()


@pytest.mark.parametrize("block", [32, 512])
def test_block_of_one_warp_or_of_many_is_refused(block):
    launch, _, arguments = shift_left()
    with pytest.raises(ck.ArgumentError, match="33 to 256 threads"):
        Stage(launch, block, arguments)


# ---------------------------------------------------------------- orders


def test_orders_without_barrier_are_all_interleavings(stage):
    assert stage.orders == 2520  # 8! / (2! ** 4)


def test_orders_with_a_barrier_are_those_of_each_stretch():
    assert Stage(*shift_left(REPAIRED)).orders == 24 * 24


def test_all_orders_are_different_and_as_many_as_counted():
    stage = Stage(*small(RACY))
    orders = list(stage.all_orders())
    assert len(set(orders)) == len(orders) == stage.orders == 6


def test_random_orders_are_the_same_for_the_same_seed(stage):
    assert list(stage.some_orders(5)) == list(stage.some_orders(5))


def test_played_order_is_the_order_that_runs(stage):
    order = (3, 2, 1, 0, 0, 1, 2, 3)
    assert stage.play(order).order == order


def test_events_come_in_the_order_played(stage):
    events = stage.play((1, 1, 0, 0, 3, 3, 2, 2)).events
    assert [event.warp for event in events] == [1, 1, 0, 0, 3, 3, 2, 2]


# ---------------------------------------------------------------- results and races

TREE = """
__global__ void tree(int* out, const int* in) {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[0] = part[0];
}
"""


def tree(source=TREE):
    return (
        kernel(source, "tree"),
        128,
        (np.zeros(1, np.int32), np.arange(128, dtype="i4")),
    )


def test_warps_whose_lanes_part_come_to_the_right_result():
    stage = Stage(*tree())
    assert stage.expected["out"][0] == np.arange(128).sum()
    assert stage.try_all().wrong == 0


def test_missing_barrier_of_a_loop_is_found_in_some_orders():
    racy = TREE.replace("        __syncthreads();\n    }", "    }")
    stage = Stage(*tree(racy), expected={"out": np.array([np.arange(128).sum()])})
    assert stage.try_all().wrong > 0


def test_too_many_turns_are_refused():
    source = "__global__ void k(int* a) { volatile int* p = a; "
    source += "for (int i = 0; i < 500; ++i) p[0] = i; }"
    with pytest.raises(ck.ArgumentError, match="at most 600 turns"):
        Stage(ck.compile(source).k, 64, (np.zeros(1, np.int32),))


def test_order_in_step_is_right(stage):
    assert stage.is_right(stage.play((0, 1, 2, 3, 0, 1, 2, 3)))


def test_warp_that_runs_ahead_breaks_the_result(stage):
    said = stage.wrong(stage.play((0, 0, 1, 1, 2, 2, 3, 3)))
    assert said == (
        "out[31] is a value that nobody wrote, right is 33 "
        "(3 of 128 elements are wrong)"
    )


def test_result_is_compared_with_what_is_expected():
    launch, block, arguments = shift_left()
    stage = Stage(launch, block, arguments, expected={"out": np.zeros(128)})
    assert "out[0] is 2, right is 0" in stage.wrong(stage.play(()))


def test_elements_that_no_thread_writes_may_hold_nan():
    launch, block, (_, values, n) = shift_left()
    out = np.full(200, np.nan, np.float32)
    stage = Stage(launch, block, (out, values, n))
    assert stage.is_right(stage.play((0, 1, 2, 3, 0, 1, 2, 3)))


def test_races_are_between_neighbours(stage):
    found = [(one.warp, other.warp, element) for one, other, element in stage.races()]
    assert found == [(0, 1, 32), (1, 2, 64), (2, 3, 96)]


def test_barrier_between_orders_the_accesses():
    assert Stage(*shift_left(REPAIRED)).races() == []


def test_atomics_do_not_race():
    source = "__global__ void k(int* a) { atomicAdd(a, 1); }"
    stage = Stage(ck.compile(source).k, 64, (np.zeros(1, np.int32),))
    assert stage.races() == []


def test_repaired_kernel_is_right_in_all_orders():
    trial = Stage(*shift_left(REPAIRED)).try_all()
    assert (trial.tried, trial.wrong, trial.exhaustive) == (576, 0, True)


def test_too_many_orders_are_drawn_at_random(stage):
    trial = stage.try_all()
    assert (trial.tried, trial.exhaustive) == (200, False)
    assert trial.wrong > 0


def test_wrong_order_can_be_played_again(stage):
    example = stage.try_all().example
    assert not stage.is_right(stage.play(example.order))


def test_racy_reversal_is_right_only_if_all_write_first():
    trial = Stage(*small(RACY)).try_all()
    assert (trial.tried, trial.wrong) == (6, 2)


# ---------------------------------------------------------------- barriers


def test_places_are_lines_at_which_a_statement_begins():
    assert barrier_places.places(SHIFT, "shift_left").slots == (4, 5, 6, 7, 9, 10)


def test_barrier_of_the_source_is_a_place():
    found = barrier_places.places(SMALL, "small")
    assert found.present == (5,)
    assert "__syncthreads" not in found.text


def test_line_numbers_stay_when_barriers_are_placed():
    found = barrier_places.places(SMALL, "small")
    text = found.with_barriers([6])
    assert text.count("\n") == SMALL.count("\n")
    assert "__syncthreads();     out[threadIdx.x]" in text


def test_barrier_is_never_put_before_an_else_or_a_half_statement():
    source = "__global__ void k(int n)\n{\n    if (n)\n        n = 1;\n    else\n"
    source += "        n = 2;\n    n =\n        3;\n}\n"
    assert barrier_places.places(source, "k").slots == (3, 7)


def test_kernel_that_is_not_in_the_source_is_refused():
    with pytest.raises(ck.ArgumentError, match="definition of other was not found"):
        barrier_places.places(SHIFT, "other")


# ---------------------------------------------------------------- the widget


@pytest.fixture
def game():
    return ck.scheduler(*small(RACY))


def test_whole_play_is_judged(game):
    game.played = [0, 0, 1, 1]
    assert game.verdict["wrong"].startswith("out[0] is a value that nobody wrote")


def test_half_a_play_is_not_judged(game):
    game.played = [0, 0, 1]
    assert game.verdict == {}


def test_trying_all_orders_tells_how_many_are_wrong(game):
    game.trials = 1
    assert (game.outcome["tried"], game.outcome["wrong"]) == (6, 2)


def test_placed_barrier_mends_the_kernel_and_is_the_score(game):
    game.barriers = [5]
    game.trials = 1
    assert (game.outcome["wrong"], game.stage["races"], game.best) == (0, [], 1)


def test_fewest_barriers_are_kept_as_the_score(game):
    game.barriers = [5]
    game.trials = 1
    game.barriers = [4, 5]
    game.trials = 2
    assert game.best == 1


def test_barrier_in_a_branch_opens_when_the_others_have_left():
    launch, block, arguments = shift_left()
    game = ck.scheduler(launch, block, arguments)
    game.barriers = [7]
    assert game.stage["error"] == ""


def test_barriers_of_the_source_are_there_at_first():
    assert ck.scheduler(*small()).barriers == [5]


def test_barrier_of_the_source_can_be_taken_out():
    game = ck.scheduler(*small())
    game.barriers = []
    assert len(game.stage["races"]) == 2


def test_stored_picture_has_an_alternative_text(game):
    alt = re.search(r'<img alt="([^"]+)"', game.static_html())[1]
    assert alt.startswith("small, one block of 2 warps, 0 barriers, 6 orders of turns.")


def test_stored_texts_are_the_same_each_time():
    first, second = (ck.scheduler(*small(RACY)) for _ in range(2))
    assert repr(first) == repr(second)
    assert first.static_html() == second.static_html()


def test_all_orders_come_in_order_of_the_warps():
    assert list(islice(Stage(*small(RACY)).all_orders(), 2)) == [
        (0, 0, 1, 1), (0, 1, 0, 1)
    ]  # fmt: skip


def test_orders_of_many_turns_are_fewer():
    stage = Stage(*small(RACY))
    turns = sum(map(len, stage.plan))
    assert stage.try_all(3 * turns).tried == 3
