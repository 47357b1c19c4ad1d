"""State of the code generator for one kernel: its counters and its warps' record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from coursekit.simt.analysis.instructions import polls
from coursekit.simt.compiled.flow import Flow
from coursekit.simt.compiled.runtime import offset
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import COPY
from coursekit.simt.ptx.ir import BYTES

# A record of a warp: the fields of the scheduler, thread indices, the stack of the
# general tier (entries of block, lanes, reconvergence), then registers.
TIER, RESUME, MASK, DEPTH, LIVE, EXECUTED, EXISTING, WARP = map(
    offset,
    ("tier", "resume", "mask", "depth", "live", "executed", "exist", "warp"),
)
RECONVERGENCE, TARGET, FUEL_LEFT = 40, 44, 48
THREADS = 64
STACK = THREADS + 3 * 128
STACK_ENTRIES = 96
REGISTERS = -(-(STACK + 12 * STACK_ENTRIES) // 64) * 64


# The queue of asynchronous copies: number of copies and groups; then for each copy its
# size, lanes, reading lanes and group, and 32 host addresses to write and to read.
QUEUE_HEADER, QUEUE_ENTRY, QUEUE_ENTRIES = 64, 64 + 2 * 8 * 32, 32

# Blocks that a warp may repeat before the launch looks at the clock.
FUEL = 1 << 16


def bits(type_: str) -> int:
    """Return the width of a PTX type in bits; predicates have one."""
    return 1 if type_ == "pred" else 8 * BYTES[type_]


@dataclass
class Counts:
    """Numbers of one memory instruction's counters, and its constant counts.

    `slots` count at run time: requests, sectors or wavefronts, conflicts. `fixed` has
    what each execution in the fast tier adds to them, then the block, and the counters
    of executions of the block that stopped before this instruction.
    """

    slots: int
    fixed: tuple = ()


class Unit:
    """One kernel, for blocks of one shape, with one way of counting.

    Parameters
    ----------
    program : Program
    code : decode.Code
        The kernel.
    shape : tuple of three int
        Threads of a block.
    widths : mapping
        How shared accesses count, as in `CountingPlan`.
    """

    def __init__(self, program, code, shape, widths):
        self.program, self.code, self.shape, self.widths = program, code, shape, widths
        self.function = code.function
        self.counters = 0
        count = len(code.blocks)
        self.fast_runs = self.take(count)
        self.general_runs = self.take(count)
        self.general_lanes = self.take(count)
        self.divergent = {index: self.take(1) for index in code.branch_counts}
        self.guarded = {
            index: self.take(1)
            for index in code.guarded_lanes
            if index in code.operations
        }
        self.accesses: dict[int, object] = {}
        for access in code.accesses:
            index = access.instruction.index
            # A copy is two accesses: the second has a key below 0.
            key = -index - 1 if index in self.accesses else index
            self.accesses[key] = access
        self.counts = {index: Counts(self.take(3)) for index in self.accesses}
        self.block_starts = [block.start for block in code.blocks]
        self.local_stride = -(-max(code.local_bytes, 16) // 16) * 16
        self.parameters, self.parameter_bytes = self._lay_out_parameters()

    @cached_property
    def polls(self) -> bool:
        """Whether the kernel may wait for writes of other warps."""
        return any(polls(i) for i in self.function.instructions)

    def take(self, count: int) -> int:
        """Reserve counters; return the number of the first."""
        first = self.counters
        self.counters += count
        return first

    @cached_property
    def flow(self) -> Flow:
        """The stretches, liveness and affine analysis."""
        return Flow(self.code, self.shape)

    @cached_property
    def places(self) -> dict[int, int]:
        """Offsets in a warp's record of the registers that outlive a stretch."""
        live = sorted(set().union(*(s.live for s in self.flow.stretches)))
        places: dict[int, int] = {}
        offset = REGISTERS
        for index in live:
            register = self.function.registers[index]
            size = 8
            if self.flow.general.registers[index].divergent and register.type != "pred":
                size = 32 * BYTES[register.type]
                offset = -(-offset // 64) * 64
            places[index] = offset
            offset += -(-size // 8) * 8
        self._end = offset
        return places

    @cached_property
    def record_bytes(self) -> int:
        """The bytes of the record of one warp."""
        end = self.queue
        if end is None:
            return self._registers_end
        return end + QUEUE_HEADER + QUEUE_ENTRIES * QUEUE_ENTRY

    @property
    def _registers_end(self) -> int:
        return -(-(self._end if self.places else REGISTERS) // 64) * 64

    @cached_property
    def queue(self) -> int | None:
        """The offset in the record of the queue of asynchronous copies, if any."""
        copies = any(traits.of(i).memory == COPY for i in self.function.instructions)
        return self._registers_end if copies else None

    @cached_property
    def symbols(self) -> set[str]:
        """The variables whose address the code may take."""
        shared = self.program.shared_variables(self.function.name, 0)
        return {name for name, _, _ in shared} | set(self.program.variables)

    def _lay_out_parameters(self) -> tuple[dict[str, int], int]:
        offset, places = 0, {}
        for variable in self.function.parameters:
            offset = -(-offset // variable.align) * variable.align
            places[variable.name] = offset
            offset += variable.nbytes
        return places, -(-offset // 8) * 8
