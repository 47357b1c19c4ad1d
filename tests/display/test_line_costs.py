"""The source with its costs beside it."""

import re

import numpy as np
import pytest

import coursekit as ck
from coursekit.display import line_costs
from coursekit.simt.memory.counters import Counters

SOURCE = """// Two loads, one of them strided.
__global__ void k(const float *a, const float *b, float *c)
{
    int i = threadIdx.x;
    float near = a[i];
    float far = b[8 * i];
    c[i] = near + far;
}
"""


@pytest.fixture(scope="module")
def counts():
    arrays = (np.ones(64, "f4"), np.ones(512, "f4"), np.ones(64, "f4"))
    return ck.count(ck.compile(SOURCE).k, 1, 64, arrays)


def line(listing, number):
    rows = (row for row in listing.rows if row.cells[0].text == str(number))
    return [cell.text for cell in next(rows).cells]


@pytest.mark.parametrize(
    ("number", "sectors", "flops"), [(5, "8", ""), (6, "64", ""), (7, "8", "64")]
)
def test_each_line_shows_what_it_cost(counts, number, sectors, flops):
    assert line(ck.show_profile(counts), number)[2:] == [sectors, flops]


def test_the_costliest_line_has_the_longest_bar_and_is_marked(counts):
    rows = {row.cells[0].text: row for row in ck.show_profile(counts).rows}
    assert len(rows["6"].cells[1].text) == line_costs.BAR
    assert [number for number, row in rows.items() if row.kind] == ["6"]


def test_a_small_cost_is_still_seen():
    assert line_costs._bar(1, 10_000) and not line_costs._bar(0, 10_000)


def test_the_bar_measures_what_is_asked_for(counts):
    rows = {
        row.cells[0].text: row for row in ck.show_profile(counts, heat="flops").rows
    }
    assert [number for number, row in rows.items() if row.kind] == ["7"]


def test_columns_without_counts_are_left_out(counts):
    caption = ck.show_profile(counts).caption
    assert "global sectors, flops" in caption and "barriers" not in caption


def test_the_exact_view_can_be_shown(counts):
    assert line(ck.show_profile(counts.exact), 6)[2] == "64"


def test_only_lines_that_ran_are_shown(counts):
    assert [row.cells[0].text for row in ck.show_profile(counts).rows][0] in "234"


@pytest.mark.parametrize("wrong", ["heats", "sectors"])
def test_an_unknown_heat_lists_the_known_ones(counts, wrong):
    with pytest.raises(ck.ArgumentError, match="global sectors, shared wavefronts"):
        ck.show_profile(counts, heat=wrong)


def test_counters_without_lines_are_refused():
    with pytest.raises(ck.ArgumentError, match="without lines"):
        ck.show_profile(Counters({"blocks": 1}))


def test_the_html_holds_the_numbers_as_text(counts):
    html = ck.show_profile(counts)._repr_html_()
    assert re.search(r">\s*64 </span>", html)
