"""The memory of the simulated device, by itself."""

import subprocess
import sys

import numpy as np
import pytest

from coursekit.errors import DeviceError
from coursekit.simt.checks import shadow
from coursekit.simt.memory import available, memory


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


def fill(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


MEMINFO = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n"}
GROUPS = {
    "version 2": {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": "3000000\n",
        "sys/fs/cgroup/a/memory.current": "2500000\n",
        "sys/fs/cgroup/a/memory.stat": "anon 7\ninactive_file 1000\n",
        "sys/fs/cgroup/a/b/memory.max": "max\n",
    },
    "version 1": {
        "proc/self/cgroup": "4:memory:/a\n2:cpu:/\n0::/\n",
        "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "501000\n",
        "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "0\n",
    },
    "container": {
        "proc/self/cgroup": "4:memory:/docker/cafe\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "501000\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n",
    },
}


def test_free_memory_is_what_the_machine_has_left(tmp_path):
    fill(tmp_path, MEMINFO)
    assert available.free_bytes(tmp_path) == 4_096_000


@pytest.mark.parametrize("version", GROUPS)
def test_free_memory_is_at_most_what_a_control_group_has_left(tmp_path, version):
    fill(tmp_path, MEMINFO | GROUPS[version])
    assert available.free_bytes(tmp_path) == 501_000


def test_free_memory_is_unknown_where_the_system_does_not_tell(tmp_path):
    assert available.free_bytes(tmp_path) is None


def test_array_of_more_than_the_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(available, "free_bytes", lambda: 100 << 20)
    with pytest.raises(DeviceError, match="104,857,600 are free"):
        memory.Memory().allocate(95 << 20)


def test_refused_array_leaves_the_memory_as_it_was(monkeypatch):
    monkeypatch.setattr(available, "free_bytes", lambda: 0)
    device = memory.Memory()
    with pytest.raises(DeviceError):
        device.allocate(available.LARGE)
    assert (device.used, device.regions()) == (0, [])


def test_words_of_the_race_check_are_compared_with_the_free_memory(monkeypatch):
    monkeypatch.setattr(available, "free_bytes", lambda: 0)
    with pytest.raises(MemoryError, match="bytes asked for"):
        shadow.Shadow(1 << 20)


LIMITED = """
import resource
from coursekit import simt
from coursekit.errors import DeviceError

memory = simt.Memory()
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    memory.allocate(4 << 30)
except DeviceError as error:
    print(error.what.partition(" more")[0])
print(memory.allocate(1000).nbytes)
"""


def test_array_above_the_limit_of_the_process_is_a_device_error():
    told = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True
    )
    assert (told.stderr, told.stdout.splitlines()) == (
        "", ["out of memory: this machine cannot hold 4,294,967,296", "1000"],
    )  # fmt: skip
