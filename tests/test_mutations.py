"""Whatever keeps a kernel of the course right is missed when it is taken out.

Each barrier, wait and bounds test is deleted in turn; what does harm must be found by
a checker, on a line that has to do with it, or at least by a wrong result.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

import kernel_launches
import mutations
import numpy as np
import pytest
import test_kernels as kernels
from synchronised_kernels import KERNELS as SYNCHRONISED
from test_async_copies import TILES

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.checking import compiled
from coursekit.exercises.trial import Problem, Trial

pytestmark = pytest.mark.usefixtures("own_folders")

# What is asked first of a mutant of each kind; a wrong result comes last.
CHECKERS = {
    mutations.BARRIER: ("racecheck", "synccheck"),
    mutations.WARP: ("racecheck", "synccheck"),
    mutations.WAIT: ("initcheck", "racecheck"),
    mutations.BOUNDS: ("memcheck", "racecheck", "initcheck"),
}
# Each mutant of the fused step takes seconds: test_fused_step.py spoils it in few ways.
ELSEWHERE = "mnist_fast/", "mnist_tuned/"
ORDERS = ("forward", "reverse")
TIMEOUT_S = 20
# Mutants that do no harm, and why: (file, line, what was deleted).
NOTHING_TO_ADD, IN_VAIN = "it saves an atomic that adds 0", "other warps add in vain"
ZEROS = "zeros arrive, which nobody reads"
ALONE = "the simulator's clusters are of one block, which waits for no other"
SAME_PAIR = "where a block is all of a cluster, its threads store the same pair"
EARLY = "pairs are read before they are told"
HARMLESS = {
    ("solutions/08_synchronisation/1_running_maximum.cu", 14, "i >= away"):
        "`other` is 0 there, and the inputs are all positive",
    ("histogram/step_03_warps.cu", 34, "sum > 0"): NOTHING_TO_ADD,
    ("histogram/step_04_lanes.cu", 36, "sum > 0"): NOTHING_TO_ADD,
    ("histogram/step_05_vectorised.cu", 63, "sum > 0"): NOTHING_TO_ADD,
    ("reduction/step_05_shuffle.cu", 27, "warp > 0"): IN_VAIN,
    ("reduction/step_06_vectorised.cu", 30, "warp > 0"): IN_VAIN,
    ("reduction/step_07_persistent.cu", 36, "warp > 0"): IN_VAIN,
    ("scan/step_05_look_back.cu", 110, "tile > 0"):
        "the first tile finds the sum 0 in front of it",
    ("scan/step_06_ahead.cu", 73, "warp > 0"): "other warps publish the same sum",
    ("softmax/step_07_cluster.cu", 140, "wait()"): ALONE,
    ("softmax/step_07_cluster.cu", 141, "threadIdx.x < SHARE"): SAME_PAIR,
    ("softmax/step_07_cluster.cu", 144, "threadIdx.x < 32"): ALONE,
    ("layernorm/step_06_cluster.cu", 136, "wait()"): ALONE,
    ("layernorm/step_06_cluster.cu", 137, "t < SHARE"): SAME_PAIR,
    ("layernorm/step_06_cluster.cu", 139, "t < 32"): ALONE,
    ("matmul/step_09_double_buffered.cu", 64, "k0 + DEPTH < K"): ZEROS,
    ("matmul/step_10_tma_ring.cu", 42, "turn > 0"):
        "who waits for the phase before the first does not wait",
    ("matmul/step_10_tma_ring.cu", 68, "(step + AHEAD) * DEPTH < K"):
        f"{ZEROS}; on a GPU they may come when the block has gone",
}  # fmt: skip
# Mutants that are found on a line which the source without them makes the cause.
FOUND_AT = {
    ("scan/step_05_look_back.cu", 84, "__syncthreads()"):
        (92, "the number of the tile is not there yet: its elements are nowhere"),
    ("scan/step_05_look_back.cu", 117, "__syncthreads()"):
        (114, "the compiler puts the reading of `before` next to where it is written"),
    ("softmax/step_07_cluster.cu", 97, "__syncthreads()"): (149, EARLY),
    ("softmax/step_07_cluster.cu", 148, "wait()"): (149, EARLY),
    ("layernorm/step_06_cluster.cu", 87, "__syncthreads()"): (144, EARLY),
    ("layernorm/step_06_cluster.cu", 143, "wait()"): (144, EARLY),
    ("matmul/step_10_tma_ring.cu", 91, "__syncwarp()"):
        (47, "a tile is asked for again, in `fetch`, while lanes read it"),
    ("matmul/step_11_tuned.cu", 215, "__syncthreads()"):
        (95, "a tile is asked for again, in `fetch`, while lanes read it"),
    ("matmul/step_11_tuned.cu", 220, "wait(&full[next], parity)"):
        (126, "numbers of the next tile are read, in `load_a`, before they arrive"),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A launch of a kernel whose text may be exchanged."""

    compile: Callable
    kernel: str
    grid: object
    block: object
    arguments: tuple
    shared_bytes: int = 0
    cooperative: bool = False

    def check(self, checker: str, text: str):
        """Findings of a checker."""
        with ck.simulator(timeout_s=TIMEOUT_S):
            return getattr(ck, checker)(
                self.compile(text)[self.kernel], self.grid, self.block,
                copy.deepcopy(self.arguments), shared_bytes=self.shared_bytes,
                cooperative=self.cooperative,
            )  # fmt: skip

    def result(self, text: str, order: str) -> list:
        """Arrays after a launch, or the name of the error that it raised."""
        arguments = copy.deepcopy(self.arguments)
        try:
            with ck.simulator(timeout_s=TIMEOUT_S, order=order):
                self.compile(text)[self.kernel].launch(
                    self.grid, self.block, *arguments,
                    shared_bytes=self.shared_bytes, cooperative=self.cooperative,
                )  # fmt: skip
        except ck.KernelError as error:
            return [type(error).__name__]
        return [one.tobytes() for one in arguments if isinstance(one, np.ndarray)]


