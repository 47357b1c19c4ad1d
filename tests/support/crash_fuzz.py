"""Spoils PTX and runs what is left on the engines of the simulator: none may crash.

python tests/support/crash_fuzz.py --seeds 0:20000 --processes 2
python tests/support/crash_fuzz.py --seeds 17 --print      # the PTX of a seed
python tests/support/crash_fuzz.py --seeds 17 --reduce     # fewer lines that still fail
"""

from __future__ import annotations

import argparse
import functools
import itertools
import multiprocessing
import random
import re
import struct
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kernel_launches import Boxes, plans

import coursekit as ck
from coursekit.errors import CourseError
from coursekit.simt.interpreter.program import Program
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
# Each program runs on the first engine and on one of the others.
ENGINES = ("interpreter", "compiled", "general")
CHECKERS = ("racecheck", "initcheck", "synccheck", "memcheck")
# Seconds that a launch may take, and that a whole program may take before it hangs.
TIMEOUT_S, PATIENCE_S = 0.3, 240
# Bytes of memory that a worker may use: what asks for more is to fail, not to swap.
MEMORY_BYTES = 6 << 30
GENERATED = 60
EXTREMES = ("0", "1", "-1", "2", "31", "32", "33", "63", "64", "127", "128", "255",
            "256", "4096", "65535", "65536", "1048577", "2147483647", "-2147483648",
            "4294967295", "4294967296", "9223372036854775807",
            "-9223372036854775808", "18446744073709551615",
            "99999999999999999999", "0x7fffffff", "0xffffffffffffffff", "0b101",
            "0f7FC00000", "0fFF800000", "0d7FF0000000000000", "1.5", "1e400",
            "WARP_SZ", "%tid.x", "")  # fmt: skip


@dataclass(frozen=True)
class Base:
    """A program that runs, and its launch.

    `arguments` are bytes, which go into a buffer of their own, or packed scalars.
    """

    name: str
    text: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple
    shared_bytes: int = 0


# ---------------------------------------------------------------- programs


def _three(extent) -> tuple[int, int, int]:
    given = (extent,) if isinstance(extent, int) else tuple(extent)
    return (*given, 1, 1)[:3]


def _packed(argument):
    """An argument as `Base` holds it: bytes of an array, or (bytes of a scalar,)."""
    if isinstance(argument, np.ndarray):
        return argument.tobytes()
    if argument is None:
        return (bytes(8),)
    if isinstance(argument, bytes):
        return (argument,)  # a struct, by value
    if isinstance(argument, Boxes):
        return (bytes(128),)  # a map of nothing
    if isinstance(argument, float):
        return (struct.pack("<f", argument),)
    number = int(argument)
    if -(2**31) <= number < 2**31:
        return (struct.pack("<i", number),)
    return (struct.pack("<Q", number % 2**64),)


def _base(name: str, kernel, grid, block, arguments, shared_bytes: int = 0) -> Base:
    return Base(
        name, kernel.module.ptx, kernel.lowered_name, _three(grid), _three(block),
        tuple(map(_packed, arguments)), shared_bytes,
    )  # fmt: skip


