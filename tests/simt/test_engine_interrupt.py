"""A student can stop a kernel that does not end, and keeps the session.

The kernels would run for a minute, and no test waits as long: the bounds are far above
what an interrupt takes, and far below that, since machines that run tests are busy.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.checking import examine
from coursekit.runtime.launching import simulate
from coursekit.simt.interpreter import interrupts

PATIENCE_S, LONG_S, MOST_S = 300, 60, 10
COUNTING = """__global__ void spin(float* x) {
  while (x[threadIdx.x] >= 0.0f) x[threadIdx.x] += 1.0f;
}"""
POLLING = """__global__ void spin(volatile float* x) {
  while (*x == 0) x[1] = x[1] + 1;
}"""
ENGINES = ("interpreter", "compiled", "general", "auto")


@pytest.fixture
def handled(monkeypatch):
    """Ctrl-C raises KeyboardInterrupt, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def interrupted_after(seconds: float):
    """Send SIGINT to this process after a while; it must end the block, and soon."""

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sent: list[float] = []
    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
    assert time.monotonic() - sent[0] < MOST_S


def spin(source: str, engine: str, x=None) -> None:
    """Run a kernel that does not end by itself."""
    kernel = ck.compile(source)["spin"]
    x = np.zeros(64, np.float32) if x is None else x
    with ck.simulator(timeout_s=LONG_S):
        simulate(kernel, 2, 64, (x,), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupt_at_any_moment_ends_a_launch(engine, handled):
    moments = random.Random(len(engine))
    for _ in range(10):
        with interrupted_after(moments.uniform(0, 0.3)):
            spin(COUNTING, engine)
    assert signal.getsignal(signal.SIGINT) is handled


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupt_ends_a_kernel_that_waits_for_memory(engine, handled):
    with interrupted_after(0.1):
        spin(POLLING, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_next_launch_works(engine, handled):
    with interrupted_after(0.1):
        spin(COUNTING, engine)
    x = np.full(64, -1, np.float32)
    spin(COUNTING, engine, x)
    assert (x == -1).all()


EXERCISE = catalogue.find("05.1")
ENDLESS = EXERCISE.solution.read_text(encoding="utf-8").replace(
    "out[i] = a[i] + 10.0f;",
    "while (out[i] != -1.0f) out[i] = out[i] < 1e6f ? out[i] + 1.0f : 0.0f;",
)
ENTRANCES = {
    "launch": lambda kernel, args: kernel[2, 64](*args),
    "count": lambda kernel, args: ck.count(kernel, 2, 64, args),
    "racecheck": lambda kernel, args: ck.racecheck(kernel, 2, 64, args),
    "initcheck": lambda kernel, args: ck.initcheck(kernel, 2, 64, args),
    "synccheck": lambda kernel, args: ck.synccheck(kernel, 2, 64, args),
    "memcheck": lambda kernel, args: ck.memcheck(kernel, 2, 64, args),
    "trace": lambda kernel, args: ck.trace(kernel, 2, 64, args, warp=1),
    "scheduler": lambda kernel, args: ck.scheduler(kernel, 64, args),
    "check": lambda kernel, args: examine(EXERCISE, ENDLESS),
}


@pytest.mark.parametrize("name", ENTRANCES)
def test_an_interrupt_ends_it(name, handled):
    kernel = ck.compile(COUNTING)["spin"]
    with ck.simulator(timeout_s=LONG_S), interrupted_after(0.3):
        ENTRANCES[name](kernel, (np.zeros(64, np.float32),))
    assert signal.getsignal(signal.SIGINT) is handled


def test_nothing_is_installed_when_no_launch_runs(handled):
    seen = []
    with interrupts.interruptible():
        seen.append(signal.getsignal(signal.SIGINT))
    assert seen[0] is not handled
    assert signal.getsignal(signal.SIGINT) is handled


def test_a_process_that_ignores_interrupts_goes_on_doing_so(handled):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts.interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.poll()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_the_handler_of_before_has_the_last_word(handled):
    def handler(number, frame):
        raise InterruptedError(number)

    signal.signal(signal.SIGINT, handler)
    with pytest.raises(InterruptedError) as caught, interrupts.interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.poll()
    assert caught.value.args == (signal.SIGINT,)


def test_an_interrupt_ends_launches_of_other_threads_that_run_at_the_time(handled):
    ended = []

    def work():
        try:
            spin(COUNTING, "compiled")
        except KeyboardInterrupt:
            ended.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    with interrupted_after(0.5):
        spin(COUNTING, "interpreter")
    thread.join(MOST_S)
    assert ended == ["interrupted"]


def test_an_interrupt_before_a_launch_does_not_end_a_later_one(handled):
    with pytest.raises(KeyboardInterrupt), interrupts.interruptible():
        os.kill(os.getpid(), signal.SIGINT)
    with interrupts.interruptible():
        interrupts.poll()


SCRIPT = """
import signal
import sys
import numpy as np
import coursekit as ck

# What is started in the background of a script ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

module = ck.compile('''__global__ void spin(volatile int* x) {
  while (*x == 0) x[1]++;
}''')
x = np.zeros(2, np.int32)
with ck.simulator(timeout_s=600):
    try:
        print("started", flush=True)
        module.spin[1, 64](x)
    except KeyboardInterrupt:
        print("interrupted")
    x[0] = 1
    module.spin[1, 64](x)
print("still here")
"""


def test_an_interrupt_ends_a_launch_and_the_session_goes_on():
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert output == "interrupted\nstill here\n"


SAYING = """__global__ void spin(float* x) {
  if (threadIdx.x == 0 && x[0] >= 0.0f) printf("started");
  while (x[threadIdx.x] >= 0.0f) x[threadIdx.x] += 1.0f;
}"""
CELL = """
import numpy as np
import coursekit as ck
kernel = ck.compile('''SOURCE''')["spin"]
with ck.simulator(timeout_s=60):
    if "printf" not in '''SOURCE''':
        print("started", flush=True)
    kernel[1, 64](np.zeros(64, np.float32))
"""


def answer(client, message: str) -> dict:
    """Return the answer to a request for execution."""
    while True:
        reply = client.get_shell_msg(timeout=PATIENCE_S)
        if reply["parent_header"].get("msg_id") == message:
            return reply["content"]


@pytest.mark.parametrize(
    ("source", "before"),
    [(COUNTING, ""), (SAYING, ""), (SAYING, "import asyncio\nawait asyncio.sleep(0)")],
    ids=["compiled", "interpreted", "asynchronous"],
)
def test_the_stop_button_of_jupyter_ends_a_cell(source, before):
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        asked = client.execute(
            before + CELL.replace("SOURCE", source), stop_on_error=False
        )
        while (kind := client.get_iopub_msg(timeout=60)["msg_type"]) != "stream":
            assert kind != "error"
        began = time.monotonic()
        manager.interrupt_kernel()
        told = answer(client, asked)
        assert time.monotonic() - began < MOST_S
        assert told["ename"] in ("KeyboardInterrupt", "CancelledError")
        asked = client.execute("kernel[1, 64](np.full(64, -1, np.float32))")
        assert answer(client, asked)["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
