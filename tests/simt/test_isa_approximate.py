"""The .approx functions: error bounds against 60 digits, and exact special values."""

import ast
import inspect
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import ptx_reference as ref
import pytest
from lanes import floats, run

from coursekit.simt.isa import approximate

DIGITS = 60
INF, NAN, MINUS_INF = 0x7F800000, 0x7FFFFFFF, 0xFF800000
ONE, MINUS = 0x3F800000, 0x80000000


def bits(value):
    exact = Fraction(value)
    return ref.encode(int(exact < 0), abs(exact), "f32")


def number(pattern, kind="f32"):
    """The exact value of a finite bit pattern."""
    sign, size = ref.decode(pattern, kind)
    return (-1) ** sign * size


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def arctangent_of_inverse(n):
    total, term, k = Decimal(0), Decimal(1) / n, 0
    while abs(term) > Decimal(10) ** -DIGITS:
        total += (-1) ** k * term / (2 * k + 1)
        term /= n * n
        k += 1
    return total


def circle():
    """Pi, by Machin's formula."""
    return 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))


def sine(x, quarter_turns=0):
    pi = circle()
    x = (x + quarter_turns * pi / 2) % (2 * pi)
    total, term, k = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** -(DIGITS - 5):
        total += term
        term *= -x * x / ((k + 1) * (k + 2))
        k += 2
    return total


def hyperbolic_tangent(x):
    power = (2 * x).exp()
    return (power - 1) / (power + 1)


TRUE = {
    "ex2": lambda x: (x * Decimal(2).ln()).exp(),
    "lg2": lambda x: x.ln() / Decimal(2).ln(),
    "rcp": lambda x: 1 / x,
    "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: 1 / x.sqrt(),
    "sin": sine,
    "cos": lambda x: sine(x, 1),
    "tanh": hyperbolic_tangent,
}


def sample(low, high, count, seed=4):
    """Bit patterns of floats spread evenly over [low, high]."""
    rng = random.Random(seed)
    return [bits(rng.uniform(low, high)) for _ in range(count)]


def spread(count, seed=6):
    """Positive normal floats of every size."""
    rng = random.Random(seed)
    return [rng.randrange(0x00800000, INF) for _ in range(count)]


RANGES = {
    "ex2": sample(-126, 128, 300) + sample(-1, 1, 300),
    "lg2": spread(300) + sample(0.5, 2, 300),
    "rcp": [v for v in spread(300) if number(v) < 2**126] + sample(-2, -1, 50),
    "sqrt": spread(300),
    "rsqrt": spread(300),
    "sin": sample(-0.8, 0.8, 300),
    "cos": sample(-0.8, 0.8, 300),
    "tanh": [v for limit in (10, 0.1, 1e-3, 1e-9) for v in sample(-limit, limit, 200)],
}


def errors(name, columns):
    """Absolute errors of results, and the spacing of f32 at each."""
    with localcontext() as context:
        context.prec = DIGITS
        for x, y in zip(columns, run(f"{name}.approx.f32", columns), strict=True):
            spacing = abs(decimal(number(y + 1) - number(y)))
            yield abs(decimal(number(y)) - TRUE[name](decimal(number(x)))), spacing


@pytest.mark.parametrize("name", RANGES)
def test_results_are_within_0_51_ulp(name):
    worst = max(error / spacing for error, spacing in errors(name, RANGES[name]))
    assert worst <= Decimal("0.51")


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("limit", [6.3, 100.0, 2.0**18])
def test_angles_of_many_turns_keep_24_bits_after_the_point(name, limit):
    columns = sample(-limit, limit, 200)
    assert max(error for error, _ in errors(name, columns)) < Decimal(2) ** -24


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_huge_angles_stay_between_minus_one_and_one(name):
    columns = [v for v in spread(300) if number(v) > 2**18]
    assert all(abs(number(y)) <= 1 for y in run(f"{name}.approx.f32", columns))


EXACT = [
    ("ex2", 0, 1), ("ex2", 1, 2), ("ex2", -1, 0.5), ("ex2", 10, 1024),
    ("ex2", 127, 2.0**127),
    ("ex2", -126, 2.0**-126), ("ex2", -149, 2.0**-149), ("lg2", 1, 0), ("lg2", 2, 1),
    ("lg2", 8, 3), ("lg2", 0.25, -2), ("lg2", 2.0**-149, -149), ("lg2", 2.0**127, 127),
    ("rsqrt", 4, 0.5), ("rsqrt", 1, 1), ("rsqrt", 0.0625, 4), ("sqrt", 9, 3),
    ("sqrt", 2.0**-148, 2.0**-74), ("rcp", 4, 0.25), ("rcp", -2, -0.5),
    ("sin", 0, 0), ("cos", 0, 1), ("tanh", 0, 0), ("tanh", 20, 1), ("tanh", -20, -1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "y"), EXACT)
def test_exact_values(name, x, y):
    assert run(f"{name}.approx.f32", [bits(x)]) == [bits(y)]


