"""Exercise 02.1: the blocks that an SM holds, compared with `ck.occupancy`."""

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant
from coursekit.exercises.tables import Table

# Board, threads, registers per thread, shared bytes per block, and what sets the limit.
# Nothing has to be rounded: whole fours of warps, registers in eights, bytes in 128.
KIB = 1024
FEW = (
    ("H200", 256, 32, 0, "warp slots"),
    ("H200", 128, 16, 0, "warp slots"),
    ("RTX 3070", 1024, 32, 0, "warp slots"),
    ("RTX 4090", 128, 16, 0, "warp slots"),
)
REGISTERS = (
    ("H200", 256, 64, 0, "registers"),
    ("H200", 512, 72, 0, "registers"),
    ("RTX 3070", 128, 128, 0, "registers"),
    ("A100 SXM4 40GB", 1024, 64, 0, "registers"),
)
SHARED = (
    ("H200", 256, 32, 40 * KIB, "shared memory"),
    ("RTX 3070", 128, 32, 24 * KIB, "shared memory"),
    ("A100 SXM4 40GB", 128, 32, 40 * KIB, "shared memory"),
    ("RTX 4090", 256, 32, 49 * KIB, "shared memory"),
    ("H200", 128, 32, 57 * KIB, "shared memory"),
    ("RTX 3070", 256, 32, 25 * KIB, "shared memory"),
    ("RTX 3070", 128, 24, 9 * KIB, "shared memory"),
)
ALL = (
    ("H200", 256, 64, 40 * KIB, "registers"),
    ("H200", 256, 40, 60 * KIB, "shared memory"),
    ("RTX 3070", 128, 24, 2 * KIB, "warp slots"),
)
LEFT_OUT = {
    "warp slots": "An SM holds a fixed number of warps: {warps}.",
    "registers": "A block of {threads} threads takes registers for each of its "
    "threads, and an SM has {registers:,} of them.",
    "shared memory": "An SM has {shared:,} bytes of shared memory, and each block "
    "takes what it asks for and the driver's {reserved:,} bytes.",
}


def each_case(blocks_per_sm, cases):
    """Compare the student's number with `ck.occupancy` in each case."""
    rows = []
    for name, threads, registers, shared, bound in cases:
        sm = ck.device(name)
        launch = {"registers": registers, "shared_bytes": shared}
        true = ck.occupancy(launch, threads, device=name).blocks
        found = blocks_per_sm(sm, threads, registers, shared)
        rows.append((name, f"{threads}", f"{registers}", f"{shared:,}", str(found)))
        if not isinstance(found, int) or isinstance(found, bool):
            raise CheckFailed.explained(
                f"blocks_per_sm returns {found!r}, which is no int.",
                "A part of a block does not fit: `/` makes a float.",
                "Divide with `//`, which rounds down.",
            )
        if found != true:
            raise _wrong(found, true, bound, sm, threads, registers, shared)
    return Table(
        "Blocks that one SM holds",
        ("GPU", "threads", "registers", "shared bytes", "blocks"),
        tuple(rows),
    )


def _wrong(found, true, bound, sm, threads, registers, shared):
    """Say which limit counts in this case, without its formula."""
    why = LEFT_OUT[bound].format(
        warps=sm.max_warps_per_sm,
        threads=threads,
        registers=sm.registers_per_sm,
        shared=sm.shared_bytes_per_sm,
        reserved=sm.shared_reserved_bytes_per_block,
    )
    why = f"Here the limit is set by the {bound}. {why}"
    if found < true:
        why = f"One of the other limits is too low: here the {bound} set it."
    return CheckFailed.explained(
        f"On the {sm.name}, with blocks of {threads} threads, {registers} registers "
        f"per thread and {shared:,} bytes of shared memory per block, an SM holds "
        f"{true}, and blocks_per_sm says {found}.",
        why,
        "Of all limits the smallest counts.",
    )


