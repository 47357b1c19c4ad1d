"""Code generation for instructions and blocks, completed by each tier."""

from __future__ import annotations

from coursekit.errors import UnsupportedError
from coursekit.simt.analysis.control import EXIT
from coursekit.simt.compiled.accesses import Accesses
from coursekit.simt.compiled.addresses import Addresses
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.async_code import AsyncCopies
from coursekit.simt.compiled.atomics import Atomics
from coursekit.simt.compiled.collective_code import Collectives
from coursekit.simt.compiled.counted import Counted
from coursekit.simt.compiled.matrix_loads import emit_ldmatrix
from coursekit.simt.compiled.product_code import Products
from coursekit.simt.compiled.requests import request_of
from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.tier import COUNTER, DONE, GIVE_UP, OWN, Tier, vector
from coursekit.simt.compiled.unit import EXECUTED, FUEL, FUEL_LEFT, bits
from coursekit.simt.interpreter import interrupts
from coursekit.simt.isa import traits
from coursekit.simt.ptx.ir import Label

_METADATA = """
!0 = !{!"simulated"}
!1 = !{!"counter", !0}
!2 = !{!"device memory", !0}
!3 = !{!"warp", !0}
!4 = !{!1, !1, i64 0}
!5 = !{!2, !2, i64 0}
!6 = !{!3, !3, i64 0}
!7 = !{!"branch_weights", i32 100000, i32 1}
!8 = !{}
"""
_BUFFERS = ("lanes", "found", "before", "value0", "value1")