@dataclass(frozen=True)
class Subject:
    """A kernel of the course: its text, and how it is launched."""

    file: str
    text: str
    settings: Callable[[], list[Setting]]


def _of_plan(name: str) -> Subject:
    def settings():
        launches = [
            kernels.launch_of(name, s) for s in kernel_launches.PLANS[name].sizes
        ]
        file, defines = kernels.KERNELS / name, launches[0].defines
        module = functools.cache(ck.compile(file, defines=defines).edited)
        return [
            Setting(module, one.kernel, one.grid, one.block, one.arguments,
                    one.shared_bytes, one.cooperative)
            for one in launches
        ]  # fmt: skip

    return Subject(name, kernels.text(name), settings)


def _of_entry(entry) -> Subject:
    exercise = entry.exercise

    def settings():
        module = functools.cache(lambda text: compiled(entry, text))
        found = []
        for size in exercise.sizes:
            for launch in exercise.launches:
                trial = Trial.of(exercise, size, launch)
                arguments = tuple(Problem.of(exercise, size).given.values())
                found.append(
                    Setting(module, exercise.kernel, trial.grid, trial.block, arguments,
                            trial.shared_bytes)
                )  # fmt: skip
        return found

    name = entry.solution.relative_to(kernels.KERNELS).as_posix()
    return Subject(name, entry.solution.read_text(encoding="utf-8"), settings)


def _of_source(name: str, source: str, grid: int, block: int, arguments) -> Subject:
    def settings():
        module = functools.cache(ck.compile)
        kernel = re.search(r"void (\w+)\(", source[source.index("__global__") :])[1]
        return [Setting(module, kernel, grid, block, arguments)]

    return Subject(name, source, settings)


def _samples():
    """Kernels with what those of the course do not have yet."""
    for name in ("warp sums", "butterfly", "tiles of a warp", "barrier"):
        one = SYNCHRONISED[name]
        yield _of_source(name, one.source, one.grid, one.block, one.arguments)
    x = np.arange(4 * 64, dtype=np.float32)
    yield _of_source("copied tiles", TILES, 1, 64, (x, np.zeros(64, np.float32), 4))


SUBJECTS = {
    subject.file: subject
    for subject in (
        *(
            _of_plan(name)
            for name in kernels.CORRECT
            if name in kernel_launches.PLANS and not name.startswith(ELSEWHERE)
        ),
        # That every exercise has its solution is tested elsewhere.
        *(
            _of_entry(e)
            for e in catalogue.entries(kernels.KERNELS)
            if e.solution.suffix == ".cu" and e.solution.exists()
        ),
        *_samples(),
    )
}
SAMPLES = [subject.file for subject in _samples()]


