"""Philox against published answers, and the oracle against the library."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons.curand import generator as generators
from coursekit.lessons.curand import library

pytestmark = pytest.mark.usefixtures("simulated")
SEEDS = (0, 1, 1234, 2**32 + 7, 2**64 - 1)
OFFSETS = (0, 1, 3, 4, 262_143, 2**20 + 5)
needs_the_library = pytest.mark.skipif(
    library.load() is None, reason="no cuRAND: make setup EXTRAS=libraries"
)
# Random123's kat_vectors: counter, key and result of philox4x32 10.
ALL = (0xFFFFFFFF,) * 4
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
KNOWN = [
    ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (ALL, ALL[:2], "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (PI, (0xA4093822, 0x299F31D0), "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.fixture
def oracle(monkeypatch):
    """Return a function that makes a generator of NumPy, whatever is installed."""

    def make(*arguments, **settings):
        with monkeypatch.context() as without:
            without.setattr(library, "load", lambda: None)
            return ck.curand.Generator(*arguments, **settings)

    return make


@pytest.mark.parametrize("counter, key, words", KNOWN)
def test_philox_has_the_published_answers(counter, key, words):
    assert " ".join(f"{w:08x}" for w in ck.curand.philox(counter, key)) == words


def test_philox_takes_many_counters():
    counters = np.array([known[0] for known in KNOWN])
    assert ck.curand.philox(counters, (0, 0)).shape == (3, 4)


# ---------------------------------------------------------------- beside the library


@needs_the_library
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_oracle_has_the_bits_of_philox(seed, offset, oracle):
    settings = {"seed": seed, "offset": offset}
    by_numpy, native = oracle(**settings), ck.curand.Generator(**settings)
    for n in (1, 6, 1000):
        np.testing.assert_array_equal(by_numpy.generate(n), native.generate(n))
        np.testing.assert_array_equal(by_numpy.uniform(n), native.uniform(n))


@needs_the_library
@pytest.mark.parametrize("dimensions", range(1, 9))
def test_oracle_has_the_bits_of_sobol(dimensions, oracle):
    settings = {"dimensions": dimensions, "offset": 5}
    kinds = (oracle, ck.curand.Generator)
    by_numpy, native = (kind("QUASI_SOBOL32", **settings) for kind in kinds)
    for points in (1, 300):
        n = points * dimensions
        np.testing.assert_array_equal(by_numpy.generate(n), native.generate(n))
        np.testing.assert_array_equal(by_numpy.uniform(n), native.uniform(n))


@needs_the_library
@pytest.mark.parametrize("offset", [0, 1, 7, 262_143])
def test_oracle_is_near_the_normal_values(offset, oracle):
    settings = {"seed": 1234, "offset": offset}
    by_numpy, native = oracle(**settings), ck.curand.Generator(**settings)
    # The radius is below 7; logarithm, root and sine are off by 2 roundings each.
    np.testing.assert_allclose(
        by_numpy.normal(1000), native.normal(1000), 0, 7 * 2**-21
    )
    found = by_numpy.normal(4, 2.0, 0.5), native.normal(4, 2.0, 0.5)
    np.testing.assert_allclose(*found, 0, 7 * 2**-21)


@needs_the_library
def test_other_generators_come_from_the_library():
    generator = ck.curand.Generator("PSEUDO_XORWOW", seed=1234)
    assert generator.computed_by == generators.ON_HOST
    assert abs(generator.uniform(10_000).mean() - 0.5) < 6 / 12**0.5 / 100


# ---------------------------------------------------------------- the oracle alone


def test_oracle_names_itself(oracle):
    assert oracle().computed_by == "NumPy, an oracle in cuRAND's place"


def test_a_call_goes_on_where_the_last_one_stopped(oracle):
    parts = oracle(seed=3)
    found = np.concatenate([parts.uniform(5), parts.uniform(7)])
    np.testing.assert_array_equal(found, oracle(seed=3).uniform(12))


def test_an_offset_is_a_number_of_values_left_out(oracle):
    later = oracle(seed=3, offset=9)
    np.testing.assert_array_equal(later.uniform(4), oracle(seed=3).uniform(13)[9:])


def test_first_points_of_sobol_are_the_known_ones(oracle):
    words = oracle("QUASI_SOBOL32", dimensions=2).generate(8).reshape(2, 4)
    assert (words / 2**32).T.tolist() == [
        [0, 0],
        [0.5, 0.5],
        [0.75, 0.25],
        [0.25, 0.75],
    ]


def test_normal_values_have_mean_and_deviation(oracle):
    values = oracle(seed=5).normal(2**16, 3.0, 2.0)
    assert abs(values.mean() - 3) < 6 * 2 / 2**8
    assert abs(values.std() - 2) < 6 * 2 / 2**8.5


REFUSED = [
    ({"rng_type": "PHILOX"}, "no CURAND_RNG_PHILOX"),
    ({"ordering": "LEGACY"}, "no CURAND_ORDERING_LEGACY"),
    ({"rng_type": "QUASI_SOBOL32", "seed": 1}, "CURAND_STATUS_TYPE_ERROR: .* seed 1"),
    ({"ordering": "QUASI_DEFAULT"}, "CURAND_STATUS_OUT_OF_RANGE: .*QUASI_DEFAULT"),
    ({"rng_type": "QUASI_SOBOL32", "dimensions": 0}, "dimensions is 0"),
]


@pytest.mark.parametrize("settings, message", REFUSED)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(ck.ArgumentError, match=message):
        ck.curand.Generator(**settings)


def test_an_odd_number_of_normal_values_is_refused():
    with pytest.raises(ck.ArgumentError, match="LENGTH_NOT_MULTIPLE: 7 normal values"):
        ck.curand.Generator().normal(7)


def test_a_part_of_a_point_is_refused():
    with pytest.raises(ck.ArgumentError, match="LENGTH_NOT_MULTIPLE: 7 values"):
        ck.curand.Generator("QUASI_SOBOL32", dimensions=2).uniform(7)


def test_oracle_says_what_it_lacks(oracle):
    with pytest.raises(ck.UnsupportedError, match="has no PSEUDO_XORWOW"):
        oracle("PSEUDO_XORWOW")


def test_oracle_has_no_normal_values_of_sobol(oracle):
    with pytest.raises(ck.UnsupportedError, match="no normal values"):
        oracle("QUASI_SOBOL32").normal(4)


@needs_the_library
def test_host_generator_has_no_dynamic_order():
    with pytest.raises(ck.ArgumentError, match="OUT_OF_RANGE"):
        ck.curand.Generator("PSEUDO_XORWOW", ordering="PSEUDO_DYNAMIC")
