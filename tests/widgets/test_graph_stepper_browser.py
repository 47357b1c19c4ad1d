"""The graph stepper: its steps, and the view by mouse and keyboard."""

from __future__ import annotations

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


def stepper():
    x = ck.autograd.Value(3, "x")
    return ck.graph_stepper(x * x + x)


@pytest.fixture
def page(opened):
    return opened(stepper())


def test_a_step_for_each_operation_and_each_edge():
    told = [step["told"] for step in stepper().graph["steps"]]
    assert told == [
        "The inputs are known.",
        "Forwards: * of 3 and 3 is 9.",
        "Forwards: + of 9 and 3 is 12.",
        "Backwards: the gradient of the result is 1.",
        "Backwards: + = 12 passes 1 * 1 on to * = 9.",
        "Backwards: + = 12 passes 1 * 1 on to x = 3.",
        "Backwards: * = 9 passes 1 * 3 on to x = 3.",
        "Backwards: * = 9 passes 1 * 3 on to x = 3.",
    ]


def test_gradients_of_the_last_step_are_those_of_the_engine():
    assert stepper().graph["steps"][-1]["gradients"] == ["7", "1", "1"]


def test_marked_edge_is_the_one_of_the_words():
    graph = stepper().graph
    edges = [graph["edges"][step["edge"]] for step in graph["steps"][4:]]
    pairs = [(edge["child"], edge["parent"]) for edge in edges]
    assert pairs == [(2, 1), (2, 0), (1, 0), (1, 0)]


def test_what_has_no_graph_is_refused():
    with pytest.raises(ArgumentError, match="graph_stepper got int"):
        ck.graph_stepper(3)


def test_large_graph_is_refused():
    x = y = ck.autograd.Value(1)
    for _ in range(40):
        y = y + x
    with pytest.raises(ArgumentError, match="a graph of 41 values"):
        ck.graph_stepper(y)


def test_next_and_back_move_by_one_step(page):
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Back").click()
    assert status(page) == "Forwards: * of 3 and 3 is 9."


def test_next_by_keyboard_ends_at_the_last_step(page):
    focus_by_tab(page, page.get_by_role("button", name="Next"))
    for _ in range(9):
        page.keyboard.press("Enter")
    assert (value(page, "step"), page.get_by_text("gradient 7").count()) == (7, 1)


def test_arrow_key_moves_the_steps(page):
    focus_by_tab(page, slider(page, "step"))
    page.keyboard.press("ArrowRight")
    assert value(page, "step") == 1


def test_picture_says_what_is_known(page):
    page.evaluate("model.set('step', 4)")
    label = page.locator("svg").get_attribute("aria-label")
    assert label == "x 3; * 9, gradient 1; + 12, gradient 1"
