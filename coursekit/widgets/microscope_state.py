"""The state of the microscope as JSON: one trace, and the counts of its launch."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from coursekit.analysis.tracing import Trace
from coursekit.display.line_costs import COLUMNS
from coursekit.simt import Counters, Formula, MemoryAccess, formulas
from coursekit.toolchain.cuda_source import tokens
from coursekit.widgets.microscope_values import packed, register

# Units of a prediction for a line: (amounts, requests) whose ratio is asked for.
_RATES = {
    "sectors": (
        ("global_load_sectors", "global_store_sectors", "global_atomic_sectors"),
        ("global_load_requests", "global_store_requests", "global_atomic_requests"),
    ),
    "wavefronts": (
        ("shared_load_wavefronts", "shared_store_wavefronts",
         "shared_atomic_wavefronts"),
        ("shared_load_requests", "shared_store_requests", "shared_atomic_requests"),
    ),
}  # fmt: skip
HEATS = {
    **COLUMNS,
    "warp instructions": ("warp_instructions",),
    "divergent branches": ("divergent_branches",),
}


def view(trace: Trace, counters: Counters | None, most_bytes: int) -> dict[str, Any]:
    """Return the state that shows one version of a kernel.

    Parameters
    ----------
    trace : Trace
    counters : Counters or None
        Counts of the whole launch; without them the warp's own counts colour the lines.
    most_bytes : int
        Values of registers are left out from some step on, if they need more.
    """
    file = main_file(trace)
    by_line = _by_line(trace, counters, file)
    numbers = [step.line for step in trace.steps if step.file == file and step.line]
    numbers += list(by_line)
    first, last = (min(numbers), max(numbers)) if numbers else (1, 1)
    state = {
        "kernel": trace.kernel,
        "place": f"warp {trace.warp} of block {_place(trace)}",
        "scope": "whole launch" if counters is not None else "this warp",
        "error": "" if trace.error is None else str(trace.error),
        "full": trace.full,
        "file": file,
        "first": first,
        "code": _code(trace.sources.get(file, ""), first, last),
        "heats": _heats(by_line),
        "rates": _rates(by_line),
        **_steps(trace, file),
    }
    return _fitted(state, most_bytes)


def pair_lines(views: list[dict[str, Any]]) -> None:
    """Match the unchanged lines of two versions with each other."""
    for state in views:
        state["pairs"] = {}
    if len(views) < 2:
        return
    before, after = views
    texts = [
        ["".join(text for _, text in parts).strip() for parts in state["code"]]
        for state in views
    ]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and a_end - a == b_end - b):
            for step in range(a_end - a):
                old, new = before["first"] + a + step, after["first"] + b + step
                before["pairs"][old], after["pairs"][new] = new, old


def size(state: Any) -> int:
    """Return the size of a state as JSON, in bytes."""
    return len(as_json(state))


def as_json(state: Any) -> str:
    """Write a state as compact JSON."""
    return json.dumps(state, separators=(",", ":"), allow_nan=False)


def main_file(trace: Trace) -> str:
    """Return the source file in which the warp took most steps."""
    counts: dict[str, int] = defaultdict(int)
    for step in trace.steps:
        counts[step.file] += step.file in trace.sources
    return max(counts, key=counts.__getitem__, default="")


def _place(trace: Trace) -> str:
    flat = trace.grid[1] == trace.grid[2] == 1
    return str(trace.block_index[0]) if flat else str(trace.block_index)


def _by_line(trace, counters, file: str) -> dict[int, Mapping[str, int]]:
    if counters is not None:
        return {
            line: {name: getattr(counts, name) for name in counts.values}
            for (name_of_file, line), counts in counters.by_line().items()
            if name_of_file == file
        }
    sums: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for step in trace.steps:
        if step.file == file and step.line:
            sums[step.line]["warp_instructions"] += 1
            for access in step.accesses:
                for name, amount in access.counts.items():
                    sums[step.line][name] += amount
    return sums


def _heats(by_line) -> dict[str, dict[int, int]]:
    heats = {}
    for title, fields in HEATS.items():
        sums = {
            line: sum(counts.get(name, 0) for name in fields)
            for line, counts in by_line.items()
        }
        if any(sums.values()):
            heats[title] = {line: amount for line, amount in sums.items() if amount}
    return heats


def _rates(by_line) -> dict[int, list]:
    """Return for each line with accesses: amount per request, and its unit."""
    rates = {}
    for line, counts in by_line.items():
        for unit, (amounts, requests) in _RATES.items():
            asked = sum(counts.get(name, 0) for name in requests)
            if asked and line not in rates:
                amount = sum(counts.get(name, 0) for name in amounts)
                rates[line] = [round(amount / asked, 2), unit]
    return rates


def _code(text: str, first: int, last: int) -> list[list[list[str]]]:
    """Return the parts of each line: [kind, text]."""
    lines: list[list[list[str]]] = [[]]
    for kind, part in tokens(text):
        for index, piece in enumerate(part.split("\n")):
            if index:
                lines.append([])
            if piece:
                lines[-1].append([kind, piece])
    return lines[first - 1 : last]


class _Pool:
    """Numbers for values that occur often, so that each is stored once."""

    def __init__(self):
        self.numbers: dict[str, int] = {}

    def __call__(self, thing: Any) -> int:
        text = thing if isinstance(thing, str) else as_json(thing)
        return self.numbers.setdefault(text, len(self.numbers))

    def things(self) -> list[Any]:
        """Return the values, none of which is a text, in the order of their numbers."""
        return [json.loads(text) for text in self.numbers]


def _steps(trace: Trace, file: str) -> dict[str, Any]:
    ptx, masks, names = _Pool(), _Pool(), _Pool()
    arrays = {
        access.base: access.array
        for _, _, access in trace.accesses()
        if access.space == "global" and access.array
    }
    return {
        "lines": [step.line if step.file == file else 0 for step in trace.steps],
        "ptxOf": [ptx(step.ptx) for step in trace.steps],
        "maskOf": [masks(f"{step.mask:x}/{step.live:x}") for step in trace.steps],
        "jumps": {
            number: f"{step.taken:x}"
            for number, step in enumerate(trace.steps)
            if step.diverges
        },
        "writes": [
            [
                [names(name), register(values, step.mask, arrays)]
                for name, values in step.registers.items()
            ]
            for step in trace.steps
        ],
        "ptx": list(ptx.numbers),
        "masks": list(masks.numbers),
        "registers": list(names.numbers),
        **_accesses(trace),
    }


def _accesses(trace: Trace) -> dict[str, Any]:
    """Return the accesses by step, with common parts stored once."""
    kinds, counts, forms = _Pool(), _Pool(), _Pool()
    explained = formulas(trace.steps, trace.parameters)
    by_step = {}
    for number, step in enumerate(trace.steps):
        for access in step.accesses:
            mask = sum(1 << lane for lane in access.lanes)
            state = {
                "kind": kinds(_kind(access)),
                "mask": f"{mask:x}",
                "at": packed(access.offsets, mask),
                "counts": counts(dict(access.counts)),
            }
            if access.outside:
                state["outside"] = list(access.outside)
            if number in explained:
                state["how"] = [_how(formula, forms) for formula in explained[number]]
            by_step.setdefault(number, []).append(state)
    return {
        "accesses": by_step,
        "kinds": kinds.things(),
        "counts": counts.things(),
        "forms": forms.things(),
    }


def _kind(access: MemoryAccess) -> dict[str, Any]:
    kind = {
        "space": access.space,
        "verb": access.verb,
        "array": access.array,
        "width": access.width,
        "item": access.item_bytes,
    }
    if access.space == "shared":
        kind["bank"] = access.base // 4 % 32
    if access.shape and len(access.shape) > 1:
        kind["shape"] = list(access.shape)
    return kind


def _how(formula: Formula, forms: _Pool) -> list:
    """Return a formula's lanes, tokens (a leaf as [name]), and the leaves' values."""
    written = [t if isinstance(t, str) else [t.name] for t in formula.tokens]
    values = [
        packed(token.values.tolist(), formula.mask)
        for token in formula.tokens
        if not isinstance(token, str)
    ]
    return [f"{formula.mask:x}", forms(written), values, int(formula.in_bytes)]


def _fitted(state: dict[str, Any], most: int) -> dict[str, Any]:
    """Leave out long lists of registers, then steps, until the state fits."""
    room = most - size(state) - 8 * len(state["code"])
    for number in range(len(state["lines"]) - 1, -1, -1):
        if room >= 0:
            return state
        for pair in state["writes"][number]:
            if isinstance(pair[1], list) and pair[1] and pair[1][0] != "step":
                room += size(pair[1]) - 4
                pair[1] = None
    while size(state) > most and len(state["lines"]) > 1:
        keep = len(state["lines"]) * 3 // 4
        for name in ("lines", "ptxOf", "maskOf", "writes"):
            state[name] = state[name][:keep]
        for name in ("accesses", "jumps"):
            state[name] = {n: v for n, v in state[name].items() if n < keep}
        state["full"] = True
    return state
