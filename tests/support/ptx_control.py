"""Control flow of random PTX kernels, with and without structure; all of it ends."""

from __future__ import annotations

from ptx_writer import BLOCK, LANE, MASK, WARP, Writer


def _level(w: Writer) -> int:
    """Who shall agree on a branch."""
    level = w.random.choice([LANE, LANE, LANE, WARP, BLOCK])
    return min(level, w.level) if w.level != MASK else w.pick(LANE, BLOCK)


def _after(w: Writer, level: int) -> int:
    """Who is together where threads of a level took one way."""
    return w.level if level == BLOCK else min(w.level, level)


def _jump(w: Writer, condition: str, label: str, negated: bool = False) -> None:
    w.emit(f"@{'!' if negated else ''}{condition} bra \t{label}")
    w.note("branch")


def branch(w: Writer) -> None:
    """An if, with or without an else."""
    level = _level(w)
    condition, after = w.condition(level), _after(w, level)
    other, end = w.label(), w.label()
    both = w.chance(0.5)
    _jump(w, condition, other if both else end, w.chance(0.5))
    with w.nested(after, 0.8):
        w.body(w.pick(1, 1, 2, 3))
    if both:
        w.emit(f"bra{w.pick('.uni', '')} \t{end}")
        w.place(other)
        with w.nested(after, 0.8):
            w.body(w.pick(1, 2))
    w.place(end)
    w.note(
        "if_else" if both else "if", ["lane", "mask", "warp", "block"][level] + "_if"
    )


def short_circuit(w: Writer) -> None:
    """Conditions joined by && and ||: several branches to the same places."""
    yes, no, end = w.label(), w.label(), w.label()
    _jump(w, w.condition(LANE), w.pick(yes, no), w.chance(0.3))
    with w.nested(LANE):
        for _ in range(w.pick(0, 1, 2)):
            if w.chance(0.4):
                w.compute()
            _jump(w, w.condition(LANE), w.pick(yes, no), w.chance(0.3))
        _jump(w, w.condition(LANE), no)
    w.place(yes)
    with w.nested(LANE, 0.7):
        w.body(w.pick(1, 2))
    if w.chance(0.6):
        w.emit(f"bra.uni \t{end}")
    w.place(no)
    with w.nested(LANE, 0.7):
        w.body(1)
    w.place(end)
    w.note("short_circuit")


def counted_loop(w: Writer) -> None:
    """A loop over 0, 1, ... with the same number of turns for all, or not."""
    style = w.pick("constant", "uniform", "lane", "lane", "break")
    if w.level == MASK and style == "uniform":
        style = "constant"
    breaks = style == "break"
    level = LANE if style in ("lane", "break") else BLOCK
    trips, most = _trips(w, style)
    i, again, latch, end = w.fresh("i"), w.label(), w.label(), w.label()
    w.emit(f"mov.u32 \t{i}, 0")
    top = w.chance(0.4) or style in ("lane", "uniform")
    if top:
        none = w.temporary("setp.lt.s32", "p", trips, 1)
        _jump(w, none, end)
    w.place(again)
    with w.nested(_after(w, level), most * 0.7 + 0.3):
        w.know("i", i, uniform=level == BLOCK, affine=level != BLOCK)
        kept = w.places
        if breaks:
            w.places = [*w.places, end, end, latch]
        with w.nested():
            w.body(w.pick(1, 2, 3))
        w.places = kept
        w.place(latch)
        w.emit(f"add.s32 \t{i}, {i}, 1")
        more = w.temporary("setp.lt.s32", "p", i, trips)
        _jump(w, more, again)
    w.place(end)
    w.note("loop", style + "_loop")


def _trips(w: Writer, style: str) -> tuple[str, int]:
    if style == "constant" or (style == "break" and w.chance(0.5)):
        most = w.pick(2, 3, 4, 6)
        return str(most), most
    mask = w.pick(1, 3, 3, 7)
    if style == "uniform":
        source = w.value("i", uniform=True)
        return w.temporary("and.b32", "i", source, mask), 1 + mask // 2
    return w.temporary("and.b32", "i", w.index(), mask), mask


def while_loop(w: Writer) -> None:
    """A loop that ends when a value says so, and at the latest without fuel."""
    again, end = w.label(), w.label()
    fuel = w.fresh("i")
    w.emit(f"mov.u32 \t{fuel}, {w.pick(2, 3, 5, 9)}")
    w.place(again)
    with w.nested(LANE, 3):
        kept, w.places = w.places, [*w.places, end]
        with w.nested():
            w.body(w.pick(1, 2))
        w.places = kept
        w.emit(f"sub.s32 \t{fuel}, {fuel}, 1")
        spent = w.temporary("setp.le.s32", "p", fuel, 0)
        if w.chance(0.5):
            _jump(w, spent, end)
            _jump(w, w.condition(LANE), again, w.chance(0.5))
        else:
            go = w.condition(LANE)
            on = w.temporary("setp.gt.and.s32", "p", fuel, 0, go)
            _jump(w, on, again)
    w.place(end)
    w.note("loop", "while_loop")


def long_loop(w: Writer) -> None:
    """Many turns of a few instructions, with values that grow by a step each."""
    trips, again = w.pick(20, 33, 50), w.label()
    i, far = w.fresh("i"), w.fresh("i")
    total = w.random.choice(w.variables["i"])
    w.emit(f"mov.u32 \t{i}, {w.pick('0', w.index())}")
    w.emit(f"mov.u32 \t{far}, {trips}")
    w.place(again)
    w.repeats *= trips
    factor = w.pick("3", w.value("i"))
    w.emit(f"mad.lo.s32 \t{total}, {total}, {factor}, {i}")
    w.emit(f"add.s32 \t{i}, {i}, {w.pick(1, 32, 0x8000000, -1)}")
    w.emit(f"add.s32 \t{far}, {far}, -1")
    more = w.temporary("setp.ne.s32", "p", far, 0)
    _jump(w, more, again)
    w.repeats /= trips
    w.note("loop", "long_loop")


