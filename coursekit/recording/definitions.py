"""What is recorded: a table of benchmarks, one module for each group of them.

To add one, write a `Definition` into the `DEFINITIONS` of a module of this folder,
and the module into `TABLES`; `python -m coursekit record KEY` measures it on a GPU.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TABLES = ("coursekit.recording.first_kernels",)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A benchmark whose times are recorded.

    Attributes
    ----------
    key : str
        Path of the record below `assets/records/`, without .json.
    cases : callable
        Returns the cases by name; it compiles, so it is called when they are needed.
    sizes, setup, verify, bytes_moved, flops
        As `ck.benchmark` takes them.
    count_size : int or None
        A size small enough to be counted on the simulator, where `setup` then works
        too: arrays come from `ck.to_device` and `ck.empty`.
    """

    key: str
    cases: Callable[[], Mapping[str, Callable]]
    sizes: tuple[int, ...]
    setup: Callable[[int], tuple]
    verify: Callable[..., Any]
    bytes_moved: Callable[[int], int] | None = None
    flops: Any = None
    count_size: int | None = None

    def benchmark(self):
        """Run it: measured on a GPU, else what is recorded."""
        from coursekit.benchmarking import benchmark

        return benchmark(
            self.cases(),
            sizes=self.sizes,
            setup=self.setup,
            verify=self.verify,
            bytes_moved=self.bytes_moved,
            flops=self.flops,
            record=self.key,
        )


@functools.cache
def definitions() -> Mapping[str, Definition]:
    """Return every definition by its key, in the order of the tables."""
    found = [
        definition
        for table in TABLES
        for definition in importlib.import_module(table).DEFINITIONS
    ]
    return {definition.key: definition for definition in found}


def find(key: str) -> Definition | None:
    """Return the definition of a key, None where there is none."""
    return definitions().get(key)
