"""The suspects of chapter 11 are what the chapter says, and its repairs repair them.

Seven lie in kernels/broken, and a checker finds each. Five are starters of exercises,
and none does: only a comparison with other data tells that they are wrong.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from kernel_launches import Launch, plans
from test_broken_kernels import blank_as_fresh

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.trial import Problem, Trial

pytestmark = pytest.mark.usefixtures("own_folders")

CHECKERS = ("memcheck", "racecheck", "initcheck", "synccheck")
ORDERS = ("forward", "reverse", 1)
BLOCK_SUM = [{"n": n} for n in (1, 256, 1025)]
# What is replaced, and the sizes that have to be right then.
REPAIRS = {
    "difference_past_row": ("col < cols)", "col < cols - 1)"),
    "scatter_index_overflow": ("y[i * step % n]", "y[(long long)i * step % n]"),
    "conv_image_in_one_block": (
        "__shared__ float image[1024]",
        "extern __shared__ float image[]",
    ),
    "block_sum_missing_barrier": (
        "        if (t < half)\n            part[t] += part[t + half];",
        "{ if (t < half)\n part[t] += part[t + half]; __syncthreads(); }",
    ),
    "block_sum_unset_tile": (
        "if (i < n)\n        part[t] = x[i];",
        "part[t] = i < n ? x[i] : 0;\n",
    ),
    "relu_backward_unset_output": ("= y[i] > 0", "= x[i] > 0"),
    "block_sum_barrier_in_branch": (
        "            __syncthreads();\n        }",
        "        }\n        __syncthreads();",
    ),
}
SIZES = {
    "difference_past_row": [{"rows": 1, "cols": 2}, {"rows": 31, "cols": 65}],
    "scatter_index_overflow": [
        {"n": 1, "step": 3},
        {"n": 1000, "step": 10000019},
        {"n": 1025, "step": 2000000001},
    ],
    "conv_image_in_one_block": [{"rows": 3, "cols": 3}, {"rows": 33, "cols": 37}],
    "block_sum_missing_barrier": BLOCK_SUM,
    "block_sum_unset_tile": BLOCK_SUM,
    "relu_backward_unset_output": [{"n": n} for n in (1, 255, 1025)],
    "block_sum_barrier_in_branch": BLOCK_SUM,
}
REPAIRED = [
    pytest.param(name, sizes, id=f"{name}-{'-'.join(map(str, sizes.values()))}")
    for name, several in SIZES.items()
    for sizes in several
]
# The starters, and a case that they get right.
WEAK = {
    "11.1": {"A": 1, "B": 1},
    "11.2": {"w": 1},
    "11.3": {},
    "11.4": {"var": 1},
    "11.5": {"mean": 0.0, "factor": 1.0},
}
EASY_SIZE = {"11.1": (32, 48, 16), "11.3": (32, 32), "11.5": 1000}


def launch_of(name: str, sizes: dict) -> Launch:
    launch = plans()[f"broken/{name}.cu"].launch(**sizes)
    if name == "conv_image_in_one_block":
        return replace(launch, shared_bytes=4 * sizes["rows"] * sizes["cols"])
    return launch


def repaired(name: str, launch: Launch):
    old, new = REPAIRS[name]
    module = ck.compile(f"broken/{name}.cu")
    assert module.source.count(old) == 1
    return module.edited(module.source.replace(old, new))[launch.kernel]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("name", "sizes"), REPAIRED)
def test_repaired_kernel_is_right(name, sizes, order):
    launch = launch_of(name, sizes)
    arguments = copy.deepcopy(launch.arguments)
    with ck.simulator(order=order, timeout_s=5):
        repaired(name, launch).launch(
            launch.grid, launch.block, *arguments, shared_bytes=launch.shared_bytes
        )
    for position, wanted in launch.results.items():
        found = arguments[position].astype(np.float64)
        known = ~np.isnan(wanted)  # a reference may leave elements open
        np.testing.assert_allclose(found[known], wanted[known], rtol=launch.rtol)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("name", REPAIRS)
def test_nothing_is_found_in_a_repaired_kernel(name, checker):
    launch = launch_of(name, SIZES[name][-1])
    arguments = blank_as_fresh(copy.deepcopy(launch.arguments))
    with ck.simulator(timeout_s=5):
        findings = getattr(ck, checker)(
            repaired(name, launch), launch.grid, launch.block, arguments,
            shared_bytes=launch.shared_bytes,
        )  # fmt: skip
    assert list(findings) == []


def starter(id: str):
    """The kernel that a student starts from, and its exercise."""
    entry = catalogue.find(id)
    module = ck.compile(entry.starter)
    return module[entry.exercise.kernel], entry.exercise


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("id", WEAK)
def test_no_checker_finds_a_wrong_formula(id, checker):
    kernel, exercise = starter(id)
    trial = Trial.of(exercise, exercise.largest, exercise.launches[0])
    arguments = tuple(Problem.of(exercise, exercise.largest).given.values())
    with ck.simulator(timeout_s=5):
        findings = getattr(ck, checker)(kernel, trial.grid, trial.block, arguments)
    assert list(findings) == []


@pytest.mark.parametrize("id", WEAK)
def test_starter_passes_a_weak_test(id):
    kernel, exercise = starter(id)

    def easy(size, generator):
        given = dict(exercise.inputs(size, generator))
        for name, value in WEAK[id].items():
            plain = isinstance(given[name], np.ndarray)
            given[name] = np.full_like(given[name], value) if plain else value
        return given

    size = EASY_SIZE.get(id, exercise.largest)
    weak = replace(exercise, inputs=easy, roundings=100)
    outcome = Trial.of(weak, size, weak.launches[0]).run(kernel)
    assert all(judged.passed for judged in outcome.judged())
