"""Memory statements of random PTX kernels: no two threads race in any of them."""

from __future__ import annotations

from ptx_writer import BLOCK, SLACK, Writer

# Type, kind of register, bytes.
TYPES = [("u8", "h", 1), ("s8", "h", 1), ("u8", "i", 1), ("u16", "h", 2),
         ("s16", "i", 2), ("b32", "i", 4), ("u32", "i", 4), ("s32", "i", 4),
         ("u32", "l", 4), ("s16", "l", 2), ("f32", "f", 4), ("f32", "f", 4),
         ("b64", "l", 8), ("u64", "l", 8), ("f64", "d", 8)]  # fmt: skip
CELL, CELLS = 16, 4
CONST_WORDS = 64
GLOBAL_ATOMICS = 8  # cells of 8 bytes for each operation


def _shape(w: Writer, most: int = 16):
    """A type, a kind, and how many elements at once."""
    fitting = [one for one in TYPES if one[2] <= most]
    type_, kind, size = w.random.choice(fitting)
    count = w.pick(1, 1, 1, 2, 4)
    if kind == "l" and size < 8:
        count = 1
    while count * size > most:
        count //= 2
    return type_, kind, size, count


def load(w: Writer, space: str, place, most: int = 16) -> None:
    """Load from `place(bytes)`, which writes the address and returns the operand."""
    type_, kind, size, count = _shape(w, most)
    operand = place(size * count)
    again, guard = w.chance(0.4), ""
    known = w.variables[kind]
    again = again and len(known) >= count
    if again:
        targets = w.random.sample(known, count)
        if w.chance(0.3):
            guard = w.guard()
            w.note("guarded_load")
    else:
        targets = [w.fresh(kind) for _ in range(count)]
    vector = f".v{count}" if count > 1 else ""
    names = "{" + ", ".join(targets) + "}" if count > 1 else targets[0]
    w.emit(f"{guard}ld{space}{vector}.{type_} \t{names}, {operand}")
    w.note("ld" + space, "vector" if count > 1 else f"load_{size}")
    if not again:
        for name in targets:
            w.know(kind, name)


def store(w: Writer, space: str, operand: str, most: int = 16) -> None:
    """Store values of any type."""
    type_, kind, size, count = _shape(w, most)
    names = [w.value(kind) for _ in range(count)]
    if (size, kind) == (1, "h"):  # ptxas forgets how some halves were rounded
        names = [w.temporary("and.b16", "h", name, 255) for name in names]
    if count == 1 and kind in "if" and w.chance(0.1):
        names = [w.literal(kind)]
    vector = f".v{count}" if count > 1 else ""
    names = "{" + ", ".join(names) + "}" if count > 1 else names[0]
    guard = w.guard() if w.chance(0.15) else ""
    w.emit(f"{guard}st{space}{vector}.{type_.replace('s', 'u')} \t{operand}, {names}")
    w.note("st" + space, "vector" if count > 1 else "store")


def load_input(w: Writer) -> None:
    space = w.pick(".global", ".global", ".global.nc", ".global.ca", "")
    load(w, space, w.input)


def load_uniform(w: Writer) -> None:
    """All threads load the same element."""
    low = w.temporary("and.b32", "i", w.value("i", uniform=True), 1023)
    wide = w.temporary("mul.wide.u32", "l", low, 4)
    address = w.temporary("add.s64", "l", w.base["in"], wide)
    if w.chance(0.5):
        w.operation("ld.global.nc.u32", "i", f"[{address}]", uniform=True)
    else:
        w.operation("ld.global.f32", "f", f"[{address}]", uniform=True)
    w.note("uniform_load")


def load_const(w: Writer) -> None:
    """A constant array, by an index or at a fixed place."""
    if w.chance(0.3):
        w.operation("ld.const.b32", "i", f"[table+{4 * w.random.randrange(64)}]",
                    uniform=True)  # fmt: skip
        w.note("ld.const")
        return
    base = w.temporary("mov.u64", "l", "table")
    load(
        w, ".const", lambda size: f"[{w.element(base, 4 * CONST_WORDS // size, size)}]"
    )


