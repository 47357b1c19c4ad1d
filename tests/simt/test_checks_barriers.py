"""synccheck: barriers and warp functions that not all threads reach."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")


def check(body: str, block: int = 64, **options):
    source = f"__global__ void k(int* x) {{ int t = threadIdx.x, v = t;\n{body}\n}}"
    x = np.zeros(128, np.int32)
    return ck.synccheck(ck.compile(source)["k"], 1, block, (x,), **options)


SHUFFLE = "v += __shfl_down_sync({mask}, v, {away}); x[t] = v;"
FULL = "0xffffffff"

WRONG = {
    "barrier in a branch": ("if (t % 2) __syncthreads();\nx[t] = 1;", "BarrierError"),
    "mask without the caller": (SHUFFLE.format(mask="0xffff", away=1), "BarrierError"),
    "shuffle in a branch": (
        f"if (t % 32 < 16) {{ {SHUFFLE.format(mask=FULL, away=1)} }}", "BarrierError",
    ),
    "shuffle from outside of the mask": (
        f"if (t % 32 < 16) {{ {SHUFFLE.format(mask='0xffff', away=8)} }}",
        "BarrierError",
    ),
    "numbers that never agree": (
        'if (t < 32) asm volatile("bar.sync 1, 64;");\n'
        'else asm volatile("bar.sync 2, 64;");', "DeadlockError",
    ),
}  # fmt: skip
RIGHT = {
    "barrier for all": "if (t % 2) v = 3;\n__syncthreads();\nx[t] = v;",
    "barrier in a loop": "for (int i = 0; i < 3; ++i) { v += i; __syncthreads(); }"
    "x[t] = v;",
    "shuffle of all": SHUFFLE.format(mask=FULL, away=16),
    "shuffle of half a warp": "if (t % 32 < 16) { v += __shfl_xor_sync(0xffff, v, 8);"
    "x[t] = v; }",
    "mask of a vote": f"unsigned m = __ballot_sync({FULL}, t % 3 == 0);"
    "if (t % 3 == 0) x[t] = __shfl_sync(m, v, __ffs(m) - 1);",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_meeting_is_found(name):
    body, kind = WRONG[name]
    found = check(body)
    assert [one.kind for one in found] == [kind]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_meeting_is_raised_on_demand(name):
    body, kind = WRONG[name]
    with pytest.raises(getattr(ck, kind)) as caught:
        check(body, raise_=True)
    assert caught.value.line in (2, 3)


@pytest.mark.parametrize("name", RIGHT)
def test_right_meeting_is_silent(name):
    found = check(RIGHT[name])
    assert (list(found), found.notes) == ([], ())


def test_shuffle_from_a_lane_that_is_not_there_names_it():
    (found,) = check(SHUFFLE.format(mask=FULL, away=16), block=40)
    assert "thread (32, 0, 0) of block (0, 0, 0) takes a value from lane 16" in (
        found.message
    )
    assert "does not exist" in found.message


def test_mask_that_names_missing_lanes_is_a_note():
    found = check(f"x[t] = __ballot_sync({FULL}, v > 3);", block=40)
    assert len(found) == 0
    assert "names lane 8 in the mask" in found.notes[0].message


def test_warps_at_different_barriers_are_a_warning():
    body = "if (t < 32) {\n__syncthreads();\n} else {\n__syncthreads();\n} x[t] = v;"
    (found,) = check(body)
    assert (found.severity, found.kind) == ("warning", "BarrierError")
    assert "waits at another barrier" in found.message


COPIED = """#include <cuda_pipeline.h>
__global__ void k(const int* x, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &x[t], 4);
  __pipeline_commit();
  WAIT
  __syncthreads();
  USE
}"""
READ = "out[t] = s[63 - t];"


def copied(wait: str, use: str = READ):
    source = COPIED.replace("WAIT", wait).replace("USE", use)
    arguments = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    return ck.synccheck(ck.compile(source)["k"], 1, 64, arguments)


@pytest.mark.parametrize("wait", ["", "__pipeline_wait_prior(1);",
                                  "if (t < 40) __pipeline_wait_prior(0);"])  # fmt: skip
@pytest.mark.parametrize("use", [READ, "s[t] = 1;"])
def test_copy_that_nobody_waits_for_is_found(wait, use):
    (found,) = copied(wait, use)
    assert (found.severity, found.kind, found.line) == ("error", "BarrierError", 9)


def test_copy_that_all_wait_for_is_silent():
    found = copied("__pipeline_wait_prior(0);")
    assert (list(found), found.notes) == ([], ())


def test_copy_that_nobody_waits_for_names_both_lines_and_the_cure():
    (found,) = copied("")
    x = found.thread[0]
    assert f"thread ({x}, 0, 0) of block (0, 0, 0) reads s[{63 - x}]" in found.message
    assert f"copy of thread ({63 - x}, 0, 0) is on its way" in found.message
    assert "kernel.cu:5    __pipeline_memcpy_async(&s[t], &x[t], 4);" in found.message
    assert f"kernel.cu:9    {READ}    <- thread ({x}" in found.message
    assert "__pipeline_wait_prior(0)" in found.message
    assert found.count == 64
