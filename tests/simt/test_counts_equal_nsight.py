"""The simulator's counts equal Nsight Compute's, as recorded and on this GPU."""

import functools
import json
from types import SimpleNamespace

import nsight_cases
import nsight_compare
import pytest

import coursekit as ck
from coursekit.benchmarking.nsight import counters

CASES = {case.name: case for case in nsight_cases.all_cases()}
RECORDED = json.loads(nsight_compare.GOLDEN.read_text())["cases"]

# Kernels of a few lines are compiled together: what costs is the compiler's start.
SHORT = list(
    dict.fromkeys(
        case.source
        for case in CASES.values()
        if "__global__" in case.source and "#" not in case.source
    )
)
TOGETHER = 32


@functools.cache
def compiled(first):
    """Some of the short sources, each in a namespace of its own."""
    sources = enumerate(SHORT[first : first + TOGETHER], first)
    return ck.compile(
        "\n".join(f"namespace n{n} {{\n{text}\n}}" for n, text in sources)
    )


def shared(case):
    """A case, its kernel compiled with others if it is short."""
    if case.source not in SHORT:
        return case
    number = SHORT.index(case.source)
    module = compiled(number // TOGETHER * TOGETHER)
    return SimpleNamespace(**vars(case), function=module[f"n{number}::{case.kernel}"])


def wrong(name, real):
    """Differences of counters that claim to be the hardware's."""
    case, every = CASES[name], {field: real.get(field, 0) for field in counters.METRICS}
    found = nsight_compare.differences(shared(case), every)
    return [row for row in found if row[3] != "ptx"]


@pytest.mark.parametrize("name", CASES)
def test_counts_equal_those_recorded_on_an_h200(name):
    if name not in RECORDED:
        pytest.skip("not measured on an H200 yet: run `make golden` there")
    assert wrong(name, RECORDED[name]) == []


def test_every_recorded_case_still_exists():
    assert RECORDED.keys() <= CASES.keys()


def test_only_kernels_of_the_course_may_wait_to_be_recorded():
    assert [name for name in CASES.keys() - RECORDED.keys() if ".cu " not in name] == []


@pytest.fixture(scope="module")
def measured():
    """Nsight Compute's counters of every case on this machine."""
    if reason := counters.missing():
        pytest.skip(reason)
    try:
        return nsight_compare.measured()
    except PermissionError as error:
        pytest.skip(str(error))


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_counts_equal_those_of_this_gpu(gpu, measured, name):
    assert wrong(name, measured[name]) == []
