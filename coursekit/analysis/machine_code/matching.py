"""Compares the shared accesses of the PTX with those of the machine code.

The assembler may join several accesses of the PTX into a wider one.

Source lines whose accesses may be joined with one another are compared together. For
each such set of lines, the predicted widths must be those of the machine code. A loop
may stand there several times, because the assembler unrolled it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from coursekit.analysis.machine_code.machine import UNKNOWN, MachineAccess
from coursekit.simt import CountingPlan, SharedAccess, vectorisations

_FIELDS = ("requests", "wavefronts", "bank_conflicts")
_MEASURED = ("ATOMS.ADD", "ATOMS.EXCH", "ATOMS.MAX")  # in wavefronts, on an H200
_MOST_COPIES = 64

_Line = tuple[str, int]
_Own = list[SharedAccess]
_Real = list[MachineAccess]
_Copies = dict[Any, int]  # how often each loop stands in the machine code
_Form = tuple[int, Any]  # width and form of an access


class _Group(Protocol):
    """Accesses that become one, as `vectorisations` yields them."""

    @property
    def members(self) -> tuple[int, ...]: ...
    @property
    def width(self) -> int: ...
    @property
    def lead(self) -> int: ...
    @property
    def below(self) -> int: ...


def match(accesses: list[SharedAccess], machine: list[MachineAccess]) -> CountingPlan:
    """Make the plan that counts what the machine code does.

    Parameters
    ----------
    accesses : list of SharedAccess
        What the PTX of a kernel does.
    machine : list of MachineAccess
        What its machine code does.
    """
    copies: _Copies = {}
    widths: dict[int, tuple[int, int]] = {}
    labels: dict[str, str] = {}
    for kind in SharedAccess.KINDS:
        own = [a for a in accesses if a.kind == kind]
        real = [m for m in machine if m.kind == kind]
        joined = _match_kind(own, real, copies)
        label = "ptx" if joined is None else "sass"
        labels |= {f"shared_{kind}_{field}": label for field in _FIELDS}
        widths |= _widths(joined or ())
    if any(
        not m.name.startswith(_MEASURED)
        for m in machine
        if m.kind == SharedAccess.ATOMIC
    ):
        labels["shared_atomic_wavefronts"] = "ptx"
    labels.pop("shared_atomic_bank_conflicts")
    unrolled = tuple(loop for loop, times in copies.items() if times > 1)
    return CountingPlan(widths, labels, unrolled)


def _widths(joined: Iterable[_Group]) -> dict[int, tuple[int, int]]:
    widths: dict[int, tuple[int, int]] = {}
    for group in joined:
        widths |= dict.fromkeys(group.members, (0, 0))
        widths[group.lead] = group.width, group.below
    return widths


def _match_kind(own: _Own, real: _Real, copies: _Copies) -> Sequence[_Group] | None:
    """Return the groups that agree with the machine code; None if none do."""
    if any(m.width == UNKNOWN for m in real):
        return None
    joined: list[_Group] = []
    for lines in _sets_of_lines(own, real):
        found = _match_lines(
            [a for a in own if a.line in lines],
            [m for m in real if m.line in lines],
            copies,
        )
        if found is None:
            return _match_whole(own, real, copies)
        joined += found
    return joined


def _match_whole(own: _Own, real: _Real, copies: _Copies) -> Sequence[_Group] | None:
    """Match a whole kernel at once: its accesses may stand at other lines."""
    once = dict.fromkeys({a.loop for a in own} - {None}, 1)
    return _match_lines(own, real, once | copies)


def _sets_of_lines(own: _Own, real: _Real) -> list[set[_Line]]:
    """Lines, together where accesses of theirs may become one."""
    line = {a.index: a.line for a in own}
    expected = next(vectorisations(own))
    sets = [{a.line} for a in own] + [{m.line} for m in real]
    sets += [{line[index] for index in group.members} for group in expected]
    joined: list[set[_Line]] = []
    for one in sets:
        touching = [other for other in joined if other & one]
        joined = [other for other in joined if not other & one]
        joined.append(one.union(*touching))
    return joined


def _match_lines(own: _Own, real: _Real, copies: _Copies) -> Sequence[_Group] | None:
    """Groups by the rule if they agree, else the only others that do."""
    found = {}
    for number, joined in enumerate(vectorisations(own)):
        solution = _copies(own, joined, real, copies)
        if solution is None:
            continue
        found[tuple(joined)] = solution
        if len(found) == 1 and number == 0:
            break
    if len(found) != 1:
        return None
    agreed, solution = found.popitem()
    copies |= solution
    return list(agreed)


def _copies(
    own: _Own, joined: Sequence[_Group], real: _Real, copies: _Copies
) -> _Copies | None:
    """Return how often each loop stands in the machine code; None if nothing fits."""
    hidden = {i for g in joined for i in g.members if i != g.lead}
    wide = {g.lead: g.width for g in joined}
    shown = [(a, wide.get(a.index, a.width)) for a in own if a.index not in hidden]
    by_loop: defaultdict[Any, Counter[_Form]] = defaultdict(Counter)
    for access, width in shown:
        by_loop[access.loop][width, access.form] += 1
    settled = {loop: copies[loop] for loop in by_loop if loop in copies}
    is_exposed = any(access.exposed for access in own)
    if set(settled.values()) <= {1} and _same_places(shown, real, is_exposed):
        return {loop: 1 for loop in by_loop if loop is not None}
    if is_exposed:
        return None
    left = Counter((m.width, m.form) for m in real)
    for loop, factor in {**settled, None: 1}.items():
        left.subtract({w: n * factor for w, n in by_loop.get(loop, {}).items()})
    free = [loop for loop in by_loop if loop is not None and loop not in settled]
    solution = _solve([by_loop[loop] for loop in free], left)
    if solution is None or set(solution) | set(settled.values()) <= {1}:
        return None
    return dict(zip(free, solution, strict=True))


def _same_places(
    shown: list[tuple[SharedAccess, int]], real: _Real, with_depth: bool
) -> bool:
    """Return whether every access stands once, in a loop or outside as in the PTX.

    With `with_depth`, the same number of branches must decide about each access.
    """
    expected = Counter(
        (w, a.form, a.loop is not None, with_depth and a.depth) for a, w in shown
    )
    actual = Counter((m.width, m.form, m.in_loop, with_depth and m.depth) for m in real)
    return expected == actual


def _solve(loops: list[Counter[_Form]], left: Counter[_Form]) -> list[int] | None:
    """Find for each loop a number of copies, 1 or more, so that nothing is left."""
    if not loops:
        return None if any(left.values()) else []
    first, rest = loops[0], loops[1:]
    most = min([_MOST_COPIES, *(left[w] // n for w, n in first.items())])
    for factor in range(most, 0, -1):
        after = left.copy()
        after.subtract({w: n * factor for w, n in first.items()})
        factors = _solve(rest, after)
        if factors is not None:
            return [factor, *factors]
    return None
