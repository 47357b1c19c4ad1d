"""Integer and bit operations of the table equal Python's unlimited integers."""

import ptx_reference as ref
import pytest
from lanes import every, integers, run, wrap

ALL = ["u16", "s16", "u32", "s32", "u64", "s64"]
NARROW = ["u16", "s16", "u32", "s32"]
SHIFTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 2**31, 2**32 - 1]


def width(kind):
    return int(kind[1:])


def truncated(a, b):
    """Quotient toward zero."""
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


BINARY = {
    "add.T": lambda a, b, kind: a + b,
    "sub.T": lambda a, b, kind: a - b,
    "mul.lo.T": lambda a, b, kind: a * b,
    "mul.hi.T": lambda a, b, kind: a * b >> width(kind),
    "min.T": lambda a, b, kind: min(a, b),
    "max.T": lambda a, b, kind: max(a, b),
}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("name", BINARY)
def test_binary_operations(name, kind):
    a, b = every(integers(kind), integers(kind, seed=7))
    expected = [wrap(BINARY[name](x, y, kind), kind) for x, y in zip(a, b, strict=True)]
    assert run(name.replace("T", kind), a, b) == expected


@pytest.mark.parametrize("kind", ALL)
def test_division_and_remainder_truncate(kind):
    a, b = every(integers(kind), [v for v in integers(kind, seed=7) if v])
    pairs = list(zip(a, b, strict=True))
    quotients = [wrap(truncated(x, y), kind) for x, y in pairs]
    assert run(f"div.{kind}", a, b) == quotients
    remainders = [wrap(x - y * truncated(x, y), kind) for x, y in pairs]
    assert run(f"rem.{kind}", a, b) == remainders


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("name", ["div", "rem"])
def test_division_by_zero_does_not_warn(name, kind):
    assert len(run(f"{name}.{kind}", [1, 0], [0, 0])) == 2


@pytest.mark.parametrize("kind", NARROW)
def test_mul_wide_keeps_all_bits(kind):
    a, b = every(integers(kind), integers(kind, seed=7))
    wide = f"{kind[0]}{2 * width(kind)}"
    expected = [wrap(x * y, wide) for x, y in zip(a, b, strict=True)]
    assert run(f"mul.wide.{kind}", a, b) == expected


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_mad_adds_to_the_product(part, kind):
    a, b, c = every(integers(kind), integers(kind, seed=7), integers(kind, seed=8))
    shift = width(kind) if part == "hi" else 0
    rows = zip(a, b, c, strict=True)
    expected = [wrap((x * y >> shift) + z, kind) for x, y, z in rows]
    assert run(f"mad.{part}.{kind}", a, b, c) == expected


@pytest.mark.parametrize("kind", NARROW)
def test_mad_wide_adds_in_the_wide_type(kind):
    wide = f"{kind[0]}{2 * width(kind)}"
    a, b, c = every(integers(kind), integers(kind, seed=7), integers(wide))
    expected = [wrap(x * y + z, wide) for x, y, z in zip(a, b, c, strict=True)]
    assert run(f"mad.wide.{kind}", a, b, c) == expected


def clamp(value, kind):
    low, high = ref.limits(kind)
    return min(max(value, low), high)


@pytest.mark.parametrize("name", ["add", "sub"])
def test_sat_clamps_s32(name):
    a, b = every(integers("s32"), integers("s32", seed=7))
    sign = 1 if name == "add" else -1
    expected = [clamp(x + sign * y, "s32") for x, y in zip(a, b, strict=True)]
    assert run(f"{name}.sat.s32", a, b) == expected


def test_mad_hi_sat_clamps_s32():
    a, b, c = every(*(integers("s32", seed=s) for s in (1, 2, 3)))
    rows = zip(a, b, c, strict=True)
    expected = [clamp((x * y >> 32) + z, "s32") for x, y, z in rows]
    assert run("mad.hi.sat.s32", a, b, c) == expected


def low24(value, kind):
    value &= 0xFFFFFF
    return value - (1 << 24) if kind == "s32" and value >> 23 else value


