"""`ck.load_ptx`: kernels of other compilers are launched, counted and checked."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors, paths
from coursekit.toolchain import assembler


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


# What LLVM makes of a kernel in Python, shortened; line 3 loads, line 4 stores.
PYTHON = "def scale(x, out, n):\n    i = index()\n    v = x[i]\n    out[i] = 2 * v\n"
PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(
    .param .u64 .ptr .global .align 1 scale_param_0,
    .param .u64 scale_param_1,
    .param .u32 scale_param_2
)
.reqntid 32
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<8>;
    .loc 1 1 0
    ld.param.u64 %rd1, [scale_param_0];
    ld.param.u64 %rd2, [scale_param_1];
    ld.param.u32 %r1, [scale_param_2];
    .loc 1 2 0
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, 32, %r3;
    setp.lt.s32 %p1, %r4, %r1;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    .loc 1 3 0
    // begin inline asm
    .loc 1 3 0
    mov.u32 %r5, 0;
    .loc 1 4 0
    ld.global.b32 {%r5}, [%rd4];
    // end inline asm
    .loc 1 4 0
    mov.b32 %f1, %r5;
    add.f32 %f2, %f1, %f1;
    @%p1 st.global.f32 [%rd5], %f2;
    ret;
}
.file 1 "FILE"
"""
WITHOUT_LINES = re.sub(r"(?m)^\s*\.(?:loc|file).*\n", "", PTX)


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(PYTHON)
    return ck.load_ptx(PTX.replace("FILE", str(tmp_path / "own.py")))


def arrays(n: int = 50):
    x = np.arange(n, dtype=np.float32)
    return x, np.zeros_like(x)


def test_kernels_are_found_by_name(module):
    assert module.kernels == ("scale",)
    assert str(module) == "<Module own.py for compute_80: scale>"


def test_kernel_is_launched(module, backend):
    x, out = arrays(64)
    module.scale[2, 32](x, out, 64)
    assert (out == 2 * x).all()


def test_kernels_may_have_shorter_names():
    module = ck.load_ptx(WITHOUT_LINES, kernels=["double"])
    assert (module.kernels, module.double.lowered_name) == (("double",), "scale")


def test_each_kernel_takes_one_name():
    with pytest.raises(errors.ArgumentError, match="2 names for 1 kernels"):
        ck.load_ptx(WITHOUT_LINES, kernels=["a", "b"])


def test_parameters_have_their_width(module):
    assert [each.size for each in module.scale.parameters] == [8, 8, 4]


def test_argument_of_another_width_is_refused(module):
    with pytest.raises(errors.ArgumentError, match="a value of 4 bytes"):
        module.scale[2, 32](*arrays(64), np.int64(64))


def test_fault_names_the_line_of_the_other_language(module):
    with pytest.raises(errors.OutOfBoundsError) as caught:
        module.scale[2, 32](*arrays(50), 50)
    assert "own.py:3    v = x[i]" in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("own.py", 3)


def test_advice_is_in_the_other_language(module):
    with pytest.raises(errors.OutOfBoundsError, match=r"`if i < n:`"):
        module.scale[2, 32](*arrays(50), 50)


def test_launch_is_counted(module):
    assert ck.count(module.scale, 2, 32, (*arrays(64), 64)).global_load_sectors == 8


def test_costs_stand_beside_the_lines_of_the_other_language(module):
    counts = ck.count(module.scale, 2, 32, (*arrays(64), 64))
    lines = {
        place: each.global_load_sectors for place, each in counts.by_line().items()
    }
    assert lines["own.py", 3] == 8
    assert "v = x[i]" in str(ck.show_profile(counts))


def test_every_load_is_checked(module):
    findings = ck.memcheck(module.scale, 2, 32, (*arrays(50), 50))
    assert [(each.line, each.count) for each in findings] == [(3, 14)]


