"""Launches that print, take or ask for too much, and Python without asserts."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tracemalloc
from contextlib import redirect_stdout

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime.launching import simulate
from coursekit.simt.compiled import workspace
from coursekit.simt.memory import printf
from coursekit.simt.run.launch import Launch

ADD = """__global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}"""
RANKED = """__global__ void k(int* x, int* next) {
  if (threadIdx.x == 0) x[blockIdx.x] = atomicAdd(next, 1);
}"""
SPEAKING = """__global__ void k(int n) {
  for (int i = 0; i < n; i++) printf("%9d\\n", i);
}"""
MOST_BLOCKS = 2**31 - 1


def of_parameter(launched, name: str) -> np.ndarray:
    """Return the ints that a launch has left in an array."""
    item, buffer, offset = next(
        copy for copy in launched.staged.copies if copy[0].rule.parameter.name == name
    )
    return buffer.read(offset, item.operand.nbytes).view(np.int32)


def printed(source: str, *arguments) -> str:
    with redirect_stdout(io.StringIO()) as output:
        ck.compile(source)["k"][1, 1](*arguments)
    return output.getvalue()


def test_what_a_launch_prints_is_cut_and_counted(monkeypatch):
    monkeypatch.setattr(printf, "MOST_PRINTED", 1000)
    text = printed(SPEAKING, 1234)
    assert text.startswith("        0\n        1\n")
    assert text.splitlines()[99:101] == ["       99", ""]
    assert "[printf: the output is cut here, at 1,000 characters" in text
    assert "1,134 calls with 11,340 more characters are left out" in text


def test_what_a_launch_prints_is_whole_up_to_the_limit(monkeypatch):
    monkeypatch.setattr(printf, "MOST_PRINTED", 1000)
    assert printed(SPEAKING, 100) == "".join(f"{i:9d}\n" for i in range(100))


def test_an_endless_loop_that_prints_says_how_much_is_left_out(monkeypatch):
    monkeypatch.setattr(printf, "MOST_PRINTED", 1000)
    kernel, output = ck.compile(SPEAKING)["k"], io.StringIO()
    with (
        redirect_stdout(output),
        ck.simulator(timeout_s=0.3),
        pytest.raises(ck.DeadlockError),
    ):
        kernel[1, 1](MOST_BLOCKS)
    assert len(output.getvalue()) < 1500
    assert "more characters are left out" in output.getvalue()


@pytest.mark.parametrize("engine", ["compiled", "general", "interpreter"])
@pytest.mark.parametrize("order", ["forward", "reverse", 5])
def test_blocks_in_parts_run_in_the_order_of_all(engine, order, monkeypatch):
    def ranks():
        with ck.simulator(order=order):
            done = simulate(
                ck.compile(RANKED)["k"], 50, 64,
                (np.zeros(50, np.int32), np.zeros(1, np.int32)),
                engine=engine, counters=True,
            )  # fmt: skip
        return of_parameter(done, "x").tolist(), done.result.counters

    expected = ranks()
    assert sorted(expected[0]) == list(range(50))
    monkeypatch.setattr(workspace, "MOST_BLOCKS", 7)
    assert ranks() == expected


def test_a_fault_in_a_late_part_reads_as_in_one(monkeypatch):
    def message():
        with pytest.raises(ck.OutOfBoundsError) as caught:
            simulate(
                ck.compile(ADD)["k"], 40, 32, (np.zeros(1000, np.float32), 1280),
                engine="compiled",
            )  # fmt: skip
        return str(caught.value)

    expected = message()
    monkeypatch.setattr(workspace, "MOST_BLOCKS", 7)
    assert message() == expected


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
@pytest.mark.parametrize("engine", ["compiled", "auto", "interpreter"])
def test_the_largest_grid_takes_no_more_memory_than_others(engine, order):
    kernel = ck.compile(ADD)["k"]
    tracemalloc.start()
    try:
        with ck.simulator(timeout_s=0.2, order=order), pytest.raises(ck.DeadlockError):
            simulate(
                kernel, MOST_BLOCKS, 1, (np.zeros(9, np.float32), 9), engine=engine
            )
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def test_too_little_memory_is_an_error_of_the_device(monkeypatch):
    def too_large(launch):
        raise MemoryError

    monkeypatch.setattr(Launch, "run", too_large)
    with pytest.raises(ck.DeviceError, match=r"too little memory to simulate a grid"):
        ck.compile(ADD)["k"][7, 32](np.zeros(9, np.float32), 9)


UNOPTIMISED = """
import sys, numpy as np, coursekit as ck
from coursekit.runtime.launching import simulate
assert False, "asserts run"
source = '''__global__ void k(int* x, int* lock) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += 1;
  if (blockIdx.x == 40 && threadIdx.x < 4) {
    while (atomicCAS(lock, 0, 1)) ;
    x[0] += 1;
    atomicExch(lock, 0);
  }
}'''
x, lock = np.zeros(64 * 64, np.int32), np.zeros(1, np.int32)
done = simulate(ck.compile(source)["k"], 64, 64, (x, lock), engine="compiled")
item, buffer, offset = next(
    copy for copy in done.staged.copies if copy[0].rule.parameter.name == "x"
)
x = buffer.read(offset, x.nbytes).view(np.int32)
print(done.result.engine, x[0], set(x[1:].tolist()))
"""


def test_optimised_python_runs_every_block(tmp_path):
    environment = os.environ | {"PYTHONOPTIMIZE": "1", "COURSEKIT_CACHE": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", UNOPTIMISED],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert (told.stderr, told.stdout) == ("", "both 5 {1}\n")
