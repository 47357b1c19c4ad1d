"""The view of a training: points, words, and what a browser makes of them."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from coursekit import plot
from coursekit.widgets import LearningView, learning

LOSSES = (2.5, 2.1, 1.2, 0.8, 0.4, 0.3)
SEEN = plot.images({"a": np.eye(3), "b": np.ones((2, 5))}, title="A title", alt="Why")


def view(losses=LOSSES, every=2):
    made = LearningView(chance=2.3, every=every)
    for loss in losses:
        made.add(loss)
    return made


def test_example_of_the_documentation_holds():
    assert doctest.testmod(learning).failed == 0


def test_points_are_means():
    np.testing.assert_allclose(view().means, [2.3, 1.0, 0.35])


def test_steps_without_a_whole_point_are_kept():
    made = view(LOSSES[:5])
    assert (len(made.losses), len(made.means)) == (5, 2)


@pytest.mark.parametrize("losses", [(), LOSSES])
def test_stored_view_says_how_far_it_is(losses):
    made = view(losses)
    stored = made.static_html()
    words = "0.35; knowing nothing is 2.30" if losses else "No steps yet"
    assert words in re.search('alt="([^"]*)"', stored)[1]


def test_stored_curve_stays_inside_the_picture():
    points = re.search('points="([^"]+)"', view((9.0, *LOSSES), every=1).static_svg())
    places = np.array([p.split(",") for p in points[1].split()], float)
    assert (places >= [learning.LEFT, learning.TOP]).all()
    assert (places <= [learning.WIDTH, learning.BOTTOM]).all()


@pytest.mark.parametrize("loss", [np.inf, np.nan])
def test_loss_that_is_not_finite_ends_the_curve(loss):
    made = view((2.5, 2.1, 1.2, loss, 0.4, 0.3))
    assert (made.means, made.lost, len(made.losses)) == ([2.3], True, 6)


def test_stored_view_says_when_the_loss_is_lost():
    assert "no finite number" in view((np.nan, 1.0)).static_html()


def test_pictures_take_the_place_of_those_before():
    made = view()
    made.show(SEEN)
    made.show(SEEN)
    assert [one["name"] for one in made.pictures] == ["a", "b"]
