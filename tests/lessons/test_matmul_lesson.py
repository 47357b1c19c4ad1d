"""The ladder of matrix products as chapter 17 counts it, and other names it uses."""

import numpy as np
import pytest

import coursekit as ck

SECTORS_PER_FMA = {1: 33, 2: 5, 3: 0.25}


@pytest.mark.parametrize("step", SECTORS_PER_FMA)
def test_counts_of_a_step_are_those_of_its_header(step):
    sectors = ck.matmul.counted(step).global_load_sectors
    assert sectors == SECTORS_PER_FMA[step] * ck.matmul.FMAS


def test_every_step_computes_the_same_product():
    flops = {ck.matmul.counted(step).flops_fp32 for step in range(1, 10)}
    assert flops == {2 * 128 * 128 * 32}


def test_a_step_that_is_not_there_is_refused():
    with pytest.raises(ck.ArgumentError, match="no step 12"):
        ck.matmul.compiled(12)


def test_cut_tiles_leave_the_longest_block_less_to_do():
    whole, cut = (ck.steps_per_block(1536, 132, cut=cut) for cut in (False, True))
    assert (whole, cut) == (48, 27)


def test_all_orders_of_a_race_are_tried():
    racy = ck.compile("broken/rotate_missing_barrier.cu").rotate
    x = np.arange(96, dtype=np.float32)
    args = (x, np.zeros_like(x), 96, 32)
    trial = ck.try_all_orders(racy, 96, args, expected={"y": np.roll(x, -32)})
    assert (trial.tried, trial.wrong) == (90, 42)


def test_the_valley_can_be_written_to():
    picture = ck.datasets.valley()
    picture[0, 0] = 1
    assert (picture.shape, picture.dtype) == ((110, 150), np.uint8)


def test_a_time_that_is_not_recorded_is_zero():
    assert ck.records.time_us("no/such", "case", 1) == 0


def test_a_recorded_time_is_the_median_in_microseconds():
    row = ck.records.load("first/vec_add").rows[0]
    found = ck.records.time_us("first/vec_add", row.case, row.size)
    assert found == 1e3 * row.median_ms


@pytest.mark.parametrize("name", ck.mnist.__all__)
def test_every_name_of_the_network_can_be_used(name):
    assert getattr(ck.mnist, name) is not None
