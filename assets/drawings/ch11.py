"""Drawings of chapter 11: shrinking, choosing a tool, and mutants."""

from __future__ import annotations

from drawing import SMALL, SMALL_CODE, Drawing
from shapes import Rectangle


def shrink() -> Drawing:
    """Draw how a failing size is halved until it is small."""
    sizes = (
        (800, True),
        (400, True),
        (200, False),
        (300, True),
        (250, False),
        (275, True),
    )
    d = Drawing(
        "11_shrink",
        """Shrinking a failing case. Size 800 fails. Size 400 fails, so it is the new
        smallest failure. 200 passes. 300, between 200 and 400, fails. 250
        passes. 275 fails. The search goes on between the largest size that
        passes and the smallest that fails.""",
        222,
    )
    for number, (size, fails) in enumerate(sizes):
        x = 8 + 124 * number
        d.box(
            Rectangle(x, 40, 108, 40), f"n = {size}", fill="red" if fails else "green"
        )
        d.note((x + 54, 102), "fails" if fails else "passes", anchor="middle")
        if number:
            d.arrow((x - 16, 60), (x, 60))
    d.note((8, 18), "what was tried, from left to right")
    d.box(
        Rectangle(8, 138, 560, 26),
        "sizes that pass: up to 250",
        fill="green",
        font=SMALL,
    )
    d.box(Rectangle(568, 138, 60, 26), "?", fill="amber")
    d.box(Rectangle(628, 138, 124, 26), "fail: from 275", fill="red", font=SMALL)
    d.note((598, 194), "still to search: 251 to 274", anchor="middle")
    return d


def which_tool() -> Drawing:
    """Draw which checker answers which question."""
    rows = (
        ("an access outside an array?", "ck.memcheck", "thread, index, line"),
        ("a value read before it was written?", "ck.initcheck", "who read what"),
        ("two accesses that nothing orders?", "ck.racecheck", "both lines"),
        ("a barrier that some threads skip?", "ck.synccheck", "who waits where"),
        ("none of these, and still wrong?", "a reference", "first wrong values"),
    )
    d = Drawing(
        "11_which_tool",
        """Which tool answers which question. An access outside an array: memcheck. A
        value read before it was written: initcheck. Two accesses that nothing
        orders: racecheck. A barrier that some threads skip: synccheck. If none
        of these speaks and the result is still wrong, compare with a
        reference.""",
        290,
    )
    for x, name in ((150, "you ask"), (420, "tool"), (650, "it shows")):
        d.head((x, 20), name)
    for number, (question, tool, shows) in enumerate(rows):
        y = 44 + 48 * number
        fill = "amber" if number == 4 else "sky"
        first = d.box(Rectangle(8, y, 284, 36), question, font=SMALL)
        second = d.box(Rectangle(340, y, 160, 36), tool, fill=fill, font=SMALL_CODE)
        third = d.box(Rectangle(548, y, 204, 36), shows, fill="green", font=SMALL)
        for before, after in ((first, second), (second, third)):
            d.arrow((before.right, y + 18), (after.x, y + 18))
    return d


def mutants() -> Drawing:
    """Draw a test that meets a kernel and its mutants."""
    rows = (
        ("i < n", "the kernel", "passes", "green", "right"),
        ("i <= n", "mutant 1", "fails", "green", "killed"),
        ("i < n - 1", "mutant 2", "fails", "green", "killed"),
        ("i < n + 32", "mutant 3", "passes", "red", "survives"),
    )
    d = Drawing(
        "11_mutants",
        """Who tests the test. The kernel with the guard i < n passes. Mutant 1, i <= n,
        and mutant 2, i < n - 1, fail: the test kills them. Mutant 3, i < n +
        32, passes: it survives, so the test lacks a case.""",
        250,
    )
    d.head((424, 20), "the test")
    for number, (guard, name, result, fill, verdict) in enumerate(rows):
        y = 44 + 50 * number
        d.box(Rectangle(8, y, 130, 36), name, fill="amber" if number else "sky")
        d.code((152, y + 18), f"if ({guard})")
        test = d.box(Rectangle(364, y, 120, 36), result)
        last = d.box(Rectangle(560, y, 150, 36), verdict, fill=fill)
        d.arrow((300, y + 18), (test.x, y + 18))
        d.arrow((test.right, y + 18), (last.x, y + 18))
    return d


DRAW = (shrink, which_tool, mutants)
