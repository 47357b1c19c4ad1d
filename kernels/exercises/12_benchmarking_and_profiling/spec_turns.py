"""The first "your turn" of chapter 12: the time between two events."""

import numpy as np

from coursekit.errors import CheckFailed, DeviceError
from coursekit.exercises import HostExercise, Mutant
from coursekit.lessons.model_gpu import ModelGpu

CALL_MS, START_MS, BYTES_A_MS = 0.005, 0.002, 10e6  # rules 1 and 2 of the model


def _moved(x, y):
    np.copyto(y, x)


def the_kernel_alone(kernel_ms, show):
    """Compare with what the model says of kernels of two sizes."""
    for n in (2**16, 2**20):
        gpu = ModelGpu()
        copy = gpu.kernel("copy", _moved, writes=(1,))
        x, y = gpu.array(np.arange(n, dtype=np.float32)), gpu.empty(n)
        gpu.synchronize()
        found = kernel_ms(gpu, copy, x, y)
        wanted = CALL_MS + START_MS + 8 * n / BYTES_A_MS
        if not 0.98 < found / wanted < 1.02:
            raise CheckFailed.explained(
                f"For {n:,} floats kernel_ms returns {found:.4g} ms; the events lie "
                f"{wanted:.4g} ms apart.",
                "An event stands at another place, or the unit is not the millisecond.",
                "One event before the kernel, one behind it, and elapsed_ms of both "
                "as it is.",
            )


EXERCISES = (
    HostExercise(
        id="12.a",
        name="events",
        title="The time between two events",
        stars=0,
        function="kernel_ms",
        checks=(("the time is the kernel's", the_kernel_alone),),
        hints=(
            "gpu.mark() records an event in the stream, behind what is queued there. "
            "gpu.wait(event) waits until the GPU has reached it. Which one?",
            "gpu.wait(end), before the time is read.",
        ),
        starter=(DeviceError, "has not come to this event"),
        mutants={
            "waits_for_the_first": Mutant(
                mistake="It waits for the event before the kernel.",
                edits=[("gpu.wait(end)", "gpu.wait(begin)")],
                fails=(DeviceError, "has not come to this event"),
            ),
            "wrong_way_round": Mutant(
                mistake="The events are given in the wrong order.",
                edits=[("elapsed_ms(begin, end)", "elapsed_ms(end, begin)")],
                fails=(CheckFailed, "apart"),
            ),
            "seconds": Mutant(
                mistake="Milliseconds are taken for seconds.",
                edits=[("return gpu", "return 1e3 * gpu")],
                fails=(CheckFailed, "apart"),
            ),
        },
    ),
)