def test_race_between_blocks_is_found(module):
    x, out = arrays(64)
    text = WITHOUT_LINES.replace("%r2, 32, %r3", "%r2, 1, %r3")
    text = text.replace("add.f32 %f2, %f1, %f1", "cvt.rn.f32.s32 %f2, %r3")
    racing = ck.load_ptx(text)
    findings = ck.racecheck(racing.scale, 2, 32, (x, out, 64))
    assert findings[0].message.count("kernel.ptx:") == 2


def test_variables_of_python_are_not_looked_for(module):
    assert len(ck.initcheck(module.scale, 2, 32, (*arrays(64), 64))) == 0


def test_steps_are_traced(module):
    trace = ck.trace(module.scale, 2, 32, (*arrays(64), 64))
    assert "v = x[i]  (reads arg0)" in str(trace)


def test_source_is_the_other_language_s(module):
    assert module.source == PYTHON
    assert "out[i] = 2 * v" in str(ck.show(module.scale))


def test_kernel_alone_is_shown(tmp_path):
    (tmp_path / "own.py").write_text(PYTHON + "\nother = 1\n")
    module = ck.load_ptx(PTX.replace("FILE", str(tmp_path / "own.py")))
    assert "other" not in str(ck.show(module.scale))


def test_ptx_without_lines_has_its_own():
    module = ck.load_ptx(WITHOUT_LINES)
    with pytest.raises(errors.OutOfBoundsError) as caught:
        module.scale[2, 32](*arrays(50), 50)
    line = caught.value.line
    assert f"kernel.ptx:{line}    ld.global.b32 {{%r5}}, [%rd4];" in str(caught.value)
    assert WITHOUT_LINES.splitlines()[line - 1].strip().startswith("ld.global")


def test_file_of_ptx_is_read(tmp_path):
    (tmp_path / "mine.ptx").write_text(WITHOUT_LINES + "\0")
    module = ck.load_ptx(tmp_path / "mine.ptx")
    assert (module.name, module.path) == ("mine.ptx", tmp_path / "mine.ptx")


def test_file_of_ptx_may_lie_below_kernels(tmp_path, monkeypatch):
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "mine.ptx").write_text(WITHOUT_LINES)
    monkeypatch.setattr(paths, "kernels", lambda: tmp_path)
    assert ck.load_ptx("libraries/mine.ptx").kernels == ("scale",)


def test_types_of_mangled_kernels_are_known():
    source = "__global__ void scale(float *x, const int n) { x[threadIdx.x] *= n; }"
    module = ck.load_ptx(ck.compile(source).ptx)
    assert str(module.scale) == "Kernel scale(float* arg0, int arg1)"


def test_array_is_taken_for_a_pointer_in_a_struct():
    wrapped = WITHOUT_LINES.replace(
        ".param .u64 scale_param_1", ".param .align 8 .b8 scale_param_1[8]"
    )
    x, out = arrays(64)
    ck.load_ptx(wrapped).scale[2, 32](x, out, 64)
    assert (out == 2 * x).all()


def test_driver_gets_the_ptx(module):
    assert module.loadable("sm_90") == module.ptx.encode() + b"\0"


def test_machine_code_comes_from_the_assembler(module):
    if assembler.find_assembler() is None:
        pytest.skip("ptxas is not installed")
    assert ck.occupancy(module.scale, 32, device="H200").blocks == 32


def test_source_cannot_be_edited(module):
    with pytest.raises(
        errors.UnsupportedError, match="own.py cannot be compiled again"
    ):
        module.edited("")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "load_ptx got int, which is no text"),
        ("gone.ptx", "load_ptx cannot read gone.ptx: No such file"),
        ("__global__ void f() {}", "22 characters without a kernel in PTX"),
        (".version 8.0\n.target sm_80\n", "without a kernel in PTX"),
    ],
)
def test_what_is_no_ptx_is_refused(given, message):
    with pytest.raises(errors.ArgumentError, match=message):
        ck.load_ptx(given)
