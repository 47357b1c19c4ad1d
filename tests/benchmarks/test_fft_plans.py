"""Plans of step 20 of the Fourier transforms: all lengths up to 4096 that have one."""

from __future__ import annotations

import math

import pytest

from coursekit.benchmarks.fft_plans import RADICES, plan_of
from coursekit.errors import ArgumentError

PRIMES = 2, 3, 5, 7, 11, 13
BLOCK_BYTES = 48 * 1024


def is_planned(n: int) -> bool:
    """Whether a length has no prime factor above 13."""
    for prime in PRIMES:
        while n % prime == 0:
            n //= prime
    return n == 1


LENGTHS = [n for n in range(2, 4097) if is_planned(n)]


def places_of(n: int, radices: tuple[int, ...]) -> int:
    """Return the places of a row in shared memory, as `Places` of mixed.cuh."""
    span, most = 1, 0
    for radix in radices[:-1]:
        unit = radix * (span if span > 1 else 16 // math.gcd(radix, 16))
        gap = (15 * radix + 1) * span % 16 if span > 1 else 1 - radix % 2
        free = gap if 6 * gap <= unit else 0
        most = max(most, n + (n - 1) // unit * free)
        span *= radix
    return most


def test_the_radices_make_the_length():
    wrong = [n for n in LENGTHS if math.prod(plan_of(n).radices) != n]
    assert wrong == []


def test_the_radices_are_those_of_the_kernel():
    assert {r for n in LENGTHS for r in plan_of(n).radices} <= set(RADICES)


def test_each_row_has_threads_for_a_whole_stage():
    wrong = [n for n in LENGTHS if n % plan_of(n).threads]
    assert wrong == []


def test_no_thread_has_values_for_more_than_44_registers():
    plans = {n: plan_of(n) for n in LENGTHS}
    values = {
        n: max(math.ceil(n / r / plan.threads) * r for r in plan.radices)
        for n, plan in plans.items()
    }
    assert max(values.values()) <= 22


def test_the_rows_of_a_block_fit_shared_memory():
    wrong = []
    for n in LENGTHS:
        plan = plan_of(n)
        pitch = places_of(n, plan.radices) + 15
        if plan.share * pitch * 8 > BLOCK_BYTES:
            wrong.append(n)
    assert wrong == []


def test_a_block_has_at_most_1024_threads():
    assert max(plan_of(n).threads * plan_of(n).share for n in LENGTHS) <= 1024


@pytest.mark.parametrize(
    ("n", "radices", "threads"),
    [(1000, (10, 10, 10), 100), (1536, (6, 16, 16), 96), (210, (14, 15), 15)],
)
def test_plan_keeps_few_registers_idle(n, radices, threads):
    assert plan_of(n)[:2] == (radices, threads)


@pytest.mark.parametrize("n", [1, 17, 10007])
def test_a_length_without_a_plan_is_refused(n):
    with pytest.raises(ArgumentError, match=f"no plan for rows of {n} values"):
        plan_of(n)
