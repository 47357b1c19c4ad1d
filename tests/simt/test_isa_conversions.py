"""Conversions of the table equal exact numbers rounded and clamped once."""

import ptx_reference as ref
import pytest
from lanes import SHAPES, every, floats, integers, run, wrap

INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
DIRECTIONS = ["rn", "rz", "rm", "rp"]
INTEGRAL = ["rni", "rzi", "rmi", "rpi"]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_are_extended_or_cut(target, source):
    (a,) = every(integers(source, 40))
    assert run(f"cvt.{target}.{source}", a) == [wrap(v, target) for v in a]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_sat_clamps_integers(target, source):
    (a,) = every(integers(source, 40))
    low, high = ref.limits(target)
    expected = [min(max(v, low), high) for v in a]
    assert run(f"cvt.sat.{target}.{source}", a) == expected


def near_limits(kind, target):
    """Floats at and beside the ends of an integer type, and at halves."""
    low, high = ref.limits(target)
    found = []
    for value in (low, high, 1, 2, 7):
        for offset in (-1, -0.5, 0, 0.5, 1):
            exact = ref.Fraction(value) + ref.Fraction(offset)
            bits = ref.encode(int(exact < 0), abs(exact), kind)
            found += [bits, bits + 1, bits - 1 if bits else 0]
    return found


@pytest.mark.parametrize("rounding", INTEGRAL)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_to_integers_round_and_clamp(target, source, rounding):
    (a,) = every(floats(source, 60) + near_limits(source, target))
    expected = [ref.to_integer(v, source, target, rounding) for v in a]
    assert run(f"cvt.{rounding}.{target}.{source}", a) == expected


def test_ftz_takes_subnormals_for_zero_before_rounding():
    assert run("cvt.rpi.s32.f32", [1]) == [1]
    assert run("cvt.rpi.ftz.s32.f32", [1]) == [0]


