"""Exercises of chapter 12: three stopwatches that see something else.

They run on `ModelGpu`, whose times follow rules, so that the true time is known.
"""

import numpy as np

import coursekit as ck
from coursekit.errors import CheckFailed, DeviceError
from coursekit.exercises import HostExercise, Mutant
from coursekit.exercises.tables import Table
from coursekit.lessons.model_gpu import ModelGpu

START_MS, BYTES_A_MS = 0.002, 10e6  # rule 2 of the model: 2 us, and 10 GB/s
CALL_MS = 0.006  # the call of rule 1, which a stopwatch may well include


def true_ms(*arrays):
    """Return how long a kernel takes that moves these arrays, in ms."""
    return START_MS + sum(array.nbytes for array in arrays) / BYTES_A_MS


def near(name, found, true, doubts, *, slack=0.0):
    """Demand a time, to 2 % and a slack in ms; `doubts` are cause and cure."""
    number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if not number or not abs(found - true) <= 0.02 * true + slack:
        said = f"{found:.4g} ms" if number else repr(found)
        raise CheckFailed.explained(
            f"{name} says {said}, and the kernel takes {true:.4g} ms.", *doubts
        )


def copying(gpu, **facts):
    """Make a kernel that copies, and has as many bytes to write as to read."""
    return gpu.kernel("copy", lambda x, y: np.copyto(y, x), writes=(1,), **facts)


def arrays(gpu, n):
    """Return n numbers, and room for as many."""
    return gpu.array(np.arange(n, dtype=np.float32)), gpu.empty(n)


# ---------------------------------------------------------------- 12.1

CALL = (
    "A launch returns at once: a clock of the host sees the call, and perhaps not "
    "the work.",
    "Wait for the end, or let the stream tell the time: gpu.mark() before and after. "
    "Times are in milliseconds.",
)
OTHERS = (
    "Work that was queued before is timed as well: the GPU was still busy.",
    "Wait before you start the clock, or take events, which wait in the stream.",
)


def an_idle_gpu(launch_ms, show):
    """Time a long and a short kernel on a GPU that has nothing else to do."""
    for n in (2**19, 2**14):
        gpu = ModelGpu()
        copy, (x, y) = copying(gpu), arrays(gpu, n)
        near(
            "launch_ms", launch_ms(gpu, copy, x, y), true_ms(x, y), CALL, slack=CALL_MS
        )
        if not np.array_equal(ck.to_host(x), ck.to_host(y)):
            raise CheckFailed.explained("The kernel has not run.", *CALL)


def a_busy_gpu(launch_ms, show):
    """Time a kernel behind another one that runs for 3 ms."""
    gpu = ModelGpu()
    copy, (x, y) = copying(gpu), arrays(gpu, 2**18)
    gpu.hold(3.0)
    near("launch_ms", launch_ms(gpu, copy, x, y), true_ms(x, y), OTHERS, slack=CALL_MS)


# ---------------------------------------------------------------- 12.2

COMPILED = (
    "A launch that compiles, or one that was queued before, is in the time.",
    "Launch once for each shape before the clock starts, and wait for that launch.",
)

TOO_EARLY = (
    "The clock was read before the last launch had ended.",
    "Call gpu.synchronize() behind the loop, before you read the clock.",
)


def each_size(times_ms, show):
    """Compare the times of three sizes with the model's rule."""
    gpu, sizes = ModelGpu(), (2**19, 2**20, 3 * 2**19)
    found = times_ms(gpu, copying(gpu, lazy=True), sizes)
    if not isinstance(found, dict) or set(found) != set(sizes):
        raise CheckFailed.explained(
            f"times_ms returns {found!r}.",
            "It has a time for each size.",
            "Return a dict with the sizes as its keys.",
        )
    rows = tuple((f"{n:,}", f"{found[n]:.4g}", f"{size_ms(n):.4g}") for n in sizes)
    show(Table("Time of one launch", ("n", "ms found", "ms true"), rows))
    for n in sizes:
        short = isinstance(found[n], float) and found[n] < 0.98 * size_ms(n)
        doubts = TOO_EARLY if short else COMPILED
        near(f"times_ms, at n = {n:,},", found[n], size_ms(n), doubts)


def size_ms(n):
    """Return how long it takes to copy n floats."""
    return START_MS + 8 * n / BYTES_A_MS


# ---------------------------------------------------------------- 12.3

WARM = (
    "x is still in the L2 cache from the launch before, or filling the cache is "
    "timed as well.",
    "Call gpu.flush() before each launch, in front of the first event.",
)