def load_parameter(w: Writer) -> None:
    """Parts of a structure passed by value."""
    at = 4 * w.random.randrange(4)
    if at == 8 and w.chance(0.5):
        w.operation("ld.param.f32", "f", "[k_param_8+8]", uniform=True)
    else:
        w.operation("ld.param.u32", "i", f"[k_param_8+{at}]", uniform=True)
    w.note("ld.param")


# -- memory of one thread ---------------------------------------------------------


def _own_cell(w: Writer, base: str, step: int) -> str:
    """One of the four cells of a thread, fixed or by an index."""
    if w.chance(0.4):
        return f"{base}+{step * w.random.randrange(CELLS)}"
    if step & (step - 1) == 0:
        return w.element(base, CELLS, step)
    low = w.temporary("and.b32", "i", w.index(), CELLS - 1)
    return w.temporary("mad.wide.u32", "l", low, step, base)


def private(w: Writer) -> None:
    """Write and read the cells of this thread in global or local memory."""
    turn = w.random.randrange(3)
    if turn == 0 and w.local:
        base, step, space = w.base["local"], CELL, ".local"
    elif turn == 1 and w.local:
        base, step, space = w.base["stack"], CELL, ""
        w.note("generic_local")
    else:
        base, step, space = w.base["own"], w.own_step, ".global"
        space = w.pick(space, space, "")
    for _ in range(w.pick(1, 2)):
        cell = _own_cell(w, base, step)
        if w.chance(0.5):
            store(w, space, f"[{cell}]")
        else:
            load(w, space, lambda size, cell=cell: f"[{cell}]")


def write_out(w: Writer) -> None:
    """A result of this thread in a place of its own."""
    slot = w.slots
    w.slots += 1
    operand = f"[{w.base['out']}+SLOT{slot}]"
    if w.chance(0.3):
        step = f"SLOT{slot}"
        operand = f"[{w.temporary('add.s64', 'l', w.base['out'], step)}]"
    space = w.pick(".global", ".global", ".global.cs", "")
    store(w, space, operand, most=8)
    w.note("out")


# -- memory of a block --------------------------------------------------------------


def barrier(w: Writer) -> None:
    """Wait for the block."""
    plain = ["bar.sync \t0", "bar.sync \t0", "bar.sync \t0", "barrier.sync \t0"]
    other = ["bar.sync \t1", "barrier.sync.aligned \t2"] if w.exotic else []
    w.emit(w.pick(*plain, *other))
    w.note("barrier")


def _shared(w: Writer, nbytes: int) -> str:
    """The base of the exchanged tile, which has room for so many bytes."""
    w.tile_bytes = max(w.tile_bytes, nbytes)
    return w.temporary(w.pick("mov.u32", "mov.b32"), "i", "tile")


def _other_thread(w: Writer) -> str:
    """The number of some thread of the block."""
    n = w.threads
    turn = w.random.randrange(5)
    if turn == 0 and n & (n - 1) == 0 and n > 1:
        return w.temporary("xor.b32", "i", w.linear, w.random.randrange(1, n))
    if turn == 1:
        return w.temporary("sub.s32", "i", n - 1, w.linear)
    if turn == 2:
        return w.temporary("rem.u32", "i", w.value("i", uniform=True), n)
    index = w.index() if turn == 3 else w.linear
    far = w.temporary("mad.lo.s32", "i", index, w.pick(1, 3, 5, 32), w.pick(1, 2, 31))
    return w.temporary("rem.u32", "i", far, n)


