"""The recorded latencies and bandwidths: what their cases do, on the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarks.memory import DEFINITIONS, bandwidth, latency
from coursekit.benchmarks.memory.footprints import footprints

SMALL = {d.key: (d.count_size, d.sizes[min(1, len(d.sizes) - 1)]) for d in DEFINITIONS}
SIZES = [(d, size) for d in DEFINITIONS for size in dict.fromkeys(SMALL[d.key])]
FEW_LINES = 16

pytestmark = pytest.mark.usefixtures("simulated")


@pytest.mark.parametrize(("definition", "size"), SIZES, ids=lambda x: str(x)[:20])
def test_every_case_passes_its_own_check(definition, size):
    size = min(size, FEW_LINES) if definition.key == "memory/lines" else size
    for case in definition.cases().values():
        arguments = definition.setup(size)
        case(*arguments)
        assert definition.verify(*arguments) in (None, True)


@pytest.mark.parametrize(("definition", "size"), SIZES, ids=lambda x: str(x)[:20])
def test_a_result_that_is_not_written_is_refused(definition, size):
    size = min(size, FEW_LINES) if definition.key == "memory/lines" else size
    arguments = definition.setup(size)
    with np.errstate(invalid="ignore"):
        assert refused(definition.verify, arguments)


def refused(verify, arguments) -> bool:
    """Tell whether results that no case has written are refused."""
    try:
        return verify(*arguments) is False
    except AssertionError:
        return True


@pytest.mark.parametrize("footprint", footprints(2**12, 2**18))
@pytest.mark.parametrize("stride", latency.STRIDES.values())
def test_a_chain_visits_all_of_its_elements(footprint, stride):
    count, at, seen = max(footprint // stride, 1), 0, set()
    for _ in range(count):
        at = (latency.FACTOR * at + 7) % count
        seen.add(at)
    assert len(seen) == count


def test_a_load_takes_as_many_cycles_as_its_speed_says():
    definition = DEFINITIONS[0]
    arguments = definition.setup(2**12)
    cases = definition.cases()
    for case in cases.values():
        case(*arguments)
    cycle = cases[latency.CYCLE].elapsed_ms(*arguments)
    load = cases["stride 128 B"].elapsed_ms(*arguments)
    ticks = int(ck.to_host(arguments[1])[0])
    assert load / cycle == pytest.approx(ticks / latency.STEPS)


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_sums_of_a_footprint_wrap_around(blocks):
    x = np.random.default_rng(0).integers(0, 9, 3 * 4096).astype(np.float32)
    arrays = ck.to_device(x), ck.empty(256 * blocks)
    kernel = ck.compile("memory/read_footprint.cu").read_footprint
    kernel[blocks, 256](*arrays, len(x) // 4, 20)
    bandwidth.are_sums_of_footprint(*arrays, x.nbytes, blocks, 20)
