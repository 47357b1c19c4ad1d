"""Random PTX kernels for tests of the simulator; `program(seed)` makes one.

They look like what compilers write, and take shapes that these avoid. Every program
ends, defines its registers before it reads them, lets no two threads race, and has
every lane that a warp function names take part in it; so results do not depend on the
order of warps. Only what `Case.portable` excludes may differ on a GPU.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass

import numpy as np
import ptx_arithmetic
import ptx_collectives
import ptx_control
import ptx_faults
import ptx_memory
from ptx_templates import HELPER, LOCAL, TEMPLATE
from ptx_writer import BLOCK, INPUT_BYTES, LANE, MASK, SLACK, Writer

# Threads of a block; whole warps often, since those run differently.
SHAPES = [
    (32, 1, 1), (32, 1, 1), (64, 1, 1), (64, 1, 1), (128, 1, 1), (96, 1, 1),
    (256, 1, 1), (8, 4, 1), (16, 8, 1), (4, 4, 4), (32, 4, 1), (16, 16, 1), (1, 1, 1),
    (7, 1, 1), (31, 1, 1), (33, 1, 1), (48, 1, 1), (100, 1, 1), (5, 7, 1), (3, 5, 7),
    (9, 3, 2), (17, 2, 1),
]  # fmt: skip
GRIDS = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 1, 2)]
WARP_INSTRUCTIONS = 1500  # of a whole launch, about
# What the simulator does its own way.
NOT_PORTABLE = {"approximate", "lane_order", "elect", "activemask", "fault"}
EXOTIC = {ptx_memory.vote_of_block, ptx_memory.part_of_block}
UNPORTABLE = {ptx_memory.ticket, ptx_collectives.elect}


@dataclass(frozen=True)
class Case:
    """A program with everything that a launch needs.

    `buffers` are the bytes of the arrays, in the order of the first parameters;
    `scalars` the parameters after those, laid out.
    """

    seed: int
    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    buffers: tuple[bytes, ...]
    scalars: bytes
    features: Counter
    statements: int

    @property
    def portable(self) -> bool:
        """Whether every GPU must give the same bytes."""
        return not NOT_PORTABLE & set(self.features)

    @property
    def same_counts(self) -> bool:
        """Whether counters are the same for every order of warps."""
        return not {"cas_loop", "fault"} & set(self.features)

    def parameters(self, addresses) -> bytes:
        """Parameters for buffers at these addresses."""
        return struct.pack(f"<{len(addresses)}Q", *addresses) + self.scalars


class Generator(Writer):
    """Puts a program together."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.block = self.random.choice(SHAPES)
        self.grid = self.random.choice(GRIDS)
        self.threads, self.blocks = (
            int(np.prod(self.block)),
            int(np.prod(self.grid)),
        )
        while self.threads * self.blocks > 512:
            self.grid, self.blocks = (1, 1, 1), 1
        self.total = self.threads * self.blocks
        self.warps = -(-self.threads // 32)
        most = WARP_INSTRUCTIONS / (self.warps * self.blocks)
        self.budget = min(70 + self.pick(20, 40, 80, 160, 250), max(most, 90))
        self.partial = self.threads % 32 != 0
        self.may_leave = self.sealed = False
        self.barriers, self.exotic = self.chance(0.7), self.chance(0.15)
        self.local, self.calls = self.chance(0.5), self.chance(0.08)
        self.by_thread = self.chance(0.4)  # results of a thread lie together
        self.own_step = 16 if self.by_thread else 16 * self.total
        self.dynamic = self.chance(0.3)
        self.slots = self.tile_bytes = 0
        self.base: dict[str, str] = {}
        self.fault = self.random.choice(ptx_faults.FAULTS) if self.chance(0.04) else ""
        self.unportable = self.chance(0.2)
        self.wild = self.random.choice([0.15, 0.3, 0.5])
        self.note(f"warps_{self.warps}")

    # -- before and after ---------------------------------------------------------

    def prologue(self) -> None:
        """Parameters, the number of the thread, and the first values."""
        self._parameters()
        self._numbers()
        self._own_places()
        self._first_values()

    def _parameters(self) -> None:
        names = ["in", "out", "own", "atoms", "tickets"]
        for k, name in enumerate(names):
            given = self.temporary("ld.param.u64", "l", f"[k_param_{k}]")
            self.base[name] = self.temporary("cvta.to.global.u64", "l", given)
        self.base["in"] = self.temporary("add.s64", "l", self.base["in"], SLACK)
        for k in (5, 5, 6):
            self.operation("ld.param.u32", "i", f"[k_param_{k}]", uniform=True)
        self.operation("ld.param.u64", "l", "[k_param_7]", uniform=True)
        self.operation("ld.param.f32", "f", "[k_param_8+8]", uniform=True)

    def _numbers(self) -> None:
        """Linear numbers of the thread in its block and grid, and of its warp."""
        x = self.operation("mov.u32", "i", "%tid.x", affine=True)
        wide = self.operation("mov.u32", "i", "%ntid.x", uniform=True)
        linear, block = x, self.operation("mov.u32", "i", "%ctaid.x", uniform=True)
        if self.block[1:] != (1, 1):
            y, z = (
                self.operation("mov.u32", "i", f"%tid.{c}", affine=True) for c in "yz"
            )
            high = self.temporary("mov.u32", "i", "%ntid.y")
            row = self.temporary("mad.lo.s32", "i", z, high, y)
            linear = self.operation("mad.lo.s32", "i", row, wide, x, affine=True)
        if self.grid[1:] != (1, 1):
            y, z, nx, ny = (
                self.temporary("mov.u32", "i", f"%{name}")
                for name in ("ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y")
            )
            row = self.temporary("mad.lo.s32", "i", z, ny, y)
            block = self.operation("mad.lo.s32", "i", row, nx, block, uniform=True)
        self.linear = linear
        if self.block[1:] == (1, 1):
            self.thread = self.operation(
                "mad.lo.s32", "i", block, wide, x, affine=True
            )  # fmt: skip
        else:
            self.thread = self.operation(
                "mad.lo.s32", "i", block, self.threads, linear, affine=True
            )
        self.lane = self.operation("mov.u32", "i", "%laneid", affine=True)
        self.warp = self.temporary("shr.u32", "i", linear, 5)
        self.know("i", self.warp)
        self.grid_warp = self.temporary("mad.lo.s32", "i", block, self.warps, self.warp)

    def _own_places(self) -> None:
        step = "SLOTS" if self.by_thread else 8
        own = self.temporary("mul.wide.s32", "l", self.thread, step)
        self.base["out"] = self.temporary("add.s64", "l", self.base["out"], own)
        wide = 64 if self.by_thread else 16
        far = self.temporary("mul.wide.u32", "l", self.thread, wide)
        self.base["own"] = self.temporary("add.s64", "l", self.base["own"], far)
        if self.local:
            self.emit("mov.u64 \t%SPL, __local_depot0")
            self.emit("cvta.local.u64 \t%SP, %SPL")
            self.base["local"] = self.temporary("add.u64", "l", "%SPL", 0)
            self.base["stack"] = self.temporary("add.u64", "l", "%SP", 0)
            for at in range(0, 64, 16):
                four = ", ".join(str(self.value("i")) for _ in range(4))
                self.emit(f"st.local.v4.u32 \t[%SPL+{at}], {{{four}}}")

    def _first_values(self) -> None:
        for kind, type_, size in (
            ("i", "u32", 4), ("i", "u32", 4), ("l", "u64", 8), ("f", "f32", 4),
            ("d", "f64", 8), ("h", "u16", 2),
        ):  # fmt: skip
            self.operation(f"ld.global.{type_}", kind, self.input(size))
        n, k = self.uniform["i"][:2]
        self.operation("setp.gt.s32", "p", n, k, uniform=True)
        self.operation("setp.lt.s32", "p", self.thread, n)
        for kind, number in {"i": 3, "l": 2, "f": 2, "d": 1, "h": 2, "p": 2}.items():
            for _ in range(number):
                self._first_value(kind)
        self.unread.clear()

    def _first_value(self, kind: str) -> None:
        if kind == "p":
            source = self.condition(LANE)
        else:
            source = self.value(kind) if self.scope[kind] else "0"
        name = self.variable(kind)
        type_ = {"p": "pred", "h": "u16", "i": "u32", "l": "u64"}.get(kind)
        self.emit(f"mov.{type_ or self.kinds[kind][0]} \t{name}, {source}")

    def epilogue(self) -> None:
        """Everything that the variables hold becomes a result."""
        for kind, names in self.variables.items():
            for name in names:
                if kind == "p":
                    name = self.temporary("selp.b32", "i", 1, 0, name)
                type_ = {"h": "u16", "l": "u64", "d": "f64", "f": "f32"}.get(
                    kind, "u32"
                )
                self.emit(f"st.global.{type_} \t[{self.base['out']}+SLOT{self.slots}],"
                          f" {name}")  # fmt: skip
                self.slots += 1
        self.place("$L__BB0_END")
        self.emit("ret")

    # -- statements -------------------------------------------------------------------

    def body(self, count: int) -> None:
        """So many statements."""
        for _ in range(count):
            with self.statement():
                self.some_statement()

    def some_statement(self) -> None:
        """A statement of any sort that is legal here."""
        if self.cost > self.budget * 1.5 or self.chance(0.45):
            self.plain()
            return
        known = ptx_memory.STATEMENTS
        if self.level == BLOCK and self.may_wait and self.chance(0.35):
            known = [one for one in known if one[2] == BLOCK]
        elif self.depth < 3 and self.repeats < 10 and self.chance(self.wild + 0.2):
            known = ptx_control.STATEMENTS
        elif self.level >= MASK and self.chance(0.3):
            known = ptx_collectives.STATEMENTS
        elif self.unportable and self.chance(0.1):
            known = [(ptx_collectives.active, 1, LANE)]
        known = [
            one for one in known
            if one[2] <= self.level
            and (one[2] < BLOCK or self.may_wait)
            and (self.unportable or one[0] not in UNPORTABLE)
            and (self.exotic or one[0] not in EXOTIC)
        ]  # fmt: skip
        functions, weights, _ = zip(*known, strict=True)
        self.random.choices(functions, weights)[0](self)

    @property
    def may_wait(self) -> bool:
        """Whether barriers are allowed: no thread may have left."""
        return self.barriers and not self.may_leave

    def plain(self) -> None:
        """Straight-line code."""
        turn = self.random.random()
        if turn < 0.1:
            ptx_control.leave(self)
        elif turn < 0.25:
            ptx_arithmetic.affine(self)
        elif turn < 0.35:
            self.compute(uniform=True)
        elif turn < 0.4:
            ptx_arithmetic.divide(self)
        elif turn < 0.44:
            ptx_arithmetic.carry(self)
        elif turn < 0.5 and self.calls:
            ptx_control.call(self)
        else:
            for _ in range(self.pick(1, 1, 2, 3)):
                self.compute()

    def write(self) -> None:
        """The whole kernel."""
        self.prologue()
        leaving = self.random.choice([0.3, 0.6, 2.0])
        while self.cost < self.budget:
            if self.cost > leaving * self.budget and not self.may_leave:
                self.may_leave = self.partial = True
            self.body(1)
        if self.fault:
            with self.statement():
                ptx_faults.break_a_rule(self)
        self.use_up({}, 12)
        self.epilogue()

    def text(self, without=frozenset()) -> str:
        """The PTX, without some of its statements."""
        body = self.finish(without)
        body = body.replace("SLOTS", str(8 * self.slots))
        step = 8 if self.by_thread else 8 * self.total
        for slot in range(self.slots - 1, -1, -1):
            body = body.replace(f"SLOT{slot}", str(step * slot))
        tile = max(16, -(-self.tile_bytes // 16) * 16)
        outside = ".extern .shared .align 16 .b8 tile[];" if self.dynamic else ""
        inside = "" if self.dynamic else f"\t.shared .align 16 .b8 tile[{tile}];"
        words = np.random.default_rng(self.seed).integers(-99, 2**31, 64)
        return TEMPLATE.format(
            table=", ".join(map(str, words % 2**32)),
            outside=outside, inside=inside, registers=self.registers(), body=body,
            helper=HELPER.format(self.seed % 5 + 2) if self.calls else "",
            local=LOCAL if self.local else "",
        )  # fmt: skip

    def case(self, without=frozenset()) -> Case:
        """The program and what it needs."""
        tile = max(16, -(-self.tile_bytes // 16) * 16)
        return Case(
            self.seed, self.text(without), self.grid, self.block,
            tile if self.dynamic else 0, self._buffers(), self._scalars(),
            self.features, self.statements,
        )  # fmt: skip

    def _buffers(self) -> tuple[bytes, ...]:
        generator = np.random.default_rng(self.seed)
        given = generator.integers(0, 2**32, (INPUT_BYTES + 2 * SLACK) // 4, np.uint32)
        small = generator.random(len(given))
        given = np.where(small < 0.4, given % 100, given)
        floats = generator.normal(0, 10, len(given)).astype(np.float32)
        given = np.where(small > 0.8, floats.view(np.uint32), given).astype(np.uint32)
        own = generator.integers(0, 2**32, 16 * self.total, np.uint32)
        return (
            given.tobytes(),
            bytes(8 * self.slots * self.total),
            own.tobytes(),
            bytes(8 * ptx_memory.GLOBAL_ATOMICS * 12),
            bytes(64 * self.warps * self.blocks),
        )

    def _scalars(self) -> bytes:
        pick = np.random.default_rng(self.seed + 1)
        n, k = self.total - int(pick.integers(0, 9)), int(pick.integers(0, 100))
        wide = int(pick.integers(0, 2**62))
        return struct.pack("<iIQIIfI", n, k, wide, 3, 77, 1.5, k * 7)


def generator(seed: int) -> Generator:
    """The finished generator of a seed, from which to leave out statements."""
    one = Generator(seed)
    one.write()
    return one


def program(seed: int) -> Case:
    """The program of a seed."""
    return generator(seed).case()
