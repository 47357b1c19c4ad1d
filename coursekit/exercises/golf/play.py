"""Play a hole: find out whether a submission is right, and what it counts."""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from coursekit.analysis.checking import initcheck, racecheck, synccheck
from coursekit.errors import ArgumentError, CheckFailed, CourseError
from coursekit.exercises.golf import bench as benches
from coursekit.exercises.golf import rules, shape
from coursekit.exercises.golf.bench import Bench, seen_with
from coursekit.exercises.golf.hole import METRICS, Hole
from coursekit.exercises.golf.outcome import Tally
from coursekit.exercises.golf.score import Score
from coursekit.exercises.trial import Problem
from coursekit.runtime.launching import Kernel, Launcher
from coursekit.runtime.simulator import simulator

ORDERS = ("reverse", 1)
_ARCHITECTURE = 90
_QUALIFIED = re.compile(r"\b(?:const|volatile|__restrict__)\b|\s")


def source_of(given: Any) -> str:
    """Return the text of a submission.

    Parameters
    ----------
    given : str, Path, Module or Kernel
        Source text, the path of a .cu file, or what was compiled from either.

    Raises
    ------
    ArgumentError, LaunchError, CompileError
        It is none of these, there is no such file, or it is empty.
    """
    from coursekit.toolchain import sources

    module = getattr(given, "module", given)
    if isinstance(given, str | os.PathLike):
        return rules.canonical(sources.find(given).text)
    if isinstance(given, Launcher):
        raise ArgumentError.explained(
            f"golf got {given.kernel.name}[{given.configuration.written}], a launch.",
            "Its numbers are those of one size, and a hole is played at several.",
            'Pass the kernel, and launch="grid = ceil(n / 256); block = 256" in terms '
            "of the sizes.",
        )
    if not hasattr(module, "source") or not hasattr(module, "options"):
        raise ArgumentError.explained(
            f"golf got {type(given).__name__}, which has no source.",
            "A submission is CUDA C++: a text, a file, or what was compiled from one.",
            'Write for example ck.golf("transpose", kernel).',
        )
    if module.options:
        raise ArgumentError.explained(
            f"golf got a kernel that was compiled with {' '.join(module.options)}.",
            "A submission is its source alone.",
            "Write the value into the source: constexpr int TILE = 32;",
        )
    return rules.canonical(module.source)


def sha256(source: str) -> str:
    """Return the hash that names a submission."""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()


def compiler() -> str:
    """Name the compiler, with its version, whose code is counted on this machine."""
    from coursekit.toolchain import nvrtc, sass

    identity = nvrtc.identity()
    if "/" in identity:  # a toolkit's own library, named by its path
        identity = "nvrtc {}.{}".format(*nvrtc.version())
    # Without a disassembler the PTX decides how shared accesses are counted.
    return identity if sass.find_disassembler() else f"{identity} without nvdisasm"


def play(hole: Hole, source: str, salt: str = "") -> Score:
    """Play a hole with a source; the score holds the error of a wrong kernel.

    Parameters
    ----------
    hole : Hole
    source : str
        Canonical, as `source_of` returns it.
    salt : str
        Draws other hidden sizes, for whoever suspects that these were known.
    """
    score = Score(hole, source, sha256(source))
    bench = Bench(hole, source, score.sha256, salt)
    stage = ""
    try:
        score = replace(score, compiler=compiler())
        for stage, run in STAGES.items():  # noqa: B007 (named in the error)
            run(bench)
        return replace(score, **_results(bench))
    except CourseError as error:
        return replace(score, error=error.with_traceback(None), stage=stage)


def read_rules(bench: Bench) -> None:
    """Refuse a source that breaks the rules, before any of it runs."""
    rules.check_source(bench.source)
    bench.shape = shape.find(bench.source) or shape.Shape.of(bench.hole.shape)


def compile_it(bench: Bench) -> None:
    """Compile, and find the one kernel."""
    from coursekit.runtime import compiler as compilers

    name = f"golf_{bench.hole.name}.cu"
    module = compilers.compile(bench.source, arch="compute_90", name=name)
    if len(module.kernels) != 1:
        names = ", ".join(module.kernels) or "no kernel"
        raise CheckFailed.explained(
            f"The submission has {names}.",
            "A hole is played by one kernel; a template is none before it is used.",
            "Keep one `__global__ void` function, and make others `__device__`.",
        )
    rules.check_ptx(module.ptx)
    bench.kernel = module[module.kernels[0]]
    _require_parameters(bench, compilers.compile(bench.hole.starter))