def ties(source, target):
    """Integers halfway between two floats, and beside those."""
    low, high = ref.limits(source)
    fraction = SHAPES[target][1]
    found = []
    for size in range(fraction + 2, int(source[1:])):
        unit = 1 << (size - fraction - 1)
        for value in ((1 << size) + unit // 2, (1 << size) + unit + unit // 2):
            found += [value, value + 1, value - 1]
    found += [-v for v in found]
    return [v for v in found if low <= v <= high]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floats_round_once(source, target, direction):
    (a,) = every(integers(source, 60) + ties(source, target))
    expected = [ref.encode(int(v < 0), ref.Fraction(abs(v)), target, direction)
                for v in a]  # fmt: skip
    assert run(f"cvt.{direction}.{target}.{source}", a) == expected


def beside_ties(source, target):
    """Wide floats at the ties of a narrower type, and one bit beside them."""
    shift = SHAPES[source][1] - SHAPES[target][1]
    found = []
    for bits in floats(target, 30):
        sign, size = ref.decode(bits, target)
        if isinstance(size, str):
            continue
        exact = ref.encode(sign, size, source)
        found += [exact, exact + (1 << (shift - 1)), exact + (1 << (shift - 1)) - 1,
                  exact + (1 << (shift - 1)) + 1]  # fmt: skip
    return found


NARROWING = [("f64", "f32"), ("f64", "f16"), ("f64", "bf16"), ("f32", "f16"),
             ("f32", "bf16")]  # fmt: skip


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_floats_are_narrowed_with_one_rounding(source, target, direction):
    (a,) = every(floats(source, 400) + beside_ties(source, target))
    expected = [ref.encode(*ref.decode(v, source), target, direction) for v in a]
    assert run(f"cvt.{direction}.{target}.{source}", a) == expected


@pytest.mark.parametrize(
    ("source", "target"),
    [("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f32", "f64")],
)
def test_floats_are_widened_exactly(source, target):
    numbers = [v for v in floats(source, 200) if ref.decode(v, source)[1] != ref.NAN]
    expected = [ref.encode(*ref.decode(v, source), target) for v in numbers]
    assert run(f"cvt.{target}.{source}", numbers) == expected


def test_bf16_widens_by_a_shift_so_that_nan_keeps_its_bits():
    assert run("cvt.f32.bf16", [0x7FC1]) == [0x7FC10000]


@pytest.mark.parametrize("source", ["f16", "f64"])
def test_nan_becomes_the_canonical_f32(source):
    nan = ref.canonical_nan(source) - 1
    name = "cvt.rn.f32.f64" if source == "f64" else f"cvt.f32.{source}"
    assert run(name, [nan]) == [0x7FFFFFFF]


def integral(bits, kind, rounding):
    sign, size = ref.decode(bits, kind)
    if not isinstance(size, str):
        size = ref.Fraction(ref.rounded(size, rounding, sign))
    return ref.encode(sign, size, kind)


@pytest.mark.parametrize("rounding", INTEGRAL)
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_floats_round_to_integral_values_and_keep_the_sign_of_zero(kind, rounding):
    (a,) = every(floats(kind, 200) + near_limits(kind, "s16"))
    expected = [integral(v, kind, rounding) for v in a]
    assert run(f"cvt.{rounding}.{kind}.{kind}", a) == expected


def test_doubles_round_to_integral_values():
    a = [v for v in floats("f64", 200) if ref.decode(v, "f64")[1] != ref.NAN]
    expected = [integral(v, "f64", "rni") for v in a]
    assert run("cvt.rni.f64.f64", a) == expected


def test_sat_of_floats_clamps_to_one():
    (a,) = every(floats("f32"))
    assert run("cvt.sat.f32.f32", a) == [ref.saturate(v, "f32") for v in a]


def test_ftz_flushes_a_subnormal_result():
    smallest = ref.encode(0, ref.Fraction(1, 2**140), "f64")
    assert run("cvt.rn.ftz.f32.f64", [smallest]) == [0]


def test_ftz_flushes_a_subnormal_source():
    assert run("cvt.ftz.f64.f32", [0x80000001]) == [1 << 63]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("direction", ["rn", "rz"])
def test_pairs_go_to_the_upper_and_lower_half(kind, direction):
    a, b = every(floats("f32", 20), floats("f32", 20, seed=8), at_most=1000)

    def half(bits):
        return ref.encode(*ref.decode(bits, "f32"), kind, direction)

    expected = [half(x) << 16 | half(y) for x, y in zip(a, b, strict=True)]
    assert run(f"cvt.{direction}.{kind}x2.f32", a, b) == expected


def test_relu_of_a_conversion_keeps_nan():
    nan, minus_two, two = 0x7FC00000, 0xC0000000, 0x40000000
    found = run("cvt.rn.relu.f16.f32", [nan, minus_two, two, 0x80000000])
    assert found == [0x7FFF, 0, 0x4000, 0]


@pytest.mark.parametrize(("kind", "largest"), [("f16", 0x7BFF), ("bf16", 0x7F7F)])
def test_satfinite_replaces_infinity(kind, largest):
    found = run(f"cvt.rn.satfinite.{kind}.f32", [0x7F800000, 0xFF800000, 0x7F7FFFFF])
    assert found == [largest, largest | 0x8000, largest]


@pytest.mark.parametrize("direction", ["rn", "rz", "rna"])
def test_tf32_keeps_ten_fraction_bits(direction):
    (a,) = every(floats("f32", 400) + beside_ties("f32", "f16"))
    expected = []
    for bits in a:
        sign, size = ref.decode(bits, "f32")
        short = ref.encode(sign, size, "tf32", direction) << 13
        # An H200 keeps the upper bits of a NaN with rna.
        missing = bits & 0xFFFFE000 if direction == "rna" else 0x7FFFFFFF
        expected.append(missing if size == ref.NAN else short)
    assert run(f"cvt.{direction}.tf32.f32", a) == expected


FP8 = {"e4m3": (4, 3), "e5m2": (5, 2)}


def fp8_value(code, kind):
    """Decode by the definition of the OCP 8-bit formats."""
    exponent_bits, fraction_bits = FP8[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    fraction = code & ((1 << fraction_bits) - 1)
    exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
    if kind == "e4m3" and code & 127 == 127:
        return ref.NAN
    if kind == "e5m2" and exponent == 31:
        return ref.NAN if fraction else ref.INF
    fraction += (exponent > 0) << fraction_bits
    return ref.Fraction(fraction) * ref.Fraction(2) ** (
        max(exponent, 1) - bias - fraction_bits
    )


def to_fp8(bits, kind):
    sign, size = ref.decode(bits, "f32")
    if size == ref.NAN:
        return 0x7F
    last = 0x7E if kind == "e4m3" else 0x7B
    if size == ref.INF:
        return sign << 7 | last
    nearest = min(
        range(last + 1), key=lambda c: (abs(fp8_value(c, kind) - size), c & 1)
    )
    return sign << 7 | nearest


@pytest.mark.parametrize("kind", FP8)
def test_floats_round_to_fp8_and_clamp(kind):
    values = [fp8_value(c, kind) for c in range(0x7B)]
    middles = [(x + y) / 2 for x, y in zip(values, values[1:], strict=False)]
    exact = [ref.encode(0, m, "f32") for m in middles]
    pool = exact + [v + 1 for v in exact] + [v - 1 for v in exact] + floats("f32")
    a, b = [v | 1 << 31 for v in pool], pool[::-1]
    expected = [to_fp8(x, kind) << 8 | to_fp8(y, kind)
                for x, y in zip(a, b, strict=True)]  # fmt: skip
    assert run(f"cvt.rn.satfinite.{kind}x2.f32", a, b) == expected


@pytest.mark.parametrize("kind", FP8)
def test_every_fp8_value_widens_to_f16_and_back(kind):
    codes = list(range(256))
    halves = run(f"cvt.rn.f16x2.{kind}x2", codes)
    expected = [ref.encode(c >> 7, fp8_value(c & 127, kind), "f16") for c in codes]
    expected = [0x7FFF if v & 0x7FFF > 0x7C00 else v for v in expected]
    assert [v & 0xFFFF for v in halves] == expected
    finite = [c for c in codes if not isinstance(fp8_value(c & 127, kind), str)]
    back = run(f"cvt.rn.satfinite.{kind}x2.f16x2", [halves[c] for c in finite])
    assert [v & 0xFF for v in back] == finite


@pytest.mark.parametrize("kind", ["u16", "s16"])
def test_pack_puts_two_clamped_numbers_side_by_side(kind):
    a, b = every(integers("s32"), integers("s32", seed=7))
    low, high = ref.limits(kind)
    expected = [
        (min(max(x, low), high) & 0xFFFF) << 16 | min(max(y, low), high) & 0xFFFF
        for x, y in zip(a, b, strict=True)
    ]
    assert run(f"cvt.pack.sat.{kind}.s32", a, b) == expected


@pytest.mark.parametrize("kind", ["u8", "s8", "u4", "s4", "u2", "s2"])
def test_pack_shifts_the_third_operand_up(kind):
    size = int(kind[1:])
    low, high = ref.limits(kind)
    mask = (1 << size) - 1
    a, b, c = every(integers("s32"), integers("s32", seed=7), integers("u32"))
    expected = []
    for x, y, z in zip(a, b, c, strict=True):
        first, second = (min(max(v, low), high) & mask for v in (x, y))
        expected.append((z << 2 * size | first << size | second) & 0xFFFFFFFF)
    assert run(f"cvt.pack.sat.{kind}.s32.b32", a, b, c) == expected
