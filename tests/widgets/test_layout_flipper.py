"""The layout flipper: offsets as NumPy counts them, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import coursekit as ck
from coursekit.errors import ArgumentError

CASES = list(product((1, 2, 4), (1, 3), (0, 2), ("COL", "ROW"), "NT"))


@pytest.mark.parametrize(("rows", "cols", "gap", "order", "trans"), CASES)
def test_offsets_are_those_of_numpy(rows, cols, gap, order, trans):
    ld = (rows if order == "COL" else cols) + gap
    widget = ck.layout_flipper(rows, cols, ld=ld, order=order, trans=trans)
    lines = np.arange(ld * (cols if order == "COL" else rows)).reshape(-1, ld)
    matrix = lines[:, : ld - gap]
    matrix = matrix.T if order == "COL" else matrix
    matrix = matrix.T if trans == "T" else matrix
    found = [
        [widget.offset(i, j) for j in range(widget.shape[1])]
        for i in range(widget.shape[0])
    ]
    assert found == matrix.tolist()


def test_text_names_the_place_of_the_selected_element():
    widget = ck.layout_flipper(2, 3, ld=4, trans="T")
    assert repr(widget).endswith("Row 0, column 1 lies at 1 + 0 * 4 = 1.")


@pytest.mark.parametrize("given", [{"rows": 5}, {"ld": 1}, {"ld": 7}, {"cols": 0}])
def test_sizes_that_do_not_fit_are_refused(given):
    with pytest.raises(ArgumentError, match="layout_flipper got"):
        ck.layout_flipper(**given)


@pytest.mark.parametrize("given", [{"order": "C"}, {"trans": "H"}])
def test_unknown_orders_are_refused(given):
    with pytest.raises(ArgumentError, match="Columns are contiguous with COL"):
        ck.layout_flipper(**given)
