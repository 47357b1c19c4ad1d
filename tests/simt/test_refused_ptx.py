"""PTX that no compiler writes is refused by name: nothing else comes of it."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.simt.checks.bounds import MemCheck
from coursekit.simt.interpreter.program import Program
from coursekit.simt.memory import printf
from coursekit.simt.memory.memory import Memory
from coursekit.simt.run.launch import launch

PTX = """.version 8.0
.target sm_90
.address_size 64
{outside}
.visible .entry k(.param .u64 x) {{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q<2>;
.param .b32 given;
{body}
}}"""
CALLED = """.extern .func (.param .b32 status) vprintf
(.param .b64 format, .param .b64 values);
.func (.param .b32 out) f(.param .b32 in) {
ret;
}"""
STORAGE = ".{space} .align 16 .b8 big[{nbytes}];\nmov.u64 %rd1, big;\nret;"

REFUSED = {
    "load without a type": "ld.global %r1, [%rd1];",
    "load without an address": "ld.global.u32 %r1, %rd1;",
    "load of a predicate": "ld.global.pred %p1, [%rd1];",
    "load of half a vector": "ld.global.v2.u32 {%r1}, [%rd1];",
    "load through 128 bits": "ld.global.u32 %r1, [%q1];",
    "load past a parameter": "ld.param.u64 %rd1, [x+4];",
    "load before a parameter": "ld.param.u64 %rd1, [x+-8];",
    "load of what is no parameter": "ld.param.u64 %rd1, [f];",
    "store without a value": "st.global.u32 [%rd1];",
    "store without a type": "st.global [%rd1], %r1;",
    "store past a parameter": "st.param.b64 [given], %rd1;",
    "store of a blank": "st.global.v2.u32 [%rd1], {%r1, _};",
    "atomic without a value": "atom.global.add.u32 %r1, [%rd1];",
    "copy without an end": "cp.async.ca.shared.global [%r1], 4;",
    "wait for half a group": "cp.async.wait_group 0f3F000000;",
    "wait for half a bulk group": "cp.async.bulk.wait_group.read 0f3F000000;",
    "bulk store without a size": (
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1];"
    ),
    "bulk store of a box without a place": (
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1], [%r1];"
    ),
    "bulk store of a box at a blank": (
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {_}], [%r1];"
    ),
    "move without a type": "mov %r1, %r2;",
    "move of one operand": "mov.u32 %r1;",
    "move of three parts": "mov.b64 {%r1, %r2, %r3}, %rd1;",
    "move of 128 bits": "mov.b128 {%rd1, %rd2}, %q1;",
    "space of nothing": "isspacep.shared %p1;",
    "table of functions": "brx.idx %r1, x;",
    "barrier without a number": "bar.sync;",
    "barrier that adds nothing": "bar.red.popc.u32 %r1, 0;",
    "barrier with a fraction": "bar.sync 0f3F800000;",
    "shuffle without a mask": "shfl.sync.up.b32 %r1, %r2, 1, 0;",
    "shuffle to nowhere": "shfl.sync.b32 %r1, %r2, 1, 0, -1;",
    "vote with a fraction": "vote.sync.ballot.b32 %r1, %p1, 0d7FF0000000000000;",
    "match without a type": "match.any.sync %r1, %r2, -1;",
    "reduction of nothing": "redux.sync.add.s32 %r1, -1;",
    "print without arguments": "call.uni (given), vprintf, ();",
    "call without an argument": "call.uni (given), f, ();",
    "call with too wide an argument": ".param .b64 wide;\ncall.uni (given), f, (wide);",
}
CUT = {
    "no instruction": "",
    "a barrier at the end": "bar.sync 0;",
    "a guarded end": "@%p1 ret;",
    "a call at the end": "call.uni (given), f, (given);",
}


def run(body: str, **options):
    text = PTX.format(outside=CALLED, body=body)
    options.setdefault("engine", "interpreter")
    return launch(Program(text, Memory()), "k", (1, 1, 1), (1, 1, 1), bytes(8),
                  **options)  # fmt: skip


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("name", REFUSED)
def test_damaged_instruction_is_refused_by_name(name, engine):
    body = REFUSED[name]
    with pytest.raises(ck.UnsupportedError) as caught:
        run(body + "\nret;", engine=engine)
    assert f"PTX: {body.splitlines()[-1]}" in str(caught.value)


@pytest.mark.parametrize("name", REFUSED)
def test_checkers_refuse_damaged_instructions(name):
    with pytest.raises(ck.UnsupportedError):
        run(REFUSED[name] + "\nret;", observer=MemCheck())


@pytest.mark.parametrize("name", CUT)
def test_function_that_does_not_end_is_refused(name):
    with pytest.raises(ck.UnsupportedError):
        run(CUT[name])


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_unset_argument_of_a_call_is_zero(engine):
    run("call.uni (given), f, (given);\nld.param.b32 %r1, [given];\nret;",
        engine=engine)  # fmt: skip


@pytest.mark.parametrize(
    ("space", "nbytes", "text"),
    [("shared", 1 << 33, "shared memory"), ("local", 1 << 20, "arrays of a thread")],
)
def test_memory_that_no_gpu_has_is_refused(space, nbytes, text):
    with pytest.raises(ck.LaunchError, match=text):
        run(STORAGE.format(space=space, nbytes=nbytes))


PRINTED = {
    "missing arguments are 0": ("%d %d %s", b"\5\0\0\0", "5 0 (null)"),
    "a width that is negative": ("[%*d]", b"\xfd\xff\xff\xff\7\0\0\0", "[7  ]"),
    "a precision that is negative": (
        "%.*f", b"\xff\xff\xff\xff\0\0\0\0" + bytes(6) + b"\xf8\x3f", "1.500000",
    ),
    "a byte": ("%hhd %hhu", b"\x2c\1\0\0\xff\xff\xff\xff", "44 255"),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_printing_follows_c(name):
    template, data, shown = PRINTED[name]
    assert printf.format_text(template, data, Memory()) == shown


@pytest.mark.parametrize("template", ["%*d", "%999999999999d", "%.999999999999f"])
def test_printing_is_never_endless(template):
    assert len(printf.format_text(template, b"\xff\xff\xff\x7f", Memory())) < 2000


def test_result_in_a_special_register_is_told_without_names_of_the_simulator():
    asm = 'asm("mov.u32 %%laneid, %0;" : "=r"(lane));'
    source = "__global__ void f(unsigned *o) { unsigned lane; " + asm + " *o = lane; }"
    with pytest.raises(ck.UnsupportedError) as caught:
        ck.compile(source).f[1, 1](np.zeros(1, np.uint32))
    assert "its result goes to no register" in str(caught.value)
