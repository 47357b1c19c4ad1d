"""Runs launches in compiled code, and hands the rest to the interpreter.

Compiled code builds no error messages. In any exceptional case (a fault, lanes that
wait for lanes elsewhere, a loop that may wait for other warps) it gives up: the
launch's writes are undone, the completed blocks run again, and the interpreter runs the
rest, errors included.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coursekit import errors
from coursekit.simt.analysis.instructions import is_bulk
from coursekit.simt.compiled import machine
from coursekit.simt.compiled.fast import FastTier
from coursekit.simt.compiled.general import GeneralTier
from coursekit.simt.compiled.unit import Unit
from coursekit.simt.compiled.workspace import Workspace
from coursekit.simt.interpreter import interrupts
from coursekit.simt.isa.traits import TRAITS
from coursekit.simt.memory import faults

# To optimize takes LLVM the square of the instructions between two branches, and more:
# 17 s for 64 unrolled sinf (7,600 instructions). Above one of these limits it does not;
# then it takes 0.6 ms per instruction, and the code is up to 4 times slower.
MOST_OPTIMIZED, MOST_OPTIMIZED_IN_A_ROW = 6_000, 1_500
# Longer kernels are interpreted.
MOST_INSTRUCTIONS = 25_000
# From here on a launch says that it compiles.
WORTH_A_WORD = 800

# What ill-formed PTX may run into, which the interpreter then explains.
_STRANGE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Sort:
    """A variant of compiled code: its tiers and its workspace."""

    name: str
    tiers: dict[str, type]
    workspace: type


PLAIN = Sort("", {"fast": FastTier, "general": GeneralTier}, Workspace)


def make(unit: Unit, tier: type) -> tuple[bytes, dict]:
    """Return machine code of one tier, with the notes that a launch needs.

    Raises
    ------
    UnsupportedError
        The kernel needs something that is not compiled.
    """
    code = tier(unit)
    try:
        text = code.module()
        interrupts.poll()  # LLVM may take seconds
    except _STRANGE as error:
        raise errors.UnsupportedError(f"no code for it: {error!r}") from error
    notes = {
        "record_bytes": unit.record_bytes,
        "sites": code.sites,
        "symbols": list(code.symbols),
        "counters": unit.counters,
        "fixed": [
            [index, *counts.fixed]
            for index, counts in unit.counts.items()
            if counts.fixed and tier.fast
        ],
    }
    try:
        return machine.compile_text(text, _level(unit.code)), notes
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise errors.UnsupportedError(f"LLVM refused its code: {reason}") from error


@dataclass
class Compiled:
    """A kernel's machine code for one block shape; tiers are compiled when needed."""

    unit: Unit
    key: str
    sort: Sort = PLAIN
    tiers: dict[str, machine.Loaded] = field(default_factory=dict)
    workspaces: dict[bool, object] = field(default_factory=dict)
    cache: Callable | None = (
        None  # returns the cache of machine code, of the latest launch
    )
    interpreted: int = 0  # warp instructions that the interpreter has executed for it

    def for_launch(self, launch) -> Compiled:
        """Take the cache and the notice of a launch; return itself."""
        self.cache = launch.configuration.cache
        self.notice = launch.configuration.notice
        return self

    def workspace(self, *, fast: bool) -> Workspace:
        """The arrays that a launch works on."""
        if fast not in self.workspaces:
            self.workspaces[fast] = self.sort.workspace(self, fast=fast)
        return self.workspaces[fast]

    def at_hand(self, tier: str) -> bool:
        """Whether machine code of a tier is loaded, or cached on disk."""
        if tier in self.tiers:
            return True
        machine.use_cache(self.cache)
        return machine.stored(f"{self.key}-{tier}") is not None

    def tier(self, name: str) -> machine.Loaded:
        """Return one tier, compiled if it is not yet."""
        if name not in self.tiers:
            machine.use_cache(self.cache)
            data, notes = machine.cached(f"{self.key}-{name}", lambda: self._make(name))
            address, engine = machine.load_object(data, name)
            self.tiers[name] = machine.Loaded(address, notes, engine)
        return self.tiers[name]

    def _make(self, name: str) -> tuple[bytes, dict]:
        function = self.unit.function
        if self.notice is not None and len(function.instructions) >= WORTH_A_WORD:
            self.notice(len(function.instructions))
        return make(self.unit, self.sort.tiers[name])


