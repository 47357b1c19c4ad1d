"""The ledger of device memory knows what is out, and refuses what is not."""

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons.memory_ledger import MemoryLedger


@pytest.fixture
def ledger():
    return MemoryLedger()


def test_memory_that_came_back_is_not_out(ledger):
    ledger.free(ledger.malloc(100))
    assert ledger.out == {}


def test_memory_that_never_came_back_is_out(ledger):
    address = ledger.malloc(100)
    assert ledger.out == {address: 100}


def test_two_allocations_have_two_addresses(ledger):
    assert ledger.malloc(300) + 300 <= ledger.malloc(1)


def test_most_is_what_was_out_at_the_same_time(ledger):
    ledger.free(ledger.malloc(1))
    first, second = ledger.malloc(1), ledger.malloc(1)
    ledger.free(first)
    ledger.free(second)
    assert ledger.most == 2


def test_sum_is_that_of_the_copy(ledger):
    address = ledger.malloc(16)
    ledger.copy_in(address, np.arange(4.0))
    assert ledger.total(address) == 6


def test_copy_fails_when_it_is_told_to():
    ledger = MemoryLedger(fails_at=2)
    address = ledger.malloc(4)
    ledger.copy_in(address, np.ones(1))
    with pytest.raises(RuntimeError, match="cudaErrorLaunchFailure"):
        ledger.copy_in(address, np.ones(1))


def test_second_free_is_refused(ledger):
    address = ledger.malloc(4)
    ledger.free(address)
    with pytest.raises(ck.DeviceError, match="freed that was given back before"):
        ledger.free(address)


def test_use_after_free_is_refused(ledger):
    address = ledger.malloc(4)
    ledger.free(address)
    with pytest.raises(ck.DeviceError, match="summed that was given back before"):
        ledger.total(address)


def test_free_of_a_number_is_refused(ledger):
    with pytest.raises(ck.DeviceError, match="was never handed out"):
        ledger.free(12)


def test_repr_says_what_is_still_out(ledger):
    ledger.free(ledger.malloc(8))
    ledger.malloc(4000)
    wanted = "MemoryLedger: 2 handed out, 1 given back; still out 4,000 bytes"
    assert repr(ledger) == wanted
