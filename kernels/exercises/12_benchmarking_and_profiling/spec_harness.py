"""Exercises of chapter 12 that the harness judges: a replay, and wrong bytes."""

import numpy as np

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant
from coursekit.lessons import model_gpu
from coursekit.lessons.model_gpu import ModelGpu

START_MS, BYTES_A_MS = 0.002, 10e6  # rule 2 of the model: 2 us, and 10 GB/s


# ---------------------------------------------------------------- 12.4


def the_harness(make_case, show):
    """Let the course's own benchmark judge the case."""
    gpu, n = ModelGpu(), 2**12
    generator = np.random.default_rng(4)
    total = gpu.kernel("total", _total, writes=(1,))
    divide = gpu.kernel("divide", _divide, writes=(2,))

    def setup(n):
        return gpu.array(generator.random(n, dtype=np.float32) + 1), gpu.empty(n)

    found = model_gpu.benchmark(
        gpu, {"case": make_case(gpu, total, divide)},
        sizes=[n], setup=setup, verify=_is_share,
    )  # fmt: skip
    median_ms = found.row("case").median_ms
    # total reads x from memory, divide reads it from L2, four times as fast.
    whole = 2 * START_MS + (4 * n + 4 + n + 1 + 4 * n) / BYTES_A_MS
    if not 0.9 < median_ms / whole < 1.2:
        raise CheckFailed.explained(
            f"The case takes {1e3 * median_ms:.3g} us, and its two kernels "
            f"{1e3 * whole:.3g}.",
            "Some of the work is done more than once, or not in every call.",
            "One launch of total and one of divide make a call.",
        )


def _total(x, s):
    s[0] = x.sum()


def _divide(x, s, y):
    np.divide(x, s[0], out=y)


def _is_share(x, y):
    x, y = ck.to_host(x), ck.to_host(y)
    # The sum and the quotient are rounded once each, to 2^-24.
    assert np.allclose(y, x / x.sum(), rtol=1e-6, atol=0), "y is not x / sum(x)."


# ---------------------------------------------------------------- 12.5


