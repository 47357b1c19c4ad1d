"""A kernel's source, PTX and machine code, linked by the source line."""

import pytest

import coursekit as ck
from coursekit.analysis.compiled_lines import compiled_lines, machine_lines
from coursekit.toolchain import sass

SAXPY = """__global__ void saxpy(const float *x, float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
LISTING = """
	.section	.text.f,"ax",@progbits
f:
	//## File "kernel.cu", line 3 inlined at "/a/kernel.cu", line 8
	//## File "kernel.cu", line 8
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
	//## File "other.cuh", line 4 inlined at "kernel.cu", line 9
        /*0010*/                   @P0 BRA `(.L_x_0) ;
        /*0020*/                   EXIT ;
.L_x_1:
        /*0030*/                   BRA `(.L_x_1);
        /*0040*/                   NOP;
.L_x_2:
	.section	.text.g,"ax",@progbits
        /*0000*/                   EXIT ;
"""


@pytest.fixture(scope="module")
def lines():
    return compiled_lines(ck.compile(SAXPY).saxpy)


def of_line(rows, number):
    return [row.text for row in rows if row.source == number]


def test_the_source_begins_at_the_kernel(lines):
    assert (lines.first, lines.source[0]) == (1, SAXPY.split("\n")[0])


def test_a_source_line_has_its_ptx(lines):
    assert any(text.startswith("fma.rn.f32") for text in of_line(lines.ptx, 5))


def test_a_source_line_has_its_machine_code(lines):
    if lines.why:
        pytest.skip("there is no disassembler on this machine")
    assert any(text.startswith("FFMA") for text in of_line(lines.sass, 5))


def test_the_guard_is_a_branch_of_ptx(lines):
    assert any(text.startswith("@%p1 bra") for text in of_line(lines.ptx, 4))


def test_the_registers_are_those_of_the_report(lines):
    assert lines.registers == ck.compile(SAXPY).resources["saxpy"].registers


def test_without_a_disassembler_ptx_is_left_and_the_reason_is_said(monkeypatch):
    monkeypatch.setattr(sass, "find_disassembler", lambda: None)
    module = ck.compile(SAXPY.replace("saxpy", "other"))
    lines = compiled_lines(module.other)
    assert lines.ptx and not lines.sass
    assert "there is no disassembler" in lines.why


def test_a_listing_ends_before_its_padding():
    texts = [line.text for line in machine_lines(LISTING, "f", "kernel.cu")]
    assert texts == ["LDC R1, c[0x0][0x28];", ".L_x_0:", "@P0 BRA `(.L_x_0);", "EXIT;"]


def test_an_instruction_has_the_innermost_line_of_the_kernels_file():
    sources = [line.source for line in machine_lines(LISTING, "f", "kernel.cu")]
    assert sources == [3, 0, 9, 9]


def test_an_unknown_kernel_has_no_machine_code():
    assert machine_lines(LISTING, "h", "kernel.cu") == []
