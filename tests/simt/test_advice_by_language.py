"""Messages advise in the language of the line at fault."""

from __future__ import annotations

import pytest

from coursekit.simt.memory import guards

PLACES = {
    "C++": "kernels/start/scale.cu:3    out[i] = x[i];",
    "Python": "cell_5.py:3    out[i] = x[i]",
    "Triton": "cell_5.py:3    value = tl.load(x + offsets)",
}


@pytest.mark.parametrize(
    ("advice", "language", "wanted"),
    [
        (guards.THE_ACCESS, "C++", "`if (i < n)`"),
        (guards.THE_ACCESS, "Python", "`if i < n:`"),
        (guards.THE_ACCESS, "Triton", "`mask=offsets < n`"),
        (guards.EACH_INDEX, "Python", "`if row < rows and col < cols:`"),
        (guards.EACH_INDEX, "Triton", "`mask=(rows < M) & (cols < N)`"),
        (guards.LOWER_BOUND, "Triton", "`offsets >= 0`"),
        ("Put a __syncthreads() between.", "C++", "__syncthreads()"),
        ("Put a __syncthreads() between.", "Python", "cuda.syncthreads()"),
        ("Put a __syncthreads() between.", "Triton", "tl.debug_barrier()"),
        ("Use atomicAdd().", "Python", "cuda.atomic.add()"),
        ("Use atomicAdd().", "Triton", "tl.atomic_add()"),
    ],
)
def test_advice_is_in_the_language_of_the_line(advice, language, wanted):
    assert wanted in guards.in_language(advice, PLACES[language])


def test_what_follows_the_advice_stays():
    advice = guards.THE_ACCESS[:-1] + ": `<=` lets in one index too many."
    found = guards.in_language(advice, PLACES["Triton"])
    assert found.endswith("`mask=offsets < n`: `<=` lets in one index too many.")