class WarpCode(
    Tier, Addresses, Accesses, Counted, Atomics, AsyncCopies, Collectives, Products
):
    """Generates the function that runs a warp from its last stop to the next one."""

    name = ""
    own_fields = (0, 0)  # of the context: sites, addresses of variables

    def header(self) -> None:
        """Load the values that every block needs."""
        out = self.out
        out.label("entry")
        for name in _BUFFERS:
            out.line(f"%{name} = alloca [{LANES} x i64], align 64")
        sites, symbols = self.own_fields
        for name, index in (
            ("sites", sites), ("symbols", symbols),
            ("counters", Context.COUNTERS), ("params", Context.PARAMS),
        ):  # fmt: skip
            at = out.op(f"getelementptr i64, ptr %ctx, i64 {index}")
            out.line(f"%{name} = load ptr, ptr {at}, {OWN}")

    def module(self) -> str:
        """Return the LLVM IR module of the function."""
        self.header()
        self.body()
        parts = [_METADATA]
        parts += [
            f"@{name} = private unnamed_addr constant "
            f"[{text.count(',') + 1} x i64] [{text}]"
            for text, name in self.tables.items()
        ]
        parts += self.out.declarations
        parts.append(
            f"define i32 @{self.name}(ptr noalias %ctx, ptr noalias %record) {{"
        )
        return "\n".join([*parts, *self.out.lines, "}"]) + "\n"

    def instructions(self, stretch) -> None:
        """Emit the instructions of a stretch, and its end."""
        interrupts.poll()
        block = self.flow.blocks[stretch.block]
        stop = block.start + block.length
        ended = False
        for index in range(stretch.start, stretch.stop):
            instruction = self.flow.instructions[index]
            if index == stop - 1 and self.ends(instruction):
                self.end(instruction, stretch)
                ended = True
            else:
                self.instruction(instruction)
        if ended:
            return
        if stretch.stop < stop:
            self.next_stretch(stretch)
        else:
            self.go_on(stretch)

    def end(self, instruction, stretch) -> None:
        """Emit the end of a block."""
        row = traits.of(instruction)
        if row.barrier:
            self.plain_barrier(instruction)
            self.barrier(stretch)
        elif row.indexed:
            self._switch(instruction, stretch)
        elif row.calls:
            raise UnsupportedError("a call of a function")
        elif instruction.guard is not None:
            self.branch(instruction, stretch)
        else:
            if row.traps:
                self.require("false")
            self.go(stretch, self.jump_target(instruction) if row.jumps else EXIT)

    def _switch(self, instruction, stretch) -> None:
        """Emit an indexed branch; the lanes must agree on the index."""
        out, name = self.out, self.agreed_index(instruction.operands[0])
        targets = [(t, out.fresh("case")) for t in self._table(instruction)]
        cases = " ".join(
            f"i32 {n}, label %{label}" for n, (_, label) in enumerate(targets)
        )
        nowhere = out.fresh("nowhere")
        out.line(f"switch i32 {name}, label %{nowhere} [ {cases} ]")
        out.label(nowhere)
        out.line(f"ret i32 {GIVE_UP}")
        for target, label in targets:
            out.label(label)
            self.go(stretch, target)

    @staticmethod
    def ends(instruction) -> bool:
        """Whether an instruction determines the block that follows."""
        leads_elsewhere = traits.of(instruction).leads_elsewhere
        return leads_elsewhere or traits.is_block_barrier(instruction)

    def go_on(self, stretch) -> None:
        """Continue with the next block."""
        following = stretch.block + 1
        self.go(stretch, following if following < len(self.flow.blocks) else EXIT)

    def instruction(self, instruction) -> None:
        """Emit an instruction within a block.

        An opcode's method `emit_...` does it; an opcode without one is lane-wise.
        """
        row = traits.of(instruction)
        if row.waits:
            self.collective(instruction)
        elif not row.ignored:
            emit = getattr(self, f"emit_{instruction.opcode}", self.lanewise)
            emit(instruction)

    def emit_st(self, instruction) -> None:
        """Emit a store."""
        self.store_memory(request_of(self, instruction))

    def emit_ld(self, instruction) -> None:
        """Emit a load."""
        if "param" in instruction.modifiers:
            self.load_parameter(instruction)
        else:
            self.load_memory(request_of(self, instruction))

    emit_ldu = emit_ld
    emit_ldmatrix = emit_ldmatrix

    def count_block(self, stretch, runs: int) -> None:
        """Count the execution of a block."""
        if not stretch.leads:
            return
        length = self.flow.blocks[stretch.block].length
        self.count(runs + stretch.block)
        at = self.out.op(f"getelementptr i8, ptr %record, i64 {EXECUTED}")
        old = self.out.op(f"load i64, ptr {at}, {COUNTER}")
        new = self.out.op(f"add i64 {old}, {length}")
        self.out.line(f"store i64 {new}, ptr {at}, {COUNTER}")

    def burn(self) -> None:
        """Use fuel; when it is used up, ask the host whether to continue.

        A kernel that polls memory may wait for another block; the interpreter gives
        every block its turn. All warps share the fuel of other kernels, so that the
        host is asked often however many they are.
        """
        out = self.out
        place = f"i8, ptr %record, i64 {FUEL_LEFT}"
        if not self.unit.polls:
            place = f"i64, ptr %ctx, i64 {Context.FUEL}"
        at = out.op(f"getelementptr {place}")
        old = out.op(f"load i32, ptr {at}, {COUNTER}")
        left = out.op(f"sub i32 {old}, 1")
        out.line(f"store i32 {left}, ptr {at}, {COUNTER}")
        some = out.op(f"icmp sgt i32 {left}, 0")
        on, empty, stop = out.fresh("on"), out.fresh("empty"), out.fresh("stop")
        out.line(f"br i1 {some}, label %{on}, label %{empty}, !prof !7")
        out.label(empty)
        if self.unit.polls:
            out.line(f"ret i32 {GIVE_UP}")
            out.label(on)
            return
        out.line(f"store i32 {FUEL}, ptr {at}, {COUNTER}")
        tick = out.op(f"getelementptr i64, ptr %ctx, i64 {Context.TICK}")
        tick = out.op(f"load ptr, ptr {tick}, {OWN}")
        answer = out.op(f"call i32 {tick}()")
        fine = out.op(f"icmp eq i32 {answer}, 0")
        out.line(f"br i1 {fine}, label %{on}, label %{stop}")
        out.label(stop)
        out.line(f"ret i32 {answer}")
        out.label(on)

    def done(self) -> None:
        """End the warp: all of its lanes have left the kernel."""
        self.out.line(f"ret i32 {DONE}")

    def plain_barrier(self, instruction) -> None:
        """Refuse barriers other than `__syncthreads()`."""
        first = instruction.operands[0] if instruction.operands else None
        plain = (
            "sync" in instruction.modifiers
            and len(instruction.operands) == 1
            and getattr(first, "value", None) == 0
            and instruction.guard is None
        )
        if not plain or instruction.index + 1 >= len(self.flow.instructions):
            raise UnsupportedError(f"{instruction.text.strip()}")

    def jump_target(self, instruction) -> int:
        """Return the block to which a branch jumps."""
        label = next(o for o in instruction.operands if isinstance(o, Label))
        return self._block_at(label.name)

    def _table(self, instruction) -> list[int]:
        """Return the blocks to which an indexed branch may jump."""
        table = self.unit.function.branch_tables[instruction.operands[1].name]
        return [self._block_at(name) for name in table]

    def _block_at(self, label: str) -> int:
        start = self.unit.function.labels[label]
        starts = {b.start: n for n, b in enumerate(self.flow.blocks)}
        return starts.get(start, EXIT)


def register_type(register) -> str:
    """Return the LLVM type of a register in one lane."""
    return f"i{bits(register.type)}"


def wide_type(register) -> str:
    """Return the LLVM type of a register in all lanes."""
    return vector(register_type(register))
