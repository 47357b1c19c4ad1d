"""LLVM IR functions that the race check adds to the code of a kernel."""

from __future__ import annotations

from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.race_times import WATCHED, at
from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.stamps import IN_FLIGHT, Form, RaceContext, Words
from coursekit.simt.compiled.tier import COUNTER, OWN
from coursekit.simt.compiled.unit import QUEUE_ENTRY, QUEUE_HEADER
from coursekit.simt.interpreter.access import READS, UPDATES, WRITES

SLOT_BITS = 36  # of an address, below the number of its slot
STARTS = "starts"  # an asynchronous copy that is to write
# Which words an access looks at, by what it does, and which it leaves.
_ALL = (WRITES, READS, UPDATES)
LOOKS = {READS: (WRITES, UPDATES), UPDATES: (WRITES, READS),
         WRITES: _ALL, STARTS: _ALL}  # fmt: skip
COLUMN = {WRITES: 0, READS: 8, UPDATES: 16, STARTS: 0}
READ_BEFORE = 3  # the mark of an array that is UNWATCHED and has been read


def shifted(out, name: str, grain: int) -> str:
    """Return byte offsets of shadow words from byte offsets of places."""
    amount = grain.bit_length() - 3
    if not amount:
        return name
    verb = "lshr" if amount > 0 else "shl"
    return out.op(f"{verb} i64 {name}, {abs(amount)}")


def row_of(out, space: str, address: str) -> str:
    """Return a pointer to the entry for the shadow words of an address's array."""
    if space == "shared":
        return out.op(f"getelementptr i8, ptr %ctx, i64 {at(RaceContext.SHARED)}")
    table = out.op(f"getelementptr i8, ptr %ctx, i64 {at(RaceContext.TABLE)}")
    table = out.op(f"load ptr, ptr {table}, {OWN}")
    slot = out.op(f"lshr i64 {address}, {SLOT_BITS}")
    slot = out.op(f"shl i64 {slot}, 5")
    return out.op(f"getelementptr i8, ptr {table}, i64 {slot}")


def start_of(out, row: str, verb: str, place: str) -> str:
    """Return the host address of the first shadow word of a kind."""
    at = out.op(f"getelementptr i8, ptr {row}, i64 {COLUMN[verb]}")
    distance = out.op(f"load i64, ptr {at}, {OWN}")
    return out.op(f"add i64 {distance}, {place}")


def looked_at(form: Form, verb: str) -> list[str]:
    """Return the kinds of shadow words that an access checks."""
    return [kind for kind in LOOKS[verb] if kind != UPDATES or form.updates]


def declare_lanes(parent, form: Form, space: str, verb: str, grain: int) -> str:
    """Declare a function that checks and records an access lane by lane; its name.

    It takes addresses, the lanes as bits, and the bytes of words of each lane.
    """
    out, name = Builder(parent.declarations), f"race_{space}_{verb}"
    out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
    words = Words(out, form, space, 0)
    out.line("br label %lane")
    out.label("lane")
    out.line("%left = phi i32 [ %mask, %start ], [ %rest, %next ]")
    lane = out.op("call i32 @llvm.cttz.i32(i32 %left, i1 true)")
    mine, own = words.by_lane(lane)
    wide = out.op(f"zext i32 {lane} to i64")
    at = out.op(f"getelementptr i64, ptr %lanes, i64 {wide}")
    address = out.op(f"load i64, ptr {at}, {OWN}")
    row = row_of(out, space, address)
    if space == "global":
        _unless_unwatched(out, row, verb)
    place = shifted(out, address, grain)
    starts = {k: start_of(out, row, k, place) for k in (*looked_at(form, verb), verb)}
    out.line("br label %prior")
    out.label("prior")
    out.line("br label %place")
    out.label("place")
    out.line("%k = phi i64 [ 0, %prior ], [ %k1, %noted ]")
    _check_place(out, words, verb, (starts, mine, own))
    out.line("%k1 = add i64 %k, 4")
    out.line("%more = icmp ult i64 %k1, %end")
    out.line("br i1 %more, label %place, label %next")
    _close_lanes(out)
    head = (
        f"define internal i1 @{name}(ptr %ctx, ptr %record, ptr %lanes, i32 %mask, "
        "i64 %end) noinline {\nstart:"
    )
    out.declare("\n".join([head, *out.lines, "}"]))
    return name


def _unless_unwatched(out, row: str, verb: str) -> None:
    """Replace words by a mark for reads of an array that is only read."""
    if verb != READS:
        out.declare(WATCHED)
        good = out.op(f"call i1 @race_watched(ptr %ctx, ptr {row})")
        out.line(f"br i1 {good}, label %watched, label %bad")
        out.label("watched")
        return
    word = out.op(f"load i64, ptr {row}, {OWN}")
    odd = out.op(f"trunc i64 {word} to i1")
    out.line(f"br i1 {odd}, label %unwatched, label %watched")
    out.label("unwatched")
    out.line(f"store i64 {READ_BEFORE}, ptr {row}, {OWN}")
    out.line("br label %next")
    out.label("watched")


