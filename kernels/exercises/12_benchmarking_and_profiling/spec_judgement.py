"""Exercises of chapter 12 on judgement: two kernels compared, a report read."""

import numpy as np

import coursekit as ck
from coursekit.benchmarking.nsight.reports.report import Report
from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant
from coursekit.exercises.tables import Table
from coursekit.lessons.model_gpu import ModelGpu

SEEDS = range(12)
PEAK = "{}.avg.pct_of_peak_sustained_elapsed"
NAMES = ("sm__throughput", "gpu__compute_memory_throughput", "gpu__dram_throughput")
FLOAT = 4
# Recorded launches: key, bytes that the problem must move, who sets the pace.
RECORDED = (
    ("start/vec_add", 3 * FLOAT * 2**25, "memory"),
    ("start/read_strided", 2 * FLOAT * 2**22, "memory"),
    ("first/matmul_naive", 3 * FLOAT * 2**20, "a cache"),
    ("synchronisation/histogram_shared", 2**26 + 256 * FLOAT, "nobody"),
)
# Made up: SMs, all of the memory system, DRAM in percent; who sets the pace.
MADE_UP = (
    (90.0, 40.0, 40.0, "SMs"),
    (60.0, 59.0, 20.0, "SMs"),
    (59.0, 59.5, 59.5, "nobody"),
    (35.0, 35.0, 10.0, "nobody"),
    (70.0, 85.0, 84.5, "memory"),
    (20.0, 88.0, 70.0, "a cache"),
)


# ---------------------------------------------------------------- 12.6


def over_many_days(speedup, show):
    """Ask on a dozen days, each with its own luck, for three true ratios."""
    for true in (1.0, 1.25, 0.8):
        found = [_one_day(speedup, true, seed) for seed in SEEDS]
        wrong = [ratio for ratio in found if not abs(ratio / true - 1) <= 0.02]
        if len(wrong) > 1:
            worst = max(wrong, key=lambda ratio: abs(ratio / true - 1))
            raise CheckFailed.explained(
                f"new is {true:g} times as fast. On {len(wrong)} of {len(found)} days "
                f"speedup is off by more than 2 %, once it says {worst:.3g}.",
                "The clock falls as the GPU warms up, times scatter, and some are "
                "interrupted.",
                "Measure in pairs, old new, new old, at least 20 of them, and take "
                "the median of their ratios.",
            )


def _one_day(speedup, true, seed):
    gpu = ModelGpu(noise=0.02, heat=0.2, seed=seed)
    facts = {"writes": (1,), "slow": 150}
    old = gpu.kernel("old", _copy, **facts)
    new = gpu.kernel("new", _copy, **facts | {"slow": 150 / true})
    x, y = gpu.array(np.zeros(4096, np.float32)), gpu.empty(4096)
    return float(speedup(gpu, old, new, x, y))


def _copy(x, y):
    np.copyto(y, x)


# ---------------------------------------------------------------- 12.7


def recorded_launches(diagnose, show):
    """Ask about the four launches that were recorded on an H200."""
    rows = []
    for key, needed, who in RECORDED:
        report = ck.report(key)
        found = _answer(diagnose(report, needed))
        share = min(1.0, needed / report.memory_bytes)
        rows.append((report.kernel, who, str(found[0]), f"{share:.0%}"))
        _compare(report.kernel, found, who, share)
    show(Table("Recorded", ("kernel", "sets the pace", "found", "needed"), tuple(rows)))


def made_up_reports(diagnose, show):
    """Ask about reports that lie at the borders between two answers."""
    for *percent, who in MADE_UP:
        names = map(PEAK.format, NAMES)
        metrics = dict(zip(names, percent, strict=True))
        metrics |= {"dram__bytes_read.sum": 3e6, "dram__bytes_write.sum": 1e6}
        sms, memory, dram = percent
        name = f"a launch with SMs {sms:g} %, memory {memory:g} %, DRAM {dram:g} %"
        report = Report("made_up", metrics=metrics, origin="listing")
        _compare(name, _answer(diagnose(report, 1_000_000)), who, 0.25)


