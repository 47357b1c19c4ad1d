"""The simulator's counts equal Nsight Compute's on this machine's GPU."""

import nsight
import nsight_compare
import pytest

from coursekit.simt.counters import Counters

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def compared():
    """Every counter of every case: equal ones by field, and the others."""
    if reason := nsight.missing():
        pytest.skip(reason)
    try:
        return nsight_compare.compare()
    except PermissionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("field", nsight.METRICS)
def test_counts_equal_the_hardware(gpu, compared, field):
    equal, unequal = compared
    wrong = [row for row in unequal if row[1] == field and row[4] != "ptx"]
    assert equal[field]
    assert [row for row in wrong if not _known(*row)] == []


def _known(case, field, simulated, measured, label):
    """Reductions to scattered addresses: an H200 now and then adds a sector.

    Of 48 random patterns of 32 lanes 2 took one sector more than the rule, whose
    cause is not found; a histogram of random bytes takes 2 % more.
    """
    scattered = case == "histogram" and field == "global_atomic_sectors"
    return scattered and simulated <= measured <= 1.03 * simulated


def test_every_compared_field_is_a_counter():
    assert all(getattr(Counters({}), field) == 0 for field in nsight.METRICS)