def exchange(w: Writer) -> None:
    """Every thread writes to shared memory, waits, and reads what others wrote."""
    type_, kind, size, count = _shape(w)
    width = size * count
    strides = [
        s for s in (1, 1, 1, 2, 3, 8, 17, 32, 33) if s * width * w.threads < 20480
    ]
    stride = w.random.choice(strides) * width
    base = _shared(w, stride * w.threads)
    if stride & (stride - 1) == 0 and w.chance(0.5):
        offset = w.temporary("shl.b32", "i", w.linear, stride.bit_length() - 1)
        own = w.temporary("add.s32", "i", base, offset)
    else:
        own = w.temporary("mad.lo.s32", "i", w.linear, stride, base)
    barrier(w)
    values = [w.value(kind) for _ in range(count)]
    vector = f".v{count}" if count > 1 else ""
    joined = "{" + ", ".join(values) + "}" if count > 1 else values[0]
    space, own = _maybe_generic(w, own)
    w.emit(f"st{space}{vector}.{type_.replace('s', 'u')} \t[{own}], {joined}")
    barrier(w)
    for _ in range(w.pick(1, 1, 2)):
        other = _other_thread(w)
        address = w.temporary("mad.lo.s32", "i", other, stride, base)
        targets = [w.fresh(kind) for _ in range(count)]
        joined = "{" + ", ".join(targets) + "}" if count > 1 else targets[0]
        space, address = _maybe_generic(w, address)
        w.emit(f"ld{space}{vector}.{type_} \t{joined}, [{address}]")
        for name in targets:
            w.know(kind, name)
    w.note("exchange", f"shared_width_{width}")


def _maybe_generic(w: Writer, address: str) -> tuple[str, str]:
    if not w.chance(0.15):
        return ".shared", address
    wide = w.temporary("cvt.u64.u32", "l", address)
    w.note("generic_shared")
    return "", w.temporary("cvta.shared.u64", "l", wide)


def reduction(w: Writer) -> None:
    """A tree in shared memory, of which fewer threads take part at every level."""
    if w.threads == 1:
        return
    base = _shared(w, 4 * w.threads)
    own = w.temporary("mad.lo.s32", "i", w.linear, 4, base)
    barrier(w)
    w.emit(f"st.shared.u32 \t[{own}], {w.value('i')}")
    barrier(w)
    half = w.fresh("i")
    w.emit(f"mov.u32 \t{half}, {1 << (w.threads - 1).bit_length() - 1}")
    again, skip = w.label(), w.label()
    w.place(again)
    w.repeats *= 5
    partner = w.temporary("add.s32", "i", w.linear, half)
    idle = w.temporary("setp.ge.s32", "p", w.linear, half)
    out = w.temporary("setp.ge.or.s32", "p", partner, w.threads, idle)
    w.emit(f"@{out} bra \t{skip}")
    there = w.temporary("mad.lo.s32", "i", partner, 4, base)
    mine = w.temporary("ld.shared.u32", "i", f"[{own}]")
    theirs = w.temporary("ld.shared.u32", "i", f"[{there}]")
    name = w.pick("add.s32", "min.s32", "max.u32", "xor.b32")
    total = w.temporary(name, "i", mine, theirs)
    w.emit(f"st.shared.u32 \t[{own}], {total}")
    w.place(skip)
    barrier(w)
    w.emit(f"shr.u32 \t{half}, {half}, 1")
    more = w.temporary("setp.ne.s32", "p", half, 0)
    w.emit(f"@{more} bra \t{again}")
    w.repeats /= 5
    w.operation("ld.shared.u32", "i", "[tile]", uniform=True)
    w.note("reduction")


def vote_of_block(w: Writer) -> None:
    """A barrier that also counts predicates."""
    if w.chance(0.5):
        w.operation("bar.red.popc.u32", "i", 0, w.value("q"), uniform=True)
    else:
        name = w.pick("bar.red.and.pred", "bar.red.or.pred")
        w.operation(name, "p", 0, w.value("q"), uniform=True)
    w.note("bar.red")


def part_of_block(w: Writer) -> None:
    """Two warps meet at a barrier of their own."""
    if w.threads % 32 or w.threads < 64:
        return
    skip = w.label()
    outside = w.temporary("setp.ge.u32", "p", w.linear, 64)
    w.emit(f"@{outside} bra \t{skip}")
    w.emit("bar.sync \t3, 64")
    w.place(skip)
    w.note("named_barrier")


