"""Runs random PTX programs on the engines of the simulator and compares everything.

python tests/support/ptx_fuzz.py --seeds 0:10000 --processes 2
python tests/support/ptx_fuzz.py --seeds 17 --print      # the PTX of a seed
python tests/support/ptx_fuzz.py --seeds 17 --reduce     # a smaller program that fails
"""

from __future__ import annotations

import argparse
import atexit
import functools
import multiprocessing
import queue
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from ptx_generator import Case, generator, program

from coursekit import errors
from coursekit.simt.interpreter.program import Program
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import LaunchConfiguration, launch
from coursekit.toolchain.cache import Cache

BUFFERS = ("in", "out", "own", "atoms", "tickets")
ORACLE = "interpreter"
ENGINES = ("compiled", "general")
TIMEOUT_S = 60.0
PATIENCE_S = 180
TRIVIAL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k() { ret; }
"""


@functools.cache
def engines() -> tuple[str, ...]:
    """The engines that this simulator has besides the interpreter."""
    if not _chooses():
        return ()
    try:
        for name in ENGINES:
            loaded = Program(TRIVIAL, Memory())
            launch(loaded, "k", (1, 1, 1), (1, 1, 1), b"", engine=name)
    except ImportError:
        return ()
    return ENGINES


def _chooses() -> bool:
    """Whether launches take an engine at all."""
    return any(field.name == "engine" for field in fields(LaunchConfiguration))


@functools.cache
def machine_code() -> Cache:
    """A cache of this process for machine code, so that two engines share it."""
    folder = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Cache(Path(folder))


@dataclass(frozen=True)
class Outcome:
    """What a launch leaves: bytes of every buffer, counts, or an error.

    `ran` is the engine that did it in the end, and why if it is another one.
    """

    memory: tuple[bytes, ...]
    counts: dict
    lines: dict
    labels: dict
    error: str = ""
    ran: str = ORACLE

    def difference(self, other: Outcome, *, counts: bool = True) -> str:
        """Where two outcomes first differ; empty where they are alike."""
        if self.error != other.error:
            return f"errors: {self.error!r} and {other.error!r}"
        for name, one, two in zip(BUFFERS, self.memory, other.memory, strict=True):
            if one != two:
                return first_word(name, one, two)
        if not counts:
            return ""
        for what in ("counts", "lines", "labels"):
            one, two = getattr(self, what), getattr(other, what)
            if one != two:
                keys = [k for k in {**one, **two} if one.get(k) != two.get(k)]
                pairs = {k: (one.get(k), two.get(k)) for k in keys[:6]}
                return f"{what}: {pairs}"
        return ""


def first_word(name: str, one: bytes, two: bytes) -> str:
    a, b = (np.frombuffer(data, np.uint32) for data in (one, two))
    where = np.flatnonzero(a != b)
    at = int(where[0])
    return f"{name}[{4 * at}]: {a[at]:#010x} and {b[at]:#010x} ({len(where)} words)"


def run(case: Case, engine: str = ORACLE, order="forward") -> Outcome:
    """Run a program in a memory of its own."""
    memory = Memory()
    regions = []
    for name, given in zip(BUFFERS, case.buffers, strict=True):
        data = storage(len(given))
        data[:] = np.frombuffer(given, np.uint8)
        regions.append(memory.allocate(len(given), name=name, data=data))
    loaded = Program(case.text, memory)
    options = {"engine": engine, "cache": machine_code} if _chooses() else {}
    answer, error = None, ""
    try:
        answer = launch(
            loaded, "k", case.grid, case.block,
            case.parameters([region.address for region in regions]),
            shared_bytes=case.shared_bytes, order=order, counters=True,
            timeout_s=TIMEOUT_S, **options,
        )  # fmt: skip
    except errors.KernelError as raised:
        error = f"{type(raised).__name__}: {raised}"
    after = tuple(region.data.tobytes() for region in regions)
    if answer is None:
        return Outcome(after, {}, {}, {}, error, "stopped")
    found = answer.counters
    lines = {place: one.as_dict() for place, one in found.by_line().items()}
    counts = found.as_dict()
    labels = {name: found.label(name) for name in counts}
    ran = getattr(answer, "note", "") or getattr(answer, "engine", ORACLE)
    return Outcome(after, counts, lines, labels, ran=ran)


def compare(case: Case, order="forward", ran: Counter | None = None) -> str:
    """How the engines disagree on a program; empty where they agree.

    Without another engine than the interpreter its own orders of warps are compared.
    `ran` counts what ran the program where compiled code was asked for.
    """
    oracle = run(case, ORACLE, order)
    if not engines():
        return compare_orders(case)
    for engine in engines():
        found = run(case, engine, order)
        if ran is not None:
            ran[f"{engine}: {found.ran}"] += 1
        difference = oracle.difference(found)
        if "no code for it" in found.ran or "LLVM refused" in found.ran:
            difference = found.ran
        if difference:
            return f"{ORACLE} and {engine}, order {order}: {difference}"
    return ""


def compare_orders(case: Case) -> str:
    """How orders of warps disagree on the interpreter; empty for want of races."""
    forward = run(case)
    if forward.error:
        return ""
    for order in ("reverse", case.seed):
        other = run(case, ORACLE, order)
        found = forward.difference(other, counts=case.same_counts)
        if found:
            return f"forward and {order}: {found}"
    return ""


def order_of(seed: int):
    """The order of warps that a seed is compared in."""
    return ("forward", "forward", "reverse", seed)[seed % 4]


def check(seed: int, ran: Counter | None = None, case: Case | None = None) -> str:
    """Compare the program of a seed; say what went wrong."""
    try:
        found = compare(case or program(seed), order_of(seed), ran)
    except Exception as error:  # every failure names its seed
        found = f"{type(error).__name__}: {error}"
    return f"seed {seed}: {found}" if found else ""


def _check(seed: int) -> tuple[str, Counter]:
    ran: Counter = Counter()
    return check(seed, ran), ran


def reduce(seed: int, fails=None) -> Case:
    """Leave out statements as long as the program still fails, in the same way.

    `fails` takes a case; without it the engines are compared, in a process that may
    die of it.
    """
    writer = generator(seed)
    if fails is not None:
        kept = _fewest(writer.statements, lambda out: fails(writer.case(out)))
        return writer.case(kept)
    worker = Worker()
    usual = _kind(worker.call(seed, check_without, frozenset())[0])
    kept = _fewest(
        writer.statements,
        lambda out: _kind(worker.call(seed, check_without, out)[0]) == usual,
    )
    worker.pool.shutdown()
    return writer.case(kept)


def check_without(seed: int, without: frozenset) -> tuple[str, Counter]:
    """Compare the program of a seed without some of its statements."""
    return check(seed, case=generator(seed).case(without)), Counter()


def _kind(found: str) -> str:
    """What a message says, whatever its numbers."""
    return re.sub(r"%?-?\b(0x)?[0-9a-f]*\d[0-9a-f]*\b", "", found.partition("\n")[0])[
        :60
    ]


def _fewest(count: int, fails) -> frozenset:
    """The numbers 1 to count that can be left out; halves first, then single ones."""
    without: frozenset = frozenset()
    size = count
    while size:
        for first in range(1, count + 1, size):
            more = without.union(range(first, min(first + size, count + 1)))
            if more != without and fails(more):
                without = more
        size //= 2
    return without


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


class Worker:
    """A process that checks one seed at a time; it may die or hang."""

    def __init__(self):
        self.start()

    def start(self) -> None:
        """Begin with a new process."""
        context = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(1, mp_context=context)

    def call(self, seed: int, function, *arguments) -> tuple[str, Counter]:
        """Check a seed with a function; say so if the process does not survive it."""
        try:
            return self.pool.submit(function, seed, *arguments).result(PATIENCE_S)
        except BrokenExecutor:
            what = "the process died"
        except TimeoutError:
            what = f"still running after {PATIENCE_S} s"
            for process in list(self.pool._processes.values()):
                process.kill()
        self.pool.shutdown(wait=True)
        self.start()
        return f"seed {seed}: {what}", Counter()


def _check_all(seeds: range, processes: int) -> int:
    start, failed = time.monotonic(), 0
    ran: Counter = Counter()
    workers: queue.SimpleQueue = queue.SimpleQueue()
    for _ in range(processes):
        workers.put(Worker())

    def one(seed: int) -> tuple[str, Counter]:
        worker = workers.get()
        try:
            return worker.call(seed, _check)
        finally:
            workers.put(worker)

    with ThreadPoolExecutor(processes) as threads:
        for done, (found, how) in enumerate(threads.map(one, seeds), 1):
            ran += how
            if found:
                failed += 1
                print(found, flush=True)
            if done % 500 == 0 or done == len(seeds):
                rate = done / (time.monotonic() - start)
                print(f"{done} programs, {failed} failed, {rate:.1f}/s", flush=True)
    for _ in range(processes):
        workers.get().pool.shutdown()
    for how, count in ran.most_common(20):
        print(f"{count:6} {how}")
    return 1 if failed else 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=_seeds, default=range(10000),
                        help="a seed, or first:last")  # fmt: skip
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="only print the PTX")
    parser.add_argument("--reduce", action="store_true", help="make it smaller")
    given = parser.parse_args()
    if given.print:
        print(program(given.seeds[0]).text)
        return 0
    if given.reduce:
        case = reduce(given.seeds[0])
        print(case.text)
        return 0
    compared = ", ".join(engines()) or "no other engine: orders of warps"
    print(f"{len(given.seeds)} programs; {ORACLE} against {compared}", flush=True)
    return _check_all(given.seeds, given.processes)


if __name__ == "__main__":
    sys.exit(main())