@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_mul24_multiplies_24_bits(part, kind):
    a, b, c = every(*(integers(kind, seed=s) for s in (1, 2, 3)))
    shift = 16 if part == "hi" else 0
    products = [low24(x, kind) * low24(y, kind) >> shift
                for x, y in zip(a, b, strict=True)]  # fmt: skip
    assert run(f"mul24.{part}.{kind}", a, b) == [wrap(p, kind) for p in products]
    sums = [wrap(p + z, kind) for p, z in zip(products, c, strict=True)]
    assert run(f"mad24.{part}.{kind}", a, b, c) == sums


@pytest.mark.parametrize("kind", ALL)
def test_sad_adds_the_distance(kind):
    a, b, c = every(integers(kind), integers(kind, seed=7), integers(kind, seed=8))
    rows = zip(a, b, c, strict=True)
    assert run(f"sad.{kind}", a, b, c) == [
        wrap(z + abs(x - y), kind) for x, y, z in rows
    ]


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_abs_and_neg_wrap_at_the_minimum(kind):
    (a,) = every(integers(kind))
    assert run(f"abs.{kind}", a) == [wrap(abs(v), kind) for v in a]
    assert run(f"neg.{kind}", a) == [wrap(-v, kind) for v in a]


@pytest.mark.parametrize("name", ["max.relu.s32", "max.s32.relu"])
def test_relu_replaces_negative_results(name):
    a, b = every(integers("s32"), integers("s32", seed=7))
    expected = [max(0, x, y) for x, y in zip(a, b, strict=True)]
    assert run(name, a, b) == expected


@pytest.mark.parametrize("name", ["min.relu.s16x2", "min.s16x2.relu"])
def test_relu_of_packed_integers_works_on_both_halves(name):
    # Halves (-1, 5) and (7, 3).
    assert run(name, [0xFFFF_0005], [0x0007_0003]) == [0x0000_0003]


@pytest.mark.parametrize("kind", ["u16", "s16"])
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_packed_integers_work_on_both_halves(name, kind):
    a, b = every(integers(kind), integers(kind, seed=7), at_most=640)
    single = [v & 0xFFFF for v in run(f"{name}.{kind}", a, b)]
    both = [[(x & 0xFFFF) << 16 | (y & 0xFFFF)
             for x, y in zip(column, column[::-1], strict=True)]
            for column in (a, b)]  # fmt: skip
    expected = [x << 16 | y for x, y in zip(single, single[::-1], strict=True)]
    assert run(f"{name}.{kind}x2", *both) == expected


def parts(value, bits, signed):
    kind = f"{'s' if signed else 'u'}{bits}"
    return [wrap(value >> i & ((1 << bits) - 1), kind) for i in range(0, 32, bits)]


DOTS = [(x, y) for x in ("u32", "s32") for y in ("u32", "s32")]


@pytest.mark.parametrize(("x", "y"), DOTS)
def test_dp4a_adds_four_products(x, y):
    a, b, c = every(integers(x), integers(y), integers("s32"))
    expected = []
    for p, q, r in zip(a, b, c, strict=True):
        bytes_a, bytes_b = parts(p, 8, x == "s32"), parts(q, 8, y == "s32")
        total = sum(i * j for i, j in zip(bytes_a, bytes_b, strict=True))
        expected.append((total + r) & 0xFFFFFFFF)
    assert [v & 0xFFFFFFFF for v in run(f"dp4a.{x}.{y}", a, b, c)] == expected


