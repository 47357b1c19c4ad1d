"""The names that the simulator offers; others import them from `coursekit.simt`.

| to | names |
| --- | --- |
| launch | `Memory`, `POISON`, `load`, `launch`, `TensorMap` |
| count | `Counters`, `FIELDS`, `shared_wavefronts`, `CountingPlan` |
| compare with machine code | `SharedAccess`, `vectorisations`, `ControlFlow` |
| check | `MemCheck`, `RaceCheck`, `InitCheck`, `VariableCheck`, `SyncCheck` |
| read a check | `Findings`, `Enough` |
| read PTX | `ptx_lines` |
| trace | `Tracer`, `Step`, `MemoryAccess`, `Formula`, `formulas`, `LANES`, `BANKS` |
| choose whose turn it is | `Turns`, `Event`, `BARRIER` |

A name loads its module when it is first used: to draw a recorded count takes no
decoder, and only a launch that is compiled takes LLVM.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coursekit.simt.analysis.liveness import ptx_lines
    from coursekit.simt.analysis.regions import ControlFlow
    from coursekit.simt.analysis.wide_accesses import (
        CountingPlan,
        SharedAccess,
        vectorisations,
    )
    from coursekit.simt.checks.barriers import SyncCheck
    from coursekit.simt.checks.bounds import MemCheck
    from coursekit.simt.checks.findings import Findings
    from coursekit.simt.checks.races import RaceCheck
    from coursekit.simt.checks.values import InitCheck, VariableCheck
    from coursekit.simt.checks.watching import Enough
    from coursekit.simt.interpreter.program import load
    from coursekit.simt.memory.counters import FIELDS, Counters, shared_wavefronts
    from coursekit.simt.memory.memory import POISON, Memory
    from coursekit.simt.memory.tensor_maps import TensorMap
    from coursekit.simt.run.launch import launch
    from coursekit.simt.tracing.arithmetic import Formula, formulas
    from coursekit.simt.tracing.steps import BANKS, LANES, MemoryAccess, Step
    from coursekit.simt.tracing.tracer import Tracer
    from coursekit.simt.tracing.turns import BARRIER, Event, Turns

_NAMES = {
    "analysis.liveness": ("ptx_lines",),
    "analysis.regions": ("ControlFlow",),
    "analysis.wide_accesses": (
        "CountingPlan",
        "SharedAccess",
        "vectorisations",
    ),
    "checks.barriers": ("SyncCheck",),
    "checks.bounds": ("MemCheck",),
    "checks.findings": ("Findings",),
    "checks.races": ("RaceCheck",),
    "checks.values": ("InitCheck", "VariableCheck"),
    "checks.watching": ("Enough",),
    "interpreter.program": ("load",),
    "memory.counters": ("FIELDS", "Counters", "shared_wavefronts"),
    "memory.memory": ("POISON", "Memory"),
    "memory.tensor_maps": ("TensorMap",),
    "run.launch": ("launch",),
    "tracing.arithmetic": ("Formula", "formulas"),
    "tracing.steps": ("BANKS", "LANES", "MemoryAccess", "Step"),
    "tracing.tracer": ("Tracer",),
    "tracing.turns": ("BARRIER", "Event", "Turns"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "BANKS",
    "BARRIER",
    "FIELDS",
    "LANES",
    "POISON",
    "ControlFlow",
    "Counters",
    "CountingPlan",
    "Enough",
    "Event",
    "Findings",
    "Formula",
    "InitCheck",
    "MemCheck",
    "Memory",
    "MemoryAccess",
    "RaceCheck",
    "SharedAccess",
    "Step",
    "SyncCheck",
    "TensorMap",
    "Tracer",
    "Turns",
    "VariableCheck",
    "formulas",
    "launch",
    "load",
    "ptx_lines",
    "shared_wavefronts",
    "vectorisations",
]


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'coursekit.simt' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"coursekit.simt.{module}"), name)
    globals()[name] = value
    return value
