"""racecheck in compiled code says "none" only where the interpreter finds nothing."""

from __future__ import annotations

import copy
from collections import Counter

import course_kernels as kernels
import mutations
import numpy as np
import pytest
import race_programs
from kernel_launches import plans
from synchronised_kernels import KERNELS, spoiled, without
from test_checks_ordering import ORDERED, UNORDERED, arrays

import coursekit as ck
from coursekit.analysis import checking
from coursekit.simt.checks.races import RaceCheck
from coursekit.simt.compiled import engine, racing
from coursekit.simt.compiled.fast import FastTier
from coursekit.simt.compiled.general import GeneralTier
from coursekit.simt.compiled.stamps import Form
from coursekit.simt.run import engines
from coursekit.simt.run.launch import Launch

pytestmark = pytest.mark.usefixtures("simulated", "own_folders")
SEEDS = range(12)


@pytest.fixture(autouse=True)
def quick_compiling(monkeypatch):
    """Leave out LLVM's optimizations."""
    monkeypatch.setattr(engine, "MOST_OPTIMIZED", 0)


def findings(engine: str, kernel, grid, block, arguments, order="forward", **options):
    """What racecheck says with an engine."""
    shared, cooperative = (options.get(n, 0) for n in ("shared_bytes", "cooperative"))
    launch = kernel, grid, block, copy.deepcopy(arguments), shared, bool(cooperative)
    with ck.simulator(timeout_s=60, order=order):
        return checking._observed("racecheck", RaceCheck(), launch, False, engine)


def both(*launch, **options) -> tuple:
    """Findings of compiled code and of the interpreter."""
    return tuple(
        findings(engine, *launch, **options) for engine in ("compiled", "interpreter")
    )


def said(found) -> list[str]:
    return [str(one) for one in (*found.items, *found.notes)]


def compare(name: str, sizes: dict, text: str | None = None) -> tuple:
    """Findings of both engines for a file of the course, or another text of it."""
    launch = kernels.launch_of(name, sizes)
    module = ck.compile(kernels.KERNELS / name)
    kernel = (module if text is None else module.edited(text))[launch.kernel]
    options = {"shared_bytes": launch.shared_bytes, "cooperative": launch.cooperative}
    return both(kernel, launch.grid, launch.block, launch.arguments, **options)


# ---------------------------------------------------------------- random programs


@pytest.mark.parametrize("seed", SEEDS)
def test_findings_of_random_programs_are_the_interpreters(seed):
    case = race_programs.program(seed)
    engine = ("compiled", "compiled", "general")[seed % 3]
    order = ("forward", "reverse", seed)[seed % 4 % 3]
    oracle = race_programs.check(case, "interpreter", order)
    assert race_programs.check(case, engine, order)[1:] == oracle[1:]


@pytest.fixture(scope="module")
def outcomes():
    """How many random programs race, and how many do not, to the interpreter."""
    return Counter(
        bool(race_programs.check(race_programs.program(seed), "interpreter")[1])
        for seed in range(40)
    )


@pytest.mark.parametrize("races", [True, False])
def test_many_random_programs_race_and_many_do_not(races, outcomes):
    assert outcomes[races] >= 10


# ---------------------------------------------------------------- kernels of the course

BROKEN = [
    "shift_in_place", "warp_sum_no_syncwarp", "matmul_missing_second_barrier",
    "reverse_runs_missing_wait",
]  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_findings_of_a_broken_kernel_are_the_interpreters(name):
    file = f"broken/{name}.cu"
    compiled, interpreted = compare(file, plans()[file].sizes[0])
    assert said(compiled) == said(interpreted)
    assert said(compiled)


def test_a_long_kernel_without_races_is_cleared_by_compiled_code():
    sizes = {"M": 9, "N": 33, "K": 17}
    compiled, interpreted = compare("matmul/step_05_patch.cu", sizes)
    assert (compiled.engine, said(compiled)) == ("compiled", said(interpreted))


MUTANTS = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name in ("synchronisation/rotate.cu", "synchronisation/histogram_shared.cu")
    for number, one in enumerate(mutations.mutants(kernels.text(name)))
    if one.kind == mutations.BARRIER
]


@pytest.mark.parametrize(("name", "number"), MUTANTS)
def test_findings_of_a_mutant_are_the_interpreters(name, number):
    text = mutations.mutants(kernels.text(name))[number].text
    sizes = plans()[name].sizes[-1]
    compiled, interpreted = compare(name, sizes, text)
    assert said(compiled) == said(interpreted)


SPOILED = [one for one in spoiled() if one[0] == "butterfly"]


@pytest.mark.parametrize(("name", "guard", "number"), SPOILED)
def test_findings_without_a_guard_are_the_interpreters(name, guard, number):
    one = KERNELS[name]
    kernel = ck.compile(without(one, guard, number))["k"]
    compiled, interpreted = both(kernel, one.grid, one.block, one.arguments)
    assert said(compiled) == said(interpreted)
    assert compiled.engine == "interpreter"


