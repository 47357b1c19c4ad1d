"""PTX becomes machine code where ptxas is."""

from __future__ import annotations

import pytest

from coursekit import errors
from coursekit.toolchain import assembler, cubin

PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry stop()
{
    ret;
}
"""
needs_ptxas = pytest.mark.skipif(
    assembler.find_assembler() is None, reason="ptxas is not installed"
)


@needs_ptxas
def test_assembler_makes_machine_code():
    code, report = assembler.assemble(PTX, "sm_90")
    assert cubin.resources(code, report, 90)["stop"].spill_store_bytes == 0


@needs_ptxas
def test_refused_ptx_is_told_with_its_line():
    wrong = PTX.replace("ret;", "wret;")
    with pytest.raises(
        errors.CompileError, match=r"refuses the PTX for sm_80 in line 6"
    ):
        assembler.assemble(wrong, "sm_80")


def test_missing_assembler_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(assembler, "find_assembler", lambda: None)
    with pytest.raises(errors.UnsupportedError, match="pip install nvidia-cuda-nvcc"):
        assembler.assemble(PTX, "sm_80")
