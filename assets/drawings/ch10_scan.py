"""Drawings of chapter 10: running totals."""

from __future__ import annotations

from drawing import SMALL, Drawing
from parts import Round, draw_rounds

VALUES = (3, 1, 7, 0, 4, 1, 6, 3)


def scan_rounds() -> Drawing:
    """Draw the scan of Hillis and Steele."""
    d = Drawing(
        "10_scan_rounds",
        """Inclusive scan of 3, 1, 7, 0, 4, 1, 6, 3 by rounds, as Hillis and Steele did
        it. In each round every place adds what lies away places before it: 1,
        then 2, then 4. After three rounds the places hold 3, 4, 11, 11, 15, 16,
        22, 25.""",
        310,
    )
    rounds, sums = [Round("the values", VALUES)], list(VALUES)
    for away in 1, 2, 4:
        sums = [sums[t] + (sums[t - away] if t >= away else 0) for t in range(8)]
        moves = [(i, t) for t in range(away, 8) for i in (t, t - away)]
        rounds.append(Round(f"away = {away}", tuple(sums), moves))
    draw_rounds(d, rounds, (112, 12))
    d.note(
        (112, 292),
        "A place without an arrow keeps its value: there is nothing before it.",
    )
    return d


def scan_sweeps() -> Drawing:
    """Draw the scan up a tree and down again."""
    d = Drawing(
        "10_scan_sweeps",
        """Inclusive scan of the same eight values by sweeps. On the way up, with 1, 2
        and 4 apart, places 1, 3, 5, 7, then 3 and 7, then 7 become sums of a
        tree. On the way down, with 2 apart, place 5 adds place 3; with 1 apart,
        places 2, 4 and 6 add the place before them. The result is 3, 4, 11, 11,
        15, 16, 22, 25.""",
        470,
    )
    rounds, sums = [Round("the values", VALUES)], list(VALUES)
    for way, apart in (("up", 1), ("up", 2), ("up", 4), ("down", 2), ("down", 1)):
        start = 2 * apart - 1 + (apart if way == "down" else 0)
        moves = []
        for right in range(start, 8, 2 * apart):
            sums[right] += sums[right - apart]
            moves += [(right - apart, right), (right, right)]
        rounds.append(Round(f"{way}, {apart} apart", tuple(sums), moves))
    draw_rounds(d, rounds, (124, 12), size=(56, 30))
    d.note(
        (124, 448),
        "Coloured: the places that add in this round. All others keep what they hold.",
    )
    return d


def look_back() -> Drawing:
    """Draw how a tile finds the sum of all before it."""
    d = Drawing(
        "10_look_back",
        """Tile 5 looks back for the sum of everything before it. Tiles 4 and 3 have
        published only their own sums, 6 and 4. Tile 2 has published the sum of
        all up to its end, 15, so the search ends there: 6 + 4 + 15 = 25. Tile
        5, whose own sum is 2, then publishes 27 as the sum of all up to its
        end.""",
        316,
    )
    d.note((8, 27), "tile")
    d.note((8, 71), "its own sum")
    d.note((8, 133), "published")
    d.cells((124, 12), range(6), size=(92, 30), gap=12, fill="quiet")
    d.cells((124, 54), (5, 3, 7, 4, 6, 2), size=(92, 34), gap=12)
    words = ("all: 5", "all: 8", "all: 15", "own: 4", "own: 6", "own: 2")
    fills = ("green", "green", "green", "sky", "sky", "sky")
    states = d.cells(
        (124, 116),
        words,
        size=(92, 34),
        gap=12,
        fill=lambda tile: fills[tile],
        font=SMALL,
    )
    y = 190
    d.line(
        (states[5].centre[0], 150), (states[5].centre[0], y), (states[4].centre[0], y)
    )
    for tile in 4, 3, 2:
        d.line((states[tile + 1].centre[0], y), (states[tile].centre[0], y))
        d.arrow((states[tile].centre[0], y), states[tile].foot)
    d.note((states[5].centre[0] + 14, 212), "looks back", anchor="middle")
    d.note((states[3].centre[0], 212), "own sums: go on", anchor="middle")
    d.note((states[2].centre[0] - 60, 212), "sum of all: stop", anchor="middle")
    d.code((124, 258), "before tile 5:  6 + 4 + 15 = 25", small=False)
    d.code((124, 294), "tile 5 publishes  all: 25 + 2 = 27", fill="green", small=False)
    return d


DRAW = (scan_rounds, scan_sweeps, look_back)