COMPILED = [
    "start/vec_add.cu", "first/batched_matmul.cu", "warps/warp_sum_shared.cu",
    "synchronisation/histogram_shared.cu", "synchronisation/sum_atomic.cu",
]  # fmt: skip
INTERPRETED = {
    "synchronisation/lock_by_block.cu": "a barrier that counts",
    "synchronisation/scopes.cu": "atomics of a block's scope",
}


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        *((name, "compiled") for name in COMPILED),
        *((name, "interpreter") for name in INTERPRETED),
    ],
)
def test_engine_that_checks_a_kernel(name, engine):
    launch = kernels.launch_of(name, plans()[name].sizes[-1])
    kernel = ck.compile(kernels.KERNELS / name)[launch.kernel]
    options = {"shared_bytes": launch.shared_bytes, "cooperative": launch.cooperative}
    arguments = launch.grid, launch.block, launch.arguments
    found = findings("compiled", kernel, *arguments, **options)
    assert (found.engine, said(found)) == (engine, [])


# ---------------------------------------------------------------- single rules


def check(source: str, grid, block, *arguments, **options) -> list:
    """Engine, and severities, of what compiled code makes of a kernel `k`."""
    kernel = ck.compile(source)["k"]
    compiled, interpreted = both(kernel, grid, block, arguments, **options)
    assert said(compiled) == said(interpreted)
    found = (*compiled.items, *compiled.notes)
    return [compiled.engine, *(one.severity for one in found)]


