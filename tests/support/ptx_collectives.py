"""Warp-wide statements of random PTX kernels: all lanes that they name take part."""

from __future__ import annotations

from ptx_writer import MASK, WARP, Writer


def _present(w: Writer, source: str) -> str:
    """Whether a lane takes part in what the present lanes do."""
    members = w.members
    if w.level > MASK:
        yes = w.temporary("setp.eq.u32", "p", w.lane, w.lane)
        members = w.temporary("vote.sync.ballot.b32", "i", yes, w.members)
    bit = w.temporary("shr.u32", "i", members, source)
    low = w.temporary("and.b32", "i", bit, 1)
    return w.temporary("setp.eq.s32", "p", low, 1)


def _source(w: Writer, mode: str, by: str) -> str:
    """The lane that a shuffle over the whole warp reads."""
    if mode == "bfly":
        return w.temporary("xor.b32", "i", w.lane, by)
    if mode == "idx":
        return w.temporary("and.b32", "i", by, 31)
    far = w.temporary("sub.s32" if mode == "up" else "add.s32", "i", w.lane, by)
    inside = w.temporary("setp.le.u32", "p", far, 31)
    return w.temporary("selp.b32", "i", far, w.lane, inside)


def shuffle(w: Writer) -> None:
    """Read a register of another lane; a lane that is not there gives nothing."""
    mode = w.pick("bfly", "up", "down", "idx")
    by = str(w.pick(1, 2, 4, 8, 16, 3))
    if mode == "idx" and w.chance(0.6):
        by = w.index()
    kind = w.pick("i", "i", "f")
    value = w.value(kind)
    pair = w.chance(0.4)
    whole = w.partial or w.level == MASK
    clamp = "0" if mode == "up" else "31"
    if not whole and w.chance(0.4):
        clamp = str(w.pick(0x1C00, 0x1800, 0x1000) | (0 if mode == "up" else 31))
    got = w.fresh(kind)
    inside = w.fresh("p") if pair else None
    target = f"{got}|{inside}" if pair else got
    w.emit(f"shfl.sync.{mode}.b32 \t{target}, {value}, {by}, {clamp}, {w.members}")
    w.note("shfl", "shfl_pred" if pair else "shfl")
    if pair:
        w.know("p", inside)
    if whole:
        there = _present(w, _source(w, mode, by))
        name = "selp.b32" if kind == "i" else "selp.f32"
        w.operation(name, kind, got, value, there)
        w.note("shfl_partial")
    else:
        w.know(kind, got)


def tree(w: Writer) -> None:
    """The sum of a warp in five steps."""
    if w.partial or w.level == MASK:
        return
    kind, name = w.pick(("i", "add.s32"), ("i", "max.s32"), ("f", "add.rn.f32"))
    mode = w.pick("down", "bfly")
    total = w.value(kind)
    for by in (16, 8, 4, 2, 1):
        got, ignored = w.fresh(kind), w.fresh("p")
        w.emit(f"shfl.sync.{mode}.b32 \t{got}|{ignored}, {total}, {by}, 31, -1")
        total = w.temporary(name, kind, total, got)
    w.know(kind, total)
    w.note("shfl_tree")


def vote(w: Writer) -> None:
    mode = w.pick("all", "any", "uni", "ballot", "ballot")
    source = w.value("q")
    if mode == "ballot":
        w.operation("vote.sync.ballot.b32", "i", source, w.members)
    else:
        w.operation(f"vote.sync.{mode}.pred", "p", source, w.members)
    w.note("vote")


def match(w: Writer) -> None:
    low = w.temporary("and.b32", "i", w.index(), w.pick(1, 3, 7, 0))
    if w.chance(0.6):
        wide = w.chance(0.3)
        value = w.temporary("cvt.u64.u32", "l", low) if wide else low
        w.operation(f"match.any.sync.b{64 if wide else 32}", "i", value, w.members)
    else:
        got, same = w.fresh("i"), w.fresh("p")
        w.emit(f"match.all.sync.b32 \t{got}|{same}, {low}, {w.members}")
        w.know("i", got)
        w.know("p", same)
    w.note("match")


def redux(w: Writer) -> None:
    name = w.pick("add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
                  "add.u32", "min.u32")  # fmt: skip
    opcode, type_ = name.split(".")
    w.operation(f"redux.sync.{opcode}.{type_}", "i", w.value("i"), w.members)
    w.note("redux")


def meet(w: Writer) -> None:
    w.emit(f"bar.warp.sync \t{w.members}")
    w.note("bar.warp")


def elect(w: Writer) -> None:
    got, chosen = w.fresh("i"), w.fresh("p")
    w.emit(f"elect.sync \t{got}|{chosen}, {w.members}")
    w.know("i", got)
    w.know("p", chosen)
    w.note("elect")


def active(w: Writer) -> None:
    """The lanes that run together: what no program should depend on."""
    w.operation("activemask.b32", "i")
    w.note("activemask")


STATEMENTS = [
    (shuffle, 4, MASK), (tree, 4, WARP), (vote, 2.5, MASK), (match, 1, MASK),
    (redux, 1, MASK), (meet, 1, MASK), (elect, 2, MASK),
]  # fmt: skip
