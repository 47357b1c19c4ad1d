"""Sums of counts, per source line and for the launch."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from coursekit.simt.analysis.address_patterns import doubtful
from coursekit.simt.analysis.dataflow import movable_results
from coursekit.simt.analysis.unsteady_counts import Doubts, doubts, unsteady_functions
from coursekit.simt.memory import faults
from coursekit.simt.memory.counters import FIELDS, Counters

_FLOPS = {"f16": "flops_fp16", "f32": "flops_fp32", "f64": "flops_fp64",
          "tensor": "tensor_flops"}  # fmt: skip
SECTOR_BYTES = 32
_BYTES = ("bytes_read", "bytes_written")
_PASSES = {
    "global_atomic_requests": "global_atomic_sectors",
    "shared_atomic_requests": "shared_atomic_wavefronts",
}


def tally(launch) -> Counters:
    """Return the counters of a finished launch."""
    lines: dict[tuple[str, int], Counter] = defaultdict(Counter)
    inexact: set[str] = set()
    for code in launch.program.decoded():
        _count_code(launch.program, code, lines, inexact)
        inexact |= _unconfirmed(launch, code) | _unknown(code)
    if launch.threads * launch.blocks > 1:
        inexact |= _nondeterministic(launch.program.decoded())
    for counts in lines.values():
        _add_bytes(counts)
    total = Counter()
    for counts in lines.values():
        total.update(counts)
    total["blocks"] = launch.blocks
    total["warps"] = launch.journal.warps
    total["longest_warp_instructions"] = launch.journal.longest_warp_instructions
    labels = {**launch.configuration.plan.labels, **dict.fromkeys(inexact, "ptx")}
    by_line = {
        place: Counters(dict(counts), labels=labels)
        for place, counts in sorted(lines.items())
        if place[1]
    }
    texts = launch.program.sources
    return Counters(dict(total), labels=labels, lines=by_line, texts=texts)


@dataclass(frozen=True)
class Facts:
    """Facts about a function's counts that are known before a launch.

    `places` are the source lines of its instructions; `blocks` hold, for each basic
    block, (line, instructions, barriers) of every line, and the instructions that may
    count floating-point operations. The hardware may count the `doubtful` atomics
    differently; `doubts` are about what depends on the order of threads.
    """

    places: tuple[tuple[str, int], ...]
    blocks: tuple[tuple[tuple, tuple], ...]
    movable: frozenset[int]
    doubtful: frozenset[int]
    doubts: Doubts


def _facts(program, code) -> Facts:
    instructions = code.function.instructions
    places = []
    for instruction in instructions:
        place, _ = faults.source_place(program, instruction.location)
        places.append((place.file, place.line) if place else ("", 0))
    blocks = []
    for block in code.blocks:
        lines: dict[tuple, list[int]] = {}
        for index in range(block.start, block.start + block.length):
            counts = lines.setdefault(places[index], [0, 0])
            counts[0] += 1
            counts[1] += _is_barrier(instructions[index])
        counted = tuple(
            index
            for index in range(block.start, block.start + block.length)
            if index in code.operations
            and (code.operations[index].flops or code.operations[index].expands)
        )
        blocks.append((tuple((k, *v) for k, v in lines.items()), counted))
    return Facts(
        tuple(places),
        tuple(blocks),
        frozenset(movable_results(code)),
        frozenset(doubtful(code.function)),
        doubts(code, unsteady_functions(program.module.functions.values())),
    )


def _count_code(program, code, lines, inexact) -> None:
    if code.facts is None:
        code.facts = _facts(program, code)
    facts = code.facts
    for block, (own_lines, counted) in zip(code.blocks, facts.blocks, strict=True):
        if not block.executions:
            continue
        for place, number, barriers in own_lines:
            counts = lines[place]
            counts["warp_instructions"] += number * block.executions
            counts["thread_instructions"] += number * block.lanes
            if barriers:
                counts["barriers"] += barriers * block.executions
        for index in counted:
            operation = code.operations[index]
            lanes = code.guarded_lanes.get(index, block.lanes)
            _count_flops(operation, lanes, lines[facts.places[index]], inexact)
            moves = index in facts.movable and operation.flop_type != "tensor"
            if moves and operation.flops and lanes:
                inexact.add(_FLOPS[operation.flop_type])
    for index, (executed, divergent) in code.branch_counts.items():
        if executed:
            counts = lines[facts.places[index]]
            counts["branches"] += executed
            counts["divergent_branches"] += divergent
    for access in code.accesses:
        if access.sites:
            lines[facts.places[access.instruction.index]].update(access.sites)


def _unconfirmed(launch, code) -> set[str]:
    """Return shared counts that a kernel's machine code cannot confirm.

    These come from generic addresses, from called functions, and from loops that the
    assembler unrolled while lanes leave them at different times.
    """
    own = code is launch.code
    inexact = {
        name
        for access in code.accesses
        if access.space is None or not own
        for name in access.sites
        if name.startswith("shared_")
    }
    divergent = [i for i, (_, apart) in code.branch_counts.items() if apart]
    for first, last in launch.configuration.plan.unrolled if own else ():
        if any(first <= index <= last for index in divergent):
            inexact.update(name for name in FIELDS if name.startswith("shared_"))
    return inexact


def _unknown(code) -> set[str]:
    """Return counts of atomics and asynchronous copies for which no rule is known.

    An atomic that takes one pass for one sector or word each time counts the same by
    any rule, and so does a copy without conflicts. Shared floats are added in a loop.
    """
    inexact = set()
    for access in code.accesses:
        instruction, sites = access.instruction, access.sites
        if instruction.index in code.facts.doubtful:
            inexact |= {
                passes
                for requests, passes in _PASSES.items()
                if sites.get(requests, 0) != sites.get(passes, 0)
            }
        if instruction.opcode == "cp" and sites.get("shared_store_bank_conflicts"):
            inexact |= {"shared_store_wavefronts", "shared_store_bank_conflicts"}
        if "shared_atomic_requests" in sites and instruction.type in _FLOPS:
            inexact.add(_FLOPS[instruction.type])
    return inexact | set(_BYTES if "global_atomic_sectors" in inexact else ())


def _nondeterministic(codes) -> set[str]:
    """Return counts that depend on the order of threads."""
    inexact = set()
    for code in codes:
        depends = code.facts.doubts
        doubtful = depends.instructions
        if not all(_one_at_a_time(code, index) for index in depends.tickets):
            doubtful |= depends.ranked
        inexact |= _counted(code, doubtful, depends.scattered)
        for other in codes if depends.calls else ():
            every = frozenset(i.index for i in other.function.instructions)
            inexact |= _counted(other, every) if other is not code else set()
    for name, kind in zip(_BYTES, ("load", "store"), strict=True):
        if {f"global_{kind}_sectors", "global_atomic_sectors"} & inexact:
            inexact.add(name)
    return inexact


def _one_at_a_time(code, index: int) -> bool:
    """Whether only single lanes have executed an instruction, never several."""
    for block in code.blocks:
        if block.start <= index < block.start + block.length:
            lanes = code.guarded_lanes.get(index, block.lanes)
            return lanes <= block.executions
    return True


def _counted(code, doubtful, scattered=frozenset()) -> set[str]:
    """Return the fields that doubtful instructions of a function have counted."""
    inexact = set()
    for access in code.accesses:
        index = access.instruction.index
        if index in doubtful:
            inexact |= access.sites.keys()
        elif index in scattered:
            inexact |= {name for name in access.sites if not name.endswith("_requests")}
    for block in code.blocks if doubtful else ():
        reach = range(block.start, block.start + block.length)
        for index in doubtful.intersection(reach if block.executions else ()):
            operation = code.operations.get(index)
            if _is_barrier(code.function.instructions[index]):
                inexact.add("barriers")
            elif operation is not None and operation.flops:
                inexact.add(_FLOPS[operation.flop_type])
    return inexact


def _count_flops(operation, lanes: int, counts: Counter, inexact: set[str]) -> None:
    """Count one instruction; the hardware executes several where it `expands`."""
    name = _FLOPS.get(operation.flop_type or operation.results[0])
    if name is None:
        return
    if operation.flops:
        counts[name] += operation.flops * lanes
    if operation.expands and lanes:
        inexact.add(name)


def _is_barrier(instruction) -> bool:
    return (
        instruction.opcode in ("bar", "barrier")
        and "warp" not in instruction.modifiers
        and "arrive" not in instruction.modifiers
    )


def _add_bytes(counts: Counter) -> None:
    atomic = counts["global_atomic_sectors"]
    counts["bytes_read"] = SECTOR_BYTES * (counts["global_load_sectors"] + atomic)
    counts["bytes_written"] = SECTOR_BYTES * (counts["global_store_sectors"] + atomic)