# -- atomics --------------------------------------------------------------------------

# Operations whose order does not matter: opcode, kind of the value.
COMMUTATIVE = [("add.u32", "i"), ("min.s32", "i"), ("max.u32", "i"), ("and.b32", "i"),
               ("or.b32", "i"), ("xor.b32", "i"), ("inc.u32", None), ("add.u64", "l"),
               ("max.s64", "l"), ("add.f32", "f"), ("add.f64", "d")]  # fmt: skip


def _summand(w: Writer, opcode: str, kind: str | None) -> str:
    """What to add; floats are small integers, whose sums are exact."""
    if kind is None:
        return "1000"
    if kind not in "fd":
        return w.value(kind, immediate=True)
    low = w.temporary("and.b32", "i", w.index(), 15)
    return w.temporary(f"cvt.rn.{opcode[4:]}.u32", kind, low)


def add_up(w: Writer) -> None:
    """Threads of all blocks update the same cells; nobody looks at the old value."""
    row = w.random.randrange(len(COMMUTATIVE))
    opcode, kind = COMMUTATIVE[row]
    base = w.temporary("add.s64", "l", w.base["atoms"], 8 * GLOBAL_ATOMICS * row)
    address = w.element(base, w.pick(1, 4, GLOBAL_ATOMICS), 8)
    summand = _summand(w, opcode, kind)
    guard = w.guard() if w.chance(0.2) else ""
    if w.chance(0.6) and opcode[:3] != "inc":
        w.emit(f"{guard}red.global.{opcode} \t[{address}], {summand}")
    else:
        unused = w.fresh(kind or "i")
        w.emit(f"{guard}atom.global.{opcode} \t{unused}, [{address}], {summand}")
    w.note("red.global", "commutative_" + opcode)


def update_own(w: Writer) -> None:
    """An atomic on a cell of this thread: the old value is known."""
    wide = w.chance(0.4)
    kind, type_ = ("l", "64") if wide else ("i", "32")
    cell = _own_cell(w, w.base["own"], w.own_step)
    name = w.pick("add.u", "exch.b", "cas.b", "min.s", "max.u", "and.b", "xor.b")
    values = [w.value(kind) for _ in range(2 if name[:3] == "cas" else 1)]
    if not wide and w.chance(0.3):
        w.operation("atom.global.add.f32", "f", f"[{cell}]", w.value("f"))
    else:
        space = w.pick(".global", "")
        w.operation(f"atom{space}.{name}{type_}", kind, f"[{cell}]", *values)
    w.note("atom_used")


def ticket(w: Writer) -> None:
    """Lanes of one warp draw numbers, in the order of lanes."""
    address = w.temporary("mad.wide.u32", "l", w.grid_warp, 64, w.base["tickets"])
    if w.chance(0.5):
        low = w.temporary("and.b32", "i", w.lane, 12)
        wide = w.temporary("cvt.u64.u32", "l", low)
        address = w.temporary("add.s64", "l", address, wide)
    name = w.pick("add.u32", "exch.b32", "max.u32", "inc.u32")
    w.operation(f"atom.global.{name}", "i", f"[{address}]", w.value("i"))
    w.note("lane_order")


def compare_and_swap(w: Writer) -> None:
    """The loop with which programs make atomics that the hardware lacks."""
    base = w.temporary("add.s64", "l", w.base["atoms"], 8 * GLOBAL_ATOMICS * 11)
    address = w.element(base, GLOBAL_ATOMICS, 8)
    old = w.fresh("i")
    w.emit(f"ld.volatile.global.u32 \t{old}, [{address}]")
    value, again = w.value("i"), w.label()
    w.place(again)
    w.repeats *= 8
    new = w.temporary("max.u32", "i", old, value)
    found = w.temporary("atom.global.cas.b32", "i", f"[{address}]", old, new)
    retry = w.temporary("setp.ne.s32", "p", found, old)
    w.emit(f"mov.u32 \t{old}, {found}")
    w.emit(f"@{retry} bra \t{again}")
    w.repeats /= 8
    w.note("cas_loop")