TILE = """#include <cuda_pipeline.h>
__global__ void k(float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x, w = t / 32 * 32;
  BODY
}"""
LOAD = "s[t] = x[t];"
WHOLE, WARP = "__syncthreads();", "__syncwarp();"
COPY = "__pipeline_memcpy_async(&s[t], &x[t], 4); __pipeline_commit();"
WAIT = "__pipeline_wait_prior(0);"
RULES = {
    "barrier": (f"{LOAD} {WHOLE} y[t] = s[63 - t];", True),
    "no barrier": (f"{LOAD} y[t] = s[63 - t];", False),
    "own element": (f"{LOAD} y[t] = s[t];", True),
    "meeting of the warp": (f"{LOAD} {WARP} y[t] = s[t ^ 1];", True),
    "meeting of other lanes": (f"{LOAD} {WARP} y[t] = s[t ^ 32];", False),
    "no meeting": (f"{LOAD} y[t] = s[t ^ 1];", False),
    "read by all, then written by one after a meeting":
        (f"{LOAD} {WARP} y[t] = s[w]; {WARP} if (t == w) s[t] = 1;", True),
    "read by all, then written by one":
        (f"{LOAD} {WHOLE} y[t] = s[0]; if (t == 0) s[0] = 1;", False),
    "read by all, then written by one after a barrier":
        (f"{LOAD} {WHOLE} y[t] = s[0]; {WHOLE} if (t == 0) s[0] = 1;", True),
    "read by two warps, then written after a meeting":
        (f"{LOAD} {WHOLE} y[t] = s[0]; {WARP} if (t == 0) s[0] = 1;", False),
    "store of two lanes to one place":
        (f"s[t / 2] = x[t]; {WHOLE} y[t] = s[t];", False),
    "store of one value": (f"s[int(x[t])] = 1; {WHOLE} y[t] = s[t];", False),
    "atomics": ("atomicAdd(&s[t / 2], 1); atomicAdd(y, 1);", True),
    "atomic and read": ("atomicAdd(&s[t / 2], 1); y[t] = s[t / 2];", False),
    "atomic behind a write of the same thread":
        ("s[t] = 0; atomicAdd(&s[t], 1); y[t] = s[t];", True),
    "copy": (f"{COPY} {WAIT} {WHOLE} y[t] = s[63 - t];", True),
    "copy without a wait": (f"{COPY} {WHOLE} y[t] = s[63 - t];", False),
    "own copy without a wait": (f"{COPY} y[t] = s[t];", False),
    "copy without a barrier": (f"{COPY} {WAIT} y[t] = s[63 - t];", False),
    "in place": ("x[t] = x[t] + 1;", True),
    "shifted in place": ("x[t] = x[t + 1];", False),
    "written, read by another behind a barrier":
        (f"y[t] = 1; {WHOLE} x[t] = y[63 - t];", True),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_compiled_code_knows_what_orders_accesses(name):
    body, ordered = RULES[name]
    arrays = np.zeros(80, np.float32), np.zeros(80, np.float32)
    engine, *severities = check(TILE.replace("BODY", body), 1, 64, *arrays)
    assert (engine, severities == []) == (
        "compiled" if ordered else "interpreter",
        ordered,
    )


BLOCKS = """__global__ void k(float* x, float* y) {
  int t = threadIdx.x, b = blockIdx.x, i = b * 32 + t;
  BODY
}"""
BLOCK_RULES = {
    "own part": ("x[i] = x[i] + 1;", True),
    "read by all": ("y[i] = x[t];", True),
    "written by all": ("y[t] = i;", False),
    "written by one, read by another": ("y[i] = t; x[i] = y[95 - i];", False),
    "read by another, then written": ("x[i] = y[95 - i]; y[i] = t;", False),
    "atomics of all": ("atomicAdd(&y[t], 1.0f);", True),
    "atomics of a block's scope": ("atomicAdd_block(&y[t], 1.0f);", False),
    "zeroed by the first block alone":
        ("if (b == 0) y[t] = 0; __syncthreads(); atomicAdd(&y[t], 1.0f);", False),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCK_RULES)
def test_compiled_code_knows_that_nothing_orders_blocks(name):
    body, ordered = BLOCK_RULES[name]
    arrays = np.zeros(96, np.float32), np.zeros(96, np.float32)
    engine, *severities = check(BLOCKS.replace("BODY", body), 3, 32, *arrays)
    assert (engine, severities == []) == (
        "compiled" if ordered else "interpreter",
        ordered,
    )


HANDSHAKES = [
    "fence behind a relaxed load", "relaxed load", "acquire load", "barrier",
    "fence of the block between blocks", "no fence within the block",
    "lock without its first fence", "last block without its second fence",
]  # fmt: skip


@pytest.mark.parametrize("name", HANDSHAKES)
def test_a_handshake_is_left_to_the_interpreter(name):
    case = (ORDERED | UNORDERED)[name]
    kernel = ck.compile(case.source)["k"]
    compiled, interpreted = both(kernel, case.grid, case.block, arrays())
    assert (compiled.engine, said(compiled)) == ("interpreter", said(interpreted))
    assert bool(said(compiled)) == (name in UNORDERED)


# ---------------------------------------------------------------- limits

ROUNDS = """__global__ void k(int* x, int n) {
  __shared__ int s[64];
  for (int i = 0; i < n; i++) { s[threadIdx.x] = i; __syncthreads(); }
  x[threadIdx.x] = s[threadIdx.x];
}"""


@pytest.fixture
def notes(monkeypatch):
    """What launches say of the engine that ran them."""
    found = []
    run = Launch.run

    def noted(launch):
        result = run(launch)
        found.append((result.engine, result.note))
        return result

    monkeypatch.setattr(Launch, "run", noted)
    return found


def test_stamps_that_run_out_leave_it_to_the_interpreter(monkeypatch, notes):
    monkeypatch.setattr(Form, "shift", 29)
    kernel = ck.compile(ROUNDS.replace("= i;", "= i + 1;"))["k"]
    findings("compiled", kernel, 1, 64, (np.zeros(64, np.int32), 40))
    assert notes == [("interpreter", f"interpreted: {racing.LONG}")]


def test_too_many_shadow_words_leave_it_to_the_interpreter(monkeypatch, notes):
    monkeypatch.setattr(racing, "MOST_BYTES", 100)
    findings("compiled", ck.compile(ROUNDS)["k"], 1, 64, (np.zeros(64, np.int32), 4))
    assert notes == [("interpreter", f"interpreted: {racing.MEMORY}")]


def test_suspicion_is_named(notes):
    kernel = ck.compile(BLOCKS.replace("BODY", "y[t] = i;"))["k"]
    arrays = np.zeros(96, np.float32), np.zeros(96, np.float32)
    findings("compiled", kernel, 3, 32, arrays)
    assert notes == [("interpreter", f"interpreted: {racing.SUSPECTS}")]


@pytest.mark.parametrize(
    ("rounds", "engine"), [(2, "interpreter"), (10_000, "compiled")]
)
def test_short_launch_is_interpreted_and_a_long_one_compiled(
    rounds, engine, monkeypatch
):
    monkeypatch.setattr(engines, "TRIAL_BYTES", 1 << 40)  # beside others' arrays
    kernel = ck.compile(ROUNDS.replace("= i;", f"= i + {rounds};"))["k"]
    found = findings("auto", kernel, 1, 64, (np.zeros(64, np.int32), rounds))
    assert (found.engine, said(found)) == (engine, [])


def test_race_is_found_in_a_launch_that_never_ends():
    source = """__global__ void k(int* x, volatile int* y) {
      x[0] = threadIdx.x;
      while (threadIdx.x < 64) y[threadIdx.x] += 1;
    }"""
    arrays = np.zeros(1, np.int32), np.zeros(64, np.int32)
    with ck.simulator(timeout_s=0.5):
        found = ck.racecheck(ck.compile(source)["k"], 1, 64, arrays)
    assert [one.kind for one in found] == ["DataRaceError", "DeadlockError"]


@pytest.mark.parametrize(
    ("tier", "engine"), [(FastTier, "compiled"), (GeneralTier, "general")]
)
def test_plain_code_knows_nothing_of_races(tier, engine, monkeypatch):
    texts, module = [], tier.module

    def noted(code):
        texts.append(module(code))
        return texts[-1]

    monkeypatch.setattr(tier, "module", noted)
    race_programs.run(race_programs.program(0), engine)
    assert "define" in texts[0]
    assert "race" not in texts[0]