def leave(w: Writer) -> None:
    """Break, continue, or jump out of several loops; some lanes return."""
    if w.places:
        _jump(w, w.condition(LANE), w.random.choice(w.places), w.chance(0.2))
        w.note("break")
    elif w.may_leave and not w.sealed:
        condition = w.condition(w.pick(LANE, LANE, WARP, BLOCK))
        with_nothing = w.chance(0.5)
        away = w.value("p") if with_nothing else condition
        both = w.temporary("and.pred", "p", condition, away)
        w.emit(f"@{both} {w.pick('ret', 'exit', 'bra ' + chr(9) + '$L__BB0_END')}")
        w.note("early_exit")
    else:
        w.compute()


def switch(w: Writer) -> None:
    """An indexed branch, with a default case or not."""
    ways = w.pick(2, 3, 4, 6)
    labels, end = [w.label() for _ in range(ways)], w.label()
    table = "$L_brx_" + end[7:]
    level = w.pick(LANE, LANE, BLOCK) if w.level != LANE else LANE
    source = w.value("i", uniform=True) if level == BLOCK else w.index()
    if w.chance(0.5):
        chosen = w.temporary("and.b32", "i", source, (1 << ways.bit_length() - 1) - 1)
    else:
        chosen = w.temporary("and.b32", "i", source, 7)
        beyond = w.temporary("setp.gt.u32", "p", chosen, ways - 1)
        _jump(w, beyond, end)
    targets = [w.random.choice(labels) if w.chance(0.2) else one for one in labels]
    w.raw(f"{table}: .branchtargets {', '.join(targets)};")
    w.emit(f"brx.idx{'.uni' if level == BLOCK else ''} \t{chosen}, {table}")
    for label in labels:
        w.place(label)
        with w.nested(_after(w, level) if level == BLOCK else LANE, 0.5):
            w.body(1)
        if w.chance(0.75):
            w.emit(f"bra.uni \t{end}")
    w.place(end)
    w.note("brx")


def region(w: Writer) -> None:
    """Blocks with jumps between any of them; every block costs fuel."""
    count = w.pick(3, 4, 5, 6)
    labels, end = [w.label() for _ in range(count)], w.label()
    fuel = w.fresh("i")
    w.emit(f"mov.u32 \t{fuel}, {w.pick(4, 6, 9)}")
    if w.chance(0.5):
        _jump(w, w.condition(LANE), w.random.choice(labels))
    for label in labels:
        w.place(label)
        with w.nested(LANE, 1.5):
            w.emit(f"add.s32 \t{fuel}, {fuel}, -1")
            spent = w.temporary("setp.lt.s32", "p", fuel, 0)
            _jump(w, spent, end)
            kept, w.places = w.places, []
            with w.nested():
                w.body(1)
            w.places = kept
            _end_of_block(w, [*labels, end])
    w.place(end)
    w.note("region")


def _end_of_block(w: Writer, labels: list[str]) -> None:
    turn = w.random.randrange(5)
    if turn == 0:
        w.emit(f"bra.uni \t{w.random.choice(labels)}")
    elif turn < 4:
        _jump(w, w.condition(LANE), w.random.choice(labels), w.chance(0.5))
    if turn == 3:
        w.emit(f"bra \t{w.random.choice(labels)}")


def masked(w: Writer) -> None:
    """Warp functions among the lanes of each side of a branch."""
    condition = w.condition(LANE)
    name = "vote.sync.ballot.b32"
    ones = w.temporary(name, "i", condition, w.members)
    zeros = w.temporary(name, "i", f"!{condition}", w.members)
    other, end = w.label(), w.label()
    both = w.chance(0.5)
    _jump(w, condition, other if both else end, True)
    sides = [(ones, None), (zeros, other)] if both else [(ones, None)]
    for members, label in sides:
        if label:
            w.emit(f"bra.uni \t{end}")
            w.place(label)
        kept = w.sealed, w.places
        w.sealed, w.places = True, []
        with w.nested(MASK, 0.8):
            w.members = members
            w.body(w.pick(1, 2, 3))
        w.sealed, w.places = kept
    w.place(end)
    w.note("masked_branch")


def call(w: Writer) -> None:
    """Call a device function."""
    x, y, result = w.value("i"), w.index(), w.fresh("i")
    w.raw("{")
    w.raw(".param .b32 param0;")
    w.emit(f"st.param.b32 \t[param0+0], {x}")
    w.raw(".param .b32 param1;")
    w.emit(f"st.param.b32 \t[param1+0], {y}")
    w.raw(".param .b32 retval0;")
    name = "call.uni" if w.level == BLOCK and w.chance(0.5) else "call"
    w.emit(f"{name} (retval0), helper, (param0, param1)")
    w.emit(f"ld.param.b32 \t{result}, [retval0+0]")
    w.raw("}")
    w.know("i", result)
    w.cost += 15 * w.repeats
    w.note("call")


STATEMENTS = [
    (branch, 6, LANE), (short_circuit, 2, LANE), (counted_loop, 4, LANE),
    (while_loop, 2, LANE), (long_loop, 0.5, LANE), (switch, 1.5, LANE),
    (region, 2, LANE), (masked, 2, MASK),
]  # fmt: skip
