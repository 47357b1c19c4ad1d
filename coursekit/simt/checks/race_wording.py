"""Messages of races: both threads, the element, what is missing, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coursekit import errors
from coursekit.simt.checks.clashes import NEAR, TOGETHER, Touch
from coursekit.simt.checks.findings import NOTE
from coursekit.simt.checks.guesses import updates_by_hand
from coursekit.simt.checks.wording import DOES, STORED_EARLY, UNAWAITED, index, placed
from coursekit.simt.memory import faults, guards

if TYPE_CHECKING:
    from coursekit.simt.checks.watching import WatchedAccess

# Kinds of races. Each has a phrase that says what is missing, and advice.
COPY, STORE, GUESS, SAME, SCOPE = "copy", "store", "guess", "same value", "scope"
BY_HAND, ONE_STORE, SEEN, LANES = "by hand", "one store", "seen", "lanes of a warp"
MIXED, UNTOLD, BLOCKS, CLUSTER = "mixed", "untold", "blocks", "cluster"
SHARED, STORES, ANY, WRITTEN = "shared", "stores", "any", "written"
_FIRST = {"reads": 0, "writes": 1, "updates": 2}


class Side(NamedTuple):
    """One of two racing accesses, with its thread and block."""

    access: WatchedAccess
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


class Pair(NamedTuple):
    """Two unordered accesses to one place.

    Attributes
    ----------
    touch : Touch
        The later access.
    earlier : WatchedAccess
    position : int
        Which of the later access's lanes it is.
    other : int
        Grid-wide number of the earlier access's thread.
    how : str
        How the two threads stand to each other: TOGETHER, NEAR, APART or FOREIGN.
    seen : bool
        Whether the later thread was told of the earlier access but lacks a fence.
    """

    touch: Touch
    earlier: WatchedAccess
    position: int
    other: int
    how: str = ""
    seen: bool = False

    @property
    def sides(self) -> list[Side]:
        """Both accesses: a reader first, since there the wrong value enters."""
        touch, launch = self.touch, self.touch.warp.block.launch
        mine = int(touch.threads[self.position * touch.each])
        later = _side(touch.access, launch, divmod(mine, touch.order.size))
        before = _side(self.earlier, launch, divmod(self.other, touch.order.size))
        return sorted((later, before), key=lambda side: _FIRST[side.access.verb])


def race(pair: Pair, severity: str):
    """Build the error for a race; `severity` is that of the finding, or COPY."""
    touch, (me, they) = pair.touch, pair.sides
    if me.access.copies and me[1:] == they[1:]:  # its own copy reads what it writes
        me, they = they, me
    launch, (region, _, offsets) = touch.warp.block.launch, touch.part
    same_block = me.block == they.block
    there = "of the same block" if same_block else f"of block {they.block}"
    place = faults.element(region, int(offsets[pair.position]), touch.access.width)
    kind = _kind(pair, severity, me, they)
    other = f"thread {they.thread} {there}"
    if same_block and me.thread == they.thread:
        other = "a copy that it began itself"
    lacks = _LACKS.get(kind) or (
        "no barrier between them." if same_block else "nothing orders blocks."
    )
    what = (
        f"thread {me.thread} of block {me.block} "
        f"{DOES[me.access.verb].format(place)}, and {other} "
        f"{DOES[they.access.verb].format('it')}: {lacks}"
    )
    found, lines = lines_of(launch.program, (they, me))
    cause, cure = _ADVICE[kind]
    if kind == MIXED:
        apart = "Put a __syncthreads() between the two"
        cure = f"{apart if same_block else 'Do it in another launch'}, {cure}"
    if kind in (LANES, SHARED) and _is_one_store(me, they):
        cure = f"{cure} {_UNIQUE}"
    cause, cure = (guards.in_language(text, lines[0]) for text in (cause, cure))
    error = errors.DataRaceError.explained("\n  ".join([what, *lines]), cause, cure)
    return placed(error, me.thread, me.block, found)


def _is_one_store(me: Side, they: Side) -> bool:
    """Whether one line, perhaps of a loop, writes the element from both threads."""
    places = {side.access.instruction.location for side in (me, they)}
    return len(places) == 1 and me.access.verb == they.access.verb == "writes"


def _side(access, launch, number: tuple[int, int]) -> Side:
    block, thread = number
    return Side(
        access,
        index(launch.configuration.block_shape, thread),
        index(launch.configuration.grid, block),
    )


def _kind(pair: Pair, severity: str, me: Side, they: Side) -> str:
    """Return which kind of race two accesses are."""
    verbs, same_block = {me.access.verb, they.access.verb}, me.block == they.block
    if severity == COPY:
        stores = me.access.stores_in_bulk or they.access.stores_in_bulk
        return STORE if stores else COPY
    if severity == NOTE:
        return SAME if len(verbs) == 1 else GUESS
    if me.access.strong and they.access.strong and not same_block:
        return SCOPE
    if pair.seen:
        return SEEN
    if updates_by_hand(me.access, they.access):
        return BY_HAND
    return _by_place(pair, verbs, same_block)


def _by_place(pair: Pair, verbs: set[str], same_block: bool) -> str:
    shared = pair.touch.part[0].space == "shared"
    if pair.how == TOGETHER:
        return ONE_STORE
    if pair.how == NEAR and shared:
        return LANES
    if "updates" in verbs or pair.touch.access.strong != pair.earlier.strong:
        return MIXED
    if not same_block and shared:
        return CLUSTER
    if not same_block and pair.earlier.stores_in_bulk:
        return WRITTEN
    if not same_block:
        return UNTOLD if pair.earlier.expressions.signals else BLOCKS
    one_store = pair.touch.access is pair.earlier
    if verbs == {"writes"} and (one_store or not shared):
        return STORES
    return SHARED if shared else ANY


def lines_of(program, sides):
    """Return the lines of both accesses, each with its thread and verb, and a place."""
    lines, place = [], None
    for access, thread, _ in sides:
        place, shown = faults.source_place(program, access.instruction.location)
        shown = shown or access.instruction.text
        lines.append(f"{shown}    <- thread {thread} {access.verb}")
    return place, lines


_UNIQUE = "If each thread was to have its own element, correct the index."
# Where no phrase stands here, it is the barrier, or the order of blocks.
_LACKS = {
    SAME: "no order between them, but the value is the same.",
    GUESS: "no order between them, but the read may be out of date.",
    COPY: "nobody has waited for that copy.",
    STORE: "nobody has waited for that bulk store.",
    SCOPE: "one of the two is atomic within its own block only.",
    SEEN: "the reader's side lacks a fence.",
    BY_HAND: "this update is not atomic.",
    ONE_STORE: "lanes of one instruction write the same element.",
    CLUSTER: "no barrier of the cluster orders the two.",
    LANES: "one warp, but no __syncwarp() between them.",
}
_ADVICE = {
    CLUSTER: (
        "Blocks of a cluster run at the same time. An arrival that is relaxed, and a "
        "__syncthreads(), order nothing between them.",
        "Arrive at the barrier of the cluster (release) after the write, and wait "
        "there (acquire) before the read.",
    ),
    COPY: UNAWAITED,
    STORE: STORED_EARLY,
    SAME: (
        "Several threads do the same; the result does not depend on their order.",
        "Let one thread do it, for example with `if (threadIdx.x == 0)`.",
    ),
    GUESS: (
        "The value read is a guess, which an atomic on the same element confirms.",
        "Nothing is wrong as long as the guess alone decides nothing.",
    ),
    SCOPE: (
        "Functions whose names end in _block, and thread_scope_block, are atomic "
        "among the threads of one block; other blocks may come in between.",
        "Use the function without _block, for example atomicAdd(), or "
        "thread_scope_device.",
    ),
    SEEN: (
        "An atomic or a volatile read told the thread that the value is there. That "
        "orders nothing that follows it: the value itself may still be an older one.",
        "Put a __threadfence() directly behind that atomic or read (in one block, "
        "__threadfence_block() will do), or let it acquire: cuda::atomic_ref can.",
    ),
    BY_HAND: (
        "Each thread reads the element, computes, and writes it back. Another thread "
        "may write in between, and then one of the two updates is lost.",
        "Use an atomic, for example atomicAdd() or atomicMax(), or a lock; a barrier "
        "does not help. If each thread was to have its own element, correct the index.",
    ),
    ONE_STORE: (
        "Several lanes compute the same index. One of their values stays, and it is "
        "undefined which one.",
        "Correct the index so that each thread has its own element, or use an atomic "
        "if every value counts.",
    ),
    LANES: (
        "Threads of a warp need not run in step since Volta; shuffles, votes and "
        "__activemask() order no memory.",
        "Put a __syncwarp() between the two lines.",
    ),
    MIXED: (
        "Atomics and volatile accesses are safe from each other only: a plain read or "
        "write of the same element may come between them at any time.",
        "or use an atomic here as well.",
    ),
    UNTOLD: (
        "Blocks run in any order and at the same time. An atomic or a flag orders what "
        "stands around it only with a fence on each side.",
        "Put a __threadfence() in front of the atomic or store that announces the "
        "value, and another one behind the atomic or read that sees it. "
        "Or use two launches.",
    ),
    WRITTEN: (
        "Blocks run in any order and at the same time. A bulk store is written once "
        "its thread has waited by cp.async.bulk.wait_group; wait_group.read waits only "
        "until shared memory has been read.",
        "Let that thread execute cp.async.bulk.wait_group 0 and a __threadfence() in "
        "front of the atomic or store that announces the bytes. Or use two launches.",
    ),
    BLOCKS: (
        "Blocks run in any order and at the same time.",
        "Use an atomic, give each block its own elements, or use two launches.",
    ),
    SHARED: (
        "Threads of a block run in any order between two barriers.",
        "Put a __syncthreads() between the two, or use an atomic.",
    ),
    STORES: (
        "Several threads write the same element: an index that is not unique.",
        "Give each thread its own elements, or use an atomic.",
    ),
    ANY: (
        "Threads run in any order. Either several of them add up a result, or one "
        "reads what another changes in place.",
        "Use an atomic, write to another array, or put a barrier between the two.",
    ),
}
