"""Usual mistakes of chapter 15 are named by the checks of its pieces."""

from __future__ import annotations

import pytest

from coursekit.exercises import catalogue
from coursekit.exercises.checking import examine

OUTSIDE = "if (at_row < 0 || at_row >= rows || at_col < 0 || at_col >= cols) break;"
GUARDED = """\
            bool inside = at_row >= 0 && at_row < rows
                && at_col >= 0 && at_col < cols;
            if (inside)
"""
NEW_CELL = "c[k] = f * c[k] + i * g;"
NEW_OUTPUT = "h[k] = o * tanhf(c[k]);"
CHANNEL = "group * members + i / pixels"
LAYER = "y = graph.relu(graph.bias(y, bias))"
MIDDLE = "takes the pixel"


def told(id, old, new):
    """Return what the check says of the solution with an edit."""
    entry = catalogue.find(id)
    text = entry.solution.read_text(encoding="utf-8")
    assert old in text
    return examine(entry, text.replace(old, new)).message


# ---------------------------------------------------------------- filters

FILTERS = [
    ("15.a", "x[at_row * cols + at_col]", "x[row * cols + col]", MIDDLE),
    ("15.a", "r * 3 + s", "s * 3 + r", "have changed places"),
    ("15.a", "at_row >= 0", "at_row > 0", "The pixels of row 0 are left out"),
    ("15.a", "at_col >= 0", "at_col > 0", "The pixels of column 0 are left out"),
    ("15.a", GUARDED, OUTSIDE, "The results of column 0 are 0"),
    ("15.e", "col - s + 1", "col + s - 1", "at_row and at_col is right"),
    ("15.e", "row - r + 1", "row + r - 1", "at_row and at_col is right"),
    (
        "15.e",
        "row - r + 1, at_col = col - s + 1",
        "row - r, at_col = col - s",
        "one row too far up and one column too far left",
    ),
    (
        "15.e",
        "row - r + 1, at_col = col - s + 1",
        "row - s + 1, at_col = col - r + 1",
        "r and s have changed places",
    ),
    ("15.f", "dy[row * cols + col] * x", "dy[at_row * cols + at_col] * x", "one and"),
    ("15.f", " * x[at_row * cols + at_col]", "", "without the pixels"),
    ("15.k", "(h * W + v)", "(row * W + col)", MIDDLE),
    ("15.k", "3 * r + s", "3 * s + r", "have changed places"),
    ("15.k", "(3 * r + s) * C + c", "(c * 3 + r) * 3 + s", "as [c][r][s]"),
    ("15.k", "(3 * r + s) * C + c", "3 * r + s", "by the same weight"),
    ("15.k", "(h * W + v) * C + c", "(c * H + h) * W + v", "as [c][row][col]"),
    ("15.k", "c < C", "c < 1", "Channel 0 of each pixel is summed"),
    ("15.k", "continue", "break", "The results of column 0 are 0"),
    ("15.k", "h < 0 || h >= H || v < 0", "h < 1 || h >= H || v < 1", "are left out"),
]


@pytest.mark.parametrize(("id", "old", "new", "words"), FILTERS)
def test_mistake_in_a_filter_is_named(id, old, new, words):
    assert words in told(id, old, new)


# ---------------------------------------------------------------- layouts

LAYOUTS = [
    (
        "15.l",
        "tap = i / C % 9, pixel = i / C / 9",
        "tap = i / C / (H * W), pixel = i / C % (H * W)",
        "The tap changes slowest",
    ),
    ("15.l", "(row * W + col)", "pixel", "has the pixel itself"),
    ("15.l", "row >= 0 && row < H && col >= 0", "row > 0 && row < H && col > 0", "out"),
    (
        "15.l",
        "+ tap / 3 - 1, col = pixel % W + tap % 3 - 1",
        "+ tap / 3, col = pixel % W + tap % 3",
        "Tap 0 takes the pixel itself",
    ),
    (
        "15.l",
        "+ tap / 3 - 1, col = pixel % W + tap % 3 - 1",
        "+ tap % 3 - 1, col = pixel % W + tap / 3 - 1",
        "have changed places",
    ),
    (
        "15.l",
        "+ tap / 3 - 1, col = pixel % W + tap % 3 - 1",
        "- tap / 3 + 1, col = pixel % W - tap % 3 + 1",
        "The shifts go the other way",
    ),
    ("15.m", "if (col == W - 1)", "else if (col == W - 1)", "image of one column"),
    ("15.m", "~0111", "~0x111", "hexadecimal masks"),
    ("15.m", "~0111", "~0001", "one bit of three"),
    ("15.m", "~0111", "~0444", "of the left and the right edge have changed"),
    ("15.m", "~0111", "0111", "the others are cleared"),
    (
        "15.n",
        "y[(c / 4 * H * W + pixel) * 4 + c % 4] = x[i]",
        "y[i] = x[(c / 4 * H * W + pixel) * 4 + c % 4]",
        "x is read at the place where y is to be written",
    ),
]
RIGHT_EDGE = {"~0x111": "~0x444", "~0001": "~0004", "~0444": "~0111", "0111": "0444"}


