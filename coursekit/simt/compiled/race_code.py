"""The race check in compiled code: each access checks and updates shadow words.

Code that finds two accesses that may race gives up; the interpreter then reports them.
The code knows only barriers of the block and synchronisation of whole warps, neither
fences nor atomics. So it may suspect accesses that are no race, but it never misses a
race. It counts no sectors and no wavefronts.
"""

from __future__ import annotations

from coursekit.simt.analysis.dataflow import registers_of
from coursekit.simt.compiled import race_helpers as helpers
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.fast import FastTier
from coursekit.simt.compiled.general import GeneralTier
from coursekit.simt.compiled.race_notes import Notes
from coursekit.simt.compiled.race_places import grains
from coursekit.simt.compiled.race_times import declare_times
from coursekit.simt.compiled.stamps import Form
from coursekit.simt.compiled.tier import COUNTER
from coursekit.simt.compiled.unit import FUEL_LEFT
from coursekit.simt.interpreter.access import UPDATES
from coursekit.simt.interpreter.warp import POLLING_FUEL
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import ATOMIC, orders_lanes
from coursekit.simt.ptx.ir import Register


def form_of(unit) -> Form:
    """Return the layout of a kernel's shadow words."""
    wide, high, deep = unit.shape
    instructions = unit.function.instructions
    return Form(
        -(-wide * high * deep // LANES),
        any(orders_lanes(instruction) for instruction in instructions),
        any(access.verb == UPDATES for access in unit.accesses.values()),
    )


def _order_matters(function) -> bool:
    """Whether the result of an atomic is used, which depends on the schedule."""
    given = {
        instruction.operands[0].index
        for instruction in function.instructions
        if traits.of(instruction).memory == ATOMIC
        and isinstance(instruction.operands[0], Register)
    }
    return any(given & set(registers_of(i)[1]) for i in function.instructions)


class Races(Notes):
    """The race check as a mixin of a tier."""

    def __init__(self, unit):
        super().__init__(unit)
        self.form, self.grains = form_of(unit), grains(unit)
        self.outlined: dict[tuple, str] = {}
        self.by_lane: dict[tuple, str] = {}
        declare_times(self.out, self.form, unit.queue is not None)

    def uncounted(self, request) -> bool:
        """Whether an access is not counted: none is during the race check."""
        return True

    # -- what orders accesses ----------------------------------------------------------

    def header(self) -> None:
        """Emit the start of a function, at which a block may begin."""
        super().header()
        self.out.line(f"%touched = alloca [{LANES} x i64], align 64")
        self.out.line("call void @race_enter(ptr %ctx)")

    def clear_queue(self) -> None:
        """Limit the fuel to the interpreter's share before it switches warps.

        This matters where the result of an atomic decides what a thread does.
        """
        super().clear_queue()
        if self.unit.polls and _order_matters(self.unit.function):
            fuel = max(POLLING_FUEL // len(self.unit.code.blocks) - 1, 0)
            self.set_field("%record", FUEL_LEFT, "i32", fuel, COUNTER)

    def barrier(self, stretch) -> None:
        """Wait for the other warps, or open the barrier."""
        self.out.line("call void @race_barrier(ptr %ctx, ptr %record)")
        super().barrier(stretch)

    def done(self) -> None:
        """End the warp; a barrier at which all others wait opens."""
        self.out.line("call void @race_barrier(ptr %ctx, ptr %record)")
        super().done()

    def collective(self, instruction) -> None:
        """Emit a warp-wide instruction; at a barrier, lanes synchronise."""
        super().collective(instruction)
        if orders_lanes(instruction):
            mask = "-1" if self.fast else self.mask
            self.out.line(f"call void @race_meet(ptr %ctx, ptr %record, i32 {mask})")

    # -- accesses ----------------------------------------------------------------------

    def host_addresses(self, request, addresses: str, mask: str) -> str:
        """Return host addresses of legal lanes, after checking for races."""
        hosts = super().host_addresses(request, addresses, mask)
        self.note_lanes(request, addresses, mask)
        return hosts

    # -- copies ------------------------------------------------------------------------

    def _wait(self, pending: int) -> None:
        """Record the writes of copies that are waited for."""
        out = self.out
        helpers.declare_landing(out, self.form, self.grains["shared"])
        queue = out.op(f"getelementptr i8, ptr %record, i64 {self.unit.queue}")
        out.line(
            f"call void @race_landing(ptr %ctx, ptr %record, ptr {queue}, "
            f"i32 {pending})"
        )
        super()._wait(pending)


class RaceFastTier(Races, FastTier):
    """The fast tier with the race check."""

    def _place(self, request) -> tuple | None:
        found = super()._place(request)
        if found is not None:
            self.note_pattern(request, found[0])
        return found


class RaceGeneralTier(Races, GeneralTier):
    """The general tier with the race check."""

    def _patterned(self, request, place, mask, values):
        self.note_pattern(request, place[0], mask)
        return super()._patterned(request, place, mask, values)
