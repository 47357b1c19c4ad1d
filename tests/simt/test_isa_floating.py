"""Float operations of the table equal exact fractions rounded once."""

import random
from fractions import Fraction

import ptx_reference as ref
import pytest
from lanes import SHAPES, every, floats, run

DIRECTIONS = ["rn", "rz", "rm", "rp"]
KINDS = ["f16", "bf16", "f32", "f64"]


def same(found, expected, kind):
    """Bits are equal; NaNs of f64 have no canonical bits."""
    if kind == "f64":
        found = [plain(v) for v in found]
        expected = [plain(v) for v in expected]
    assert found == expected


def plain(bits):
    return "nan" if ref.decode(bits, "f64")[1] == ref.NAN else bits


def forms(names, kinds=KINDS):
    """Every name with every type, in the directions that the type has."""
    return [
        pytest.param(name, kind, direction, id=f"{name}.{direction}.{kind}")
        for name in names
        for kind in kinds
        for direction in (DIRECTIONS if kind in ("f32", "f64") else ["rn"])
    ]


@pytest.mark.parametrize(("name", "kind", "direction"), forms(["add", "sub", "mul"]))
def test_arithmetic_rounds_once(name, kind, direction):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=2500)
    reference = getattr(ref, name)
    expected = [reference(x, y, kind, direction) for x, y in zip(a, b, strict=True)]
    same(run(f"{name}.{direction}.{kind}", a, b), expected, kind)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic_without_a_rounding_word_rounds_to_nearest(name, kind):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=500)
    assert run(f"{name}.{kind}", a, b) == run(f"{name}.rn.{kind}", a, b)


@pytest.mark.parametrize(("name", "kind", "direction"), forms(["div"], ["f32", "f64"]))
def test_division_rounds_once(name, kind, direction):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=2500)
    expected = [ref.div(x, y, kind, direction) for x, y in zip(a, b, strict=True)]
    same(run(f"{name}.{direction}.{kind}", a, b), expected, kind)


@pytest.mark.parametrize(("name", "kind", "direction"), forms(["rcp"], ["f32", "f64"]))
def test_reciprocal_rounds_once(name, kind, direction):
    (a,) = every(floats(kind, 400))
    expected = [ref.div(ref.one(kind), x, kind, direction) for x in a]
    same(run(f"{name}.{direction}.{kind}", a), expected, kind)


@pytest.mark.parametrize(("name", "kind", "direction"), forms(["sqrt"], ["f32", "f64"]))
def test_square_root_rounds_once(name, kind, direction):
    (a,) = every(floats(kind, 400))
    expected = [ref.sqrt(x, kind, direction) for x in a]
    same(run(f"{name}.{direction}.{kind}", a), expected, kind)


def adversarial(kind, count, seed=5):
    """Triples whose exact a * b + c lies at or close to a tie, or cancels."""
    rng = random.Random(seed)
    exponent, fraction = SHAPES[kind]
    pool = floats(kind, 200, seed)
    rows = []
    while len(rows) < count:
        a, b = rng.choice(pool), rng.choice(pool)
        if rng.random() < 0.5:
            # Few significant bits: products that end exactly at a tie.
            keep = rng.randint(0, fraction)
            a, b = a >> keep << keep, b >> keep << keep
        (sa, x), (sb, y) = ref.decode(a, kind), ref.decode(b, kind)
        if isinstance(x, str) or isinstance(y, str):
            continue
        exact, sign = x * y, sa ^ sb
        choice = rng.randrange(5)
        if choice == 0:  # cancel all but the last bits
            c = ref.encode(1 - sign, exact, kind, rng.choice(DIRECTIONS))
        elif choice == 1:  # a tie of the product, with an addend that decides it
            c = rng.choice([1, 2, 3, rng.getrandbits(fraction)])
        elif choice == 2:  # the product decides a tie of the addend
            c = ref.encode(sign, exact * 2 ** (fraction + 1), kind)
        elif choice == 3:  # a product far below the addend
            c = ref.encode(sign, exact * 2 ** rng.randint(fraction, 3 * fraction), kind)
        else:
            c = rng.choice(pool)
        c ^= rng.getrandbits(1) << (exponent + fraction)
        rows.append((a, b, c))
    return list(zip(*rows, strict=True))


