"""The residency: blocks in an SM, and its agreement with `ck.occupancy`."""

import random

import pytest

import coursekit as ck
from coursekit.errors import ArgumentError
from coursekit.widgets.residency import AFTER


def sgemm():
    return ck.residency(
        {"registers": 122, "shared_bytes": 12_800}, 128, device="RTX 3070"
    )


def draw(seed):
    """Draw a launch that some GPU holds."""
    random.seed(seed)
    name = random.choice(list(ck.devices()))
    launch = {
        "registers": random.randint(16, 64),
        "shared_bytes": random.choice([0, 3000, 20_000, 40_000]),
    }
    return launch, random.choice([32, 96, 128, 256, 512, 1000]), name


@pytest.mark.parametrize("seed", range(20))
def test_full_sm_holds_the_blocks_of_ck_occupancy(seed):
    launch, threads, name = draw(seed)
    widget = ck.residency(launch, threads, device=name)
    expected = ck.occupancy(launch, threads, device=name).blocks
    assert len(widget.residents(widget.last)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_no_resource_is_used_beyond_what_an_sm_has(seed):
    launch, threads, name = draw(seed)
    widget = ck.residency(launch, threads, device=name)
    blocks = widget.result.blocks
    assert [r.title for r in widget.resources() if blocks * r.each > r.most] == []


def test_library_kernel_of_the_listing_holds_four_blocks():
    assert sgemm().residents(4) == [0, 1, 2, 3]


def test_block_takes_the_place_of_one_that_has_ended():
    assert sgemm().residents(6) == [4, 5, 2, 3]


def test_each_step_beyond_replaces_the_oldest_block():
    assert sgemm().told(5) == "Block 0 has ended, and block 4 takes its place."


def test_full_sm_says_what_is_used_up():
    assert sgemm().told(4) == (
        "Block 3 moves in: the SM holds 4. It is full: for one more, there are too "
        "few registers."
    )


def test_steps_end_some_blocks_after_the_sm_is_full():
    assert sgemm().last == 4 + AFTER


def test_impossible_launch_has_no_steps():
    widget = ck.residency(255, 1024, device="H200")
    assert (widget.last, widget.told(0)) == (0, widget.result.summary)


def test_stored_picture_says_how_much_is_used():
    assert "warp slots: 16 of 48 used." in sgemm().alt_text()


def test_more_registers_than_a_thread_has_are_refused():
    with pytest.raises(ArgumentError, match="residency got 300 registers"):
        ck.residency(300, 128, device="H200")
