"""How kernels share out rows: every shape can be launched, and has room for a row."""

from __future__ import annotations

import pytest

import coursekit as ck
from coursekit.benchmarks.rows import LENGTHS, RingShape

pytestmark = pytest.mark.usefixtures("simulated")
ANY = (1, 33, 5000, 16385, 33333, 1_000_003, 3_000_000)


@pytest.mark.parametrize("cols", (*LENGTHS, *ANY))
def test_a_ring_fits_the_device(cols):
    shape, device = RingShape.of(cols), ck.device()
    assert shape.block <= 1024
    assert shape.shared_bytes < device.shared_bytes_per_block_optin
    assert shape.share <= device.sm_count
    assert shape.slots >= 2


@pytest.mark.parametrize("cols", (*LENGTHS, *ANY))
def test_the_blocks_of_a_team_have_all_columns(cols):
    shape = RingShape.of(cols)
    assert (shape.share - 1) * shape.width < cols <= shape.share * shape.width


@pytest.mark.parametrize(
    ("cols", "share"), [(524288, 64), (65536, 8), (200001, 26), (50257, 8)]
)
def test_one_block_more_keeps_more_sms_busy(cols, share):
    assert RingShape.of(cols).share == share


def test_a_row_that_is_too_long_is_refused():
    with pytest.raises(ck.LaunchError, match="is too long for the blocks"):
        RingShape.of(10_000_000)