@pytest.mark.parametrize(("name", "kind", "direction"), forms(["fma"]))
def test_fma_of_adversarial_triples_rounds_once(name, kind, direction):
    columns = adversarial(kind, 6000 if direction == "rn" else 1500)
    expected = [ref.fma(*row, kind, direction) for row in zip(*columns, strict=True)]
    same(run(f"{name}.{direction}.{kind}", *columns), expected, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_fma_of_special_values_follows_ieee(kind):
    special = [v for v in floats(kind, 0) if v is not None]
    columns = every(special, special, special, at_most=5000)
    expected = [ref.fma(*row, kind) for row in zip(*columns, strict=True)]
    same(run(f"fma.rn.{kind}", *columns), expected, kind)


@pytest.mark.parametrize(
    ("addend", "scale"),
    [(1 + Fraction(1, 2**23), -24), (Fraction(2**22 + 1, 2**149), -150)],
    ids=["normal", "subnormal"],
)
@pytest.mark.parametrize("sign", [0, 1])
def test_fma_f32_just_beside_a_tie_is_not_rounded_twice(addend, scale, sign):
    # The product is 2**scale * (1 - 2**-46): added in float64 it becomes a tie.
    a = ref.encode(sign, (1 + Fraction(1, 2**23)) * Fraction(2) ** (scale // 2), "f32")
    b = ref.encode(0, (1 - Fraction(1, 2**23)) * Fraction(2) ** (scale // 2), "f32")
    c = ref.encode(sign, addend, "f32")
    assert run("fma.rn.f32", [a], [b], [c]) == [c]


def test_mad_is_fma():
    columns = adversarial("f32", 500)
    assert run("mad.rn.f32", *columns) == run("fma.rn.f32", *columns)


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("name", ["add", "mul", "sub"])
def test_ftz_flushes_sources_and_result(name, kind):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=2500)
    reference = getattr(ref, name)
    expected = [
        ref.flush(reference(ref.flush(x, kind), ref.flush(y, kind), kind), kind)
        for x, y in zip(a, b, strict=True)
    ]
    assert run(f"{name}.ftz.{kind}", a, b) == expected


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_sat_clamps_to_one_and_turns_nan_into_zero(kind):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=2500)
    sums = [ref.add(x, y, kind) for x, y in zip(a, b, strict=True)]
    expected = [ref.saturate(v, kind) for v in sums]
    assert run(f"add.sat.{kind}", a, b) == expected


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_relu_replaces_negative_results_and_keeps_nan(kind):
    columns = adversarial(kind, 1000)
    plain_bits = run(f"fma.rn.{kind}", *columns)
    expected = [0 if ref.decode(v, kind)[0] else v for v in plain_bits]
    assert run(f"fma.rn.relu.{kind}", *columns) == expected


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize(
    "name", ["add.K", "fma.rn.K", "min.K", "neg.K", "tanh.approx.K"]
)
def test_two_lane_types_work_on_both_halves(name, kind):
    count = {"fma": 3, "neg": 1, "tanh": 1}.get(name.split(".")[0], 2)
    pools = [floats(kind, seed=s)[: 20 + s] for s in range(count)]
    low = every(*pools, at_most=640)
    high = [c[::-1] for c in low]
    both = [[h << 16 | w for h, w in zip(*p, strict=True)]
            for p in zip(high, low, strict=True)]  # fmt: skip
    single, double = name.replace("K", kind), name.replace("K", kind + "x2")
    halves = zip(run(single, *high), run(single, *low), strict=True)
    assert run(double, *both) == [h << 16 | w for h, w in halves]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_mixed_precision_add_rounds_once(kind, direction):
    a, c = every(floats(kind), floats("f32"), at_most=2000)
    wide = [ref.encode(*ref.decode(v, kind), "f32") for v in a]
    expected = [ref.add(x, y, "f32", direction) for x, y in zip(wide, c, strict=True)]
    assert run(f"add.{direction}.f32.{kind}", a, c) == expected


def test_mixed_precision_fma_rounds_once():
    a, b, c = every(floats("f16", 10), floats("f16", 10), floats("f32", 10))

    def wide(v):
        return ref.encode(*ref.decode(v, "f16"), "f32")

    expected = [ref.fma(wide(x), wide(y), z, "f32")
                for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    assert run("fma.rn.f32.f16", a, b, c) == expected


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_f32x2_works_on_both_halves(name):
    a, b = every(floats("f32"), floats("f32", seed=9), at_most=640)
    wide_a = [x << 32 | y for x, y in zip(a, a[::-1], strict=True)]
    wide_b = [x << 32 | y for x, y in zip(b, b[::-1], strict=True)]
    single = run(f"{name}.f32", a, b)
    expected = [x << 32 | y for x, y in zip(single, single[::-1], strict=True)]
    assert run(f"{name}.f32x2", wide_a, wide_b) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("word", ["", ".NaN"])
def test_min_and_max_order_zeros_and_treat_nan(name, kind, word):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=3000)
    expected = [
        ref.extreme(x, y, kind, largest=name == "max", nan=bool(word))
        for x, y in zip(a, b, strict=True)
    ]
    same(run(f"{name}{word}.{kind}", a, b), expected, kind)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_min_xorsign_abs_takes_the_sign_of_the_product(kind):
    a, b = every(floats(kind), floats(kind, seed=9), at_most=3000)
    sign, nan = 1 << sum(SHAPES[kind]), ref.canonical_nan(kind)
    expected = []
    for x, y in zip(a, b, strict=True):
        best = ref.extreme(x & ~sign, y & ~sign, kind, largest=False)
        expected.append(best if best == nan else best | (x ^ y) & sign)
    assert run(f"min.xorsign.abs.{kind}", a, b) == expected


def test_min_of_three_is_the_least():
    a, b, c = every(floats("f32", 8), floats("f32", 8), floats("f32", 8))
    inner = run("min.f32", a, b)
    assert run("min.f32", a, b, c) == run("min.f32", inner, c)


@pytest.mark.parametrize("kind", KINDS)
def test_neg_flips_and_abs_clears_the_sign_bit(kind):
    a = [v for v in floats(kind) if ref.decode(v, kind)[1] != ref.NAN]
    sign = 1 << sum(SHAPES[kind])
    assert run(f"neg.{kind}", a) == [v ^ sign for v in a]
    assert run(f"abs.{kind}", a) == [v & ~sign for v in a]


@pytest.mark.parametrize("opcode", ["neg", "abs"])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_neg_and_abs_make_nan_canonical_as_an_h200_does(opcode, kind):
    nan = ref.canonical_nan(kind)
    assert run(f"{opcode}.{kind}", [nan - 1]) == [nan]


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_copysign_takes_the_sign_of_the_first(kind):
    a, b = every(floats(kind), floats(kind), at_most=2000)
    sign = 1 << sum(SHAPES[kind])
    expected = [(y & ~sign) | (x & sign) for x, y in zip(a, b, strict=True)]
    assert run(f"copysign.{kind}", a, b) == expected


def classes(bits, kind):
    size = ref.decode(bits, kind)[1]
    exponent, fraction = SHAPES[kind]
    stored = bits >> fraction & ((1 << exponent) - 1)
    return {
        "finite": not isinstance(size, str), "infinite": size == ref.INF,
        "number": size != ref.NAN, "notanumber": size == ref.NAN,
        # Zeros are normal to an H200.
        "normal": not isinstance(size, str) and (stored > 0 or size == 0),
        "subnormal": stored == 0 and size > 0,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("word", sorted(classes(0, "f32")))
def test_testp_classifies(word, kind):
    (a,) = every(floats(kind))
    expected = [classes(v, kind)[word] for v in a]
    assert run(f"testp.{word}.{kind}", a) == expected


COMPARISONS = [
    "eq", "ne", "lt", "le", "gt", "ge",
    "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_setp_of_floats(name, kind):
    a, b = every(floats(kind, 10), floats(kind, 10), at_most=3000)
    expected = [ref.compare(name, x, y, kind) for x, y in zip(a, b, strict=True)]
    assert run(f"setp.{name}.{kind}", a, b) == expected


def test_setp_ftz_compares_subnormals_as_zero():
    assert run("setp.eq.ftz.f32", [1, 0x80000001], [0, 3]) == [True, True]


def test_setp_of_halves_gives_p_to_the_low_half():
    low, high = run("setp.lt.f16x2", [0x3C00_0000], [0x0000_3C00], pair=True)
    assert (low, high) == ([True], [False])


@pytest.mark.parametrize(
    ("name", "yes"),
    [("u32.f32", 0xFFFFFFFF), ("f32.f32", 0x3F800000), ("s32.f64", -1),
     ("f16.f16", 0x3C00), ("bf16.bf16", 0x3F80), ("u16.f16", 0xFFFF)],
)  # fmt: skip
def test_set_writes_all_bits_or_one(name, yes):
    kind = name.split(".")[1]
    a, b = every(floats(kind, 10), floats(kind, 10), at_most=1000)
    expected = [yes if ref.compare("leu", x, y, kind) else 0
                for x, y in zip(a, b, strict=True)]  # fmt: skip
    assert run(f"set.leu.{name}", a, b) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f16x2.f16x2", 0x3C00_0000),
        ("u32.f16x2", 0xFFFF_0000),
        ("bf16x2.bf16x2", 0x3F80_0000),
    ],
)
def test_set_of_halves_writes_each_half(name, expected):
    assert run(f"set.eq.{name}", [0x3C00_3C00], [0x3C00_0000]) == [expected]


def test_slct_takes_the_second_for_nan_and_the_first_for_minus_zero():
    c = [0x80000000, 0x7FC00000, 0xBF800000, 0]
    assert run("slct.u32.f32", [1] * 4, [2] * 4, c) == [1, 2, 2, 1]


def test_slct_ftz_takes_a_negative_subnormal_as_zero():
    assert run("slct.ftz.u32.f32", [1], [2], [0x80000001]) == [1]
