"""memcheck: all lines that leave memory, not only the first."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

TWO_LINES = """__global__ void k(float* x, const float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = y[i + 1];
  if (i < n) value *= 2;
  x[i] = value;
}"""


def check(source, grid, block, *arguments, **options):
    return ck.memcheck(ck.compile(source)["k"], grid, block, arguments, **options)


def arrays(n: int) -> tuple:
    return np.zeros(n, np.float32), np.ones(n, np.float32), n


def test_every_line_is_found_with_its_count():
    found = check(TWO_LINES, 2, 64, *arrays(100))
    assert [(one.line, one.count) for one in found] == [(3, 29), (5, 28)]


def test_finding_names_thread_and_element():
    found = check(TWO_LINES, 2, 64, *arrays(100))
    assert "thread (35, 0, 0) of block (1, 0, 0) reads y[100]" in found[0].message
    assert "thread (36, 0, 0) of block (1, 0, 0) writes x[100]" in found[1].message


def test_launch_within_bounds_has_no_findings():
    assert len(check(TWO_LINES, 1, 64, *arrays(65))) == 0


def test_null_pointer_is_found():
    (found,) = check(TWO_LINES, 1, 32, np.zeros(32, np.float32), None, 32)
    assert (found.line, found.count) == (3, 32)
    assert "through a null pointer" in found.message


def test_first_finding_is_raised_on_demand():
    with pytest.raises(ck.OutOfBoundsError, match=r"reads y\[100\]") as caught:
        check(TWO_LINES, 2, 64, *arrays(100), raise_=True)
    assert caught.value.line == 3


def test_launch_without_end_is_a_finding():
    source = "__global__ void k(volatile int* x) { while (x[0] == 0) {} }"
    with ck.simulator(timeout_s=0.2):
        (found,) = check(source, 1, 32, np.zeros(1, np.int32))
    assert type(found.error) is ck.DeadlockError


def test_a_launch_full_of_bad_accesses_is_stopped():
    source = """__global__ void k(int* x) {
      for (int i = 0; i < 10000; ++i) x[i + threadIdx.x + 1] = i;
    }"""
    found = check(source, 1, 32, np.zeros(1, np.int32))
    assert {one.kind for one in found} == {"OutOfBoundsError"}


def test_launch_error_is_raised_as_always():
    with pytest.raises(ck.LaunchError):
        check(TWO_LINES, 1, 1025, *arrays(8))


@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "initcheck", "synccheck"])
def test_arguments_of_a_launch_are_refused_with_the_right_spelling(checker):
    kernel = ck.compile(TWO_LINES)["k"]
    with pytest.raises(ck.ArgumentError, match=rf"Write ck\.{checker}\(k, 1, 32"):
        getattr(ck, checker)(kernel, 1, 32, np.zeros(8, np.float32))