SPECIAL = [
    ("ex2", INF, INF), ("ex2", MINUS_INF, 0), ("ex2", MINUS, ONE),
    ("ex2", bits(128), INF),
    ("ex2", bits(-151), 0), ("ex2", 1, ONE),
    ("lg2", INF, INF), ("lg2", MINUS_INF, NAN), ("lg2", 0, MINUS_INF),
    ("lg2", MINUS, MINUS_INF), ("lg2", bits(-1), NAN),
    ("rcp", INF, 0), ("rcp", MINUS_INF, MINUS), ("rcp", 0, INF),
    ("rcp", MINUS, MINUS_INF),
    ("sqrt", INF, INF), ("sqrt", MINUS, MINUS), ("sqrt", bits(-1), NAN),
    ("rsqrt", INF, 0), ("rsqrt", 0, INF), ("rsqrt", MINUS, MINUS_INF),
    ("rsqrt", bits(-1), NAN), ("rsqrt", MINUS_INF, NAN),
    ("sin", INF, NAN), ("sin", MINUS_INF, NAN), ("sin", MINUS, MINUS), ("sin", 1, 1),
    ("cos", INF, NAN), ("cos", MINUS, ONE), ("cos", 1, ONE),
    ("tanh", INF, ONE), ("tanh", MINUS_INF, ONE | MINUS), ("tanh", MINUS, MINUS),
    ("tanh", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "y"), SPECIAL)
def test_special_values(name, x, y):
    assert run(f"{name}.approx.f32", [x]) == [y]


@pytest.mark.parametrize("name", TRUE)
def test_nan_gives_the_canonical_nan(name):
    assert run(f"{name}.approx.f32", [0xFFC00001]) == [NAN]


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [("ex2", bits(-149), 0), ("lg2", 1, MINUS_INF), ("rcp", 1, INF),
     ("rcp", bits(2.0**127), 0), ("rsqrt", 1, INF), ("sqrt", 1, 0),
     ("sin", MINUS | 1, MINUS), ("cos", 1, ONE)],
)  # fmt: skip
def test_ftz_flushes_subnormal_sources_and_results(name, x, y):
    assert run(f"{name}.approx.ftz.f32", [x]) == [y]


@pytest.mark.parametrize("name", ["ex2", "tanh", "lg2", "sqrt"])
def test_results_rise_with_the_source(name):
    columns = sorted(floats("f32", 4000), key=lambda v: v if v < MINUS else -1)
    columns = [v for v in columns if v < INF]
    found = [
        number(v)
        for v in run(f"{name}.approx.f32", columns)
        if v not in (INF, MINUS_INF)
    ]
    assert found == sorted(found)


def test_division_by_more_than_2_to_the_126_gives_zero():
    huge = bits(2.0**127)
    a, b = [ONE, INF, ONE], [huge, huge, bits(2.0**126)]
    assert run("div.approx.f32", a, b) == [0, NAN, bits(2.0**-126)]


def test_full_division_has_the_whole_range():
    huge = bits(2.0**127)
    assert run("div.full.f32", [huge], [huge]) == [ONE]


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_functions_are_rounded_once(kind):
    rng = random.Random(8)
    columns = [ref.encode(rng.getrandbits(1), Fraction(rng.uniform(0, 10)), kind)
               for _ in range(200)]  # fmt: skip
    name = "ex2.approx.f16" if kind == "f16" else "ex2.approx.ftz.bf16"
    with localcontext() as context:
        context.prec = DIGITS
        expected = [Fraction(TRUE["ex2"](decimal(number(v, kind)))) for v in columns]
    assert run(name, columns) == [ref.encode(0, v, kind) for v in expected]


@pytest.mark.parametrize("name", ["rcp", "rsqrt"])
def test_rough_doubles_have_20_bits_and_a_zero_lower_half(name):
    rng = random.Random(9)
    columns = [rng.randrange(1 << 54, 0x7FD << 52) for _ in range(200)]
    found = run(f"{name}.approx.ftz.f64", columns)
    with localcontext() as context:
        context.prec = DIGITS
        worst = max(
            abs(decimal(number(y, "f64")) / TRUE[name](decimal(number(x, "f64"))) - 1)
            for x, y in zip(columns, found, strict=True)
        )
    assert worst < Decimal(2) ** -18
    assert not any(y & 0xFFFFFFFF for y in found)


LIBRARY = {"sin", "cos", "tan", "exp", "exp2", "log", "log2", "tanh", "power", "math"}


def test_no_function_of_the_c_library_is_used():
    names = {node.attr for node in ast.walk(ast.parse(inspect.getsource(approximate)))
             if isinstance(node, ast.Attribute)
             and getattr(node.value, "id", "") == "np"}  # fmt: skip
    assert not names & LIBRARY


def test_the_reference_knows_pi():
    with localcontext() as context:
        context.prec = DIGITS
        assert str(circle()).startswith(
            "3.14159265358979323846264338327950288419716939"
        )
