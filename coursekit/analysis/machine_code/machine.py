"""Reads disassembled machine code: shared-memory instructions by kernel and line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coursekit.simt import ControlFlow, SharedAccess

UNKNOWN = -1
LOAD, STORE, ATOMIC = SharedAccess.KINDS
EXIT = ControlFlow.EXIT
_SECTION = re.compile(r"\s*\.section\s+\.text\.([\w$.]+),")
_LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_LABEL = re.compile(r"(\.L\w+):")
_INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)((?:\.\w+)*)([^;]*);"
)
_TARGET = re.compile(r"(\.L\w+)")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_KINDS = {
    "LDS": LOAD, "STS": STORE, "ATOMS": ATOMIC,
    "LDGSTS": STORE,
    # The simulator does not count these.
    "LDSM": LOAD, "STSM": STORE, "STAS": STORE, "UBLKCP": STORE, "UTMALDG": STORE,
    "REDAS": ATOMIC,
}  # fmt: skip
_NEVER = "@!PT"  # the predicate of loads before an LDGSTS that never execute
_LOOPING = {"CAS", "CAST", "POPC", "SPIN", "ARRIVE"}
_JUMPS = {"BRA", "BRX", "JMP", "JMX"}
_LEAVING = {"EXIT", "RET", "KILL"}


@dataclass(frozen=True, slots=True)
class MachineAccess:
    """One instruction that uses shared memory.

    `width` is in bytes, UNKNOWN for what has no counterpart in the PTX. `line` is
    the innermost position in the source. `depth` counts the branches and the
    predicate that decide whether it is executed. `form` is as in `SharedAccess`.
    """

    kind: str
    name: str
    width: int
    line: tuple[str, int]
    in_loop: bool = False
    depth: int = 0
    form: str = ""


def read(text: str) -> dict[str, list[MachineAccess]]:
    """List the shared accesses of every kernel, in order.

    Parameters
    ----------
    text : str
        Output of nvdisasm with line information.
    """
    readers: dict[str, _Reader] = {}
    reader = _Reader()
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section:
            reader = readers.setdefault(section[1], _Reader())
        else:
            reader.take(line)
    return {name: found.accesses() for name, found in readers.items()}


class _Reader:
    """Reads the lines of one kernel, functions that it calls included."""

    def __init__(self) -> None:
        self.line, self.fresh = ("", 0), True
        self.labels: dict[str, int] = {}
        self.code: list[tuple[str, bool, str]] = []
        self.found: dict[int, MachineAccess] = {}

    def take(self, text: str) -> None:
        place = _LINE.match(text)
        if place:
            if self.fresh:  # the calls that brought the code here follow
                self.line, self.fresh = (place[1], int(place[2])), False
            return
        label = _LABEL.match(text)
        if label:
            self.labels[label[1]] = len(self.code)
            return
        instruction = _INSTRUCTION.match(text)
        if instruction is None:
            return
        self.fresh = True
        guard, name, suffixes, operands = instruction.groups()
        if name in _KINDS and (guard or "").strip() != _NEVER:
            access = _access(name, suffixes, self.line)
            self.found[len(self.code)] = replace(access, depth=int(guard is not None))
        self.code.append((name + suffixes, guard is not None, operands))

    def accesses(self) -> list[MachineAccess]:
        """Return the accesses, each with its place in the control flow."""
        blocks = self._blocks()
        number = {at: b for b, block in enumerate(blocks) for at in block}
        flow = ControlFlow(self._successors(blocks))
        return [
            replace(
                access,
                in_loop=number[at] in flow.cyclic,
                depth=access.depth + flow.depths[number[at]],
            )
            for at, access in self.found.items()
        ]

    def _blocks(self) -> list[range]:
        """Instructions of each basic block."""
        ends = {
            at + 1
            for at, (name, _, _) in enumerate(self.code)
            if name.partition(".")[0] in _JUMPS | _LEAVING
        }
        inside = range(len(self.code))
        starts = sorted({0, *ends, *self.labels.values()} & set(inside))
        stops = [*starts[1:], len(inside)]
        return [range(*extent) for extent in zip(starts, stops, strict=True)]

    def _successors(self, blocks: list[range]) -> list[tuple[int, ...]]:
        """Which basic blocks may follow each."""
        number = {block.start: b for b, block in enumerate(blocks)}
        return [self._following(block, number) for block in blocks]

    def _following(self, block: range, number: dict[int, int]) -> tuple[int, ...]:
        name, guarded, operands = self.code[block.stop - 1]
        following = number.get(block.stop, EXIT)
        root = name.partition(".")[0]
        if root in _LEAVING:
            return (EXIT, following) if guarded else (EXIT,)
        if root not in _JUMPS:
            return (following,)
        jumps = [
            number.get(self.labels[label], EXIT)
            for label in _TARGET.findall(operands)
            if label in self.labels
        ]
        always = not guarded and _TARGET.split(operands)[0].strip(" `(") == ""
        if not (always and name == "BRA") and root != "BRX":
            jumps.append(following)
        return tuple(dict.fromkeys(jumps or [EXIT]))


def _access(name: str, suffixes: str, line: tuple[str, int]) -> MachineAccess:
    words = suffixes.split(".")[1:]
    width = next((_BYTES[word] for word in words if word in _BYTES), 4)
    if name not in ("LDS", "STS", "ATOMS", "LDGSTS") or "BYPASS" in words:
        width = UNKNOWN
    if name == "ATOMS" and (width != 4 or _LOOPING & set(words)):
        width = UNKNOWN
    form = SharedAccess.COPY if name == "LDGSTS" else ""
    return MachineAccess(_KINDS[name], name + suffixes, width, line, form=form)