@pytest.mark.parametrize(("x", "y"), DOTS)
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_dp2a_adds_two_products(part, x, y):
    a, b, c = every(integers(x), integers(y), integers("s32"))
    expected = []
    for p, q, r in zip(a, b, c, strict=True):
        chosen = parts(q, 8, y == "s32")[2 * (part == "hi") :][:2]
        halves = parts(p, 16, x == "s32")
        total = sum(i * j for i, j in zip(halves, chosen, strict=True))
        expected.append((total + r) & 0xFFFFFFFF)
    assert [v & 0xFFFFFFFF for v in run(f"dp2a.{part}.{x}.{y}", a, b, c)] == expected


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_add_with_carry_chains(kind):
    size = 1 << width(kind)
    a, b, carry = every(integers(kind), integers(kind, seed=7), [False, True])
    totals = [x % size + y % size for x, y in zip(a, b, strict=True)]
    expected = [wrap(t, kind) for t in totals], [t >= size for t in totals]
    assert run(f"add.cc.{kind}", a, b) == expected
    totals = [t + k for t, k in zip(totals, carry, strict=True)]
    expected = [wrap(t, kind) for t in totals], [t >= size for t in totals]
    assert run(f"addc.cc.{kind}", a, b, carry) == expected
    assert run(f"addc.{kind}", a, b, carry) == expected[0]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_sub_with_borrow_chains(kind):
    size = 1 << width(kind)
    a, b, borrow = every(integers(kind), integers(kind, seed=7), [False, True])
    rests = [x % size - y % size for x, y in zip(a, b, strict=True)]
    expected = [wrap(t, kind) for t in rests], [t < 0 for t in rests]
    assert run(f"sub.cc.{kind}", a, b) == expected
    rests = [t - k for t, k in zip(rests, borrow, strict=True)]
    expected = [wrap(t, kind) for t in rests], [t < 0 for t in rests]
    assert run(f"subc.cc.{kind}", a, b, borrow) == expected
    assert run(f"subc.{kind}", a, b, borrow) == expected[0]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_mad_with_carry_chains(part, kind):
    size = 1 << width(kind)
    shift = width(kind) if part == "hi" else 0
    pools = [integers(kind, 6, seed=s) for s in (1, 2, 3)]
    a, b, c, carry = every(*pools, [False, True])
    totals = [
        (x * y >> shift) % size + z % size for x, y, z in zip(a, b, c, strict=True)
    ]
    expected = [wrap(t, kind) for t in totals], [t >= size for t in totals]
    assert run(f"mad.{part}.cc.{kind}", a, b, c) == expected
    totals = [t + k for t, k in zip(totals, carry, strict=True)]
    expected = [wrap(t, kind) for t in totals], [t >= size for t in totals]
    assert run(f"madc.{part}.cc.{kind}", a, b, c, carry) == expected
    assert run(f"madc.{part}.{kind}", a, b, c, carry) == expected[0]


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic(bits):
    kind = f"u{bits}"
    a, b = every(integers(kind), integers(kind, seed=7))
    rows = list(zip(a, b, strict=True))
    assert run(f"and.b{bits}", a, b) == [x & y for x, y in rows]
    assert run(f"or.b{bits}", a, b) == [x | y for x, y in rows]
    assert run(f"xor.b{bits}", a, b) == [x ^ y for x, y in rows]
    assert run(f"not.b{bits}", a) == [wrap(~x, kind) for x in a]
    assert run(f"cnot.b{bits}", a) == [int(x == 0) for x in a]


def test_logic_of_predicates():
    a, b = [True, True, False, False], [True, False, True, False]
    assert run("and.pred", a, b) == [True, False, False, False]
    assert run("or.pred", a, b) == [True, True, True, False]
    assert run("xor.pred", a, b) == [False, True, True, False]
    assert run("not.pred", a) == [False, False, True, True]


@pytest.mark.parametrize("table", range(256))
def test_lop3_follows_every_truth_table(table):
    a, b, c = 0xF0F0_1234, 0xCCCC_FF00, 0xAAAA_0FF0
    expected = 0
    for i in range(32):
        index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1
        expected |= (table >> index & 1) << i
    assert run("lop3.b32", [a], [b], [c], [table]) == [expected]


def test_lop3_with_a_predicate_tests_the_result():
    found = run(
        "lop3.or.b32", [1, 2], [3, 1], [0, 0], [0xC0] * 2, [False] * 2, pair=True
    )
    assert found == ([1, 0], [True, False])


@pytest.mark.parametrize("kind", ["b16", "b32", "b64", *ALL])
def test_shifts_clamp_their_count(kind):
    typed = kind.replace("b", "u")
    bits = width(kind)
    a, count = every(integers(typed), SHIFTS)
    rows = list(zip(a, count, strict=True))
    assert run(f"shr.{kind}", a, count) == [x >> min(n, bits) for x, n in rows]
    if kind[0] == "b":
        left = [wrap(x << min(n, bits), typed) for x, n in rows]
        assert run(f"shl.{kind}", a, count) == left


@pytest.mark.parametrize("edge", ["clamp", "wrap"])
def test_funnel_shifts(edge):
    a, b, count = every(integers("u32"), integers("u32", seed=7), SHIFTS)
    left, right = [], []
    for x, y, n in zip(a, b, count, strict=True):
        n = n & 31 if edge == "wrap" else min(n, 32)
        both = y << 32 | x
        left.append((both << n) >> 32 & 0xFFFFFFFF)
        right.append(both >> n & 0xFFFFFFFF)
    assert run(f"shf.l.{edge}.b32", a, b, count) == left
    assert run(f"shf.r.{edge}.b32", a, b, count) == right


