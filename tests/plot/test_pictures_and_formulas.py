"""Curves and grey pictures: what they say in words, what they refuse, how they draw."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import coursekit as ck
from coursekit import plot
from coursekit.plot import formulas
from coursekit.plot import pictures as grey

WORKERS = [1, 4, 16]


@pytest.fixture
def chart():
    return formulas.curves(
        WORKERS,
        {"half": [1.0, 1.6, 1.88], "all": [1.0, 4.0, 16.0]},
        title="Half is not much.",
        along="workers",
        of="speedup (times)",
        limits={"at most": 2},
    )


@pytest.fixture
def shown():
    values = np.linspace(0, 1, 35).reshape(5, 7)
    return grey.images(
        {"before": values, "after": 1 - values}, title="Two", alt="From black to white."
    )


def pictures(shown) -> list[np.ndarray]:
    found = re.findall(r"base64,([^\"]+)", shown._repr_html_())
    return [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(data))), float) / 255
        for data in found
    ]


def test_plot_offers_both():
    assert (plot.curves, plot.images) == (formulas.curves, grey.images)


def test_no_module_hides_a_plot_of_its_name():
    modules = {path.stem for path in Path(plot.__file__).parent.glob("*.py")}
    assert modules & set(plot.__all__) == set()


def test_plot_has_nothing_else():
    with pytest.raises(AttributeError, match="pie"):
        plot.pie  # noqa: B018


def test_chart_says_every_point(chart):
    assert "all by workers: 1 at 1, 4 at 4, 16 at 16." in chart.alt


def test_chart_says_its_limit_and_where_it_is_from(chart):
    assert chart.alt.endswith("Dashed line at 2: at most. Computed from the formula.")


def test_table_has_a_row_for_each_place(chart):
    assert chart.rows[1] == (4, 1.6, 4.0)


def test_every_place_has_its_tick(chart):
    labels = chart.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["1", "4", "16"]


def test_small_values_of_curves_are_marked_by_powers_of_two():
    axes = formulas.curves(
        [8, 16], {"error": [2.0**-11, 0.5]}, title="t", along="x", of="y"
    ).axes[0]
    shown = axes.yaxis.get_major_formatter()
    marks = [shown(value, 0) for value in (2.0**-11, 0.125, 4096.0)]
    assert marks == ["$2^{-11}$", "0.125", "4,096"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"series": {}}, id="no curve"),
        pytest.param({"series": {"a": [1.0, 2.0]}}, id="a value is missing"),
        pytest.param({"series": {"a": [1.0, 0.0, 2.0]}}, id="zero"),
        pytest.param({"series": {"a": [1.0, np.inf, 2.0]}}, id="infinite"),
        pytest.param({"x": [1], "series": {"a": [1.0]}}, id="one place"),
        pytest.param({"series": dict.fromkeys("abcdefg", WORKERS)}, id="too many"),
    ],
)
def test_curves_that_cannot_be_drawn_are_refused(change):
    given = {"x": WORKERS, "series": {"a": [1.0, 2.0, 3.0]}} | change
    with pytest.raises(ck.ArgumentError, match="plot.curves"):
        formulas.curves(**given, title="t", along="x", of="y")


def test_each_picture_has_alt_text(shown):
    alts = re.findall(r'<img alt="([^"]+)"', shown._repr_html_())
    assert alts == ["before. From black to white.", "after. From black to white."]


def test_pictures_have_their_own_size(shown):
    assert [image.shape for image in pictures(shown)] == [(5, 7), (5, 7)]


def test_pictures_are_near_the_values(shown):
    # JPEG is lossy: a few of 255 steps.
    np.testing.assert_allclose(pictures(shown)[0], shown.values["before"], atol=0.05)


def test_values_outside_of_black_and_white_are_cut():
    shown = grey.images({"x": np.full((8, 8), 7.0)}, title="t", alt="White.")
    assert pictures(shown)[0].min() == 1


def test_terminal_shows_the_numbers(shown):
    assert "before: 5 rows of 7, mean 0.500" in repr(shown)


def test_html_escapes_names():
    shown = grey.images({"<b>": np.zeros((2, 2))}, title="<i>", alt='"')
    assert "<b><" not in shown._repr_html_() and "<i>" not in shown._repr_html_()


@pytest.mark.parametrize(
    "given", [{}, {"x": np.zeros(4)}, {"x": np.zeros((2, 2, 3))}], ids=str
)
def test_what_is_no_grey_picture_is_refused(given):
    with pytest.raises(ck.ArgumentError, match="plot.images"):
        grey.images(given, title="t", alt="a")
