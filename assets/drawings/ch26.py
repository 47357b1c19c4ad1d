"""Drawings of chapter 26: a convolutional network, forward and back."""

from __future__ import annotations

from drawing import CODE, SMALL, SMALL_CODE, Drawing
from parts import table
from shapes import Rectangle

POOLED = ((1, 3, 2, 0), (4, 2, 1, 5), (0, 6, 3, 1), (2, 1, 7, 2))


def network() -> Drawing:
    """Draw the layers with the shapes of their results."""
    d = Drawing(
        "26_network",
        """The network, layer by layer, with the shape of each result for one picture. A
        picture of 1 x 28 x 28. Block 1, convolution, batch normalisation, ReLU
        and pooling: 32 x 14 x 14. Block 2, the same layers: 64 x 7 x 7.
        Flattened: 3136. Linear and ReLU: 128. Linear: 10 logits.""",
        210,
    )
    shapes = (
        ("picture", "1 x 28 x 28", 92, "plain"),
        ("block 1", "32 x 14 x 14", 104, "sky"),
        ("block 2", "64 x 7 x 7", 96, "sky"),
        ("flatten", "3136", 80, "idle"),
        ("linear", "128", 74, "green"),
        ("linear", "10", 74, "amber"),
    )
    x, places = 8.0, []
    for name, shape, width, fill in shapes:
        places.append(d.box(Rectangle(x, 40, width, 54), name, fill=fill))
        d.code((x + width / 2, 118), shape, anchor="middle")
        x += width + 44
    for before, after in zip(places, places[1:], strict=False):
        d.arrow((before.right, 67), (after.x, 67))
    d.note(
        (8, 164),
        "a block: convolution 3 x 3, batch normalisation, ReLU, max pooling 2 x 2",
    )
    d.note(
        (8, 194),
        "the first linear layer ends with a ReLU; the last one gives ten logits",
    )
    d.note((8, 18), "shapes: channels x rows x columns")
    return d


def convolution() -> Drawing:
    """Draw a 3 x 3 window at the edge of a picture, and its zeros."""
    d = Drawing(
        "26_convolution",
        """A convolution with a filter of 3 x 3 at the corner of a picture of 5 x 5.
        Around the picture lies a border of zeros, one pixel wide. The window of
        the first result covers five zeros and four pixels. Each value in the
        window is multiplied by the weight in the same place, and the nine
        products are added.""",
        300,
    )
    pixels = [
        [2, 0, 1, 3, 1],
        [1, 4, 0, 2, 0],
        [0, 1, 2, 1, 3],
        [3, 0, 1, 0, 2],
        [1, 2, 0, 1, 1],
    ]
    weights = [[1, 0, 2], [0, 3, 1], [2, 1, 0]]
    padded = [[0] * 7, *([0, *row, 0] for row in pixels), [0] * 7]

    def fill(row: int, col: int) -> str:
        inside = 0 < row < 6 and 0 < col < 6
        if row < 3 and col < 3:
            return "amber" if inside else "red"
        return "plain" if inside else "idle"

    table(d, (16, 44), padded, (32, 32), fill)
    d.head((128, 20), "x, with its border of zeros")
    d.head((360, 20), "filter w")
    table(d, (312, 44), weights, (32, 32), lambda row, col: "sky")
    total = sum(padded[r][c] * weights[r][c] for r in range(3) for c in range(3))
    d.head((560, 20), "result y[0][0]")
    d.box(Rectangle(528, 76, 64, 36), str(total), fill="green", font=CODE)
    d.arrow((412, 92), (526, 92))
    terms = " + ".join(
        f"{padded[r][c]}*{weights[r][c]}" for r in (1, 2) for c in (1, 2)
    )
    d.code((312, 176), f"{terms} = {total}")
    d.label(
        (312, 212),
        "red: outside the picture, where a guard gives 0",
        fill="red",
        font=SMALL,
    )
    d.code(
        (312, 252),
        "y[row][col] += w[r][c]\n             * x[row + r - 1][col + c - 1];",
    )
    return d


