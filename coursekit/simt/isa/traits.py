"""Traits of each opcode, shared by engines, analyses and checkers: one record each.

The interpreter, the compiled code, the analyses and the checkers ask `of(instruction)`.
An opcode without a row of its own is lane-wise: it computes one result from its sources
in each lane alone, and `table.py` says how.
"""

from __future__ import annotations

from dataclasses import dataclass

# What an instruction does with memory.
LOAD, STORE, ATOMIC, COPY = "load", "store", "atomic", "copy"


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of all instructions of one opcode.

    Attributes
    ----------
    jumps, indexed, calls : bool
        Whether it names what follows; and whether that is a place in a table, or a
        function.
    leaves, traps : bool
        Whether it ends the function, and whether with an error.
    waits : bool
        Whether lanes or warps wait for each other there; it ends a basic block.
    barrier : bool
        Whether it is a barrier, of a block or of a warp.
    fence : bool
        Whether it orders memory accesses and does nothing else.
    ignored : bool
        Whether the simulator has nothing to do for it.
    memory : str
        LOAD, STORE, ATOMIC, COPY (from one space to another), or "".
    lane_bytes : int
        Bytes at the address of each lane, where the type does not say it; else 0.
    polls : bool
        Whether what it reads may be what other threads are writing.
    consumes : bool
        Whether the values that it reads in memory are used at once: other lanes get
        them, or none, so that no register of the own lane has them.
    no_result : bool
        Whether its first operand is a source, and not a result.
    adds_to_result : bool
        Whether its result is a source, too.
    uniform_result, own_result : bool
        Whether the result is the same in all lanes, and whether it differs from lane to
        lane although the sources may be uniform.
    unmeasured : bool
        Whether it is not known on a GPU if ptxas sees that, too: `address_patterns.py`
        then looks at the sources.
    copies : bool
        Whether the result is the source, unchanged.
    linear, product : bool
        Whether the result is a linear function of each source, and whether sources are
        multiplied by each other.
    carries : bool
        Whether it reads the carry flag.
    interpreted : str
        Why a kernel with it is never compiled; "" if it may be.
    operands, modes : str
        What the operands must be (`refusals.py` has the notation), and modifiers of
        which one must be there; "" where another rule decides.
    typed : bool
        Whether it must have a type.
    """

    jumps: bool = False
    indexed: bool = False
    calls: bool = False
    leaves: bool = False
    traps: bool = False
    waits: bool = False
    barrier: bool = False
    fence: bool = False
    ignored: bool = False
    memory: str = ""
    lane_bytes: int = 0
    polls: bool = False
    consumes: bool = False
    no_result: bool = False
    adds_to_result: bool = False
    uniform_result: bool = False
    own_result: bool = False
    unmeasured: bool = False
    copies: bool = False
    linear: bool = False
    product: bool = False
    carries: bool = False
    interpreted: str = ""
    operands: str = ""
    modes: str = ""
    typed: bool = False

    @property
    def leads_elsewhere(self) -> bool:
        """Whether the next instruction to execute may be another one."""
        return self.jumps or self.leaves


_FENCE = Traits(fence=True, ignored=True, no_result=True)
_HINT = Traits(ignored=True)
_BARRIER = Traits(waits=True, barrier=True, no_result=True)
_CARRY = Traits(carries=True)

TRAITS = {
    # Control. Of several reasons to interpret a kernel, the first of this table counts.
    "bra": Traits(jumps=True, no_result=True, operands="label"),
    "brx": Traits(jumps=True, indexed=True, no_result=True),
    "call": Traits(jumps=True, calls=True, no_result=True, own_result=True,
                   interpreted="calls of functions"),
    "ret": Traits(leaves=True, no_result=True),
    "exit": Traits(leaves=True, no_result=True),
    "trap": Traits(leaves=True, traps=True, no_result=True),
    # Memory.
    "ld": Traits(memory=LOAD),
    "ldu": Traits(memory=LOAD),
    "st": Traits(memory=STORE, no_result=True),
    "atom": Traits(memory=ATOMIC, polls=True, own_result=True),
    "red": Traits(memory=ATOMIC, no_result=True),
    "cp": Traits(memory=COPY),
    "mbarrier": Traits(polls=True, interpreted="barriers in shared memory"),
    "membar": _FENCE,
    "fence": _FENCE,
    # What lanes of a warp, or warps of a block, do together.
    "bar": _BARRIER,
    "barrier": _BARRIER,
    "shfl": Traits(waits=True, own_result=True, modes="up down bfly idx",
                   operands="register|pair|none value value value"),
    "vote": Traits(waits=True, uniform_result=True, modes="all any uni ballot",
                   operands="register value|not"),
    "match": Traits(waits=True, own_result=True, modes="any all", typed=True,
                    operands="register|pair value"),
    "redux": Traits(waits=True, uniform_result=True, unmeasured=True, typed=True,
                    modes="add min max and or xor", operands="register value"),
    "elect": Traits(waits=True, own_result=True, unmeasured=True, operands="pair"),
    "activemask": Traits(uniform_result=True, operands="register"),
    "ldmatrix": Traits(memory=LOAD, lane_bytes=16, consumes=True, own_result=True,
                       modes="x1 x2 x4", typed=True, operands="vector address"),
    "mma": Traits(own_result=True),
    "wgmma": Traits(own_result=True, adds_to_result=True, consumes=True,
                    interpreted="products of warpgroups"),
    # Hints about time, caches and other grids.
    "prefetch": _HINT,
    "prefetchu": _HINT,
    "nanosleep": _HINT,
    "discard": _HINT,
    "applypriority": _HINT,
    "pmevent": _HINT,
    "griddepcontrol": _HINT,
    # Lane-wise instructions of which analyses know more than that they are lane-wise.
    "mov": Traits(copies=True, linear=True),
    "cvta": Traits(copies=True, linear=True),
    "cvt": Traits(linear=True),
    "add": Traits(linear=True),
    "sub": Traits(linear=True),
    "mul": Traits(linear=True, product=True),
    "mad": Traits(linear=True, product=True),
    "shl": Traits(linear=True, product=True),
    "addc": _CARRY,
    "subc": _CARRY,
    "madc": _CARRY,
}  # fmt: skip

LANEWISE = Traits()


def of(instruction) -> Traits:
    """Return the traits of an instruction's opcode."""
    return TRAITS.get(instruction.opcode, LANEWISE)


def is_block_barrier(instruction) -> bool:
    """Whether an instruction is a barrier of warps of a block."""
    return of(instruction).barrier and "warp" not in instruction.modifiers


def orders_lanes(instruction) -> bool:
    """Whether an instruction orders the memory accesses of lanes of a warp.

    Shuffles, votes, matches and reductions wait for lanes, and order no memory.
    """
    waits = instruction.opcode == "wgmma" or of(instruction).barrier
    return waits and not is_block_barrier(instruction)
