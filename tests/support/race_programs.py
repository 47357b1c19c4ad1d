"""Random PTX kernels that race, or do not; `program(seed)` makes one.

Each is a few accesses to shared and global memory with barriers, warp barriers, loops
and branches between them. Addresses come from patterns that threads share in different
ways. Every program ends and stays within its arrays.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import numpy as np

from coursekit.simt.checks.races import RaceCheck
from coursekit.simt.interpreter.program import Program
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch
from coursekit.simt.run.limits import LaunchResult

BYTES = 1 << 14  # of each array
SHAPES = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (16, 4, 1), (8, 8, 1), (40, 1, 1)]
# Number of an element, by the number `t` of the thread in its block.
INDICES = {
    "own": ["mov.u32 %i, %t;"],
    "other lane": ["xor.b32 %i, %t, {lane};"],
    "other warp": ["xor.b32 %i, %t, 32;"],
    "next": ["add.u32 %i, %t, {lane};"],
    "pair": ["shr.u32 %i, %t, {shift};"],
    "stride": ["mul.lo.u32 %i, %t, {stride};"],
    "one": ["mov.u32 %i, {lane};"],
    "warp": ["shr.u32 %i, %t, 5;"],
    "lane": ["and.b32 %i, %t, 31;"],
    "loaded": ["and.b32 %i, %t, 63;", "mul.wide.u32 %a, %i, 4;",
               "add.u64 %a, %a, %table;", "ld.global.nc.u32 %i, [%a];"],
}  # fmt: skip
HEAD = """.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[{bytes}];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
.reg .u32 %i, %t, %x, %y, %z, %v, %k, %w;
.reg .u64 %a, %l, %table, %array0, %array1;
.reg .pred %p, %q;
ld.param.u64 %array0, [a]; ld.param.u64 %array1, [b]; ld.param.u64 %table, [c];
cvta.to.global.u64 %array0, %array0; cvta.to.global.u64 %array1, %array1;
cvta.to.global.u64 %table, %table;
mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %ntid.x;
mad.lo.u32 %t, %y, %z, %x;
mov.u32 %w, %ctaid.x;
mov.u32 %v, %t;
"""


@dataclass(frozen=True)
class Case:
    """A program and its launch."""

    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


class Writer:
    """Writes the statements of one program."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.block = self.random.choice(SHAPES)
        self.whole = np.prod(self.block) % 32 == 0
        self.grid = (self.random.choice([1, 1, 2, 3]), 1, 1)
        self.widths = self.random.choice([[4], [4], [4, 16], [8], [1, 4], [2]])
        self.kinds = self.random.sample(list(INDICES), self.random.choice([1, 2, 3]))
        self.private = self.random.random() < 0.7  # blocks use parts of their own
        self.lines: list[str] = []
        self.labels = 0

    def emit(self, *lines: str) -> None:
        """Append lines."""
        self.lines += lines

    def label(self) -> str:
        """A new label."""
        self.labels += 1
        return f"L{self.labels}"

    def address(self, space: str, width: int) -> str:
        """Compute an address into %a or %k; returns the operand."""
        rng = self.random
        names = {"lane": rng.choice([1, 2, 5, 16, 31]), "shift": rng.choice([1, 3, 5]),
                 "stride": rng.choice([2, 3, 4, 9, 33])}  # fmt: skip
        self.emit(*(one.format(**names) for one in INDICES[rng.choice(self.kinds)]))
        self.emit(f"and.b32 %i, %i, {min(255, BYTES // 4 // width - 1)};")
        if space == "shared":
            self.emit(f"mul.lo.u32 %i, %i, {width};", "mov.u32 %k, tile;",
                      "add.u32 %k, %k, %i;")  # fmt: skip
            return "[%k]"
        array = rng.choice(["%array0", "%array1"])
        self.emit(f"mul.wide.u32 %a, %i, {width};", f"add.u64 %a, %a, {array};")
        if self.private:
            self.emit(f"mul.wide.u32 %l, %w, {BYTES // 4};", "add.u64 %a, %a, %l;")
        return "[%a]"

    def access(self) -> None:
        """A load, a store or an atomic."""
        rng = self.random
        space = rng.choice(["shared", "shared", "global"])
        width = rng.choice(self.widths)
        verb = rng.choice(["ld", "ld", "st", "st", "red"])
        guard = rng.choice(["", "", "@%p ", "@%q "])
        if guard:
            self.emit("setp.lt.u32 %p, %t, 32;", "setp.eq.u32 %q, %x, 3;")
        volatile = rng.choice(["", "", "", ".volatile"])
        place = self.address(space, width)
        four = "{%v, %v, %v, %v}"
        if verb == "red" and width in (4, 8):
            if width == 8:
                self.emit("cvt.u64.u32 %l, %v;")
            value = "%l" if width == 8 else "%v"
            scope = rng.choice(["", "", ".cta"]) if space == "global" else ""
            relaxed = ".relaxed.cta" if scope else ""
            self.emit(f"{guard}red{relaxed}.{space}.add.u{8 * width} {place}, {value};")
        elif verb == "ld":
            if width == 16:
                self.emit(f"{guard}ld.{space}.v4.u32 {{%z, %y, %z, %z}}, {place};")
            elif width == 8:
                self.emit(f"{guard}ld{volatile}.{space}.u64 %l, {place};")
            else:
                self.emit(f"{guard}ld{volatile}.{space}.u{8 * width} %z, {place};")
        elif width == 16:
            self.emit(f"{guard}st.{space}.v4.u32 {place}, {four};")
        elif width == 8:
            self.emit("cvt.u64.u32 %l, %v;")
            self.emit(f"{guard}st{volatile}.{space}.u64 {place}, %l;")
        else:
            self.emit(f"{guard}st{volatile}.{space}.u{8 * width} {place}, %v;")

    def copy(self) -> None:
        """Asynchronous copies, waited for or not."""
        self.emit("and.b32 %i, %t, 255;", "mul.wide.u32 %a, %i, 16;",
                  "add.u64 %a, %a, %array0;", "mul.lo.u32 %i, %i, 16;",
                  "mov.u32 %k, tile;", "add.u32 %k, %k, %i;",
                  "cp.async.ca.shared.global [%k], [%a], 16;",
                  "cp.async.commit_group;")  # fmt: skip
        if self.random.random() < 0.5:
            self.access()
        if self.random.random() < 0.8:
            self.emit(f"cp.async.wait_group {self.random.choice([0, 0, 0, 1])};")

    def statement(self, depth: int = 0) -> None:
        """An access, something that orders accesses, or a block of statements."""
        rng = self.random
        choice = rng.random()
        if choice < 0.5 or depth > 1:
            self.access()
        elif choice < 0.66 and not depth:
            self.emit("bar.sync 0;")
        elif choice < 0.76 and not depth and self.whole:
            self.emit("bar.warp.sync 0xffffffff;")
        elif choice < 0.79 and not depth:
            self.copy()
        elif choice < 0.9:
            self.branch(depth)
        else:
            self.loop(depth)

    def branch(self, depth: int) -> None:
        """Statements for some threads."""
        rng, end = self.random, self.label()
        kind = rng.choice(["lt.u32 %p, %t, 32", "lt.u32 %p, %x, 5",
                           "eq.u32 %p, %t, 0", "ge.u32 %p, %x, 16"])  # fmt: skip
        self.emit(f"setp.{kind};", f"@!%p bra {end};")
        for _ in range(rng.choice([1, 1, 2])):
            self.statement(depth + 1)
        self.emit(f"{end}:")

    def loop(self, depth: int) -> None:
        """Statements that all threads repeat."""
        start, register = self.label(), f"%n{self.labels}"
        self.emit(f".reg .u32 {register};", f"mov.u32 {register}, 0;", f"{start}:")
        for _ in range(self.random.choice([1, 2])):
            self.statement(max(depth, 1))
        if depth == 0 and self.random.random() < 0.7:
            self.emit("bar.sync 0;")
        self.emit(f"add.u32 {register}, {register}, 1;",
                  f"setp.lt.u32 %p, {register}, 3;", f"@%p bra {start};")  # fmt: skip

    def case(self) -> Case:
        """The whole program."""
        for _ in range(self.random.choice([2, 3, 4, 6, 9])):
            self.statement()
        body = "\n".join(self.lines)
        text = HEAD.format(bytes=BYTES // 4) + body + "\nret;\n}\n"
        return Case(text, self.grid, self.block)


def program(seed: int) -> Case:
    """The program of a seed."""
    return Writer(seed).case()


def run(case: Case, engine: str, order="forward", observer=None) -> tuple:
    """Run a program; returns the engine's result, and what memory holds then."""
    memory, regions = Memory(), []
    for number in range(3):
        data = storage(BYTES)
        words = data.view(np.uint32)
        words[:] = np.random.default_rng(number).integers(0, 64, len(words))
        regions.append(memory.allocate(BYTES, name="abc"[number], data=data))
    result = launch(
        Program(case.text, memory), "k", case.grid, case.block,
        struct.pack("<3Q", *(region.address for region in regions)),
        observer=observer, engine=engine, order=order,
    )  # fmt: skip
    return result, [region.data.tobytes() for region in regions]


def check(case: Case, engine: str, order="forward") -> tuple[LaunchResult, list, list]:
    """Check a program for races: result, findings, and what memory holds then."""
    observer = RaceCheck()
    result, memory = run(case, engine, order, observer)
    return result, said(observer), memory


def said(observer) -> list[tuple]:
    """All that a race check has found, as text."""
    findings = observer.found.findings("racecheck", "k")
    return [
        (one.severity, one.count, one.message)
        for one in (*findings.items, *findings.notes)
    ]
