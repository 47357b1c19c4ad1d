"""Drawings of chapter 10: sums and counters."""

from __future__ import annotations

from drawing import CODE, SMALL, Drawing
from parts import Round, draw_rounds
from shapes import Rectangle

VALUES = (3, 1, 7, 0, 4, 1, 6, 3)


def _tree(aparts: tuple[int, ...], adds: dict[int, range]) -> list[Round]:
    """Return the rounds of a sum in place; `adds` has the places that add."""
    sums, rounds = list(VALUES), [Round("the values", VALUES)]
    for apart in aparts:
        places = adds[apart]
        for place in places:
            sums[place] += sums[place + apart]
        moves = [(i, place) for place in places for i in (place, place + apart)]
        idle = set(range(8)) - set(places)
        rounds.append(Round(f"apart = {apart}", tuple(sums), moves, idle))
    return rounds


def tree() -> Drawing:
    """Draw the sum of eight values with partners 1, 2 and 4 places apart."""
    d = Drawing(
        "10_tree",
        """The sum of the eight values 3, 1, 7, 0, 4, 1, 6, 3 as a tree in three rounds.
        With 1 apart, places 0, 2, 4 and 6 become 4, 7, 5 and 9. With 2 apart,
        places 0 and 4 become 11 and 14. With 4 apart, place 0 becomes 25, the
        total. Places that no longer count are grey.""",
        300,
    )
    adds = {apart: range(0, 8, 2 * apart) for apart in (1, 2, 4)}
    cells = draw_rounds(d, _tree((1, 2, 4), adds), (112, 12))
    total = cells[-1][0]
    d.note((total.x, 284), "Seven additions in three rounds. Grey places add no more.")
    return d


def halves() -> Drawing:
    """Draw the sum of eight values, upper half onto lower half."""
    d = Drawing(
        "10_halves",
        """The sum of the same eight values, the upper half added to the lower. With 4
        apart, places 0 to 3 become 7, 2, 13 and 3. With 2 apart, places 0 and 1
        become 20 and 5. With 1 apart, place 0 becomes 25. The places that add
        are always neighbours, and so are those that they read.""",
        300,
    )
    adds = {apart: range(apart) for apart in (4, 2, 1)}
    draw_rounds(d, _tree((4, 2, 1), adds), (112, 12))
    d.note((112, 284), "Threads 0 to apart - 1 add: neighbours read neighbours.")
    return d


def warp_sum() -> Drawing:
    """Draw a warp's sum by shuffles, with eight lanes."""
    d = Drawing(
        "10_warp_sum",
        """A warp's sum by __shfl_down_sync, drawn with 8 lanes instead of 32. With away
        = 4, lanes 0 to 3 add what lanes 4 to 7 hold; with 2, lanes 0 and 1 add
        what lanes 2 and 3 hold; with 1, lane 0 adds what lane 1 holds and has
        the total, 25. All values stay in registers.""",
        340,
    )
    d.note((8, 22), "lane")
    d.cells((112, 8), range(8), size=(56, 28), gap=12, fill="quiet")
    rounds, sums = [Round("own", VALUES)], list(VALUES)
    for away in 4, 2, 1:
        moves = [(i, lane) for lane in range(away) for i in (lane, lane + away)]
        sums = [sums[i] + sums[i + away] if i < away else sums[i] for i in range(8)]
        shown = [sums[i] if i < away else "..." for i in range(8)]
        rounds.append(Round(f"away = {away}", shown, moves, range(away, 8)))
    draw_rounds(d, rounds, (112, 44))
    d.code((112, 322), "own += __shfl_down_sync(ALL, own, away);")
    d.note((430, 322), "grey lanes add too; nobody uses it")
    return d


def two_levels() -> Drawing:
    """Draw the sum of a block: warps first, then their sums."""
    d = Drawing(
        "10_two_levels",
        """The sum of a block of 256 threads in two levels. Each of its 8 warps adds its
        32 values by five shuffles, and lane 0 stores the sum in shared memory.
        After __syncthreads, warp 0 loads the 8 sums and adds them by shuffles
        as well. Thread 0 then has the sum of the block.""",
        330,
    )
    d.note((8, 31), "registers")
    warps = d.cells(
        (112, 12),
        [f"warp {w}" for w in range(8)],
        size=(70, 38),
        gap=8,
        fill="sky",
        font=SMALL,
    )
    d.note((8, 121), "shared memory")
    sums = []
    for number, warp in enumerate(warps):
        place = Rectangle(warp.centre[0] - 22, 104, 44, 34)
        sums.append(d.box(place, f"[{number}]", font=CODE))
        d.arrow(warp.foot, place.top)
    d.note((424, 76), "5 shuffles each", anchor="middle")
    d.line((112, 166), (728, 166), width=4)
    d.code(
        (424, 166),
        "__syncthreads();  // every warp has stored its sum",
        anchor="middle",
    )
    first = d.box(
        Rectangle(112, 212, 616, 36),
        "warp 0: lane w loads of_warp[w], then 5 shuffles",
        fill="sky",
        font=SMALL,
    )
    for place in sums:
        x = place.centre[0]
        d.line(place.foot, (x, 153))
        d.arrow((x, 179), (x, first.y))
    place = Rectangle(112, 284, 200, 34)
    total = d.box(place, "thread 0: the block's sum", fill="amber", font=SMALL)
    d.arrow((212, first.bottom), total.top)
    d.note((330, 301), "the other lanes and warps are done")
    return d


def histogram() -> Drawing:
    """Draw two blocks that count in copies of their own."""
    blocks = ((2, 0, 2, 3), (1, 2, 2, 0))
    counts = [[block.count(bin_) for bin_ in range(4)] for block in blocks]
    total = [sum(column) for column in zip(*counts, strict=True)]
    d = Drawing(
        "10_private_histogram",
        """A histogram with private copies. Block 0 reads the values 2, 0, 2, 3 and
        counts 1, 0, 2, 1 in its own shared memory; block 1 reads 1, 2, 2, 0 and
        counts 1, 1, 2, 0. At the end each block adds its counters to those in
        global memory, which become 2, 1, 4, 1.""",
        330,
    )
    d.note((8, 64), "x")
    d.note((8, 152), "shared memory")
    d.note((8, 271), "global memory")
    result = [Rectangle(288 + 66 * v, 254, 66, 36) for v in range(4)]
    for number, (values, own) in enumerate(zip(blocks, counts, strict=True)):
        x = 136 + 320 * number
        d.frame(x - 10, 8, 284, 176)
        d.note((x + 132, 26), f"block {number}", anchor="middle")
        read = d.cells((x, 46), values, size=(66, 34), fill="sky")
        part = d.cells((x, 134), own, size=(66, 36), fill="amber")
        for place, value in zip(read, values, strict=True):
            d.arrow(place.foot, part[value].top)
        for value, place in enumerate(part):
            if own[value]:
                d.arrow(place.foot, result[value].top)
    for place, count in zip(result, total, strict=True):
        d.box(place, str(count), font=CODE, fill="green")
    d.note((8, 311), "value")
    d.cells((288, 298), range(4), size=(66, 26), fill="quiet")
    d.note((566, 271), "one atomic addition per\nblock and counter above 0")
    return d


DRAW = (tree, halves, warp_sum, two_levels, histogram)