def _check_place(out, words: Words, verb: str, access: tuple) -> None:
    starts, mine, own = access
    pointers = {}
    for kind, start in starts.items():
        at = out.op(f"add i64 {start}, %k")
        pointers[kind] = out.op(f"inttoptr i64 {at} to ptr")
    good = "true"
    for kind in looked_at(words.form, verb):
        word = out.op(f"load i32, ptr {pointers[kind]}, {COUNTER}")
        known = words.known(word, own)
        good = out.op(f"and i1 {good}, {known}")
    out.line(f"br i1 {good}, label %noted, label %bad")
    out.label("noted")
    if verb == STARTS:
        mine = str(IN_FLIGHT)
    elif verb != WRITES:
        word = out.op(f"load i32, ptr {pointers[verb]}, {COUNTER}")
        mine = words.added(word, mine, own)
    out.line(f"store i32 {mine}, ptr {pointers[verb]}, {COUNTER}")


def _close_lanes(out) -> None:
    out.label("next")
    less = out.op("sub i32 %left, 1")
    out.line(f"%rest = and i32 %left, {less}")
    more = out.op("icmp ne i32 %rest, 0")
    out.line(f"br i1 {more}, label %lane, label %good")
    out.label("good")
    out.line("ret i1 true")
    out.label("bad")
    out.line("ret i1 false")


def declare_landing(parent, form: Form, grain: int) -> None:
    """Declare a function that records the writes of asynchronous copies."""
    out = Builder(parent.declarations)
    out.declare("declare i32 @llvm.cttz.i32(i32, i1)")
    words = Words(out, form, "shared", 0)
    base = out.op(f"getelementptr i64, ptr %ctx, i64 {int(Context.SHARED_BASE)}")
    base = out.op(f"load i64, ptr {base}, {OWN}")
    row = row_of(out, "shared", "")
    out.lines.append(_EACH_LANE)
    address = out.op(f"sub i64 %host, {base}")
    mine, _ = words.by_lane("%n")
    start = start_of(out, row, WRITES, shifted(out, address, grain))
    out.line(f"%end = add i64 {start}, {shifted(out, '%size', grain)}")
    out.line("br label %place")
    out.label("place")
    out.line(f"%p = phi i64 [ {start}, %lane ], [ %p1, %place ]")
    out.line("%pointer = inttoptr i64 %p to ptr")
    out.line(f"store i32 {mine}, ptr %pointer, {COUNTER}")
    out.declare("\n".join([_LANDING, *out.lines, _NEXT_LANE]))


_LANDING = """
define internal void @race_landing(ptr %ctx, ptr %record, ptr %queue, i32 %pending)
    noinline {
start:
  %count = load i32, ptr %queue
  %groupp = getelementptr i8, ptr %queue, i64 4
  %group = load i32, ptr %groupp
  %limit = sub i32 %group, %pending"""
_EACH_LANE = f"""
  %first = getelementptr i8, ptr %queue, i64 {QUEUE_HEADER}
  br label %entry
entry:
  %i = phi i32 [ 0, %start ], [ %i1, %done ]
  %all = icmp eq i32 %i, %count
  br i1 %all, label %close, label %look
look:
  %offset = mul i32 %i, {QUEUE_ENTRY}
  %e = getelementptr i8, ptr %first, i32 %offset
  %gp = getelementptr i8, ptr %e, i64 12
  %g = load i32, ptr %gp
  %due = icmp slt i32 %g, %limit
  br i1 %due, label %comes, label %close
comes:
  %size32 = load i32, ptr %e
  %size = zext i32 %size32 to i64
  %mp = getelementptr i8, ptr %e, i64 4
  %mask = load i32, ptr %mp
  %targets = getelementptr i8, ptr %e, i64 64
  br label %lane
lane:
  %left = phi i32 [ %mask, %comes ], [ %rest, %next ]
  %n = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %tp = getelementptr i64, ptr %targets, i32 %n
  %host = load i64, ptr %tp"""
_NEXT_LANE = """
  %p1 = add i64 %p, 4
  %more = icmp ult i64 %p1, %end
  br i1 %more, label %place, label %next
next:
  %less = sub i32 %left, 1
  %rest = and i32 %left, %less
  %lanes = icmp ne i32 %rest, 0
  br i1 %lanes, label %lane, label %done
done:
  %i1 = add i32 %i, 1
  br label %entry
close:
  ret void
}"""