def _answer(found):
    if isinstance(found, tuple) and len(found) == 2:
        return found
    raise CheckFailed.explained(
        f"diagnose returns {found!r}.",
        "It has two answers: who sets the pace, and the share that was needed.",
        "End with return who, share.",
    )


def _compare(name, found, who, share):
    if found[0] != who:
        raise CheckFailed.explained(
            f"{name}: {found[0]!r} is said to set the pace, and it is {who!r}.",
            "A number is compared with another one than it should be.",
            "In this order: is anybody at 60 %? Are the SMs at least as busy as "
            "memory? Is DRAM within 1 of memory? Else it is a cache.",
        )
    if not abs(found[1] - share) <= 0.001:
        raise CheckFailed.explained(
            f"{name}: the share is said to be {found[1]:.3g}, and it is {share:.3g}.",
            "It relates what the problem needs to what passed through memory. Results "
            "that still lie in L2 have not passed, so the quotient can be above 1.",
            "needed_bytes / report.memory_bytes, and 1 where that is more.",
        )


EXERCISES = (
    HostExercise(
        id="12.6",
        name="luck",
        title="Luck: the best of three, and the old one first",
        stars=3,
        function="speedup",
        checks=(("right on a dozen days", over_many_days),),
        hints=(
            "Let both kernels be the same one. What does the starter say, and who of "
            "the two had the cool GPU?",
            "Let a drift meet both alike: measure in pairs, and change who is first. "
            "Each pair gives a ratio.",
            "25 pairs; in every other one new comes first; statistics.median of the "
            "25 ratios old / new.",
        ),
        starter=(CheckFailed, "new is 1 times as fast"),
        mutants={
            "one_after_the_other": Mutant(
                mistake="It takes medians, but the old one has the cool GPU to itself.",
                edits=[
                    (
                        "ratios = []\n"
                        "    for turn in range(25):\n"
                        "        first, second = (old, new) "
                        "if turn % 2 == 0 else (new, old)\n"
                        "        times = {kernel: once_ms(kernel) "
                        "for kernel in (first, second)}\n"
                        "        ratios.append(times[old] / times[new])\n"
                        "    return statistics.median(ratios)",
                        "olds = [once_ms(old) for _ in range(25)]\n"
                        "    news = [once_ms(new) for _ in range(25)]\n"
                        "    return statistics.median(olds) / statistics.median(news)",
                    )
                ],
                fails=(CheckFailed, "new is 1 times as fast"),
            ),
            "means": Mutant(
                mistake="It takes means in turn, and each interruption counts in full.",
                edits=[
                    (
                        "ratios = []\n"
                        "    for turn in range(25):\n"
                        "        first, second = (old, new) "
                        "if turn % 2 == 0 else (new, old)\n"
                        "        times = {kernel: once_ms(kernel) "
                        "for kernel in (first, second)}\n"
                        "        ratios.append(times[old] / times[new])\n"
                        "    return statistics.median(ratios)",
                        "olds, news = [], []\n"
                        "    for _ in range(25):\n"
                        "        olds.append(once_ms(old))\n"
                        "        news.append(once_ms(new))\n"
                        "    return statistics.mean(olds) / statistics.mean(news)",
                    )
                ],
                fails=(CheckFailed, "new is 1 times as fast"),
            ),
            "one_pair": Mutant(
                mistake="It takes one pair, as it comes.",
                edits=[
                    ("import statistics\n\n\n", ""),
                    (
                        "ratios = []\n"
                        "    for turn in range(25):\n"
                        "        first, second = (old, new) "
                        "if turn % 2 == 0 else (new, old)\n"
                        "        times = {kernel: once_ms(kernel) "
                        "for kernel in (first, second)}\n"
                        "        ratios.append(times[old] / times[new])\n"
                        "    return statistics.median(ratios)",
                        "return once_ms(old) / once_ms(new)",
                    ),
                ],
                fails=(CheckFailed, "new is 1 times as fast"),
            ),
            "upside_down": Mutant(
                mistake="It returns how many times as long the new one takes.",
                edits=[
                    (
                        "ratios = []\n"
                        "    for turn in range(25):\n"
                        "        first, second = (old, new) "
                        "if turn % 2 == 0 else (new, old)\n"
                        "        times = {kernel: once_ms(kernel) "
                        "for kernel in (first, second)}\n"
                        "        ratios.append(times[old] / times[new])",
                        "ratios = [once_ms(new) / once_ms(old) for _ in range(25)]",
                    )
                ],
                fails=(CheckFailed, "new is 1.25 times as fast"),
            ),
            "best_pair": Mutant(
                mistake="It takes the pair that flatters most.",
                edits=[
                    ("import statistics\n\n\n", ""),
                    (
                        "ratios = []\n"
                        "    for turn in range(25):\n"
                        "        first, second = (old, new) "
                        "if turn % 2 == 0 else (new, old)\n"
                        "        times = {kernel: once_ms(kernel) "
                        "for kernel in (first, second)}\n"
                        "        ratios.append(times[old] / times[new])\n"
                        "    return statistics.median(ratios)",
                        "return max(once_ms(old) / once_ms(new) for _ in range(25))",
                    ),
                ],
                fails=(CheckFailed, "new is 1 times as fast"),
            ),
        },
    ),
    HostExercise(
        id="12.7",
        name="diagnose",
        title="Diagnose: who sets the pace, and is it useful?",
        stars=2,
        function="diagnose",
        checks=(
            ("four launches that were recorded", recorded_launches),
            ("at the borders between two answers", made_up_reports),
        ),
        hints=(
            "Nobody being busy is an answer of its own. Which launch of the chapter "
            "was like that?",
            "The number for memory is that of its busiest part. If DRAM has the same "
            "number, to 1, it is that part; else another part is, a cache.",
            "if max(sms, memory) < 60, elif sms >= memory, elif dram > memory - 1, "
            "else; and min(1, needed_bytes / report.memory_bytes).",
        ),
        starter=(CheckFailed, "vec_add: the share is said to be 1.03"),
        mutants={
            "somebody_always": Mutant(
                mistake="It names somebody even where nobody is busy.",
                edits=[
                    (
                        "if max(sms, memory) < 60:\n"
                        '        who = "nobody"\n'
                        "    elif sms >= memory:",
                        "if sms >= memory:",
                    )
                ],
                fails=(CheckFailed, "histogram_shared: 'a cache' is said"),
            ),
            "no_caches": Mutant(
                mistake="It takes all of the memory system for DRAM.",
                edits=[
                    ('    dram = percent(report, "gpu__dram_throughput")\n', ""),
                    ("elif dram > memory - 1:", "elif memory > sms:"),
                ],
                fails=(CheckFailed, "matmul_naive: 'memory' is said"),
            ),
            "dram_above_sixty": Mutant(
                mistake="It asks whether DRAM is busy, and not whether it is the "
                "busiest part.",
                edits=[("elif dram > memory - 1:", "elif dram >= 60:")],
                fails=(CheckFailed, "DRAM 70 %: 'memory' is said"),
            ),
            "sum_of_both": Mutant(
                mistake="It asks whether both together are busy.",
                edits=[("if max(sms, memory) < 60:", "if sms + memory < 60:")],
                fails=(CheckFailed, "DRAM 59.5 %: 'memory' is said"),
            ),
            "share_above_one": Mutant(
                mistake="It lets more than all bytes be needed.",
                edits=[
                    (
                        "min(1.0, needed_bytes / report.memory_bytes)",
                        "needed_bytes / report.memory_bytes",
                    )
                ],
                fails=(CheckFailed, "the share is said to be 1.03"),
            ),
            "upside_down": Mutant(
                mistake="It divides what has moved by what was needed.",
                edits=[
                    (
                        "needed_bytes / report.memory_bytes",
                        "report.memory_bytes / needed_bytes",
                    )
                ],
                fails=(CheckFailed, "the share is said to be 0.97"),
            ),
        },
    ),
)
