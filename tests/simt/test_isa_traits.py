"""Tests of the record of traits: each row is carried out, and nothing else is asked."""

import pytest

from coursekit.simt.compiled.fast import FastTier
from coursekit.simt.interpreter import collectives, decode
from coursekit.simt.isa import table, traits
from coursekit.simt.ptx.ir import Instruction

ROWS = sorted(traits.TRAITS.items())
LANEWISE = {row.opcode for row in table.ROWS}
# Compiled code gives these up where it meets them, since few kernels have any.
UNCOMPILED = {"isspacep"}
CONTROL = [(name, row) for name, row in ROWS if row.leads_elsewhere]


def executed(opcode: str) -> bool:
    """Whether the interpreter has something to do for an opcode."""
    row = traits.TRAITS[opcode]
    together = opcode in collectives.MAKERS or row.barrier
    makes = opcode in decode.MAKERS or opcode in LANEWISE
    return together if row.waits else row.ignored or row.leads_elsewhere or makes


@pytest.mark.parametrize("opcode", traits.TRAITS)
def test_the_interpreter_executes_every_opcode_with_traits(opcode):
    assert executed(opcode)


@pytest.mark.parametrize("opcode", [*decode.MAKERS, *collectives.MAKERS])
def test_what_is_not_lane_wise_is_found_in_compiled_code_or_has_a_reason(opcode):
    row = traits.TRAITS.get(opcode, traits.LANEWISE)
    emits = "collective" if opcode in collectives.MAKERS else "emit"
    compiled = hasattr(FastTier, f"{emits}_{opcode}")
    assert compiled != bool(row.interpreted) or opcode in UNCOMPILED


def test_an_opcode_without_a_row_is_lane_wise():
    instruction = Instruction("popc", ("b32",), (), None, None, 0, "popc.b32")
    assert traits.of(instruction) is traits.LANEWISE


@pytest.mark.parametrize(("opcode", "row"), CONTROL)
def test_what_leads_elsewhere_has_no_result(opcode, row):
    assert row.no_result


@pytest.mark.parametrize(("opcode", "row"), ROWS)
def test_a_result_is_not_both_the_same_and_different_in_all_lanes(opcode, row):
    assert not (row.uniform_result and row.own_result)
