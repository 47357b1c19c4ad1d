"""The explorer of layouts: what it stores, says and refuses."""

import pytest

import coursekit as ck


def test_offset_is_spelled_out():
    shown = ck.layout_explorer("(4,(2,4)):(2,(1,8))", element=9)
    assert shown.formula() == "(1, 2): 1 * 2 + 0 * 1 + 1 * 8 = 10"


def test_swizzle_is_told_too():
    tile = ck.layout((8, 8), "row").swizzle(3, 0, 3)
    shown = ck.layout_explorer(tile, element=3)
    assert shown.formula() == "(3, 0): 3 * 8 + 0 * 1 = 24, swizzled 27"
    assert repr(shown.shown) == "Swizzle<3,0,3> o (8,8):(8,1)"


def test_banks_of_row_and_column_are_counted():
    plain = ck.layout_explorer("(32,32):(32,1)")
    assert "row 0 meets 32 banks with 32 words" in plain.banks()
    assert "column 0 meets 1 bank with 32 words" in plain.banks()


def test_picture_has_every_offset_and_the_formula():
    shown = ck.layout_explorer("(2,3):(3,1)")
    svg = shown.static_svg()
    assert [f">{offset}</text>" in svg for offset in range(6)] == [True] * 6
    assert shown.formula() in svg


def test_layout_of_one_mode_is_a_row():
    assert ck.layout_explorer("5:2").extents == (1, 5)


@pytest.mark.parametrize(
    ("text", "element", "words"),
    [
        ("(64,2):(2,1)", 0, "64 rows and 2 columns"),
        ("(4,8):(8,1)", 32, "element=32"),
        ("4 by 8", 0, "is no layout"),
    ],
)
def test_what_cannot_be_drawn_is_refused(text, element, words):
    with pytest.raises(ck.ArgumentError) as caught:
        ck.layout_explorer(text, element=element)
    assert words in str(caught.value)
