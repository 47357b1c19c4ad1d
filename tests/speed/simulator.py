"""How fast the simulator is, against C and Numba's simulator in the same run.

Run `make bench-simulator`, with ARGS=--json=FILE to keep the numbers, and ARGS=--full
to run all of what Numba simulates, minutes instead of a second. Everything runs on one
core; times are the best of several. Memory is checked and events are counted, which the
simulator always does; the tally of the counts is part of each time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import llvmlite
import numpy as np
import simulator_cases as cases
import simulator_rivals as rivals
from simulator_launching import Prepared, clock

import coursekit as ck

REPETITIONS = 7
LAUNCHES = 200


@dataclass(frozen=True)
class Row:
    """What was measured of one case; `gti_s`: 10^9 thread-instructions a second."""

    name: str
    kernel: str
    elapsed_ms: float
    gti_s: float
    engine: str


@dataclass(frozen=True)
class Goal:
    """A number and what it should be: at most the limit, or at least.

    `measured` is None where there is nothing to measure it with.
    """

    name: str
    measured: float | None
    limit: float
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the number is what it should be."""
        if self.measured is None:
            return False
        if self.at_least:
            return self.measured >= self.limit
        return self.measured <= self.limit

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        shown, verdict = "-", "not measured"
        if self.measured is not None:
            shown = f"{self.measured:,.4g} {self.unit}"
            verdict = "yes" if self.met else "NO"
        return f"{self.name:<52}{shown:>14}  {bound:>8} {self.limit:>8,g}  {verdict}"


def one_core() -> None:
    """Keep this process, and its children, on one core where that can be asked for."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def cpu_name() -> str:
    """What the processor calls itself."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def interleaved(timers: dict, repetitions: int) -> dict[str, float]:
    """The shortest seconds of each timer; they take turns, of two runs each."""
    samples = [
        {name: min(timer(), timer()) for name, timer in timers.items()}
        for _ in range(repetitions)
    ]
    return {name: min(sample[name] for sample in samples) for name in timers}


def c_timers(n: int, folder: Path) -> dict:
    """Timers of the loops in C, by name; none where there is no compiler."""
    if rivals.c_compiler() is None:
        return {}
    case = cases.matmul_tiled(n)
    a, b, c = (array.copy() for array in case.arguments[:3])

    def timer(loop):
        def seconds() -> float:
            start = clock()
            loop(a, b, c, n)
            return clock() - start

        seconds()
        case.check(c)
        return seconds

    return {name: timer(rivals.c_loop(name, folder)) for name in rivals.FLAGS}


def measure(module) -> tuple[list[Row], dict[str, float]]:
    """Time all cases and the loops in C; returns rows, and seconds by name."""
    prepared, launched = {}, {}
    for name, (make, n) in cases.CASES.items():
        one = prepared[name] = Prepared(module, make(n))
        launched[name] = one.launch()
        one.check()
    raced = {f"racecheck, {name}": prepared[name] for name in cases.RACED}
    with tempfile.TemporaryDirectory() as folder:
        timers = {name: one.seconds for name, one in prepared.items()}
        timers |= {name: one.race_seconds for name, one in raced.items()}
        timers |= c_timers(512, Path(folder))
        seconds = interleaved(timers, REPETITIONS)
    rows = []
    for name, one in prepared.items():
        one.check()
        rate = launched[name].counters.thread_instructions / seconds[name]
        elapsed_ms, engine = seconds[name] * 1e3, launched[name].engine
        rows.append(Row(name, one.case.kernel, elapsed_ms, rate / 1e9, engine))
    return rows, seconds


def race_goals(seconds: dict[str, float]) -> list[Goal]:
    """How much longer launches take that are checked for races."""
    return [
        Goal(
            f"racecheck / launch, {name}",
            seconds[f"racecheck, {name}"] / seconds[name],
            2,
        )
        for name in cases.RACED
    ]


def launch_microseconds(module) -> float:
    """Time of a launch of one block as a student writes it, with nothing to copy."""
    prepared = Prepared(module, cases.vec_add(256))
    launcher = prepared.kernel[1, 256]
    with ck.simulator():
        launcher(*prepared.arguments)

        def seconds() -> float:
            start = clock()
            for _ in range(LAUNCHES):
                launcher(*prepared.arguments)
            return (clock() - start) / LAUNCHES

        return min(seconds() for _ in range(REPETITIONS)) * 1e6


