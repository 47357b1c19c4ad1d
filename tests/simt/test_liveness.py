"""Live registers: from the instruction that writes a value to the last reader."""

import coursekit as ck
from coursekit.simt import ptx_lines

HEAD = (
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p)\n"
)
DECLARED = ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"


def live(*body):
    """Return the live words before each instruction of a kernel."""
    text = HEAD + "{\n" + DECLARED + "\n".join(body) + "\n}\n"
    return [line.live for line in ptx_lines(text, "f") if line.live is not None]


def test_a_value_is_live_up_to_its_last_reader():
    assert live(
        "mov.u32 %r1, 1;", "mov.u32 %r2, 2;", "add.s32 %r3, %r1, %r2;",
        "add.s32 %r4, %r3, %r1;", "ret;",
    ) == [0, 1, 2, 2, 0]  # fmt: skip


def test_a_value_that_nobody_reads_is_not_live():
    assert live("mov.u32 %r1, 1;", "ret;") == [0, 0]


def test_64_bits_are_two_registers_and_a_predicate_is_none():
    assert live(
        "mov.u64 %rd1, 5;", "setp.eq.u64 %p1, %rd1, 0;",
        "@%p1 st.global.u64 [%rd1], 1;", "ret;",
    ) == [0, 2, 2, 0]  # fmt: skip


def test_a_value_of_a_loop_is_live_around_it():
    assert live(
        "mov.u32 %r1, 0;", "mov.u32 %r2, 4;", "L:", "add.s32 %r1, %r1, %r2;",
        "setp.lt.s32 %p1, %r1, 100;", "@%p1 bra L;", "ret;",
    ) == [0, 1, 2, 2, 2, 0]  # fmt: skip


def test_a_guarded_write_keeps_the_old_value():
    assert live(
        "mov.u32 %r1, 1;", "setp.eq.s32 %p1, %r1, 1;", "@%p1 mov.u32 %r1, 2;",
        "mov.u64 %rd1, 64;", "st.global.u32 [%rd1], %r1;", "ret;",
    ) == [0, 1, 1, 1, 3, 0]  # fmt: skip


def test_each_instruction_has_its_source_line():
    module = ck.compile("__global__ void f(int *x)\n{\n    *x = 5;\n}\n")
    places = [line.places for line in ptx_lines(module.ptx, module.f.lowered_name)]
    assert (("kernel.cu", 3),) in places


def test_an_inlined_function_has_the_line_of_its_call_as_well():
    module = ck.compile(
        "__device__ int twice(int x)\n{\n    return x * threadIdx.x;\n}\n"
        "__global__ void f(int *x)\n{\n    *x = twice(*x);\n}\n"
    )
    places = [line.places for line in ptx_lines(module.ptx, module.f.lowered_name)]
    assert (("kernel.cu", 3), ("kernel.cu", 7)) in places


def test_values_that_wait_together_are_live_together():
    module = ck.compile(SIX)
    lines = ptx_lines(module.ptx, module.f.lowered_name)
    assert max(line.live or 0 for line in lines) == 5 + 2 + 2  # floats, addresses


SIX = """
__global__ void f(const float *x, float *y)
{
    float a = x[0], b = x[1], c = x[2], d = x[3], e = x[4], g = x[5];
    __syncthreads();
    y[0] = a, y[1] = b, y[2] = c, y[3] = d, y[4] = e, y[5] = g;
}
"""