def few_needs(blocks_per_sm, show):
    """Ask about blocks that need little."""
    each_case(blocks_per_sm, FEW)


def many_registers(blocks_per_sm, show):
    """Ask about blocks that need many registers."""
    each_case(blocks_per_sm, REGISTERS)


def much_shared(blocks_per_sm, show):
    """Ask about blocks that need much shared memory."""
    each_case(blocks_per_sm, SHARED)


def all_needs(blocks_per_sm, show):
    """Ask about blocks that need both."""
    show(each_case(blocks_per_sm, (*FEW[:1], *REGISTERS[:1], *SHARED[:1], *ALL)))


EXERCISES = (
    HostExercise(
        id="02.1",
        name="resident",
        title="The blocks that an SM holds",
        stars=2,
        function="blocks_per_sm",
        checks=(
            ("blocks that need little", few_needs),
            ("blocks that need many registers", many_registers),
            ("blocks that need much shared memory", much_shared),
            ("blocks that need both", all_needs),
        ),
        starter=(CheckFailed, "the limit is set by the registers"),
        hints=(
            "How many registers does a whole block take? How often does that fit "
            "into sm.registers_per_sm?",
            "A block takes shared_bytes, and sm.shared_reserved_bytes_per_block for "
            "the driver. How often does the sum fit into sm.shared_bytes_per_sm?",
            "by_registers = sm.registers_per_sm // (threads * registers); by_shared "
            "in the same way; then min(by_slots, by_warps, by_registers, by_shared).",
        ),
        mutants={
            "of_one_thread": Mutant(
                mistake="The registers of one thread stand for those of a block.",
                edits=[("(threads * registers)", "registers")],
                fails=(CheckFailed, "the limit is set by the registers"),
            ),
            "of_one_warp": Mutant(
                mistake="The registers of a warp stand for those of a block.",
                edits=[("(threads * registers)", "(32 * registers)")],
                fails=(CheckFailed, "the limit is set by the registers"),
            ),
            "no_reserve": Mutant(
                mistake="The driver's share is left out.",
                edits=[
                    (
                        "shared_bytes + sm.shared_reserved_bytes_per_block",
                        "max(shared_bytes, 1)",
                    )
                ],
                fails=(CheckFailed, "the limit is set by the shared memory"),
            ),
            "reserved_once": Mutant(
                mistake="The driver's share is taken from the SM, not from each block.",
                edits=[
                    (
                        "shared_bytes + sm.shared_reserved_bytes_per_block",
                        "max(shared_bytes, 1)",
                    ),
                    (
                        "sm.shared_bytes_per_sm // taken",
                        "(sm.shared_bytes_per_sm - 1024) // taken",
                    ),
                ],
                fails=(CheckFailed, "an SM holds 10, and blocks_per_sm says 11"),
            ),
            "no_shared": Mutant(
                mistake="The shared memory sets no limit.",
                edits=[("by_registers, by_shared)", "by_registers)")],
                fails=(CheckFailed, "the limit is set by the shared memory"),
            ),
            "per_block": Mutant(
                mistake="The most that one block may have stands for what an SM has.",
                edits=[("sm.shared_bytes_per_sm //", "sm.shared_bytes_per_block //")],
                fails=(CheckFailed, "and blocks_per_sm says 1"),
            ),
            "largest": Mutant(
                mistake="The largest limit counts.",
                edits=[("return min(", "return max(")],
                fails=(CheckFailed, "the limit is set by the warp slots"),
            ),
            "shared_of_each_thread": Mutant(
                mistake="Each thread takes the shared memory of its block.",
                edits=[("// taken", "// (threads * taken)")],
                fails=(CheckFailed, "One of the other limits is too low"),
            ),
            "parts": Mutant(
                mistake="Parts of a block are counted.",
                edits=[("sm.registers_per_sm // ", "sm.registers_per_sm / ")],
                fails=(CheckFailed, "which is no int"),
            ),
        },
    ),
)
