"""Values of C expressions for one thread, as far as the kernel's text tells them."""

from __future__ import annotations

import pytest

from coursekit.exercises.index_values import Values

CODE = """{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i / 2;
    unsigned k = 7u;
    for (int r = 0; r < n; r++) {}
    if (n > 2 && i < n && j & i) return;
    int moved = 3;
    moved += 1;
    int *p = &watched;
    int around = around2 + 1, around2 = around;
    m = 4;
}"""
KNOWN = {"blockIdx.x": 1, "blockDim.x": 256, "threadIdx.x": 3, "n": 300, "m": 2,
         "watched": 5}  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("i", 259),
        ("n - 1 - i", 40),
        ("j", 129),
        ("k * 2", 14),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 / -2", -3),
        ("1 << 4 | 3", 19),
        ("i < n && j < n", 1),
        ("i >= n || !(j < n)", 0),
        ("blockIdx . x", 1),
    ],
)
def test_expression_has_its_value(expression, value):
    assert Values(CODE, KNOWN).of(expression) == value


@pytest.mark.parametrize(
    "expression",
    ["r", "moved", "m", "watched", "around", "unknown", "a[i]", "1 / 0", "f(i)", "1.5",
     "(int)i", "i < n ? 1 : 0", "i = 3", "", "((", "0 < i < n"],
)  # fmt: skip
def test_expression_without_a_certain_value_has_none(expression):
    assert Values(CODE, KNOWN).of(expression) is None


def test_names_are_listed_with_the_threads_own_first():
    assert Values(CODE, KNOWN).listed("n - 1 - i") == "i = 259, n = 300"