@pytest.mark.parametrize("bits", [32, 64])
def test_counting_and_reversing_bits(bits):
    (a,) = every(integers(f"u{bits}", 200))
    assert run(f"popc.b{bits}", a) == [v.bit_count() for v in a]
    assert run(f"clz.b{bits}", a) == [bits - v.bit_length() for v in a]
    reversed_bits = [int(f"{v:0{bits}b}"[::-1], 2) for v in a]
    assert run(f"brev.b{bits}", a) == reversed_bits


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bfind_finds_the_highest_bit_that_is_not_sign(kind):
    (a,) = every(integers(kind, 200))
    places = [(~v if v < 0 else v).bit_length() - 1 for v in a]
    assert run(f"bfind.{kind}", a) == [p & 0xFFFFFFFF for p in places]
    shifts = [0xFFFFFFFF if p < 0 else width(kind) - 1 - p for p in places]
    assert run(f"bfind.shiftamt.{kind}", a) == shifts


FIELDS = [0, 1, 2, 7, 8, 31, 32, 33, 40, 63, 64, 65, 200, 255, 256, 0x101]


def extracted(a, position, length, kind):
    """The definition of bfe in the PTX manual, bit by bit."""
    top = width(kind) - 1
    position, length = position & 255, length & 255
    a %= 1 << width(kind)
    sign = 0
    if kind[0] == "s" and length:
        sign = a >> min(position + length - 1, top) & 1
    result = 0
    for i in range(top + 1):
        inside = i < length and position + i <= top
        result |= (a >> (position + i) & 1 if inside else sign) << i
    return wrap(result, kind)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bfe_cuts_out_a_field(kind):
    a, position, length = every(integers(kind), FIELDS, FIELDS)
    rows = zip(a, position, length, strict=True)
    expected = [extracted(*row, kind) for row in rows]
    assert run(f"bfe.{kind}", a, position, length) == expected


def inserted(a, b, position, length, bits):
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b &= ~(1 << (position + i))
            b |= (a >> i & 1) << (position + i)
    return b


@pytest.mark.parametrize("bits", [32, 64])
def test_bfi_puts_in_a_field(bits):
    pool = integers(f"u{bits}")
    columns = every(pool, pool[::-1], FIELDS, FIELDS)
    expected = [inserted(*row, bits) for row in zip(*columns, strict=True)]
    assert run(f"bfi.b{bits}", *columns) == expected


@pytest.mark.parametrize("edge", ["clamp", "wrap"])
def test_bmsk_sets_a_run_of_bits(edge):
    a, b = every(FIELDS, FIELDS)
    expected = []
    for x, y in zip(a, b, strict=True):
        x, y = (x & 31, y & 31) if edge == "wrap" else (min(x, 32), min(y, 32))
        expected.append((((1 << y) - 1) << x) & 0xFFFFFFFF)
    assert run(f"bmsk.{edge}.b32", a, b) == expected


@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("edge", ["clamp", "wrap"])
def test_szext_extends_from_a_bit(edge, kind):
    a, b = every(integers(kind, 40), FIELDS)
    expected = []
    for x, n in zip(a, b, strict=True):
        n = n & 31 if edge == "wrap" else min(n, 32)
        expected.append(wrap(x, f"{kind[0]}{n}") if n else 0)
    assert run(f"szext.{edge}.{kind}", a, b) == expected


@pytest.mark.parametrize(
    ("mask", "base", "offset", "place"),
    [
        (0b1011, 1, 0, 1), (0b1001, 1, 0, -1), (0b1011_0000, 0, 1, 4),
        (0b1011_0000, 4, 3, 7), (0b1011_0000, 5, -1, 5), (0b1011_0000, 7, -2, 5),
        (0b1011_0000, 7, -4, -1), (0, 31, 1, -1), (0x80000000, 31, -1, 31),
    ],
)  # fmt: skip
def test_fns_finds_the_nth_set_bit(mask, base, offset, place):
    assert run("fns.b32", [mask], [base], [offset]) == [place & 0xFFFFFFFF]