def _course_kernels():
    for name, plan in plans().items():
        if name == "broken/bad_launch.cu" or not plan.sizes:
            continue
        given = plan.launch(**plan.sizes[len(plan.sizes) // 2])
        kernel = ck.compile(KERNELS / name, defines=given.defines)[given.kernel]
        yield _base(
            name, kernel, given.grid, given.block, given.arguments, given.shared_bytes
        )


def _shared_kernels():
    from synchronised_kernels import KERNELS as SYNCHRONISED

    for name, one in SYNCHRONISED.items():
        kernel = ck.compile(one.source)["k"]
        yield _base(name, kernel, one.grid, one.block, one.arguments)


def _more_kernels():
    from crash_sources import SOURCES

    for name, source in SOURCES.items():
        arguments = [np.arange(4096, dtype=np.int32) % 97, 7]
        kernel = ck.compile(source)["k"]
        yield _base(name, kernel, 2, 40, arguments, 1024)


def _generated():
    from ptx_generator import program

    for seed in range(GENERATED):
        case = program(seed)
        count = len(case.buffers)
        scalars = (case.parameters([0] * count)[8 * count :],)
        yield Base(
            f"program {seed}", case.text, "k", case.grid, case.block,
            (*map(bytes, case.buffers), scalars), case.shared_bytes,
        )  # fmt: skip


@functools.cache
def bases() -> tuple[Base, ...]:
    """Programs to spoil: of the course, of the tests, and generated ones."""
    sources = (_course_kernels(), _shared_kernels(), _more_kernels(), _generated())
    return tuple(itertools.chain(*sources))


@functools.cache
def words() -> tuple[str, ...]:
    """Every `.word` that stands in a program."""
    found = {
        w for base in bases() for w in re.findall(r"\.[a-z]\w*(?:::\w+)?", base.text)
    }
    return tuple(sorted(found))


@functools.cache
def statements() -> tuple[str, ...]:
    """Every line that stands in a program."""
    return tuple(sorted({line for b in bases() for line in b.text.splitlines()}))


# ---------------------------------------------------------------- spoiling


def _replace(rng, text: str, pattern: str, choices) -> str:
    """Put one of `choices` in the place of one match."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(choices) + text[match.end() :]


def _among(rng, text: str, pattern: str) -> str:
    """Put another match of the same pattern in the place of one."""
    found = sorted(set(re.findall(pattern, text)))
    return _replace(rng, text, pattern, found) if found else text


def flip_character(rng, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    new = chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x250)]))
    return text[:at] + rng.choice(["", new]) + text[at + rng.randrange(2) :]


def _lines(change):
    """A way to spoil that changes the list of lines, chosen after the header."""

    def spoil(rng, text: str) -> str:
        lines = text.split("\n")
        first = next((i for i, line in enumerate(lines) if "{" in line), 0)
        change(rng, lines, rng.randrange(first, len(lines)))
        return "\n".join(lines)

    return spoil


def _drop(rng, lines, at) -> None:
    del lines[at : at + rng.choice([1, 1, 1, 4])]


def _repeat(rng, lines, at) -> None:
    lines.insert(rng.choice([at, rng.randrange(len(lines))]), lines[at])


def _swap(rng, lines, at) -> None:
    other = rng.choice([max(at - 1, 0), rng.randrange(len(lines))])
    lines[at], lines[other] = lines[other], lines[at]


def _borrow(rng, lines, at) -> None:
    lines.insert(at, rng.choice(statements()))


def _guard(rng, lines, at) -> None:
    registers = re.findall(r"%p\d+", "\n".join(lines)) or ["%p1"]
    guard = rng.choice(["@", "@!"]) + rng.choice(registers)
    lines[at] = f"{guard} {lines[at].strip()}"


def _operands(rng, lines, at) -> None:
    parts = lines[at].split(",")
    change = rng.randrange(3)
    if change == 0:
        rng.shuffle(parts)
    elif change == 1:
        del parts[rng.randrange(len(parts))]
    else:
        parts.insert(rng.randrange(len(parts)), rng.choice(parts))
    lines[at] = ",".join(parts)


TYPE = r"\.(?:[usbf](?:8|16|32|64)|b128|f16x2|pred|bf16|bf16x2|tf32)\b"
TYPES = [f".{kind}{bits}" for kind in "usbf" for bits in (8, 16, 32, 64)]
TYPES += [".pred", ".b128", ".f16x2", ".bf16", ".v2", ".v4", ""]
REGISTER = r"%[a-z]+\d+"
NUMBER = r"(?<![\w%$.])-?(?:0[xX][0-9a-fA-F]+|0[fFdD][0-9a-fA-F]+|\d+)\b"
LABEL = r"\$?\b\$?L_\w+|\$\w+"
WAYS = {
    "character": flip_character,
    "drop": _lines(_drop),
    "repeat": _lines(_repeat),
    "swap": _lines(_swap),
    "borrow": _lines(_borrow),
    "guard": _lines(_guard),
    "operands": _lines(_operands),
    "type": lambda rng, text: _replace(rng, text, TYPE, TYPES),
    "register": lambda rng, text: _among(rng, text, REGISTER),
    "number": lambda rng, text: _replace(rng, text, NUMBER, EXTREMES),
    "label": lambda rng, text: _among(rng, text, LABEL),
    "word": lambda rng, text: _replace(rng, text, r"\.[a-z]\w*", words()),
    "cut": lambda rng, text: text[: rng.randrange(len(text) + 1)],
}
OFTEN = ("drop", "repeat", "swap", "borrow", "guard", "operands", "type", "register",
         "number", "label", "word")  # fmt: skip


def noise(rng) -> str:
    """Random bytes, or random words of PTX."""
    if rng.random() < 0.5:
        return rng.randbytes(rng.randrange(400)).decode("latin-1")
    chosen = rng.choices(statements(), k=rng.randrange(1, 30))
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    return rng.choice(["", head]) + "\n".join(chosen)


def spoiled(seed: int) -> tuple[Base, str]:
    """The program that a seed starts from, and what it makes of it."""
    rng = random.Random(seed)
    base = rng.choice(bases())
    if rng.random() < 0.05:
        return base, noise(rng)
    text = base.text
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        way = rng.choice(OFTEN if rng.random() < 0.85 else tuple(WAYS))
        text = WAYS[way](rng, text)
    return base, text


# ---------------------------------------------------------------- running


def _observer(name: str | None):
    from coursekit.simt.checks import barriers, bounds, races, values

    kinds = {"racecheck": races.RaceCheck, "initcheck": values.InitCheck,
             "synccheck": barriers.SyncCheck, "memcheck": bounds.MemCheck}  # fmt: skip
    return kinds[name]() if name else None


def run(base: Base, text: str, engine: str, **options) -> str:
    """Parse and launch; "ran", or the name of the error of the course.

    Raises
    ------
    Exception
        Anything but a CourseError: a crash.
    """
    memory, params = Memory(1 << 30), b""
    for given in base.arguments:
        if isinstance(given, tuple):
            data = given[0]
        else:
            whole = storage(len(given))
            whole[:] = np.frombuffer(given, np.uint8)
            region = memory.allocate(len(given), name="x", data=whole)
            data = struct.pack("<Q", region.address)
        params += bytes(-len(params) % min(len(data), 8)) + data
    try:
        program = Program(text, memory)
        name = base.kernel if base.kernel in program.kernels else None
        name = name or next(iter(program.kernels), "none")
        launch(
            program, name, base.grid, base.block, params,
            shared_bytes=base.shared_bytes, engine=engine, timeout_s=TIMEOUT_S,
            write=lambda text: None, **options,
        )  # fmt: skip
    except CourseError as error:
        str(error)
        return type(error).__name__
    return "ran"


def _crash(error: BaseException) -> str:
    """What a crash is known by: its class, and where in the package it came up."""
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if "coursekit" in f.filename]  # fmt: skip
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:100]}"


def check(seed: int, text: str | None = None) -> tuple[str, Counter]:
    """Run what a seed makes on every engine; says what crashed, and how it ended."""
    base, own = spoiled(seed)
    text = own if text is None else text
    rng = random.Random(f"options {seed}")
    options: list[tuple[str, dict]] = [
        (engine, {"counters": rng.random() < 0.3, "order": rng.choice(["forward", 3])})
        for engine in (ENGINES[0], ENGINES[1 + seed % 3 // 2])
    ]
    checker = rng.choice(CHECKERS)
    ended: Counter = Counter()
    for engine, given in [*options, (checker, {"observer": _observer(checker)})]:
        name = "interpreter" if engine in CHECKERS else engine
        try:
            ended[f"{engine}: {run(base, text, name, **given)}"] += 1
        except Exception as error:  # anything else is what is looked for
            return f"{engine}: {_crash(error)}", ended
    return "", ended


def prepare() -> None:
    """Bound the memory of this process, and compile without optimizing."""
    import resource

    from coursekit.simt.compiled import engine

    engine.MOST_OPTIMIZED = 0
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bases()


class Worker:
    """A process that runs one spoiled program at a time; it may die or hang."""

    def __init__(self):
        self.start()

    def start(self) -> None:
        """Begin with a new process."""
        context = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(1, mp_context=context, initializer=prepare)

    def check(self, seed: int, text: str | None = None) -> tuple[str, Counter]:
        """Check a seed; say so if the process does not survive it."""
        return self.call(check, seed, text)

    def call(self, function, *arguments, patience_s=PATIENCE_S) -> tuple[str, Counter]:
        """Call a function that answers as `check` does."""
        try:
            return self.pool.submit(function, *arguments).result(patience_s)
        except BrokenExecutor:
            what = "the process died"
        except TimeoutError:
            what = f"still running after {patience_s} s"
            for process in list(self.pool._processes.values()):
                process.kill()
        self.pool.shutdown(wait=True)
        self.start()
        return what, Counter()

    def stop(self) -> None:
        """End the process."""
        self.pool.shutdown(wait=True)


def reduce(seed: int) -> str:
    """Leave out lines as long as the program fails in the same way."""
    worker = Worker()
    lines = spoiled(seed)[1].split("\n")
    usual = _kind(worker.check(seed)[0])
    size = len(lines) // 2
    while size:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size :]
            if _kind(worker.check(seed, "\n".join(fewer))[0]) == usual:
                lines = fewer
            else:
                at += size
        size //= 2
    worker.stop()
    return f"// {usual}\n" + "\n".join(lines)


def _kind(found: str) -> str:
    return found.partition(": ")[2].partition(": ")[0] or found


# ---------------------------------------------------------------- the command line


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last)) if last else range(int(first), int(first) + 1)


def check_all(seeds, report=None) -> tuple[dict[int, str], Counter]:
    """Check seeds in one process; what failed by seed, and how launches ended."""
    worker, failed, ended = Worker(), {}, Counter()
    for seed in seeds:
        found, how = worker.check(seed)
        ended += how
        if found:
            failed[seed] = found
            if report:
                report(seed, found)
    worker.stop()
    return failed, ended


def _part(seeds) -> tuple[dict[int, str], Counter]:
    return check_all(
        seeds, lambda seed, found: print(f"seed {seed}: {found}", flush=True)
    )


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=_seeds, default=range(20000),
                        help="a seed, or first:last")  # fmt: skip
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="only print the PTX")
    parser.add_argument("--reduce", action="store_true", help="leave out lines")
    given = parser.parse_args()
    if given.print or given.reduce:
        seed = given.seeds[0]
        print(reduce(seed) if given.reduce else spoiled(seed)[1])
        return 0
    from concurrent.futures import ThreadPoolExecutor

    start = time.monotonic()
    parts = [given.seeds[k :: given.processes] for k in range(given.processes)]
    with ThreadPoolExecutor(given.processes) as threads:
        results = list(threads.map(_part, parts))
    failed = {seed: text for found, _ in results for seed, text in found.items()}
    ended = sum((how for _, how in results), Counter())
    kinds = Counter(_kind(text) for text in failed.values())
    print(f"{len(given.seeds)} programs, {len(failed)} failed, "
          f"{time.monotonic() - start:.0f} s")  # fmt: skip
    for what, count in [*kinds.most_common(), *ended.most_common()]:
        print(f"{count:6} {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
