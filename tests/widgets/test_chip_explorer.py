"""The chip explorer: what it says of two boards, and what is stored of it."""

import pytest

import coursekit as ck
from coursekit.errors import DeviceError
from coursekit.widgets.chip_explorer import FIGURES


def row(widget, title):
    return next(texts for name, *texts in widget.rows() if name == title)


def test_whole_board_has_the_numbers_of_the_data_sheet():
    found = row(ck.chip_explorer("H200", "RTX 4090"), "memory bandwidth")
    assert found == ["4,800 GB/s", "1,008 GB/s", "4.76"]


def test_whole_numbers_keep_all_their_digits():
    found = row(ck.chip_explorer("H200", "RTX 4090"), "FP32 lanes")
    assert found == ["16,896", "16,384", "1.03"]


def test_bandwidth_of_an_a100_has_the_digits_of_the_data_sheet():
    found = row(ck.chip_explorer("A100 SXM4 40GB", "RTX 3070"), "memory bandwidth")
    assert found == ["1,555 GB/s", "448 GB/s", "3.47"]


def test_one_sm_has_its_part_of_the_board():
    found = row(ck.chip_explorer("H200", "RTX 4090", view="one SM"), "FP32 lanes")
    assert found == ["128", "128", "1"]


def test_clock_is_the_same_for_one_sm():
    boards = ("H200", "RTX 4090")
    views = [ck.chip_explorer(*boards, view=v) for v in ("whole board", "one SM")]
    assert [row(v, "clock, at most") for v in views] == [
        ["1,980 MHz", "2,520 MHz", "0.786"]
    ] * 2


def test_sms_of_one_sm_are_one():
    found = row(ck.chip_explorer("T4", "L4", view="one SM"), "SMs")
    assert found == ["1", "1", "1"]


def test_unknown_number_is_said():
    from dataclasses import replace

    bare = replace(ck.device("T4"), name="bare", tdp_w=None)
    found = row(ck.chip_explorer(bare, "L4"), "power, at most")
    assert found == ["-", "72 W", "-"]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda one: one.title)
def test_every_board_of_the_table_has_every_figure(figure):
    values = [figure.value(board) for board in ck.devices().values()]
    assert all(value and value > 0 for value in values)


def test_stored_table_has_a_row_for_each_figure():
    html = ck.chip_explorer("H200", "RTX 4090").static_html()
    assert html.count("<th scope='row'>") == len(FIGURES)


def test_unknown_board_is_refused():
    with pytest.raises(DeviceError, match="RTX 4071"):
        ck.chip_explorer("H200", "RTX 4071")
