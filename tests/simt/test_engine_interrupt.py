"""A student can stop a kernel that does not end, and keeps the session."""

import signal
import subprocess
import sys

PATIENCE_S = 300
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
