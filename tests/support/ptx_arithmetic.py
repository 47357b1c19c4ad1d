"""Integer statements of random PTX kernels that take several instructions."""

from __future__ import annotations

from ptx_writer import Writer


def affine(w: Writer) -> None:
    """A multiple of a thread's number and something that all threads share."""
    index = w.random.choice(w.affine["i"])
    other = w.pick(w.value("i", uniform=True), str(w.pick(1, 2, 4, 5, 32, 33, -1, -7)))
    name = w.pick("add.s32", "sub.s32", "shl.b32", "mul.lo.s32", "mad.lo.s32",
                  "and.b32", "shr.u32", "xor.b32", "or.b32", "neg.s32", "min.s32",
                  "wide", "selp", "mul24.lo.u32", "bfi")  # fmt: skip
    w.note("affine")
    if name == "wide":
        low = w.operation(
            f"cvt.{w.pick('s64.s32', 'u64.u32')}", "l", index, affine=True
        )
        far = w.pick("add.s64", "mul.lo.s64", "shl.b64")
        by = w.pick(1, 3, 4, 8) if far != "add.s64" else w.value("l", uniform=True)
        w.operation(far, "l", low, by, affine=True)
    elif name in ("shl.b32", "shr.u32"):
        w.operation(name, "i", index, w.pick(1, 2, 3, 4, 5, 27), affine=True)
    elif name == "mad.lo.s32":
        w.operation(name, "i", index, other, w.value("i", uniform=True), affine=True)
    elif name in ("and.b32", "xor.b32", "or.b32"):
        by = w.pick(1, 3, 4, 16, 31, 32, -32, -4)
        w.operation(name, "i", index, by, affine=True)
    elif name == "neg.s32":
        w.operation(name, "i", index, affine=True)
    elif name == "selp":
        second = w.random.choice(w.affine["i"])
        w.operation("selp.b32", "i", index, second, w.value("p"), affine=True)
    elif name == "bfi":
        second = w.random.choice(w.affine["i"])
        w.operation("bfi.b32", "i", index, second, w.pick(2, 5), w.pick(3, 8),
                    affine=True)  # fmt: skip
    else:
        w.operation(name, "i", index, other, affine=True)


def divide(w: Writer) -> None:
    """Integer division; divisors are odd, or positive where signs matter."""
    opcode = w.pick("div", "rem")
    kind, bits = w.pick(("i", 32), ("i", 32), ("l", 64), ("h", 16))
    if w.chance(0.4):
        by = w.pick(3, 7, 10, 1000, 8)
        w.operation(f"{opcode}.{w.pick('s', 'u')}{bits}", kind, w.value(kind), by)
    elif w.chance(0.5):
        by = w.temporary(f"or.b{bits}", kind, w.value(kind), 1)
        w.operation(f"{opcode}.u{bits}", kind, w.value(kind), by)
    else:
        low = w.temporary(f"and.b{bits}", kind, w.value(kind), 63)
        by = w.temporary(f"add.s{bits}", kind, low, 1)
        w.operation(f"{opcode}.s{bits}", kind, w.value(kind), by)
    w.note("divide")


def carry(w: Writer) -> None:
    """Arithmetic on several words at once."""
    style = w.random.randrange(3)
    v = [w.value("i") for _ in range(6)]
    if style == 0:
        name = w.pick("add", "sub")
        w.operation(f"{name}.cc.u32", "i", v[0], v[1])
        if w.chance(0.5):
            w.operation(f"{name}c.cc.u32", "i", v[2], v[3])
        w.operation(f"{name}c.u32", "i", v[4], v[5])
    elif style == 1:
        w.operation("mad.lo.cc.u32", "i", *v[:3])
        w.operation("madc.hi.u32", "i", *v[2:5])
    else:
        wide = [w.value("l") for _ in range(4)]
        w.operation("add.cc.u64", "l", wide[0], wide[1])
        w.operation("addc.u64", "l", wide[2], wide[3])
    w.note("carry")