def _require_parameters(bench: Bench, starter) -> None:
    original = starter[starter.kernels[0]]
    if _types(original) != _types(bench.kernel):
        raise CheckFailed.explained(
            f"The kernel is {bench.kernel.signature}, but the hole launches "
            f"{original.signature}.",
            "A parameter was added, removed, reordered or given another type.",
            f'ck.golf("{bench.hole.name}") shows the starter, which has them right.',
        )


def _types(kernel: Kernel) -> list[str]:
    return [_QUALIFIED.sub("", str(parameter.type)) for parameter in kernel.parameters]


def check_sizes(bench: Bench) -> None:
    """Require the right results, at sizes drawn from the source's hash too."""
    for size in (*bench.hole.sizes, *bench.ragged):
        bench.run(size)
    for order in ORDERS:
        bench.run(bench.ragged[0], order)


def check_threads(bench: Bench) -> None:
    """Run the checkers at a ragged size and at the scored one.

    Memcheck, the fourth checker, is on in every launch.
    """
    for size in (bench.ragged[1], bench.hole.scored):
        trial = bench.trial(size)
        given = tuple(Problem.of(bench.hole, size).given.values())
        launch = bench.kernel, trial.grid, trial.block, given, trial.shared_bytes
        for checker in (synccheck, racecheck, initcheck):
            with _silent(), seen_with(trial), simulator(timeout_s=benches.TIMEOUT_S):
                findings = checker(*launch, raise_=True)
            _require_order(findings)


def _require_order(findings) -> None:
    """Refuse findings that are only notes, too: a submission must be free of any."""
    if len(findings):
        raise CheckFailed.explained(
            f"{findings.checker}: {next(iter(findings))}",
            "The result was right here, and need not be on a GPU.",
            "Order the two accesses, or write the value once.",
        )


def count_it(bench: Bench) -> None:
    """Count the scored launches, whose results have to be right as well."""
    _require_work(bench)
    sizes = bench.hole.scored, bench.round
    counted = [bench.run(size) for size in sizes]
    bench.counters = counted[0]
    bench.tallies = tuple(
        Tally(size, _counts(counters), bench.hole.ideals(size), _inexact(counters))
        for size, counters in zip(sizes, counted, strict=True)
    )


def _require_work(bench: Bench) -> None:
    hole, trial = bench.hole, bench.trial(bench.hole.scored)
    blocks, block = math.prod(trial.grid), math.prod(trial.block)
    if blocks < hole.least_blocks or blocks * block < hole.least_threads:
        raise CheckFailed.explained(
            f"{trial}: {blocks} blocks, {blocks * block} threads.",
            f"At the scored size the work is shared by at least {hole.least_blocks} "
            f"blocks and {hole.least_threads} threads, as it has to be on a GPU.",
            "Change the line `// golf: grid = ...; block = ...`.",
        )


STAGES: dict[str, Callable[[Bench], None]] = {
    "the rules": read_rules,
    "compiles": compile_it,
    # Checked first: a race explains a wrong result better than its values do.
    "race-free": check_threads,
    "right at every size": check_sizes,
    "counted": count_it,
}


def _counts(counters) -> dict[str, int]:
    return {
        metric: sum(getattr(counters, name) for name in fields)
        for metric, fields in METRICS.items()
    }


def _inexact(counters) -> frozenset[str]:
    """Return the counts of the PTX, which the hardware's may differ from."""
    return frozenset(
        metric
        for metric, fields in METRICS.items()
        for name in fields
        if getattr(counters, name) and counters.label(name) == "ptx"
    )


def _results(bench: Bench) -> dict[str, Any]:
    module, name = bench.kernel.module, bench.kernel.name
    needs = module.resources_on(name, _ARCHITECTURE)
    spilt = needs.spill_store_bytes + needs.spill_load_bytes + needs.stack_bytes
    scored, hidden = bench.tallies
    return {
        "scored": scored,
        "hidden": hidden,
        "registers": needs.registers,
        "local_bytes": needs.local_bytes or spilt,
        "costs": _costs(bench, scored.worst),
    }


def _costs(bench: Bench, metric: str) -> dict[int, int]:
    """Return what each line of the source adds to a count, where it adds anything."""
    file = bench.kernel.module.name
    return {
        line: cost
        for (name, line), counts in sorted(bench.counters.by_line().items())
        if name == file and line and (cost := _counts(counts)[metric])
    }


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