def not_from_the_cache(cold_ms, show):
    """Time a sum of x that was in the cache a moment ago."""
    for n in (2**16, 2**17):
        gpu = ModelGpu()
        x, y = gpu.array(np.ones(n, np.float32)), gpu.empty(1)
        total = gpu.kernel("total", _total, writes=(1,))
        total(x, y)
        found = cold_ms(gpu, total, x, y)
        near("cold_ms", found, true_ms(x, y), WARM, slack=CALL_MS)


def _total(x, s):
    s[0] = x.sum()


EXERCISES = (
    HostExercise(
        id="12.1",
        name="no_sync",
        title="No sync: the host's clock has seen a call",
        stars=1,
        function="launch_ms",
        checks=(
            ("the kernel's time, on an idle GPU", an_idle_gpu),
            ("and on a busy one", a_busy_gpu),
        ),
        hints=(
            "The launch puts the kernel into a queue and returns. Which line runs "
            "when the kernel ends?",
            "Two things can be in the queue: this kernel, and what somebody queued "
            "before. Wait for the second before the clock starts.",
            "gpu.synchronize(), begin = gpu.mark(), the launch, end = gpu.mark(), "
            "gpu.wait(end), and gpu.elapsed_ms(begin, end).",
        ),
        starter=(CheckFailed, "launch_ms says 0.005 ms"),
        mutants={
            "sync_before_only": Mutant(
                mistake="It waits before the launch only, so that it times the call.",
                edits=[
                    ("begin = gpu.mark()", "start = gpu.clock()"),
                    (
                        "end = gpu.mark()\n"
                        "    gpu.wait(end)\n"
                        "    return gpu.elapsed_ms(begin, end)",
                        "return 1e3 * (gpu.clock() - start)",
                    ),
                ],
                fails=(CheckFailed, "launch_ms says 0.005 ms"),
            ),
            "sync_after_only": Mutant(
                mistake="It waits at the end only, so that work queued before is "
                "timed as well.",
                edits=[
                    (
                        "gpu.synchronize()",
                        "start = gpu.clock()\n    kernel(x, y)\n    gpu.synchronize()",
                    ),
                    (
                        "begin = gpu.mark()\n"
                        "    kernel(x, y)\n"
                        "    end = gpu.mark()\n"
                        "    gpu.wait(end)\n"
                        "    return gpu.elapsed_ms(begin, end)",
                        "return 1e3 * (gpu.clock() - start)",
                    ),
                ],
                fails=(CheckFailed, "was still busy"),
            ),
            "event_not_waited": Mutant(
                mistake="It asks for the time between two events of which one is "
                "still to come.",
                edits=[("    gpu.synchronize()\n", ""), ("    gpu.wait(end)\n", "")],
                fails=(DeviceError, "has not come to this event"),
            ),
            "events_in_front": Mutant(
                mistake="Both events stand in front of the kernel.",
                edits=[
                    (
                        "gpu.synchronize()",
                        "begin = gpu.mark()\n"
                        "    end = gpu.mark()\n"
                        "    kernel(x, y)\n"
                        "    gpu.synchronize()",
                    ),
                    (
                        "    begin = gpu.mark()\n"
                        "    kernel(x, y)\n"
                        "    end = gpu.mark()\n"
                        "    gpu.wait(end)\n",
                        "",
                    ),
                ],
                fails=(CheckFailed, "launch_ms says 0 ms"),
            ),
            "in_seconds": Mutant(
                mistake="The clock gives seconds, and the answer stays in seconds.",
                edits=[
                    ("begin = gpu.mark()", "start = gpu.clock()"),
                    (
                        "end = gpu.mark()\n"
                        "    gpu.wait(end)\n"
                        "    return gpu.elapsed_ms(begin, end)",
                        "gpu.synchronize()\n    return gpu.clock() - start",
                    ),
                ],
                fails=(CheckFailed, "launch_ms says 0.0004"),
            ),
        },
    ),
    HostExercise(
        id="12.2",
        name="first_call",
        title="The first call compiles",
        stars=1,
        function="times_ms",
        checks=(("each size, without the compiler", each_size),),
        hints=(
            "The sizes differ by a factor of three, and the times hardly. What is in "
            "all of them?",
            "The kernel is compiled in the first launch for each shape. That launch "
            "should come before the clock starts.",
            "kernel(x, y) in front of the gpu.synchronize() that stands before the "
            "clock, inside the loop.",
        ),
        starter=(CheckFailed, "A launch that compiles"),
        mutants={
            "first_size_only": Mutant(
                mistake="It warms up for the first size, and each size is compiled.",
                edits=[
                    (
                        "for n in sizes:",
                        "kernel(gpu.empty(sizes[0]), gpu.empty(sizes[0]))\n"
                        "    for n in sizes:",
                    ),
                    ("        kernel(x, y)  # compiles, and is not timed\n", ""),
                ],
                fails=(CheckFailed, "n = 1,048,576"),
            ),
            "other_shape": Mutant(
                mistake="It warms up with one element, for which another kernel is "
                "compiled.",
                edits=[
                    (
                        "kernel(x, y)  # compiles, and is not timed",
                        "kernel(gpu.empty(1), gpu.empty(1))",
                    )
                ],
                fails=(CheckFailed, "n = 524,288"),
            ),
            "not_waited": Mutant(
                mistake="It warms up, and starts the clock before that launch has "
                "ended.",
                edits=[
                    (
                        "gpu.synchronize()\n        start = gpu.clock()",
                        "start = gpu.clock()",
                    )
                ],
                fails=(CheckFailed, "n = 524,288"),
            ),
            "last_not_waited": Mutant(
                mistake="It reads the clock before the last launch has ended.",
                edits=[
                    (
                        "gpu.synchronize()\n"
                        "        times[n] = 1e3 * (gpu.clock() - start) / 10",
                        "times[n] = 1e3 * (gpu.clock() - start) / 10",
                    )
                ],
                fails=(CheckFailed, "before the last launch had ended"),
            ),
            "timed_as_well": Mutant(
                mistake="It warms up behind the start of the clock.",
                edits=[
                    ("        kernel(x, y)  # compiles, and is not timed\n", ""),
                    (
                        "for _ in range(10):",
                        "kernel(x, y)  # compiles, and is not timed\n"
                        "        for _ in range(10):",
                    ),
                ],
                fails=(CheckFailed, "n = 524,288"),
            ),
            "nine_of_ten": Mutant(
                mistake="It leaves the first launch out of the count, but not out of "
                "the time.",
                edits=[
                    ("        kernel(x, y)  # compiles, and is not timed\n", ""),
                    ("/ 10", "/ 9"),
                ],
                fails=(CheckFailed, "n = 524,288"),
            ),
        },
    ),
    HostExercise(
        id="12.3",
        name="warm_cache",
        title="A warm cache flatters",
        stars=2,
        function="cold_ms",
        checks=(("each launch finds a cold cache", not_from_the_cache),),
        hints=(
            "x has 256 KiB and the L2 cache 1 MiB. From where does the second launch "
            "read?",
            "gpu.flush() queues work that fills the cache with other data. It takes "
            "time on the GPU: where must it stand?",
            "gpu.flush() as the first line of the loop, before begin = gpu.mark().",
        ),
        starter=(CheckFailed, "cold_ms says"),
        mutants={
            "flush_once": Mutant(
                mistake="It flushes before the first launch, and the others find x in "
                "the cache.",
                edits=[
                    ("for _ in range(20):", "gpu.flush()\n    for _ in range(20):"),
                    ("        gpu.flush()\n", ""),
                ],
                fails=(CheckFailed, "cold_ms says"),
            ),
            "flush_timed": Mutant(
                mistake="The flush lies between the events, so that it is timed.",
                edits=[
                    ("gpu.flush()", "begin = gpu.mark()\n        gpu.flush()"),
                    ("begin = gpu.mark()\n        kernel(x, y)", "kernel(x, y)"),
                ],
                fails=(CheckFailed, "cold_ms says"),
            ),
            "first_only": Mutant(
                mistake="It takes the first launch for a cold one, whatever ran "
                "before.",
                edits=[
                    ("        gpu.flush()\n", ""),
                    ("return sorted(times)[len(times) // 2]", "return times[0]"),
                ],
                fails=(CheckFailed, "cold_ms says"),
            ),
            "slowest": Mutant(
                mistake="It hopes that the slowest of the launches was a cold one.",
                edits=[
                    ("        gpu.flush()\n", ""),
                    ("return sorted(times)[len(times) // 2]", "return max(times)"),
                ],
                fails=(CheckFailed, "cold_ms says"),
            ),
            "two_in_turn": Mutant(
                mistake="It takes two copies in turn, and both fit in the cache.",
                edits=[
                    (
                        "for _ in range(20):\n        gpu.flush()",
                        "both = [x, gpu.empty(x.shape)]\n    for turn in range(20):",
                    ),
                    ("kernel(x, y)", "kernel(both[turn % 2], y)"),
                ],
                fails=(CheckFailed, "cold_ms says"),
            ),
        },
    ),
)
