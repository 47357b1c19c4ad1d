"""The view of a training in a browser: it grows in place, and axe finds nothing."""

from __future__ import annotations

import numpy as np
import pytest

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_learning_view import LOSSES, SEEN, view  # noqa: E402 (after the skip)
from test_widgets_browser import (  # noqa: E402
    opened,
    skip_without_axe,
    status,
    tab,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures


def shown(losses=LOSSES):
    made = view(losses)
    made.show(SEEN)
    return made


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(opened, theme):
    skip_without_axe()
    assert violations(opened(shown(), theme)) == []


def test_curve_has_the_points_of_the_stored_picture(opened):
    page = opened(view())
    drawn = page.locator("polyline").get_attribute("points")
    assert f'points="{drawn}"' in view().static_svg()


def test_new_point_is_drawn_and_told(opened):
    page = opened(view())
    page.evaluate("model.set('means', [2.3, 1.0, 0.35, 0.25])")
    assert len(page.locator("polyline").get_attribute("points").split()) == 4
    assert status(page).startswith("8 steps, loss 0.25; it began at 2.30")


def test_loss_that_is_not_finite_is_told(opened):
    page = opened(view((2.5, 2.1, np.nan, 1.0)))
    assert status(page).endswith("no finite number: the rate is too high.")


def test_view_without_steps_says_so(opened):
    assert status(opened(view(()))).startswith("No steps yet")


def test_pictures_have_their_words(opened):
    images = opened(shown()).locator("img:visible")
    words = [one.get_attribute("alt") for one in images.all()]
    assert words == ["a. Why", "b. Why"]


def test_updates_keep_every_node(opened):
    page = opened(shown())
    nodes = "document.querySelectorAll('#widget *')"
    page.evaluate(f"window.before = [...{nodes}]")
    page.evaluate("model.set('means', [1, 0.5]); model.set('pictures', [])")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert page.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")
