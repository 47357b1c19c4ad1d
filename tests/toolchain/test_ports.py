"""Clocks of multiply-adds by the banks of their registers, beside those of an H200."""

import pytest

from coursekit.errors import ArgumentError
from coursekit.toolchain.ports import clocks_per_ffma

# Clocks an FFMA of a scheduler with two warps, measured on an H200, 2026-11-21: loops
# of 512 with registers chosen by hand. The measured ones hold 1 to 2 % of other work.
MEASURED = {
    "R4, R6.reuse, R9, R4": 1.02,
    "R4, R7.reuse, R8, R4": 2.00,
    "R4, R6, R8, R4": 3.00,
    "R4, R6, R9, R4": 2.01,  # nothing is kept
}
PAIRS = {
    "even, then odd": ("R4, R6.reuse, R8, R4", "R5, R6.reuse, R9, R5", 1.02),
    "three from two banks": ("R4, R7, R8, R4", "R5, R6, R9, R5", 1.51),
    "kept, one a bank": ("R4, R6.reuse, R9.reuse, R4", "R10, R7.reuse, R9, R10", 1.02),
}


@pytest.mark.parametrize("operands", MEASURED)
def test_an_ffma_takes_the_clocks_that_were_measured(operands):
    found = clocks_per_ffma(f"FFMA {operands} ;\n" * 512)
    assert found == pytest.approx(MEASURED[operands], rel=0.05)


@pytest.mark.parametrize("name", PAIRS)
def test_two_ffmas_in_turn_take_the_clocks_that_were_measured(name):
    first, second, clocks = PAIRS[name]
    found = clocks_per_ffma(f"FFMA {first} ;\nFFMA {second} ;\n" * 256)
    assert found == pytest.approx(clocks, rel=0.05)


def test_runs_of_one_bank_do_not_make_up_for_each_other():
    even, odd = "FFMA R4, R6.reuse, R8, R4 ;", "FFMA R5, R6.reuse, R9, R5 ;"
    found = clocks_per_ffma((even * 4 + odd * 4) * 64)
    assert found == pytest.approx(1.757, rel=0.02)  # measured


def test_what_is_no_register_takes_no_clock():
    listing = "FFMA R4, R6.reuse, c[0x0][0x10], RZ ;" * 100
    assert clocks_per_ffma(listing) == pytest.approx(1, rel=0.02)


def test_signs_do_not_hide_a_register():
    assert clocks_per_ffma("FFMA.FTZ R4, -R6, |R8|, -R4 ;" * 100) == 3


def test_a_listing_without_ffma_is_refused():
    with pytest.raises(ArgumentError, match="no FFMA"):
        clocks_per_ffma("IADD3 R1, R2, R3, RZ ;")
