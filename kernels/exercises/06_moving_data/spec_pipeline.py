"""Exercise 06.1: a pipeline through two buffers each way."""

from collections import Counter
from itertools import combinations
from types import SimpleNamespace

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant
from coursekit.lessons.timeline import Schedule, Timeline

# 06.1. A copy takes 20 us and so does a kernel; a call takes 2 us. At best the first
# copy begins after one call, and then chunk follows chunk every 20 us.
COPY_BYTES, GBPS, STAGE_US, LAUNCH_US, SLACK_US = 1_000_000, 50, 20, 2, 8


def at_most_us(chunks):
    """Return the bound: all stages of the first chunk, one more for each other."""
    return LAUNCH_US + (chunks + 2) * STAGE_US + SLACK_US


def schedule(pipeline, count) -> Schedule:
    """Let a solution issue so many chunks, and return what the model makes of it."""
    line = Timeline(GBPS, GBPS, LAUNCH_US)
    pipeline(line, [chunk(number) for number in range(count)])
    return line.run()


def chunk(number):
    """Return a chunk with its buffers, which it shares with every second one."""
    x, y = f"x{number % 2}", f"y{number % 2}"
    return SimpleNamespace(number=number, nbytes=COPY_BYTES, us=STAGE_US, x=x, y=y)


def issues_all(pipeline, show):
    """Demand the three operations of each chunk, as the chunk describes them."""
    for count in (4, 7):
        plan = schedule(pipeline, count)
        if count == 4:
            show(plan.table())
        found = Counter(map(described, plan.operations))
        wanted = Counter(what for n in range(count) for what in operations(n))
        if found != wanted:
            raise CheckFailed.explained(
                f"Of {count} chunks, missing: {first_of(wanted - found)}.\n"
                f"    Too much: {first_of(found - wanted)}.",
                "An operation was left out, issued twice, or changed.",
                "Keep the three calls of the starter; change their streams alone.",
            )


def first_of(found):
    """List a few of many."""
    names = list(found)
    more = f", and {len(names) - 2} more" if names[2:] else ""
    return ", ".join(names[:2]) + more or "nothing"


def described(operation):
    """Say what an operation does, to which buffers, and for how long."""
    buffers = " to ".join([*operation.reads, *operation.writes])
    return f"{operation.name} ({operation.engine}, {buffers}, {operation.us:g} us)"


def operations(number):
    """Say the same of the operations that a chunk asks for."""
    x, y = f"x{number % 2}", f"y{number % 2}"
    yield f"in {number} (H2D, {x}, {STAGE_US} us)"
    yield f"kernel {number} (compute, {x} to {y}, {STAGE_US} us)"
    yield f"out {number} (D2H, {y}, {STAGE_US} us)"


def orders_all(pipeline, show):
    """Demand an order wherever two operations share a buffer; luck does not count."""
    for count in (4, 7):
        plan = schedule(pipeline, count)
        for n in range(count):
            require(plan, f"x{n % 2}", [(f"in {n}", f"kernel {n}")])
            require(plan, f"y{n % 2}", [(f"kernel {n}", f"out {n}")])
        for n, m in combinations(range(count), 2):
            if n % 2 == m % 2:
                uses = (f"kernel {n}", f"in {m}"), (f"kernel {m}", f"in {n}")
                require(plan, f"x{n % 2}", uses)
                uses = (f"out {n}", f"kernel {m}"), (f"out {m}", f"kernel {n}")
                require(plan, f"y{n % 2}", uses)


def require(plan, buffer, pairs):
    """Demand one of these orders."""
    if not any(plan.is_ordered(*pair) for pair in pairs):
        first, second = pairs[0]
        raise CheckFailed.explained(
            f"{second} may begin before {first} has ended: nothing orders them.\n"
            f"    Both use {buffer}, with {len(plan.operations) // 3} chunks.",
            "They are in different streams and no event stands between them; a wait "
            "for an event that is recorded only later waits for nothing.",
            f"Record an event behind {first}, and let the stream of {second} wait "
            "for it before you issue it.",
        )


def overlaps(pipeline, show):
    """Demand a makespan near the best one."""
    for count in (4, 7):
        plan, most = schedule(pipeline, count), at_most_us(count)
        if plan.makespan_us > most:
            raise CheckFailed.explained(
                f"{count} chunks take {plan.makespan_us:g} us in the model; at most "
                f"{most} us will do.",
                *why(plan),
            )


def why(plan):
    """Say what made a schedule long, and what to do about it."""
    waits = [each for each in plan.host if each.kind == "wait"]
    if waits:
        total = sum(each.us for each in waits)
        return (
            f"The host waits {len(waits)} times, {total:g} us in all, first in "
            f"{waits[0].name!r}; meanwhile it issues nothing.",
            "Leave the waiting to streams and events, and the host memory pinned.",
        )
    chain = ", ".join(each.name for each in plan.critical_path if each.stream)
    return (
        f"The chain that takes all the time: {chain}.",
        "Find an operation in it that waits for one whose result and whose buffer it "
        "does not need.",
    )