def compile_milliseconds() -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds by kernel in fresh processes: cache empty, and cache filled."""
    script = Path(__file__).with_name("simulator_compiling.py")

    def child(folder: str) -> dict[str, list[float]]:
        environment = {**os.environ, "COURSEKIT_CACHE": folder}
        command = [sys.executable, script]
        output = subprocess.check_output(command, env=environment)
        return json.loads(output)

    cold, cached = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(child(folder))
            cached += [child(folder), child(folder)]

    def compiling(runs: list[dict], kernel: str) -> float:
        first, later = (min(run[kernel][k] for run in runs) for k in (0, 1))
        return (first - later) * 1e3

    return tuple(
        {kernel: compiling(runs, kernel) for kernel in runs[0]}
        for runs in (cold, cached)
    )


def goals(rows, seconds, numba_s: float, compiling, launch_us: float) -> list[Goal]:
    """Compare what was measured with what it should be."""
    by_name = {row.name: row for row in rows}
    tiled, sgemm = "tiled matmul 512^3", "SGEMM 8x8 512^3"

    def against(name: str, loop: str) -> float | None:
        return seconds[name] / seconds[loop] if loop in seconds else None

    cold, cached = ({k: v for k, v in c.items() if k != "helpers"} for c in compiling)
    tree = by_name["divergent tree 1 Mi"].gti_s / by_name[tiled].gti_s
    numba = numba_s / seconds["tiled matmul 256^3"]
    return [
        Goal(f"{tiled} / naive C ijk -O3", against(tiled, "ijk"), 0.10),
        Goal(f"{tiled} / C ikj -O3 -march=native", against(tiled, "ikj"), 2.5),
        Goal("Numba's simulator / tiled matmul 256^3", numba, 40_000, at_least=True),
        Goal(f"{sgemm} / naive C ijk -O3", against(sgemm, "ijk"), 0.07),
        Goal("divergent tree / tiled matmul, Gti/s", tree, 1 / 7, at_least=True),
        Goal("compile, slowest kernel", max(cold.values()), 600, "ms"),
        Goal("compile, median kernel", statistics.median(cold.values()), 150, "ms"),
        Goal("load from the cache, slowest kernel", max(cached.values()), 5, "ms"),
        Goal("launch of one block", launch_us, 100, "us"),
        *race_goals(seconds),
    ]


def show(machine: dict, rows, seconds, compiling, found) -> None:
    """Print the table."""
    print(", ".join(f"{key}: {value}" for key, value in machine.items()))
    print(f"\n{'':<30}{'ms':>9}{'Gti/s':>8}{'compile ms':>12}{'cached ms':>11}  engine")
    cold, cached = compiling
    for row in rows:
        print(
            f"{row.name:<30}{row.elapsed_ms:>9.2f}{row.gti_s:>8.2f}"
            f"{cold[row.kernel]:>12.0f}{cached[row.kernel]:>11.1f}  {row.engine}"
        )
    for name in cases.RACED:
        title = f"racecheck, {name}"
        print(f"{title:<30}{seconds[title] * 1e3:>9.2f}{'':>31}  compiled")
    for name, flags in rivals.FLAGS.items():
        shown = f"{seconds[name] * 1e3:.2f}" if name in seconds else "no C compiler"
        title = " ".join(("C", name, "512^3", *flags))
        print(f"{title:<30}{shown:>9}")
    helpers = f"{cold['helpers']:>12.0f}{cached['helpers']:>11.1f}"
    print(f"{'helpers, once a machine':<47}{helpers}")
    print(f"\n{'goal':<52}{'measured':>14}  {'limit':>17}  met")
    print("\n".join(map(str, found)))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the numbers")
    parser.add_argument("--full", action="store_true", help="run all of Numba's blocks")
    options = parser.parse_args()
    one_core()
    module = ck.compile(cases.KERNELS)
    rows, seconds = measure(module)
    launch_us = launch_microseconds(module)
    compiling = compile_milliseconds()
    numba_s, how = rivals.numba_seconds(options.full)
    machine = {
        "CPU": f"{cpu_name()}, one core",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "C compiler": rivals.c_compiler() or "none",
        "Numba's simulator": f"{numba_s:.0f} s ({how})",
    }
    found = goals(rows, seconds, numba_s, compiling, launch_us)
    race_ms = {n: seconds[f"racecheck, {n}"] * 1e3 for n in cases.RACED}
    c_ms = {name: s * 1e3 for name, s in seconds.items() if name in rivals.FLAGS}
    show(machine, rows, seconds, compiling, found)
    if options.json:
        written = {
            "machine": machine,
            "cases": [asdict(row) for row in rows],
            "c_ms": c_ms,
            "racecheck_ms": race_ms,
            "compile_ms": dict(zip(("cold", "cached"), compiling, strict=True)),
            "launch_us": launch_us,
            "goals": [{**asdict(goal), "met": goal.met} for goal in found],
        }
        options.json.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
