"""The instruction table: what it finds, what it refuses, and what it costs."""

import re

import numpy as np
import ptx_reference as ref
import pytest
from lanes import REGISTER, atom, every, floats, instruction, integers, run_atomic, wrap

from coursekit.errors import UnsupportedError
from coursekit.simt.isa import lookup
from coursekit.simt.isa.syntax import WORDS
from coursekit.simt.isa.table import ROWS
from coursekit.simt.ptx.ir import Location, Vector


def operation(name, sources, *, pair=False):
    return lookup.operation(instruction(name, sources, pair=pair))


@pytest.mark.parametrize(
    ("name", "sources", "results", "read"),
    [
        ("add.s32", 2, ("s32",), ("s32", "s32")),
        ("mul.wide.s32", 2, ("s64",), ("s32", "s32")),
        ("mad.wide.u16", 3, ("u32",), ("u16", "u16", "u32")),
        ("shr.s64", 2, ("s64",), ("s64", "u32")),
        ("selp.f32", 3, ("f32",), ("f32", "f32", "pred")),
        ("cvt.rn.f16.f32", 1, ("f16",), ("f32",)),
        ("cvt.rn.bf16x2.f32", 2, ("bf16x2",), ("f32", "f32")),
        ("popc.b64", 1, ("u32",), ("b64",)),
        ("fma.rn.f32.bf16", 3, ("f32",), ("bf16", "bf16", "f32")),
        ("set.lt.and.u32.f64", 3, ("u32",), ("f64", "f64", "pred")),
        ("prmt.b32.f4e", 3, ("b32",), ("b32", "b32", "b32")),
    ],
)
def test_types_in_operand_order(name, sources, results, read):
    found = operation(name, sources)
    assert (found.results, found.sources) == (results, read)


def test_two_destinations_give_two_results():
    found = operation("setp.lt.and.f32", 3, pair=True)
    assert found.results == ("pred", "pred")
    assert found.sources == ("f32", "f32", "pred")


@pytest.mark.parametrize("name", ["ld.global.f32", "bra.uni", "bar.sync", "shfl.sync"])
def test_instructions_of_other_kinds_are_not_in_the_table(name):
    assert operation(name, 1) is None


def test_mov_with_braces_is_left_to_the_engine():
    wanted = instruction("mov.b64", 1)
    wanted.operands = (REGISTER, Vector((REGISTER, REGISTER)))
    assert lookup.operation(wanted) is None


@pytest.mark.parametrize(
    "name", ["add.f8", "cvt.rs.f16x2.f32", "add.sat.bf16", "min.u8", "mov.b128"]
)
def test_an_unknown_form_of_a_known_opcode_is_refused_by_name_and_line(name):
    wanted = instruction(name, 2)
    wanted.location = Location("kernel.cu", 12)
    with pytest.raises(UnsupportedError, match=rf"`{name}` at kernel.cu:12"):
        lookup.operation(wanted)


def test_a_wrong_number_of_operands_is_refused():
    with pytest.raises(UnsupportedError):
        operation("add.s32", 3)


def test_the_same_form_is_looked_up_once():
    assert operation("add.f32", 2) is operation("add.f32", 2)


@pytest.mark.parametrize(
    ("name", "sources", "flops", "flop_type", "expands"),
    [
        ("add.f32", 2, 1, "f32", False), ("fma.rn.f32", 3, 2, "f32", False),
        ("mad.rn.f64", 3, 2, "f64", False), ("mul.f16x2", 2, 2, "f16", False),
        ("fma.rn.f16x2", 3, 4, "f16", False), ("fma.rn.bf16x2", 3, 4, "f16", False),
        ("fma.rn.f32x2", 3, 4, "f32", False), ("sub.bf16", 2, 1, "f16", False),
        ("div.rn.f32", 2, 1, "f32", True), ("sqrt.rn.f64", 1, 1, "f64", True),
        ("rcp.approx.ftz.f32", 1, 1, "f32", True), ("ex2.approx.f32", 1, 0, None, True),
        ("sin.approx.f32", 1, 0, None, True), ("max.f32", 2, 0, None, False),
        ("cvt.rn.f32.s32", 1, 0, None, False), ("add.s32", 2, 0, None, False),
        ("mad.lo.s32", 3, 0, None, False), ("setp.lt.f32", 2, 0, None, False),
    ],
)  # fmt: skip
def test_cost(name, sources, flops, flop_type, expands):
    found = operation(name, sources)
    cost = found.flops, found.flop_type, found.expands
    assert cost == (flops, flop_type, expands)


@pytest.mark.parametrize(
    ("name", "sources", "reads", "writes"),
    [("add.cc.u32", 2, False, True), ("addc.cc.u32", 2, True, True),
     ("addc.u32", 2, True, False), ("madc.hi.cc.u64", 3, True, True),
     ("mad.lo.cc.u32", 3, False, True), ("subc.s64", 2, True, False)],
)  # fmt: skip
def test_carry_is_declared(name, sources, reads, writes):
    found = operation(name, sources)
    assert (found.reads_carry, found.writes_carry) == (reads, writes)
    assert len(found.results) == 1


@pytest.mark.parametrize("name", ["div.s32", "rem.u64"])
def test_integer_divisors_are_declared(name):
    assert operation(name, 2).divisor == 1


