"""The recorded benchmarks by their keys; a problem's module is loaded on demand.

The first part of a key is the name of a module of this folder: `softmax/long` is
defined in `softmax.py`. To add a benchmark, write a `Definition` into the
`DEFINITIONS` of that module, and a new module into `PROBLEMS`;
`python -m coursekit record KEY` measures it on a GPU.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping

from coursekit.benchmarking.records.definitions import Definition
from coursekit.errors import ArgumentError

PROBLEMS = (
    "architecture",
    "first",
    "memory",
    "moving",
    "warps",
    "synchronisation",
    "transpose",
    "reduction",
    "histogram",
    "scan",
    "softmax",
    "layernorm",
    "matmul",
    "batched_matmul",
    "fft",
    "cutlass",
    "tile_languages",
    "fusion",
    "profiling",
    "mnist",
)


@functools.cache
def of_problem(problem: str) -> Mapping[str, Definition]:
    """Return the definitions of one problem by their keys."""
    module = importlib.import_module(f"coursekit.benchmarks.{problem}")
    return {definition.key: definition for definition in module.DEFINITIONS}


def definitions() -> Mapping[str, Definition]:
    """Return every definition by its key, in the order of the problems."""
    return {
        key: definition
        for problem in PROBLEMS
        for key, definition in of_problem(problem).items()
    }


def find(key: str) -> Definition | None:
    """Return the definition of a key, None where there is none."""
    problem = key.partition("/")[0]
    return of_problem(problem).get(key) if problem in PROBLEMS else None


def defined(key: str) -> Definition:
    """Return the definition of a key.

    Raises
    ------
    ArgumentError
        There is none.
    """
    definition = find(key) if isinstance(key, str) else None
    if definition is None:
        raise ArgumentError.explained(
            f"Nothing is defined to be recorded as {key!r}.",
            f"Defined are {', '.join(definitions())}.",
            "coursekit/benchmarks/catalogue.py says how to add one.",
        )
    return definition