def the_harness_counts(bytes_moved, show):
    """Let the benchmark compare the number with what the case writes and is given."""
    gpu, generator = ModelGpu(), np.random.default_rng(5)
    kernel = gpu.kernel("mask", _masked, writes=(3,))

    def setup(n):
        x, w = (generator.random(k, dtype=np.float32) for k in (n, -(-n // 4)))
        mask = generator.integers(0, 2, n, dtype=np.uint8)
        return *map(gpu.array, (x, w, mask)), gpu.empty(n, np.float16)

    model_gpu.benchmark(
        gpu, {"mask": kernel}, sizes=[2**12], setup=setup, verify=_is_masked,
        bytes_moved=bytes_moved,
    )  # fmt: skip


def _masked(x, w, mask, y):
    y[:] = mask * np.repeat(w, 4)[: x.size] * x


def _is_masked(x, w, mask, y):
    x, w, mask, y = map(ck.to_host, (x, w, mask, y))
    wanted = np.empty_like(y)
    _masked(x, w, mask, wanted)
    np.testing.assert_array_equal(y, wanted, strict=True)


def to_the_byte(bytes_moved, show):
    """Compare with the count by hand, at sizes that fill the last group or not."""
    for n in (8, 9, 1000, 4097):
        wanted = 4 * n + 4 * -(-n // 4) + n + 2 * n
        if bytes_moved(n) != wanted:
            raise CheckFailed.explained(
                f"bytes_moved({n}) is {bytes_moved(n)}, and the four arrays have "
                f"{wanted} bytes.",
                "The harness accepts what lies between the bytes written and the "
                "bytes of all arrays; inside of that only counting helps.",
                "Add for each array its elements times the bytes of one: float32 has "
                "4, float16 2, uint8 1. The last group may be shorter.",
            )


EXERCISES = (
    HostExercise(
        id="12.4",
        name="replay",
        title="A result that was kept is no speed",
        stars=2,
        function="make_case",
        checks=(("the harness accepts the case", the_harness),),
        hints=(
            "The harness calls the case again with other values in the same arrays. "
            "What does the address of x say about its values?",
            "Room may be kept between calls, results may not. Which of the two is "
            "sums[x.address]?",
            "s = gpu.empty(1) before the function; in it total(x, s), then "
            "divide(x, s, y), in every call.",
        ),
        starter=(CheckFailed, "wrong for fresh ones"),
        mutants={
            "result_kept": Mutant(
                mistake="It leaves the result where an earlier call has put it.",
                edits=[
                    ("s = gpu.empty(1)", "s, done = gpu.empty(1), set()"),
                    (
                        "total(x, s)\n        divide(x, s, y)",
                        "if y.address not in done:\n"
                        "            total(x, s)\n"
                        "            divide(x, s, y)\n"
                        "            done.add(y.address)",
                    ),
                ],
                fails=(CheckFailed, "leaves its outputs alone"),
            ),
            "copies_of_inputs": Mutant(
                mistake="It computes from a copy that the first call has made of x.",
                edits=[
                    (
                        "def make_case(gpu, total, divide):",
                        "import coursekit as ck\n"
                        "\n"
                        "\n"
                        "def make_case(gpu, total, divide):",
                    ),
                    ("s = gpu.empty(1)", "s, copies = gpu.empty(1), {}"),
                    (
                        "total(x, s)\n        divide(x, s, y)",
                        "if x.address not in copies:\n"
                        "            copies[x.address] = gpu.array(ck.to_host(x))\n"
                        "        total(copies[x.address], s)\n"
                        "        divide(copies[x.address], s, y)",
                    ),
                ],
                fails=(CheckFailed, "wrong for fresh ones"),
            ),
            "every_other_call": Mutant(
                mistake="Every other call does nothing, which halves the mean.",
                edits=[
                    ("s = gpu.empty(1)", "s, calls = gpu.empty(1), []"),
                    (
                        "total(x, s)\n        divide(x, s, y)",
                        "calls.append(1)\n"
                        "        if len(calls) % 2:\n"
                        "            total(x, s)\n"
                        "            divide(x, s, y)",
                    ),
                ],
                fails=(CheckFailed, "leaves its outputs alone"),
            ),
            "side_stream": Mutant(
                mistake="Both kernels run beside the stream that is timed.",
                edits=[
                    ("total(x, s)", "total(x, s, stream=1)"),
                    ("divide(x, s, y)", "divide(x, s, y, stream=1)"),
                ],
                fails=(CheckFailed, "while the current stream is held back"),
            ),
            "own_output": Mutant(
                mistake="The result goes into an array of its own, where nobody looks.",
                edits=[("divide(x, s, y)", "divide(x, s, gpu.empty(y.shape))")],
                fails=(CheckFailed, "changes none of its arrays"),
            ),
            "no_sum": Mutant(
                mistake="It divides by what lies in s, and nobody has put the sum "
                "there.",
                edits=[("        total(x, s)\n", "")],
                fails=(CheckFailed, "gives a wrong result"),
            ),
            "sum_too_late": Mutant(
                mistake="It divides by the sum that the call before has left.",
                edits=[
                    ("total(x, s)", "divide(x, s, y)\n        total(x, s)"),
                    ("total(x, s)\n        divide(x, s, y)", "total(x, s)"),
                ],
                fails=(CheckFailed, "wrong for fresh ones"),
            ),
        },
    ),
    HostExercise(
        id="12.5",
        name="bytes",
        title="Wrong bytes make wrong gigabytes a second",
        stars=1,
        function="bytes_moved",
        checks=(
            ("the harness finds the number possible", the_harness_counts),
            ("right to the byte", to_the_byte),
        ),
        hints=(
            "Not every array has 4 bytes an element, and not every array has n "
            "elements.",
            "w has one element for 4 of x: n / 4, rounded up. What do 9 elements of x "
            "need?",
            "4 * n for x, 4 * -(-n // 4) for w, n for the mask, 2 * n for y.",
        ),
        starter=(CheckFailed, "must move at most 32,768 bytes"),
        mutants={
            "elements": Mutant(
                mistake="It counts elements, and of y only.",
                edits=[
                    (
                        '"""Return the least bytes for n elements, '
                        'each array once."""\n'
                        "    groups = -(-n // 4)\n"
                        "    return 4 * n + 4 * groups + 1 * n + 2 * n",
                        "return n",
                    )
                ],
                fails=(CheckFailed, "the cases write 8,192 bytes"),
            ),
            "only_reads": Mutant(
                mistake="It leaves out what is written.",
                edits=[
                    (
                        '"""Return the least bytes for n elements, '
                        'each array once."""\n'
                        "    groups = -(-n // 4)\n"
                        "    return 4 * n + 4 * groups + 1 * n + 2 * n",
                        "return 4 * n + 4 * -(-n // 4) + n",
                    )
                ],
                fails=(CheckFailed, "bytes_moved(8) is 48"),
            ),
            "w_for_each": Mutant(
                mistake="It counts w once for each element that uses it.",
                edits=[
                    (
                        '"""Return the least bytes for n elements, '
                        'each array once."""\n'
                        "    groups = -(-n // 4)\n"
                        "    return 4 * n + 4 * groups + 1 * n + 2 * n",
                        "return 4 * n + 4 * n + n + 2 * n",
                    )
                ],
                fails=(CheckFailed, "must move at most 32,768 bytes"),
            ),
            "whole_groups": Mutant(
                mistake="It forgets the w of the last, shorter group.",
                edits=[
                    (
                        '"""Return the least bytes for n elements, '
                        'each array once."""\n'
                        "    groups = -(-n // 4)\n"
                        "    return 4 * n + 4 * groups + 1 * n + 2 * n",
                        "return 4 * n + 4 * (n // 4) + n + 2 * n",
                    )
                ],
                fails=(CheckFailed, "bytes_moved(9) is 71"),
            ),
            "bits": Mutant(
                mistake="It counts bits.",
                edits=[
                    (
                        '"""Return the least bytes for n elements, '
                        'each array once."""\n'
                        "    groups = -(-n // 4)\n"
                        "    return 4 * n + 4 * groups + 1 * n + 2 * n",
                        "return 8 * (4 * n + 4 * -(-n // 4) + n + 2 * n)",
                    )
                ],
                fails=(CheckFailed, "must move at most 32,768 bytes"),
            ),
        },
    ),
)