def test_prmt_picks_bytes_and_copies_signs():
    a, b, selector = every(integers("u32"), integers("u32", seed=7),
                           [0x3210, 0x7654, 0xFEDC, 0xBA98, 0x0F1E, 0x5140, 0x12345],
                           )  # fmt: skip
    expected = []
    for x, y, s in zip(a, b, selector, strict=True):
        both, result = y << 32 | x, 0
        for i in range(4):
            nibble = s >> (4 * i) & 15
            byte = both >> (8 * (nibble & 7)) & 255
            if nibble & 8:
                byte = 255 if byte & 128 else 0
            result |= byte << (8 * i)
        expected.append(result)
    assert run("prmt.b32", a, b, selector) == expected


@pytest.mark.parametrize(
    ("mode", "selectors"),
    [
        ("f4e", [0x3210, 0x4321, 0x5432, 0x6543]),
        ("b4e", [0x5670, 0x6701, 0x7012, 0x0123]),
        ("rc8", [0x0000, 0x1111, 0x2222, 0x3333]),
        ("ecl", [0x3210, 0x3211, 0x3222, 0x3333]),
        ("ecr", [0x0000, 0x1110, 0x2210, 0x3210]),
        ("rc16", [0x1010, 0x3232, 0x1010, 0x3232]),
    ],
)
def test_prmt_modes_use_the_low_two_bits(mode, selectors):
    a, b = [0x83828180] * 8, [0x07060504] * 8
    found = run(f"prmt.b32.{mode}", a, b, list(range(8)))
    assert found == run("prmt.b32", a, b, selectors * 2)


COMPARED = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("name", COMPARED)
def test_setp_compares(name, kind):
    a, b = every(integers(kind), integers(kind))
    expected = [ref.order(name, x, y) for x, y in zip(a, b, strict=True)]
    assert run(f"setp.{name}.{kind}", a, b) == expected


@pytest.mark.parametrize("name", ["lo", "ls", "hi", "hs"])
def test_setp_unsigned_names(name):
    a, b = every(integers("u32"), integers("u32"))
    expected = [ref.order(name, x, y) for x, y in zip(a, b, strict=True)]
    assert run(f"setp.{name}.u32", a, b) == expected


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_setp_of_bits(bits):
    assert run(f"setp.eq.b{bits}", [1, 2], [1, 1]) == [True, False]


@pytest.mark.parametrize(
    ("word", "combine"),
    [("and", lambda t, c: t and c), ("or", lambda t, c: t or c),
     ("xor", lambda t, c: t != c)],
)  # fmt: skip
def test_setp_combines_both_results_with_a_predicate(word, combine):
    a, b, c = every([1, 2, 3], [2], [False, True])
    less = [x < y for x, y in zip(a, b, strict=True)]
    p = [combine(t, k) for t, k in zip(less, c, strict=True)]
    q = [combine(not t, k) for t, k in zip(less, c, strict=True)]
    assert run(f"setp.lt.{word}.s32", a, b, c) == p
    assert run(f"setp.lt.{word}.s32", a, b, c, pair=True) == (p, q)


def test_setp_of_two_results_gives_the_opposite_second():
    assert run("setp.lt.s32", [1, 2], [2, 1], pair=True) == (
        [True, False],
        [False, True],
    )


@pytest.mark.parametrize(("kind", "yes"), [("u32", 2**32 - 1), ("f32", 0x3F800000)])
def test_set_of_integers(kind, yes):
    assert run(f"set.lt.{kind}.s32", [-1, 1], [0, 0]) == [yes, 0]
    assert run(f"set.lt.and.{kind}.s32", [-1, -1], [0, 0], [True, False]) == [yes, 0]


@pytest.mark.parametrize(
    "kind", ["b16", "b32", "b64", "s16", "u32", "s64", "f32", "f64"]
)
def test_selp_chooses(kind):
    assert run(f"selp.{kind}", [1, 2], [3, 4], [True, False]) == [1, 4]


def test_slct_chooses_by_the_sign():
    assert run("slct.s32.s32", [1, 1, 1], [2, 2, 2], [0, -1, 5]) == [1, 2, 1]


@pytest.mark.parametrize("kind", ["pred", "b16", "u32", "s64", "f32", "f64", "b32"])
def test_mov_copies(kind):
    assert run(f"mov.{kind}", [1, 0]) == [1, 0]