@pytest.mark.parametrize(("id", "old", "new", "words"), LAYOUTS)
def test_mistake_in_a_layout_is_named(id, old, new, words):
    entry = catalogue.find(id)
    text = entry.solution.read_text(encoding="utf-8")
    assert old in text
    if new in RIGHT_EDGE:
        text = text.replace("~0444", RIGHT_EDGE[new])
    assert words in examine(entry, text.replace(old, new, 1)).message


# ---------------------------------------------------------------- elements

ELEMENTS = [
    ("15.g", "count = 0", "count = 1", "divided by 1 more"),
    ("15.g", "count = 0", "count = 3", "divided by 3 more"),
    ("15.g", "sum / count", "sum / (i == 0 ? 2 : 3)", "the last one counts it"),
    ("15.h", NEW_CELL, "c[k] = i * c[k] + f * g;", "i and f have changed places"),
    ("15.h", NEW_CELL, "c[k] += i * g;", "the gate f has no effect"),
    ("15.h", NEW_CELL, "c[k] += f * c[k] + i * g;", "The old cell is added twice"),
    ("15.h", NEW_CELL, "c[k] = f * c[k] + i * tanhf(g);", "through tanh twice"),
    ("15.h", NEW_OUTPUT, "h[k] = o * c[k];", "without tanh"),
    ("15.h", NEW_OUTPUT, "h[k] = tanhf(o * c[k]);", "of the product with o"),
    (
        "15.h",
        f"{NEW_CELL}\n    {NEW_OUTPUT}",
        f"{NEW_OUTPUT}\n    {NEW_CELL}",
        "as it was before this step",
    ),
    ("15.o", "(d2 - d1)", "(d1 - d2)", "Each first result takes m2"),
    ("15.1", CHANNEL, "i / pixels", "of the first group"),
    ("15.1", CHANNEL, "group * members", "of its first channel"),
    ("15.1", "squares += ", "squares += 0 * ", "The variance is taken to be 0"),
    ("15.1", "(x[first + i] - mean);", "(x[first + i] - mean) / n;", "n twice"),
    (
        "15.1",
        CHANNEL,
        "blockIdx.x * members + i / pixels",
        "channel is 6, computed as `blockIdx.x * members + i / pixels`",
    ),
]


@pytest.mark.parametrize(("id", "old", "new", "words"), ELEMENTS)
def test_mistake_in_an_element_is_named(id, old, new, words):
    assert words in told(id, old, new)


def test_filter_in_place_of_its_transform_is_named():
    entry = catalogue.find("15.o")
    text = entry.solution.read_text(encoding="utf-8")
    text = text.replace("m0 + m1 + m2", "d0 * u[0] + d1 * u[1] + d2 * u[2]")
    text = text.replace("m1 - m2 - m3", "d1 * u[0] + d2 * u[1] + d3 * u[2]")
    assert "u is taken for the filter" in examine(entry, text).message


# ---------------------------------------------------------------- Python

IN_PYTHON = [
    ("15.b", "return h * w * c, 1, w * c, c", "print(h * w * c)", "returns None"),
    ("15.b", ", w * c, c", ", w * c", "strides returns (60, 1, 15)"),
    ("15.c", LAYER, "graph.bias(y, bias)", "The result of bias is not used"),
    ("15.c", LAYER, "y = graph.bias(graph.relu(y), bias)", "bias comes behind ReLU"),
    ("15.d", "continue", "break", "the loop ended there"),
    ("15.d", "best = plan", "return plan", "Does the loop look at every plan"),
    ("15.d", "    return best", "    best", "and none is returned"),
    ("15.d", "return best", "return best.name", "choose returns 'plan 1'"),
]


@pytest.mark.parametrize(("id", "old", "new", "words"), IN_PYTHON)
def test_mistake_in_python_is_named(id, old, new, words):
    assert words in told(id, old, new)
