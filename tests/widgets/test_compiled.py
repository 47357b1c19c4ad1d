"""The compiled view: what it stores, says, and does with the reader's edits."""

import json

import pytest

import coursekit as ck
from coursekit.toolchain import sass
from coursekit.widgets.compiled_words import parts

SCALE = """__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = a * x[i];
}
"""


@pytest.fixture
def widget():
    return ck.show_compiled(ck.compile(SCALE).scale)


def page_state(widget):
    return json.loads(widget.view)


def kinds(text, language):
    return {piece: kind for kind, piece in parts(text, language) if kind != "plain"}


def test_the_page_has_each_source_line_with_its_number(widget):
    state = page_state(widget)
    lines = ["".join(piece for _, piece in row) for row in state["source"]]
    assert state["first"] == 1
    assert lines == SCALE.rstrip("\n").split("\n")


def test_a_row_of_ptx_has_source_line_and_live_registers(widget):
    rows = page_state(widget)["ptx"]
    (multiply,) = [row for row in rows if row[0][0][1].strip() == "mul.f32"]
    assert multiply[1] == 5
    assert multiply[2] == 4  # two floats, and the address of the store


def test_the_words_say_how_many_instructions_a_kernel_became(widget):
    assert "6 source lines became" in widget.alt_text()
    assert "live registers" in widget.alt_text()


def test_the_picture_has_the_source(widget):
    assert "threadIdx" in widget.static_svg()


def test_without_a_disassembler_the_words_say_so(monkeypatch):
    monkeypatch.setattr(sass, "find_disassembler", lambda: None)
    widget = ck.show_compiled(ck.compile(SCALE.replace("scale", "alone")).alone)
    assert "there is no disassembler" in widget.alt_text()
    assert "no disassembler here" in widget.static_svg()


def test_an_edit_is_compiled_and_shown(widget):
    widget.edited = {"turn": 1, "text": widget.text.replace("a * x[i]", "a + x[i]")}
    assert widget.answered == {"turn": 1, "trouble": ""}
    assert '"add.f32"' in widget.view


def test_an_edit_that_does_not_compile_leaves_the_listings(widget):
    before = widget.view
    widget.edited = {"turn": 1, "text": widget.text.replace("a * x[i]", "b * x[i]")}
    assert "identifier" in widget.answered["trouble"]
    assert widget.view == before


def test_ptx_has_the_colours_of_its_parts():
    found = kinds("@%p1 bra $L__BB0_2;", "ptx")
    assert found == {"@%p1": "directive", "bra": "keyword", "$L__BB0_2": "directive"}


def test_machine_code_has_the_colours_of_its_parts():
    found = kinds("@P0 IADD3 R4, R2.reuse, 0x1, RZ;", "sass")
    assert found["@P0"] == "directive"
    assert (found["IADD3"], found["0x1"]) == ("keyword", "literal")
    assert found["R4"] == found["R2.reuse"] == found["RZ"] == "type"


@pytest.mark.parametrize("language", ["ptx", "sass"])
def test_the_parts_of_a_line_are_the_line(language):
    text = "st.global.f32 [%rd1+4], %f2;  @!P1 FFMA.FTZ R1, -R2, 0.5, UR4"
    assert "".join(piece for _, piece in parts(text, language)) == text