def as_product() -> Drawing:
    """Draw a convolution as a matrix product with columns of windows."""
    d = Drawing(
        "26_as_product",
        """A convolution as a matrix product, drawn without a border. A picture of 4 x 4
        pixels, a to p, has 4 windows of 3 x 3. Each window is written as a
        column of 9 values. Two filters are the rows of a 2 x 9 matrix. Their
        product, 2 x 4, holds both filters' results for the 4 windows.""",
        350,
    )
    letters = "abcdefghijklmnop"
    picture = [list(letters[4 * row : 4 * row + 4]) for row in range(4)]
    table(
        d,
        (16, 60),
        picture,
        (34, 34),
        lambda row, col: "amber" if row < 3 and col > 0 else "plain",
    )
    d.head((84, 34), "picture x")
    windows = [(row, col) for row in (0, 1) for col in (0, 1)]
    columns = [
        [picture[row + r][col + c] for row, col in windows]
        for r in range(3)
        for c in range(3)
    ]
    d.head((560, 20), "columns: 9 x 4, never stored")
    table(
        d,
        (480, 44),
        columns,
        (40, 20),
        lambda row, col: "amber" if col == 1 else "plain",
        font=SMALL_CODE,
    )
    filters = [[f"{'vw'[f]}{n}" for n in range(9)] for f in range(2)]
    d.head((300, 216), "filters: 2 x 9")
    table(d, (168, 242), filters, (30, 34), lambda row, col: "sky", font=SMALL_CODE)
    results = [[f"{'vw'[f]}.{n}" for n in range(4)] for f in range(2)]
    table(d, (480, 242), results, (40, 34), lambda row, col: "green", font=SMALL_CODE)
    d.head((560, 328), "results y: 2 x 4")
    d.code((445, 276), "=")
    d.arrow((152, 111), (478, 111))
    d.note((170, 138), "window 1 becomes column 1")
    return d


def max_pool() -> Drawing:
    """Draw max pooling forward, and the way of the gradient back."""
    d = Drawing(
        "26_max_pool",
        """Max pooling of 4 x 4 values by 2 x 2. Forward, each piece gives its largest
        value: 4, 5, 6 and 7. Backward, the gradient of each result goes to the
        value that was largest and to no other: 10 to the place of 4, 20 to that
        of 5, 30 to that of 6 and 40 to that of 7; all other places get 0.""",
        230,
    )
    best, back = [], [[0] * 4 for _ in range(4)]
    winners = set()
    for number in range(4):
        top, left = 2 * (number // 2), 2 * (number % 2)
        places = [(top + r, left + c) for r in (0, 1) for c in (0, 1)]
        winner = max(places, key=lambda place: POOLED[place[0]][place[1]])
        winners.add(winner)
        best.append(POOLED[winner[0]][winner[1]])
        back[winner[0]][winner[1]] = 10 * (number + 1)

    def fill(row: int, col: int) -> str:
        return "amber" if (row, col) in winners else "plain"

    d.head((90, 20), "x")
    table(d, (10, 44), POOLED, (40, 36), fill)
    d.head((270, 20), "y = max")
    table(d, (230, 80), (best[:2], best[2:]), (40, 36), lambda row, col: "amber")
    d.arrow((172, 116), (228, 116))
    d.head((440, 20), "dy")
    table(d, (400, 80), ((10, 20), (30, 40)), (40, 36), lambda row, col: "green")
    d.head((650, 20), "dx")
    table(
        d,
        (570, 44),
        back,
        (40, 36),
        lambda row, col: "green" if (row, col) in winners else "plain",
    )
    d.arrow((482, 116), (568, 116))
    d.note((355, 212), "forward", anchor="end")
    d.note((386, 212), "backward: only the winner gets the gradient")
    d.line((370, 16), (370, 216), dashed=True)
    return d


DRAW = (network, convolution, as_product, max_pool)
