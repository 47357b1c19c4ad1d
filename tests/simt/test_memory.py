"""The memory of the simulated device, by itself."""

import numpy as np
import pytest

from coursekit.errors import DeviceError
from coursekit.simt.memory import memory


@pytest.fixture
def device():
    return memory.Memory(capacity=1 << 20)


def test_regions_start_at_multiples_of_256(device):
    addresses = [device.allocate(n).address for n in (1, 3, 100)]
    assert [a % 256 for a in addresses] == [0, 0, 0]


@pytest.mark.parametrize("offset", [-(1 << 33), -1, 0, 63, 64, 1 << 33])
def test_an_address_far_off_still_finds_its_region(device, offset):
    regions = [device.allocate(64) for _ in range(3)]
    assert device.find(regions[1].address + offset) is regions[1]


def test_fresh_memory_holds_the_poison_pattern(device):
    assert set(device.allocate(40).data.tolist()) == {memory.POISON}


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_views_share_the_bytes(device, width):
    region = device.allocate(30)
    region.data[:] = np.arange(30)
    low_byte = region.view(width)[:3] & np.array(0xFF, f"u{width}")
    np.testing.assert_array_equal(low_byte, np.arange(3) * width)


def test_more_than_the_capacity_is_refused_and_loses_nothing(device):
    device.allocate(1000)
    with pytest.raises(DeviceError, match="out of memory: 1,048,576 bytes"):
        device.allocate(1 << 20)
    assert device.used == 1000


def test_freeing_gives_the_bytes_back(device):
    region = device.allocate(1 << 20)
    device.free(region)
    device.free(region)
    assert device.used == 0


def test_freed_regions_are_remembered_for_a_while(device):
    regions = [device.allocate(8) for _ in range(memory.REMEMBERED + 1)]
    for region in regions:
        device.free(region)
    assert device.find(regions[0].address) is None
    assert device.find(regions[-1].address).freed


def test_shared_arrays_keep_apart_and_below_256_kib():
    placed = memory.shared_layout([("a", 100, 4), ("b", 5000, 16), ("c", 30, 1)])
    ends = [(at, at + size) for _, at, size in placed]
    gaps = [start - end for (_, end), (start, _) in zip(ends, ends[1:], strict=False)]
    assert min(gaps) >= 1024
    assert ends[-1][1] <= memory.SHARED_SPAN


def test_the_largest_shared_memory_still_fits():
    placed = memory.shared_layout([("a", 48 << 10, 4), ("b", 179 << 10, 16)])
    assert placed[-1][1] + placed[-1][2] <= memory.SHARED_SPAN


@pytest.mark.parametrize(
    ("address", "name"), [(0, "a"), (70_000, "a"), (1 << 17, "b"), ((1 << 18) - 4, "b")]
)
def test_the_nearest_shared_array_is_blamed(address, name):
    shared = memory.SharedMemory([("a", 64, 4), ("b", 64, 4)])
    assert shared.find(address).name == name
