"""The Fourier circle: its sums, and the view by mouse and keyboard."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.errors import ArgumentError

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402 (after the skip)
    focus_by_tab,
    opened,
    slider,
    status,
    tab,
    value,
)

__all__ = ["opened", "tab"]  # fixtures
WAVE = np.cos(2 * np.pi * 3 * np.arange(8) / 8)


@pytest.fixture
def page(opened):
    return opened(ck.fourier_circle(WAVE))


@pytest.mark.parametrize("n", [2, 5, 32])
def test_lengths_are_those_of_the_transform(n):
    x = np.random.default_rng(0).standard_normal(n) + 1j * np.arange(n)
    lengths = [length for length, _ in ck.fourier_circle(x).sums]
    np.testing.assert_allclose(lengths, abs(np.fft.fft(x)), rtol=1e-6)


def test_walks_stay_in_the_picture():
    walks = np.array(ck.fourier_circle(WAVE).walks)
    assert walks.shape == (8, 9, 2)
    assert walks.min() >= 20 and walks.max() <= 280


@pytest.mark.parametrize("x", [[1.0], np.zeros(33), np.zeros((2, 2)), "ab", None])
def test_what_is_no_short_row_is_refused(x):
    with pytest.raises(ArgumentError, match="2 to 32 numbers"):
        ck.fourier_circle(x)


def test_what_is_not_finite_is_refused():
    with pytest.raises(ArgumentError, match="infinite or NaN"):
        ck.fourier_circle([1.0, np.nan])


def test_faster_and_slower_change_the_frequency(page):
    page.get_by_role("button", name="Faster").click()
    page.get_by_role("button", name="Faster").click()
    said = "k = 3: the arrows add up to 4.00 + 0.00i, of length 4."
    assert (value(page, "frequency"), status(page)) == (3, said)
    page.get_by_role("button", name="Slower").click()
    assert value(page, "frequency") == 2


def test_frequency_ends_at_the_last_one_by_keyboard(page):
    focus_by_tab(page, page.get_by_role("button", name="Faster"))
    for _ in range(9):
        page.keyboard.press("Enter")
    assert value(page, "frequency") == 7


def test_arrow_key_moves_the_frequency(page):
    focus_by_tab(page, slider(page, "frequency k"))
    page.keyboard.press("ArrowRight")
    assert value(page, "frequency") == 2


def test_bars_show_visited_frequencies_only(page):
    page.get_by_role("button", name="Faster").click()
    shown = [page.locator(f"rect.{name}").count() for name in ("ck-seen", "ck-now")]
    assert (*shown, page.locator("rect.ck-hidden").count()) == (1, 1, 6)
