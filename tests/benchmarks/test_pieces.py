"""Every k of every tile of C belongs to one piece, and blocks share them evenly."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from coursekit.benchmarks import pieces

TILE = 128, 256, 32
SHAPES = [(1, 4, 4), (3, 260, 4), (300, 516, 260), (1000, 1000, 1000), (4096,) * 3]


def planned(extents, blocks, **options):
    """The pieces that are computed, in rows, and the slots for parts."""
    plan = pieces.plan(extents, TILE, blocks, **options)
    return plan.pieces[plan.pieces["steps"] > 0], plan


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("blocks", [1, 3, 132])
@pytest.mark.parametrize("extents", SHAPES)
def test_every_step_of_every_tile_is_in_one_piece(extents, blocks, least):
    found, _ = planned(extents, blocks, least=least)
    steps = collections.Counter(
        (row, col, k // TILE[2] + step)
        for row, col, k, count, *_ in found.tolist()
        for step in range(count)
    )
    M, N, K = extents
    wanted = {
        (row, col, step)
        for row in range(0, M, TILE[0])
        for col in range(0, N, TILE[1])
        for step in range(-(-K // TILE[2]))
    }
    assert steps == dict.fromkeys(wanted, 1)


@pytest.mark.parametrize("extents", SHAPES)
def test_each_part_of_a_tile_has_a_slot_of_its_own(extents):
    found, plan = planned(extents, 132, least=1)
    cut = found[found["parts"] > 1]
    slots = np.sort(cut["first"] + cut["part"])
    assert slots.tolist() == list(range(plan.slots))


@pytest.mark.parametrize("extents", SHAPES)
def test_parts_of_a_tile_are_counted_in_the_order_of_k(extents):
    found, _ = planned(extents, 132, least=1)
    for corner in {(row, col) for row, col in found[["row", "col"]].tolist()}:
        mine = found[(found["row"] == corner[0]) & (found["col"] == corner[1])]
        mine = np.sort(mine, order="k")
        assert mine["part"].tolist() == list(range(mine["parts"][0]))


@pytest.mark.parametrize("n", [3000, 4096, 5000, 8192])
def test_no_block_has_two_percent_more_than_its_share(n):
    table = pieces.plan((n,) * 3, TILE, 132).pieces
    steps = table["steps"].sum(axis=0)
    assert steps.max() <= 1.02 * steps.mean()


@pytest.mark.parametrize("extents", SHAPES)
def test_a_block_is_told_whether_another_piece_follows(extents):
    table = pieces.plan(extents, TILE, 132).pieces
    follows = np.vstack([table["steps"][1:] > 0, np.zeros(table.shape[1:], bool)])
    assert np.array_equal(table["more"].astype(bool), follows)


def test_a_list_ends_with_no_steps():
    table = pieces.plan((300, 516, 260), TILE, 3).pieces
    assert not table["steps"][-1].any()


def test_tiles_stay_whole_where_a_cut_would_save_little():
    found, plan = planned((2048,) * 3, 132)
    assert plan.slots == 0 and set(found["steps"].tolist()) == {64}


def test_tiles_of_a_group_follow_each_other_column_by_column():
    assert pieces.in_groups(3, 2, 2) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
