"""Drawings of chapter 16c: an iterator that looks up, a split, a tile in order."""

from __future__ import annotations

from drawing import SMALL_CODE, Drawing


def permutation() -> Drawing:
    """Draw what a permutation iterator reads, and what is stored."""
    d = Drawing(
        "16_permutation",
        """Memory has two arrays: prices 2.5, 10, 4, 0.5 and articles 1, 3, 1. A
        permutation iterator over both reads, in this order, 10, 0.5 and 10. It
        looks up prices at the places that articles names, and stores nothing.""",
        246,
    )
    d.note((8, 34), "prices, stored")
    prices = d.cells((230, 16), ("2.5", "10", "4", "0.5"), size=(70, 36), fill="sky")
    d.note((8, 124), "articles, stored")
    articles = d.cells((230, 106), (1, 3, 1), size=(70, 36), fill="amber")
    d.note((8, 214), "what the algorithm reads")
    read = d.cells((230, 196), ("10", "0.5", "10"), size=(70, 36), fill="green")
    for place, index in enumerate((1, 3, 1)):
        d.arrow(articles[place].top, prices[index].foot)
        d.arrow(articles[place].foot, read[place].top)
    d.note((560, 214), "in no memory")
    return d


def split() -> Drawing:
    """Draw a stable split by the lowest bit."""
    d = Drawing(
        "16_split",
        """Six keys of three bits: 110, 011, 101, 000, 111, 010. A split by the lowest
        bit puts 110, 000, 010 first, whose lowest bit is 0, and then 011, 101,
        111. Within both groups the keys stay in their order.""",
        216,
    )
    keys = ("110", "011", "101", "000", "111", "010")
    order = sorted(range(6), key=lambda i: int(keys[i][-1]))
    fill = {"0": "sky", "1": "amber"}
    d.note((8, 34), "before")
    before = d.cells(
        (130, 16), keys, size=(84, 36), gap=12, fill=lambda i: fill[keys[i][-1]]
    )
    d.note((8, 144), "after")
    after = d.cells(
        (130, 126),
        [keys[i] for i in order],
        size=(84, 36),
        gap=12,
        fill=lambda i: fill[keys[order[i]][-1]],
    )
    for place, i in enumerate(order):
        d.arrow(before[i].foot, after[place].top)
    d.brace(after[0].x, after[2].right, 168, "zeros, in their order")
    d.brace(after[3].x, after[5].right, 168, "ones, in their order")
    return d


def tile() -> Drawing:
    """Draw a tile that is sorted in shared memory and stored in runs."""
    d = Drawing(
        "16_tile",
        """A tile of eight keys with the digits b, a, c, a, b, a, c, b. In shared
        memory they are put in order: a, a, a, b, b, b, c, c. From there each
        run of equal digits is stored to neighbouring places of memory: the run
        of a into the part of digit a, that of b into the part of b, that of c
        into the part of c, behind what earlier tiles have stored.""",
        330,
    )
    digits = "bacabacb"
    order = sorted(range(8), key=lambda i: digits[i])
    fill = {"a": "sky", "b": "amber", "c": "green"}
    d.note((8, 34), "a tile")
    first = d.cells(
        (150, 16), digits, size=(56, 34), gap=6, fill=lambda i: fill[digits[i]]
    )
    d.note((8, 134), "shared memory")
    second = d.cells(
        (150, 116),
        [digits[i] for i in order],
        size=(56, 34),
        gap=6,
        fill=lambda i: fill[digits[order[i]]],
    )
    for place, i in enumerate(order):
        d.arrow(first[i].foot, second[place].top)
    d.note((8, 254), "memory")
    x = 120.0
    for digit, old, begin, count in ("a", 1, 0, 3), ("b", 1, 3, 3), ("c", 2, 6, 2):
        d.cells((x, 236), "." * old, size=(34, 34), fill="idle", font=SMALL_CODE)
        new = d.cells(
            (x + 34 * old, 236), digit * count, size=(34, 34), fill=fill[digit]
        )
        d.arrow(second[begin].foot, new[0].top)
        d.arrow(second[begin + count - 1].foot, new[-1].top)
        d.brace(x, new[-1].right, 276, f"part of {digit}")
        x = new[-1].right + 58
    return d


DRAW = (permutation, split, tile)
