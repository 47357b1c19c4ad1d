"""Benchmarks of random numbers: what is refused, and what each case draws."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.benchmarks import random_numbers

pytestmark = pytest.mark.usefixtures("simulated")
N = 2**10


def room(values: np.ndarray) -> tuple:
    """Return what a case is given, with values in the place of its result."""
    out = ck.to_device(values.astype(np.float32))
    return out, ck.to_device(np.zeros(values.size, np.float32)), 1, N


@pytest.mark.parametrize("name", random_numbers.ladder_cases())
def test_case_is_uniform(name):
    arguments = random_numbers.room(N)
    random_numbers.ladder_cases()[name](*arguments)
    random_numbers.is_uniform(*arguments)


def test_a_result_that_nothing_has_written_is_refused():
    with pytest.raises(AssertionError, match="not set"):
        random_numbers.is_uniform(*room(np.full(N, np.nan)))


def test_zero_is_refused():
    values = (np.random.default_rng(0).permutation(N) + 0.5) / N
    values[5] = 0
    with pytest.raises(AssertionError, match="outside"):
        random_numbers.is_uniform(*room(values))


def test_normal_values_are_refused():
    values = abs(np.random.default_rng(0).normal(0.5, 0.15, N)).clip(0.01, 1)
    with pytest.raises(AssertionError, match="a bin of 16 values"):
        random_numbers.is_uniform(*room(values))


def test_a_ramp_is_refused():
    with pytest.raises(AssertionError, match="correlated"):
        random_numbers.is_uniform(*room((np.arange(N) + 0.5) / N))


def test_one_value_that_is_not_philox_is_refused():
    arguments = random_numbers.room(N)
    random_numbers.uniform_cases()["quads"](*arguments)
    values = ck.to_host(arguments[0])
    values[7] = values[8]
    changed = (ck.to_device(values), *arguments[1:])
    with pytest.raises(AssertionError, match="another is not"):
        random_numbers.is_uniform(*changed)


def test_without_a_gpu_there_is_no_generator_of_the_device():
    assert {build() for build in random_numbers.GENERATORS.values()} == {None}
