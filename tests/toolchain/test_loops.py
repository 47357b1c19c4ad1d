"""Loops of machine code: what belongs to them, and which is the busiest."""

from __future__ import annotations

import doctest

import pytest

import coursekit as ck
from coursekit.toolchain import loops

LISTING = """
kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_2) ;
.L_x_1:
        /*0020*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_0:
        /*0030*/                   FFMA R0, R2, R3, R0 ;
        /*0040*/               @P1 FFMA.FTZ R0, R2, R3, R0 ;
        /*0050*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0060*/               @P1 BRA `(.L_x_0) ;
        /*0070*/              @!P2 BRA `(.L_x_1) ;
.L_x_2:
        /*0080*/                   EXIT ;
.L_x_3:
        /*0090*/                   BRA `(.L_x_3);
"""


def test_examples_of_the_documentation_hold():
    assert doctest.testmod(loops).failed == 0


def test_a_branch_ahead_is_no_loop():
    assert len(loops.loops(LISTING)) == 3


def test_predicates_are_no_part_of_an_opcode():
    assert loops.loops(LISTING)[0] == {"FFMA": 2, "UIADD3": 1, "BRA": 1}


def test_a_loop_holds_those_inside_it():
    assert loops.loops(LISTING)[1] == {"LDG": 1, "FFMA": 2, "UIADD3": 1, "BRA": 2}


def test_busiest_of_equals_is_the_inner_one():
    assert loops.busiest_loop(LISTING, "FFMA")["LDG"] == 0


def test_no_loop_with_the_instruction_is_said():
    with pytest.raises(ck.ArgumentError, match="No loop of this machine code has DFMA"):
        loops.busiest_loop(LISTING, "DFMA")


def test_innermost_loop_of_a_kernel_has_its_multiply_adds():
    module = ck.compile("matmul/step_04_column.cu")
    assert loops.busiest_loop(module.sass, "FFMA")["FFMA"] == 8 * 8  # 8 k, 8 results