def test_float_division_has_no_checked_divisor():
    assert operation("div.rn.f32", 2).divisor is None


def names(row):
    """Two full names of a row: the shortest form, and the longest."""

    def first(match):
        word = match[1]
        choices = WORDS.get(word) or WORDS.get(word.removesuffix("2"))
        return "." + (choices.split()[0] if choices else word)

    bare = re.sub(r"\{[^}]*\}", "", row.syntax)
    full = row.syntax.replace("{", "").replace("}", "")
    return [re.sub(r"\.(\w+)", first, text) for text in (bare, full)]


@pytest.mark.parametrize(
    ("row", "name"), [(row, name) for row in ROWS for name in names(row)]
)
def test_every_row_evaluates_arrays_of_its_types(row, name):
    found = operation(name, len(row.sources.split()), pair=" " in row.results)
    sources = [np.zeros(32, lookup.DTYPES[kind]) for kind in found.sources]
    sources += [np.zeros(32, np.bool_)] * found.reads_carry
    with np.errstate(all="ignore"):
        values = found.evaluate(*sources)
    several = len(found.results) + found.writes_carry > 1
    kinds = (*found.results, *["pred"] * found.writes_carry)
    found = [(v.dtype, v.shape) for v in (values if several else (values,))]
    assert found == [(lookup.DTYPES[kind], (32,)) for kind in kinds]


@pytest.mark.parametrize(("row", "name"), [(r, n) for r in ROWS for n in names(r)])
def test_no_function_writes_into_its_sources(row, name):
    found = operation(name, len(row.sources.split()), pair=" " in row.results)
    sources = [np.ones(32, lookup.DTYPES[kind]) for kind in found.sources]
    sources += [np.ones(32, np.bool_)] * found.reads_carry
    for source in sources:
        source.flags.writeable = False
    with np.errstate(all="ignore"):
        found.evaluate(*sources)


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_pack_puts_the_first_element_low(kind):
    part = "u2" if kind == "b32" else "u4"
    low, high = np.full(32, 1, part), np.full(32, 2, part)
    packed = lookup.pack((low, high), kind)
    assert packed.dtype == lookup.DTYPES[kind]
    assert packed[0] == 1 | 2 << (8 * low.itemsize)


def test_unpack_undoes_pack():
    parts = tuple(np.arange(32, dtype=np.uint16) + 100 * i for i in range(4))
    found = lookup.unpack(lookup.pack(parts, "b64"), 4)
    np.testing.assert_array_equal(found, parts, strict=False)


ATOMIC = {
    "add": lambda a, b: a + b, "min": min, "max": max, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "exch": lambda a, b: b,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [(op, kind) for op in ("add", "min", "max") for kind in ("u32", "s32", "u64")]
    + [(op, kind) for op in ("min", "max") for kind in ("s64",)]
    + [(op, kind) for op in ("and", "or", "xor", "exch") for kind in ("b32", "b64")],
)
def test_integer_atomics(name, kind):
    typed = kind.replace("b", "u")
    a, b = every(integers(typed), integers(typed, seed=7))
    expected = [wrap(ATOMIC[name](x, y), typed) for x, y in zip(a, b, strict=True)]
    assert run_atomic(f"atom.global.{name}.{kind}", a, b) == expected


def test_atomic_inc_wraps_past_the_limit():
    assert run_atomic("atom.shared.inc.u32", [0, 3, 4, 9], [4, 3, 3, 3]) == [1, 0, 0, 0]


def test_atomic_dec_wraps_at_zero_and_above_the_limit():
    assert run_atomic("atom.shared.dec.u32", [0, 3, 9, 1], [4, 3, 3, 3]) == [4, 2, 3, 0]


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_atomic_cas_replaces_only_the_expected_value(kind):
    assert run_atomic(f"atom.cas.{kind}", [1, 2], [1, 1], [9, 9]) == [9, 2]


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_atomic_add_of_floats(kind):
    finite = [v for v in floats(kind) if not isinstance(ref.decode(v, kind)[1], str)]
    a, b = every(finite, finite, at_most=1000)
    expected = [ref.add(x, y, kind) for x, y in zip(a, b, strict=True)]
    assert run_atomic(f"red.relaxed.gpu.shared.add.{kind}", a, b) == expected


def test_atomic_add_f32_flushes_subnormals_in_global_memory_only():
    assert run_atomic("red.global.add.f32", [1], [1]) == [0]
    assert run_atomic("red.shared.add.f32", [1], [1]) == [2]


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2", "f16", "bf16"])
def test_atomic_add_of_halves_keeps_subnormals(kind):
    found = run_atomic(f"atom.global.add.noftz.{kind}", [1], [1])
    assert found == [2]


@pytest.mark.parametrize(
    "name",
    ["atom.acq_rel.cta.shared::cta.add.u32", "atom.global.gpu.relaxed.add.u32",
     "red.release.sys.global.add.u32", "atom.add.u32"],
)  # fmt: skip
def test_orders_and_scopes_do_not_change_the_update(name):
    assert run_atomic(name, [1], [2]) == [3]


@pytest.mark.parametrize(
    "name", ["atom.global.v2.f32.add", "atom.exch.b128", "atom.global.add.f16"]
)
def test_unknown_atomics_are_refused(name):
    with pytest.raises(UnsupportedError, match="no instruction"):
        lookup.atomic(atom(name, 1))
