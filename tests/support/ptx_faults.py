"""Random PTX kernels in which one thread does what a GPU or the simulator refuses."""

from __future__ import annotations

from ptx_writer import INPUT_BYTES, SLACK, Writer

FAULTS = ["read", "write", "misaligned", "shared", "divide", "trap", "constant"]


def break_a_rule(w: Writer) -> None:
    """One thread does what a GPU or the simulator refuses."""
    w.note("fault", "fault_" + w.fault)
    skip = w.label()
    victim = w.random.randrange(w.total)
    other = w.temporary("setp.ne.s32", "p", w.thread, victim)
    w.emit(f"@{other} bra \t{skip}")
    base = w.base["in"]
    if w.fault == "read":
        w.temporary("ld.global.u32", "i", f"[{base}+{INPUT_BYTES + 512}]")
    elif w.fault == "write":
        w.emit(f"st.global.u32 \t[{base}+-{2 * SLACK}], {w.value('i')}")
    elif w.fault == "misaligned":
        w.temporary("ld.global.u32", "i", f"[{base}+2]")
    elif w.fault == "shared":
        w.temporary("ld.shared.u32", "i", f"[tile+{1 << 20}]")
    elif w.fault == "divide":
        zero = w.temporary("sub.s32", "i", w.thread, victim)
        w.temporary("div.s32", "i", w.value("i"), zero)
    elif w.fault == "constant":
        address = w.temporary("mov.u64", "l", "table")
        wide = w.temporary("cvta.const.u64", "l", address)
        w.emit(f"st.u32 \t[{wide}], {w.value('i')}")
    else:
        w.emit("trap")
    w.place(skip)