EXERCISES = (
    HostExercise(
        id="06.1",
        name="pipeline",
        title="A pipeline: copy in, compute, copy out at once",
        stars=3,
        function="pipeline",
        checks=(
            ("a copy in, a kernel and a copy out for each chunk", issues_all),
            ("no buffer is used too early, with 4 and with 7 chunks", orders_all),
            (f"the model needs at most {at_most_us(4)} us", overlaps),
        ),
        hints=(
            "A stream for the copies in, one for the kernels, one for the copies out: "
            "then each engine goes on with the next chunk. What must each of the "
            "three operations of a chunk wait for?",
            "kernel 0 waits for in 0, and out 0 for kernel 0. But in 2 overwrites x0, "
            "so it waits for kernel 0; and kernel 2 overwrites y0, so it waits for "
            "out 0.",
            "Make an event for each buffer, free = {name: line.event() ...}. Wait for "
            "free[chunk.x] before the copy in and for free[chunk.y] before the "
            "kernel; record the one behind the kernel, the other behind the copy out.",
        ),
        starter=(CheckFailed, "4 chunks take 242 us"),
        mutants={
            "two_streams": Mutant(
                mistake="A stream for every second chunk: in waits for out, without "
                "need.",
                edits=[
                    (
                        "    arriving, kernels, leaving = (line.stream(name) "
                        'for name in "abc")\n'
                        "    free = {name: line.event() "
                        "for c in chunks for name in (c.x, c.y)}\n",
                        "",
                    ),
                    (
                        "arriving.wait(free[x])  # at first nobody has recorded it\n"
                        '        arriving.copy_in(chunk.nbytes, f"in {n}", buffer=x)\n'
                        "        kernels.wait(arriving.record())\n"
                        "        kernels.wait(free[y])\n"
                        '        kernels.kernel(chunk.us, f"kernel {n}", reads=x, '
                        "writes=y)\n"
                        "        kernels.record(free[x])\n"
                        "        leaving.wait(free[x])\n"
                        '        leaving.copy_out(chunk.nbytes, f"out {n}", '
                        "buffer=y)\n"
                        "        leaving.record(free[y])",
                        'stream = line.stream(f"chunks {n % 2}")\n'
                        '        stream.copy_in(chunk.nbytes, f"in {n}", buffer=x)\n'
                        '        stream.kernel(chunk.us, f"kernel {n}", reads=x, '
                        "writes=y)\n"
                        '        stream.copy_out(chunk.nbytes, f"out {n}", buffer=y)',
                    ),
                ],
                fails=(CheckFailed, "4 chunks take 142 us"),
            ),
            "x_too_early": Mutant(
                mistake="Does not wait until the input two chunks before has been "
                "read.",
                edits=[
                    (
                        "        arriving.wait(free[x])  "
                        "# at first nobody has recorded it\n",
                        "",
                    )
                ],
                fails=(CheckFailed, "in 2 may begin before kernel 0 has ended"),
            ),
            "y_too_early": Mutant(
                mistake="Does not wait until the result two chunks before has left.",
                edits=[("        kernels.wait(free[y])\n", "")],
                fails=(CheckFailed, "kernel 2 may begin before out 0 has ended"),
            ),
            "kernel_too_early": Mutant(
                mistake="The kernel does not wait for its input.",
                edits=[("kernels.wait(arriving.record())", "arriving.record()")],
                fails=(CheckFailed, "kernel 0 may begin before in 0"),
            ),
            "breadth_first": Mutant(
                mistake="Copies in come first, and wait for events recorded only "
                "later.",
                edits=[
                    (
                        "for chunk in chunks:",
                        "ready = {}\n"
                        "    for chunk in chunks:\n"
                        "        arriving.wait(free[chunk.x])\n"
                        '        arriving.copy_in(chunk.nbytes, f"in {chunk.number}", '
                        "buffer=chunk.x)\n"
                        "        ready[chunk.number] = arriving.record()\n"
                        "    for chunk in chunks:",
                    ),
                    (
                        "arriving.wait(free[x])  # at first nobody has recorded it\n"
                        '        arriving.copy_in(chunk.nbytes, f"in {n}", buffer=x)\n'
                        "        kernels.wait(arriving.record())",
                        "kernels.wait(ready[n])",
                    ),
                ],
                fails=(CheckFailed, "in 2 may begin before kernel 0 has ended"),
            ),
            "pageable": Mutant(
                mistake="The host memory is pageable: every copy keeps the host.",
                edits=[
                    ("buffer=x", "pinned=False, buffer=x"),
                    ("buffer=y", "pinned=False, buffer=y"),
                ],
                fails=(CheckFailed, "The host waits 8 times"),
            ),
            "default_stream": Mutant(
                mistake="The kernels are in the default stream, for which all others "
                "wait.",
                edits=[
                    (
                        "arriving, kernels, leaving = (line.stream(name) "
                        'for name in "abc")',
                        'arriving, leaving = line.stream("a"), line.stream("c")\n'
                        "    kernels = line.default_stream",
                    )
                ],
                fails=(CheckFailed, "The chain that takes all the time: in 0"),
            ),
            "host_waits": Mutant(
                mistake="The host waits after each chunk, and nothing overlaps.",
                edits=[
                    (
                        "leaving.record(free[y])",
                        "leaving.record(free[y])\n        line.synchronize()",
                    )
                ],
                fails=(CheckFailed, "The host waits 4 times"),
            ),
        },
    ),
)
