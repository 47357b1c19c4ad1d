"""Pieces of chapter 14: the swizzle of a tile, and of any tile."""

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)

SIZES = ((1, 1), (31, 65), (32, 32), (64, 40))


def matrix(size, generator):
    """Return what the kernel of 14.e takes: a matrix and its target."""
    rows, cols = size
    x = shuffled(size, generator)
    return {"x": x, "out": blank((cols, rows)), "rows": rows, "cols": cols}


def tiles(spare):
    """Launch a block for each tile of 32 x 32, and some to spare."""

    def launch(size):
        rows, cols = size
        return (blocks(cols, 32) + spare, blocks(rows, 32)), (32, 8)

    return launch


def banks_of(tile, lanes, width):
    """Return how many banks the words have that some lanes access at once."""
    words = [tile(row, col + i) for row, col in lanes for i in range(width)]
    return len({word % 32 for word in words})


def whole_accesses(swizzle_for, show):
    """Demand that the words of one access stay neighbours."""
    for columns, width in TILES:
        tile = swizzled(swizzle_for, columns, width)
        for col in range(0, columns, width):
            words = [tile(1, col + i) for i in range(width)]
            if words != list(range(words[0], words[0] + width)) or words[0] % width:
                raise CheckFailed.explained(
                    f"swizzle_for({columns}, {width}) is {parts_of(tile)}: the words "
                    f"of one access of a lane go to {words}.",
                    "The lowest bits of the offset have changed, and an access of "
                    f"{width} words needs {width} neighbours.",
                    "`base` is the number of bits that stay.",
                )


def no_conflicts(swizzle_for, show):
    """Demand that lanes below each other meet as many banks as there are."""
    for columns, width in TILES:
        tile, count = swizzled(swizzle_for, columns, width), 32 // width
        for col in range(0, columns, width):
            below = [(row, col) for row in range(count)]
            found = banks_of(tile, below, width)
            if found < 32:
                raise CheckFailed.explained(
                    f"swizzle_for({columns}, {width}) is {parts_of(tile)}: {count} "
                    f"lanes below each other, in column {col}, meet {found} banks of "
                    "32.",
                    "Some rows keep the same order, although their words lie in the "
                    "same banks.",
                    "Write down the offset of (row, 0) in binary. Which of its bits "
                    "tell rows apart that begin in the same bank?",
                )


def swizzled(swizzle_for, columns, width):
    """Return the tile with the student's swizzle."""
    found = swizzle_for(columns, width)
    try:
        return ck.layout((32, columns), "row").swizzle(*found)
    except (TypeError, ck.ArgumentError) as error:
        raise CheckFailed.explained(
            f"swizzle_for({columns}, {width}) is {found!r}, which is no swizzle.",
            getattr(error, "cause", "A swizzle has three numbers."),
            getattr(error, "cure", "Return bits, base and shift."),
        ) from None


def parts_of(tile):
    """Return the three numbers of a swizzle."""
    return (tile.bits, tile.base, tile.shift)


TILES = ((32, 1), (32, 4), (16, 1), (16, 2), (64, 4), (8, 1))

EXERCISES = (
    Exercise(
        id="14.e",
        name="swizzle",
        title="The swizzle of a tile",
        kernel="transpose",
        inputs=matrix,
        outputs=("out",),
        sizes=SIZES,
        launches=(tiles(0), tiles(1)),
        reference=lambda v: v.x.T,
        owner=None,
        hints=(
            "Swizzle<5, 0, 5> takes 5 bits of the offset, from bit 0 + 5 on. It "
            "combines them by XOR with the 5 bits from bit 0 on. Which C++ expression "
            "has bits 5 to 9 of the offset, moved down?",
            "offset >> 5 & 31 has these bits. XOR is ^, so return offset ^ (...).",
        ),
        starter=(CheckFailed, "shared_load_bank_conflicts is"),
        mutants={
            "four_bits": Mutant(
                mistake="Only 4 bits are mixed: rows 0 and 16 share an order.",
                edits=[("& 31", "& 15")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
            "shifted_by_6": Mutant(
                mistake="The bits come from one place too high.",
                edits=[(">> 5", ">> 6")],
                fails=(CheckFailed, "shared_load_bank_conflicts is"),
            ),
        },
        limits=(
            Limit(
                counter="shared_load_bank_conflicts",
                size=(64, 64),
                most=0,
                why="The 32 elements of a column can lie in 32 banks.",
            ),
            Limit(
                counter="shared_store_bank_conflicts",
                size=(64, 64),
                most=0,
                why="And so can those of a row.",
            ),
        ),
    ),
    HostExercise(
        id="14.1",
        name="any_tile",
        title="A swizzle for any tile",
        stars=3,
        function="swizzle_for",
        checks=(
            ("the words of one access", whole_accesses),
            ("no conflict in any column", no_conflicts),
        ),
        hints=(
            "Bits 0 to 4 of an offset say which bank. The lowest log2(width) of them "
            "have to stay. Which others tell columns apart, if a row has 2^c words?",
            "If a row has 32 words or more, the row begins at bit c. If it is "
            "shorter, some rows differ in their banks already; only the bits from 5 "
            "on are missing among the banks.",
            "bits = min(c, 5) - base, and shift = max(c, 5) - base.",
        ),
        starter=(CheckFailed, "needs 4 neighbours"),
        mutants={
            "no_base": Mutant(
                mistake="The base is 0 for wide accesses, too.",
                edits=[("return bits, base, shift", "return bits, 0, shift + base")],
                fails=(CheckFailed, "neighbours"),
            ),
            "from_the_row": Mutant(
                mistake="The bits come from bit c on, in short rows as well.",
                edits=[("max(c, 5) - base", "c - base")],
                fails=(CheckFailed, "banks of 32"),
            ),
            "a_bit_less": Mutant(
                mistake="One bit too few is mixed.",
                edits=[("min(c, 5) - base", "min(c, 5) - base - 1")],
                fails=(CheckFailed, "banks of 32"),
            ),
        },
    ),
)