def obstacle(launch) -> str | None:
    """Return why a launch cannot be compiled, as far as a quick look tells."""
    if launch.configuration.cooperative:
        return "grid-wide barriers"
    if launch.has_clusters:
        return "clusters"
    length, _ = _lengths(launch.code)
    if length > MOST_INSTRUCTIONS:
        return f"{length:,} instructions: too many to compile"
    instructions = launch.code.function.instructions
    opcodes = {i.opcode for i in instructions}
    reasons = [row.interpreted for name, row in TRAITS.items() if name in opcodes]
    bulk = "bulk copies" if any(map(is_bulk, instructions)) else None
    return next(filter(None, [*reasons, bulk]), None)


def is_optimized(code) -> bool:
    """Whether LLVM optimizes a kernel: not if that would take it long."""
    length, row = _lengths(code)
    return length <= MOST_OPTIMIZED and row <= MOST_OPTIMIZED_IN_A_ROW


def _level(code) -> int:
    return machine.OPTIMIZED if is_optimized(code) else machine.PLAIN


def _lengths(code) -> tuple[int, int]:
    """Return the instructions of a kernel, and the most of them without a branch."""
    rows = [block.length for block in code.blocks]
    return sum(rows), max(rows, default=0)


_KEPT_LOCK = threading.Lock()


def compiled_for(program, code, shape, widths, sort: Sort = PLAIN) -> Compiled:
    """Return a kernel's compiled form, made once per program, shape and plan."""
    with _KEPT_LOCK:
        key = (code.function.name, shape, tuple(sorted(widths.items())))
        key += (sort.name,) if sort.name else ()
        compiled = program.compiled.get(key)
        if compiled is None:
            unit = Unit(program, code, shape, dict(widths))
            digest = machine.key_of(program.digest, *key)
            compiled = program.compiled[key] = Compiled(unit, digest, sort)
        return compiled


def run(launch, blocks: Sequence[int], engine: str) -> tuple[int, str]:
    """Run blocks of a launch in compiled code as far as possible.

    Returns
    -------
    (int, str)
        How many of the blocks are done, and why the interpreter must do the others.
    """
    compiled = of_launch(launch)
    try:
        workspace = compiled.workspace(fast=engine != "general")
    except errors.UnsupportedError as error:
        return 0, str(error).splitlines()[0]
    launch.start_clock()  # compiling is no part of the launch
    workspace.begin(launch)
    try:
        return _run(workspace, launch, blocks)
    finally:
        workspace.end()


def _run(workspace: Workspace, launch, blocks: Sequence[int]) -> tuple[int, str]:
    why = "something that compiled code leaves to the interpreter"
    try:
        done = workspace.run(blocks)
    except errors.UnsupportedError as error:  # the general tier, in the middle
        done, why = 0, str(error).splitlines()[0]
    if done < len(blocks):
        workspace.undo()
        launch.start_again()
        workspace.begin(launch)
        again = workspace.run(blocks[:done])
        if again != done:
            raise RuntimeError(f"{done} blocks ran, and then only {again} of these")
    workspace.report(done)
    return done, why


def of_launch(launch) -> Compiled:
    """Return the compiled form of a launch's kernel, as `run` uses it."""
    asked = launch.configuration
    return compiled_for(
        launch.program, launch.code, asked.block_shape, asked.plan.widths
    ).for_launch(launch)


def at_hand(launch) -> bool:
    """Whether the compiled code of a launch needs no compiling."""
    return of_launch(launch).at_hand("fast")


def too_long(launch):
    """Return the error for a launch that exceeds its time limit."""
    return errors.DeadlockError.explained(
        *faults.too_long(launch.configuration.timeout_s, launch.configuration.name)
    )