def shared_atomics(w: Writer) -> None:
    """A histogram: clear, wait, update, wait, read."""
    cells = 1 << min(w.threads.bit_length() - 1, 4)
    base = _shared(w, 8 * cells)
    opcode, kind = w.random.choice(COMMUTATIVE)
    barrier(w)
    mine = w.temporary("setp.lt.u32", "p", w.linear, cells)
    own = w.temporary("mad.lo.s32", "i", w.linear, 8, base)
    zero = w.temporary("mov.u64", "l", 0)
    w.emit(f"@{mine} st.shared.u64 \t[{own}], {zero}")
    barrier(w)
    low = w.temporary("and.b32", "i", w.index(), cells - 1)
    cell = w.temporary("mad.lo.s32", "i", low, 8, base)
    summand = _summand(w, opcode, kind)
    unused = w.fresh(kind or "i")
    guard = w.guard() if w.chance(0.2) else ""
    w.emit(f"{guard}atom.shared.{opcode} \t{unused}, [{cell}], {summand}")
    barrier(w)
    w.operation("ld.shared.u64", "l", f"[{cell}]")
    w.note("atom.shared")


def anywhere(w: Writer) -> None:
    """A generic load whose lanes reach different memories."""
    own = w.base["own"]
    other = w.base["stack"] if w.local and w.chance(0.5) else w.base["in"]
    which = w.condition(0)
    address = w.temporary("selp.b64", "l", own, other, which)
    load(w, "", lambda size: f"[{address}]")
    w.note("generic_mixed")


def pointer_loop(w: Writer) -> None:
    """A loop that moves a pointer along, as compilers write them."""
    size = w.pick(4, 4, 8)
    kind, type_ = w.pick(("f", "f32"), ("i", "u32")) if size == 4 else ("l", "u64")
    stride = w.pick(size, 16, 32, 64)
    trips = w.random.randrange(1, min(1 + (SLACK - 16) // stride, 9))
    address = w.element(w.base["in"], 256, size)
    pointer, left = w.fresh("l"), w.fresh("i")
    total = w.random.choice(w.variables[kind])
    w.emit(f"mov.u64 \t{pointer}, {address}")
    w.emit(f"mov.u32 \t{left}, {trips}")
    again = w.label()
    w.place(again)
    w.repeats *= trips
    seen = w.temporary(f"ld.global{w.pick('', '.nc')}.{type_}", kind, f"[{pointer}]")
    if kind == "f":
        w.emit(f"fma.rn.f32 \t{total}, {seen}, {w.value('f')}, {total}")
    else:
        w.emit(f"add.s{8 * size} \t{total}, {total}, {seen}")
    w.emit(f"add.s64 \t{pointer}, {pointer}, {stride}")
    w.emit(f"add.s32 \t{left}, {left}, -1")
    more = w.temporary("setp.ne.s32", "p", left, 0)
    w.emit(f"@{more} bra \t{again}")
    w.repeats /= trips
    w.note("pointer_loop")


# Statement, how often, and who must run it together.
STATEMENTS = [
    (load_input, 8, 0), (load_uniform, 1, 0), (load_const, 2, 0),
    (load_parameter, 1, 0), (private, 6, 0), (write_out, 3, 0), (add_up, 2, 0),
    (update_own, 2, 0), (compare_and_swap, 0.3, 0), (anywhere, 0.7, 0),
    (pointer_loop, 2, 0), (ticket, 3, 2), (exchange, 5, BLOCK),
    (reduction, 1, BLOCK), (vote_of_block, 4, BLOCK), (part_of_block, 3, BLOCK),
    (shared_atomics, 2, BLOCK),
]  # fmt: skip
