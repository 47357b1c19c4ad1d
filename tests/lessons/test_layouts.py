"""Layouts agree with brute force, and with CuTe's own algebra where it is installed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coursekit as ck

SMALL = st.integers(1, 6)
SHAPES = st.recursive(
    SMALL,
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple),
    max_leaves=4,
)


@st.composite
def layouts(draw, most_stride=24):
    """Return layouts of any shape, whose strides need not be compact."""
    shape = draw(SHAPES)

    def strides(part):
        if isinstance(part, int):
            return draw(st.integers(0, most_stride))
        return tuple(map(strides, part))

    return ck.layout(shape, strides(shape))


@st.composite
def compact_layouts(draw):
    """Return layouts that number their places in some order of the modes."""
    extents = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    strides, size = [0] * len(extents), 1
    for mode in draw(st.permutations(range(len(extents)))):
        strides[mode] = size * draw(st.sampled_from((1, 1, 2)))
        size = strides[mode] * extents[mode]
    return ck.layout(tuple(extents), tuple(strides))


def coordinates(shape):
    """Yield the coordinates of a shape, first mode first."""
    if isinstance(shape, int):
        yield from range(shape)
        return
    for reverse in itertools.product(*(list(coordinates(s)) for s in shape[::-1])):
        yield reverse[::-1]


def inner(coordinate, stride):
    """Return the offset of a coordinate: the definition."""
    if isinstance(stride, int):
        return coordinate * stride
    return sum(map(inner, coordinate, stride))


def beyond(layout, number):
    """Return the offset of a number, past the end along the last mode."""
    shape = layout.coalesce().shape
    shape = (shape,) if isinstance(shape, int) else shape
    stride = layout.coalesce().stride
    stride = (stride,) if isinstance(stride, int) else stride
    total = 0
    for extent, step in zip(shape[:-1], stride[:-1], strict=True):
        total += number % extent * step
        number //= extent
    return total + number * stride[-1]


@given(layouts())
def test_offset_is_the_inner_product_with_the_strides(layout):
    expected = [inner(c, layout.stride) for c in coordinates(layout.shape)]
    assert [layout(i) for i in range(layout.size)] == expected
    assert [layout(c) for c in coordinates(layout.shape)] == expected
    assert layout.offsets() == expected


@given(layouts())
def test_cosize_is_the_largest_offset_plus_one(layout):
    assert layout.cosize == max(layout.offsets()) + 1


@given(layouts())
def test_coalesce_keeps_the_offsets(layout):
    short = layout.coalesce()
    assert short.offsets() == layout.offsets()
    assert short.coalesce() == short


@given(layouts(), layouts(most_stride=8))
def test_composition_applies_one_layout_after_the_other(outer, other):
    try:
        both = outer.composition(other)
    except ck.ArgumentError as error:
        assert "cannot be composed" in str(error)
        return
    assert both.offsets() == [beyond(outer, at) for at in other.offsets()]


@given(compact_layouts(), st.integers(1, 64))
def test_complement_fills_what_is_left_without_overlap(layout, size):
    try:
        rest = layout.complement(size)
    except ck.ArgumentError as error:
        assert "no complement" in str(error)
        return
    found = sorted(a + b for a in layout.offsets() for b in rest.offsets())
    assert len(set(found)) == len(found)
    assert set(range(min(size, rest.cosize))) <= {*found, *range(layout.cosize)}
    assert len(found) >= size or layout.size >= size


@given(compact_layouts(), st.integers(1, 12))
def test_divide_keeps_each_offset_once(layout, tile):
    try:
        divided = layout.logical_divide(tile)
    except ck.ArgumentError:
        return
    assert sorted(divided.offsets()) == sorted(layout.offsets())
    assert divided.modes[0].offsets() == layout.offsets()[:tile]


@given(compact_layouts(), st.integers(1, 5))
def test_product_repeats_a_layout_without_overlap(layout, copies):
    try:
        product = layout.logical_product(copies)
    except ck.ArgumentError:
        return
    assert product.modes[0] == layout
    assert len(set(product.offsets())) == layout.size * copies


def test_divide_by_mode_names_tile_and_rest():
    matrix = ck.layout((8, 16), "row")
    tiles = matrix.zipped_divide((4, 8))
    assert str(tiles) == "((4,8),(2,2)):((16,1),(64,8))"
    assert tiles((1, 2), (1, 1)) == matrix(4 + 1, 8 + 2)


def test_blocked_product_puts_tiles_side_by_side():
    tile = ck.layout((2, 2), "column")
    assert tile.blocked_product(ck.layout((2, 3), "row")).table().tolist() == [
        [0, 2, 4, 6, 8, 10],
        [1, 3, 5, 7, 9, 11],
        [12, 14, 16, 18, 20, 22],
        [13, 15, 17, 19, 21, 23],
    ]


@pytest.mark.parametrize(("bits", "base", "shift"), [(3, 0, 3), (2, 1, 3), (5, 0, 5)])
def test_swizzle_is_a_permutation_that_keeps_the_low_bits(bits, base, shift):
    side = 2 ** (base + bits)
    plain = ck.layout((2**bits, side), "row")
    mixed = plain.swizzle(bits, base, shift)
    assert sorted(mixed.offsets()) == list(range(plain.size))
    assert all(
        a % 2**base == b % 2**base
        for a, b in zip(plain.offsets(), mixed.offsets(), strict=True)
    )


def test_swizzle_of_32_words_spreads_rows_and_columns_over_all_banks():
    tile = ck.layout((32, 32), "row").swizzle(5, 0, 5)
    banks = tile.table() % 32
    assert all(len(set(row)) == 32 for row in banks)
    assert all(len(set(column)) == 32 for column in banks.T)


def test_table_has_mode_0_down_and_the_others_across():
    assert ck.layout((2, 3), "row").table().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert ck.layout(4, 2).table().tolist() == [[0, 2, 4, 6]]
    assert ck.layout((2, 2, 2)).table().shape == (2, 4)


def test_text_of_a_layout_is_read_back():
    layout = ck.layout((2, (3, 4)), (12, (1, 3)))
    assert repr(layout) == "(2,(3,4)):(12,(1,3))"
    assert ck.layout(repr(layout)) == layout
    assert ck.layout("(4,8)") == ck.layout((4, 8))


MESSAGES = {
    "brackets": (lambda: ck.layout((2, 4), 1), "differ in their brackets"),
    "no number": (lambda: ck.layout((2, "x")), "shape of a layout got 'x'"),
    "no extent": (lambda: ck.layout((2, 0)), "shape of a layout got 0"),
    "no layout": (lambda: ck.layout("4 by 8"), "'4 by 8' is no layout"),
    "twice": (lambda: ck.layout("4:1", 1), "'4:1' is no layout"),
    "outside": (lambda: ck.layout((2, 4))(2, 0), "coordinate 2 lies outside"),
    "negative": (lambda: ck.layout((2, 4))(-1), "from 0 to 7"),
    "rank": (lambda: ck.layout((2, 4))(1, 2, 3), "does not fit the shape (2,4)"),
    "compose": (
        lambda: ck.layout((6, 4), (1, 10)).composition(ck.layout(4, 4)),
        "4 does not divide 6",
    ),
    "divide": (lambda: ck.layout(10).logical_divide(4), "do not divide 10:1"),
    "modes": (lambda: ck.layout(8).logical_divide((2, 2)), "got 2 modes for 8:1"),
    "overlap": (lambda: ck.layout((4, 2), (1, 2)).complement(8), "has no complement"),
    "size": (lambda: ck.layout(4).complement(0), "complement got the size 0"),
    "swizzle": (lambda: ck.layout(64).swizzle(3, 0, 2), "would overlap"),
}


@pytest.mark.parametrize(("call", "words"), MESSAGES.values(), ids=MESSAGES)
def test_message_names_what_was_given(call, words):
    with pytest.raises(ck.ArgumentError) as caught:
        call()
    assert words in str(caught.value)
    assert caught.value.cure


# ---------------------------------------------------------------- CuTe's own algebra

CASES = [
    ("(4,8):(8,1)", "4:2"),
    ("(6,2):(8,2)", "(4,3):(3,1)"),
    ("(4,2,8):(3,12,97)", "8:2"),
    ("(10,2):(16,4)", "(5,4):(1,5)"),
    ("(2,(4,6)):(24,(1,4))", "(2,6):(1,2)"),
]


def of_pycute(layout):
    """Return a layout of the C++ package as ours."""
    return ck.layout(layout.shape, layout.stride)


@pytest.fixture(scope="module")
def pycute():
    return pytest.importorskip(
        "pycute",
        reason="pycute comes with nvidia-cutlass, `make setup EXTRAS=libraries`",
    )


@pytest.mark.parametrize(("left", "right"), CASES)
def test_composition_equals_that_of_pycute(pycute, left, right):
    ours, theirs = ck.layout(left), ck.layout(right)
    a = pycute.Layout(ours.shape, ours.stride)
    b = pycute.Layout(theirs.shape, theirs.stride)
    found = of_pycute(pycute.composition(a, b))
    try:
        mine = ours.composition(theirs)
    except ck.ArgumentError:
        # pycute returns something here, and it is not the composition
        assert found.offsets() != [beyond(ours, at) for at in theirs.offsets()]
        return
    assert mine.offsets() == found.offsets()


@pytest.mark.parametrize(
    ("layout", "size"),
    [("4:2", 24), ("(2,2):(1,6)", 24), ("(4,6):(1,4)", 24), ("6:1", 24)],
)
def test_complement_equals_that_of_pycute(pycute, layout, size):
    ours = ck.layout(layout)
    theirs = pycute.complement(pycute.Layout(ours.shape, ours.stride), size)
    assert ours.complement(size) == of_pycute(pycute.coalesce(theirs))


def test_divide_and_product_equal_those_of_pycute(pycute):
    ours = ck.layout((4, 6), (1, 4))
    theirs = pycute.Layout((4, 6), (1, 4))
    tile = pycute.Layout(8, 1)
    found = of_pycute(pycute.logical_divide(theirs, tile))
    assert ours.logical_divide(8).offsets() == found.offsets()
    found = of_pycute(pycute.logical_product(theirs, pycute.Layout(3, 1)))
    assert ours.logical_product(3).offsets() == found.offsets()


def test_swizzle_equals_that_of_pycute(pycute):
    plain = ck.layout((8, 64), "row")
    theirs = pycute.Swizzle(3, 3, 3)
    ours = plain.swizzle(3, 3, 3)
    assert ours.offsets() == [theirs(at) for at in plain.offsets()]
    assert np.array_equal(np.sort(ours.table(), axis=None), np.arange(512))


# ---------------------------------------------------------------- CuTe DSL

TWO = {
    "composition": ("(6,2):(8,2)", "(4,3):(3,1)"),
    "logical_divide": ("(4,8):(1,4)", "8:1"),
    "logical_product": ("(2,2):(1,2)", "6:1"),
    "blocked_product": ("(2,2):(1,2)", "(2,3):(3,1)"),
}
BY_MODE = ("logical_divide", "zipped_divide", "composition")


@pytest.fixture(scope="module")
def cute():
    return pytest.importorskip(
        "cutlass.cute",
        reason="the CuTe DSL is not installed, `make setup EXTRAS=dsl`",
        exc_type=ImportError,
    )


def told(cute, operation):
    """Return the text of what the DSL computes from layouts, while it compiles."""
    found = []

    def traced():
        found.append(str(operation()))

    cute.jit(traced)()
    return found[0].replace(" ", "")


def of_dsl(cute, layout):
    return cute.make_layout(layout.shape, stride=layout.stride)


@pytest.mark.parametrize("name", TWO)
def test_operation_equals_that_of_the_cute_dsl(cute, name):
    left, right = map(ck.layout, TWO[name])
    theirs = told(
        cute,
        lambda: getattr(cute, name)(of_dsl(cute, left), of_dsl(cute, right)),
    )
    assert str(getattr(left, name)(right)) == theirs


@pytest.mark.parametrize("name", BY_MODE)
def test_operation_by_mode_equals_that_of_the_cute_dsl(cute, name):
    matrix = ck.layout((4, 8), "row")
    theirs = told(cute, lambda: getattr(cute, name)(of_dsl(cute, matrix), (2, 4)))
    assert str(getattr(matrix, name)((2, 4))) == theirs


def test_complement_and_coalesce_equal_those_of_the_cute_dsl(cute):
    one, nested = ck.layout("4:2"), ck.layout("(2,(1,6)):(1,(7,2))")
    theirs = told(cute, lambda: cute.complement(of_dsl(cute, one), 24))
    assert str(one.complement(24)) == theirs
    theirs = told(cute, lambda: cute.coalesce(of_dsl(cute, nested)))
    assert str(nested.coalesce()) == theirs