def is_launched(name: str, text: str, line: int) -> bool:
    """Whether a line is in a kernel that the simulator can launch.

    Of what only sm_90a has, the tests launch what surrounds it; test_matmul.py spoils
    the rest, with tensor cores written out by hand.
    """
    if "// needs: sm_90a" not in text:
        return True
    sizes = kernel_launches.PLANS[name].sizes
    launched = {kernels.launch_of(name, one).kernel for one in sizes}
    for match in re.finditer(r"__global__ void (\w+)", text):
        last = text.index("\n}", match.start())
        if text.count("\n", 0, match.start()) < line <= text.count("\n", 0, last) + 1:
            return match[1] in launched
    return False


MUTANTS = [
    pytest.param(name, mutant, id=f"{name}:{mutant.line}-{mutant.removed}")
    for name, subject in SUBJECTS.items()
    for mutant in mutations.mutants(subject.text)
    if is_launched(name, subject.text, mutant.line)
]


@functools.cache
def settings(name: str) -> list[Setting]:
    return SUBJECTS[name].settings()


@functools.cache
def result(name: str, number: int, order: str) -> list:
    """What the original computes."""
    return settings(name)[number].result(SUBJECTS[name].text, order)


def lines_of(finding) -> list[int]:
    """All lines that a finding shows."""
    return [int(line) for line in re.findall(r"\.cu:(\d+)", finding.message)]


def found_by(name: str, mutant) -> str:
    """What finds a mutant: a checker, with its error; "result"; or nothing, ""."""
    for checker in CHECKERS[mutant.kind]:
        for one in settings(name):
            findings = one.check(checker, mutant.text)
            if len(findings):
                lines = lines_of(findings[0])
                elsewhere, _ = FOUND_AT.get(key(name, mutant), (None, ""))
                assert mutant.concerns(lines) or elsewhere in lines
                return f"{checker} {findings[0].kind}"
    for number, one in enumerate(settings(name)):
        for order in ORDERS:
            if one.result(mutant.text, order) != result(name, number, order):
                return "result"
    return ""


def key(name: str, mutant) -> tuple[str, int, str]:
    return name, mutant.line, mutant.removed


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_what_was_deleted_is_missed(name, mutant, capfd):
    found = found_by(name, mutant)
    assert (found == "") == (key(name, mutant) in HARMLESS)


def test_mutants_that_are_named_exist():
    known = {key(*one.values) for one in MUTANTS}
    assert sorted((HARMLESS.keys() | FOUND_AT.keys()) - known) == []


# Those of the course are in test_checks_clean.py.
@pytest.mark.parametrize("checker", sorted({c for cs in CHECKERS.values() for c in cs}))
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_found_in_a_sample(name, checker):
    (one,) = settings(name)
    assert list(one.check(checker, SUBJECTS[name].text)) == []


# ---------------------------------------------------------------- how they are made

SOURCE = """__global__ void k(int *x, int n)  // if (i < n) __syncthreads();
{
    int i = threadIdx.x, left = i > 0 ? x[i - 1] : 0;
    if (i >= n || i < 0)
        return;
    for (int k = 0; k < 2; k++) {
        if (0 < i && i < n)
            x[i] = left;
        __syncthreads();
        __syncwarp(0xffff);
        __pipeline_wait_prior(1);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(0));
}
"""
EXPECTED = [
    (3, "i > 0", range(3, 15)), (4, "i < 0", range(4, 15)), (4, "i >= n", range(4, 15)),
    (7, "0 < i", range(7, 9)), (7, "i < n", range(7, 9)),
    (9, "__syncthreads()", range(6, 13)), (10, "__syncwarp(0xffff)", range(6, 13)),
    (11, "__pipeline_wait_prior(1)", range(6, 13)),
    (13, 'asm volatile("cp.async.wait_group %0;" ::"n"(0))', range(0)),
]  # fmt: skip


def test_every_site_is_found():
    found = [(m.line, m.removed, m.scope) for m in mutations.mutants(SOURCE)]
    assert found == EXPECTED


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_mutant_differs_in_one_line(number):
    mutant = mutations.mutants(SOURCE)[number]
    pairs = zip(SOURCE.split("\n"), mutant.text.split("\n"), strict=True)
    changed = [at for at, (old, new) in enumerate(pairs, 1) if old != new]
    assert changed == [mutant.line]


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_mutant_compiles(number):
    source = "#include <cuda_pipeline.h>\n" + mutations.mutants(SOURCE)[number].text
    assert ck.compile(source).kernels == ("k",)
