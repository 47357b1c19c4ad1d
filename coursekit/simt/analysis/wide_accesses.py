"""Access vectorisation: shared loads and stores that the assembler combines.

ptxas vectorises scalar accesses to neighbouring words as LDS.64, LDS.128 and the like.
`shared_accesses` lists a kernel's shared accesses; `groups` predicts which of them are
vectorised. The machine code decides: only a prediction that it confirmed is used for
counting (see `CountingPlan`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar

from coursekit.simt.analysis.alignment import FULL, Addresses
from coursekit.simt.analysis.control import basic_blocks
from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.analysis.instructions import copied_bytes
from coursekit.simt.analysis.regions import ControlFlow
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import ATOMIC, COPY, LOAD, STORE
from coursekit.simt.ptx.ir import BYTES, Address, Label

_ORDERED = {"volatile", "relaxed", "acquire", "release", "mmio"}
_ELSEWHERE = {"global", "local", "const", "param"}
HALF, WORD, WIDEST = 2, 4, 16


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One PTX instruction that accesses shared memory.

    Accesses of one `stretch` may be vectorised, as nothing between them prevents it;
    `root` and `offset` are their address. `loop` is the innermost loop, as the
    instructions (first, last), or None; `depth` counts the branches that decide whether
    the access is executed. An `exposed` access may be executed all the same. The `form`
    of an asynchronous copy is COPY, "" of others.
    """

    LOAD: ClassVar[str] = LOAD
    STORE: ClassVar[str] = STORE
    ATOMIC: ClassVar[str] = ATOMIC
    COPY: ClassVar[str] = COPY
    KINDS: ClassVar[tuple[str, ...]] = (LOAD, STORE, ATOMIC)

    index: int
    kind: str
    width: int
    line: tuple[str, int]
    loop: tuple[int, int] | None
    stretch: tuple
    root: object
    offset: int
    exponent: int
    ordered: bool
    depth: int
    exposed: bool = False
    form: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Scalar accesses that become one access of `width` bytes.

    The wide access is executed in place of `lead`, `below` bytes before its address.
    """

    members: tuple[int, ...]
    width: int
    lead: int
    below: int


@dataclass(frozen=True, slots=True)
class Style:
    """How aggressively the assembler vectorises accesses.

    A load of four words is made where at least `fours` of them are loaded; None: never.
    Halves of words are vectorised in the same way, unless they are extended to words.
    """

    fours: int | None = 3
    pairs: bool = True
    halves: bool = False


RULE = Style()
SEPARATE = Style(None, False)
STYLES = (
    RULE, Style(halves=True), Style(4), Style(None), Style(3, False), Style(4, False),
    SEPARATE,
)  # fmt: skip
_MOST_ROOTS = 3  # base addresses whose accesses may be joined in different styles


@dataclass(frozen=True)
class CountingPlan:
    """How a kernel's shared accesses are counted.

    `widths` maps the index of an instruction to (bytes, bytes below its address);
    0 bytes where another instruction counts for it. `labels` says which counters
    then equal the hardware's, if the lanes of a warp leave the `unrolled` loops
    together.
    """

    widths: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    unrolled: tuple[tuple[int, int], ...] = ()


def shared_accesses(function, shared) -> list[SharedAccess]:
    """List the loads, stores and atomics of shared memory in a function.

    Parameters
    ----------
    function : ir.Function
    shared : sequence of (name, nbytes, align)
        Shared variables in the order of the program.
    """
    addresses = Addresses(function, shared)
    starts, flow = _starts(function), _Flow(function)
    fences, versions, found = Counter(), Counter(), []
    for instruction in function.instructions:
        if instruction.index in starts:
            fences["block"] += 1
        if _kind(instruction) and _is_access(instruction):
            found.append(_describe(instruction, addresses, fences, versions, flow))
        _advance(instruction, fences)
        versions.update(registers_of(instruction)[0])
    return _with_exposure(found)


def _with_exposure(found: list[SharedAccess]) -> list[SharedAccess]:
    """Mark conditional accesses to memory that certainly exists.

    ptxas may execute such an access always: where its address is a constant, or where
    other code touches the 16 bytes around it. The width stays, so no count of widths
    shows it.
    """
    windows = defaultdict(set)
    for access in found:
        windows[access.root, access.offset // WIDEST].add(access.stretch)
    return [
        replace(
            access,
            exposed=access.depth > 0
            and (
                isinstance(access.root, str)
                or len(windows[access.root, access.offset // WIDEST]) > 1
            ),
        )
        for access in found
    ]


def groups(found, style: Style = RULE) -> list[Group]:
    """Predict which accesses are vectorised together."""
    stretches = defaultdict(list)
    for access in found:
        unit = min(access.width, WORD)
        if not access.ordered and HALF <= access.width < WIDEST:
            stretches[access.kind, unit, access.stretch].append(access)
    joined = []
    for (kind, unit, _), members in stretches.items():
        if unit == HALF and not style.halves:
            continue
        rest = members
        if style.fours is not None:
            needed = style.fours if kind == LOAD else 4
            made, rest = _windows(rest, unit, 4, needed)
            joined += made
        if style.pairs:
            joined += _windows(rest, unit, 2, 2)[0]
    return joined


def vectorisations(accesses: list[SharedAccess]) -> Iterator[list[Group]]:
    """Yield possible vectorisations of the accesses, the prediction first.

    Other styles for each base address follow.
    """
    yield groups(accesses)
    roots = list(dict.fromkeys(access.root for access in accesses))
    mixed = len(roots) <= _MOST_ROOTS
    choices = product(STYLES, repeat=len(roots)) if mixed else zip(STYLES, strict=True)
    seen = set()
    for styles in choices:
        joined = []
        for number, root in enumerate(roots):
            style = styles[number if mixed else 0]
            joined += groups([a for a in accesses if a.root == root], style)
        if tuple(joined) not in seen:
            seen.add(tuple(joined))
            yield joined


def _windows(members, unit: int, count: int, needed: int):
    """Return groups of accesses in aligned windows of `count` units, and the rest."""
    width = count * unit
    windows = defaultdict(list)
    for access in members:
        windows[access.offset // width].append(access)
    made, rest = [], []
    for number, inside in windows.items():
        covered = {at for a in inside for at in range(a.offset, a.offset + a.width)}
        aligned = inside[0].exponent >= width.bit_length() - 1
        if len(inside) > 1 and aligned and len(covered) >= needed * unit:
            lead = min(inside, key=lambda a: a.offset)
            below = lead.offset - number * width
            numbers = tuple(a.index for a in inside)
            made.append(Group(numbers, width, lead.index, below))
        else:
            rest += inside
    return made, rest


def _is_access(instruction) -> bool:
    """Whether an instruction is a shared access of one of these kinds."""
    row = traits.of(instruction)
    known = row.memory != COPY or copied_bytes(instruction) is not None
    return known and "shared" in _space(instruction)


def _space(instruction) -> set[str]:
    return {"shared" if m == "shared::cta" else m for m in instruction.modifiers}


class _Flow:
    """The innermost loop and the branch depth of each instruction."""

    def __init__(self, function):
        blocks = basic_blocks(function)
        self.loops = _loops(function)
        flow = ControlFlow([block.successors for block in blocks])
        self.cyclic, self.depths = flow.cyclic, flow.depths
        self.block = {
            i: b for b, k in enumerate(blocks) for i in range(k.start, k.stop)
        }

    def loop(self, instruction):
        """Return (first, last) instruction of the innermost loop, or None."""
        index = instruction.index
        around = [loop for loop in self.loops if loop[0] <= index <= loop[1]]
        if self.block[index] not in self.cyclic:
            return None
        return min(around, key=lambda loop: loop[1] - loop[0], default=None)

    def depth(self, instruction) -> int:
        """Return the number of conditions on which the instruction depends."""
        block = self.block[instruction.index]
        return self.depths[block] + (instruction.guard is not None)


def _describe(instruction, addresses, fences, versions, flow) -> SharedAccess:
    operand = next(o for o in instruction.operands if isinstance(o, Address))
    place, kind = addresses.place(operand), _kind(instruction)
    where, guard, row = instruction.location, instruction.guard, traits.of(instruction)
    guarded = guard and (guard.register.index, guard.negated)
    count = next((int(m[1]) for m in instruction.modifiers if m in ("v2", "v4")), 1)
    copied = copied_bytes(instruction)
    return SharedAccess(
        index=instruction.index,
        kind=kind,
        width=copied or row.lane_bytes or count * BYTES[instruction.type],
        line=(where.file, where.line) if where else ("", 0),
        loop=flow.loop(instruction),
        stretch=(
            fences["block"], fences[kind], place.root, versions[place.root], guarded,
        ),
        root=place.root,
        offset=place.offset,
        exponent=min(place.exponent, FULL),
        ordered=kind == ATOMIC
        or bool(copied or _ORDERED & set(instruction.modifiers)),
        depth=flow.depth(instruction),
        form=COPY if copied else "",
    )  # fmt: skip


def _advance(instruction, fences: Counter) -> None:
    """Count the accesses that others cannot be moved across: stores block loads."""
    if _holds_back(instruction) or _ORDERED & set(instruction.modifiers):
        fences.update((LOAD, STORE))
        return
    kind = _kind(instruction)
    if kind and not _ELSEWHERE & set(instruction.modifiers):
        fences[STORE if kind == LOAD else LOAD] += 1


def _kind(instruction) -> str:
    """Return LOAD, STORE or ATOMIC for a shared access; a copy counts as a store."""
    memory = traits.of(instruction).memory
    return STORE if memory == COPY else memory


def _holds_back(instruction) -> bool:
    """Whether no access can be moved across an instruction."""
    row = traits.of(instruction)
    return row.barrier or row.fence or row.calls or row.memory in (ATOMIC, COPY)


def _starts(function) -> set[int]:
    """Return first instructions of basic blocks; a collective ends no block here."""
    used = {name for _, name in _targets(function)}
    starts = {function.labels[name] for name in used}
    return starts | {
        one.index + 1 for one in function.instructions if traits.of(one).leads_elsewhere
    }


def _loops(function) -> list[tuple[int, int]]:
    """Return (first, last) instruction of each loop, by its backward branch."""
    closed: dict[int, int] = {}
    for index, name in _targets(function):
        start = function.labels[name]
        if start <= index:
            closed[start] = max(index, closed.get(start, 0))
    return list(closed.items())


def _targets(function) -> list[tuple[int, str]]:
    """Return (instruction, label) of every branch."""
    found = []
    for one in function.instructions:
        names = [o.name for o in one.operands if isinstance(o, Label)]
        if traits.of(one).indexed:
            names += function.branch_tables[one.operands[1].name]
        found += [(one.index, name) for name in names if name in function.labels]
    return found
