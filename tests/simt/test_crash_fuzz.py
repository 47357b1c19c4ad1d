"""Spoiled PTX never ends the process: every failure is an error of the course.

`python tests/support/crash_fuzz.py --seeds 0:20000` tries more programs.
"""

from __future__ import annotations

import functools
import os
import signal
from collections import Counter

import crash_fuzz
import pytest

pytestmark = pytest.mark.usefixtures("own_folders")

PROGRAMS, CHUNK = 300, 50


@pytest.fixture(scope="module")
def worker():
    """A process that runs spoiled programs."""
    found = crash_fuzz.Worker()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def check(worker):
    """What came of the program of a seed, each of which runs once."""
    return functools.cache(worker.check)


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_spoiled_programs_only_raise_errors_of_the_course(first, check):
    seeds = range(first, first + CHUNK)
    assert {seed: found for seed in seeds if (found := check(seed)[0])} == {}


@pytest.mark.parametrize("engine", ["interpreter", "compiled", "general", "racecheck"])
@pytest.mark.parametrize("outcome", ["ran", "UnsupportedError", "OutOfBoundsError"])
def test_spoiled_programs_come_far(engine, outcome, check):
    ended = (check(seed)[1] for seed in range(PROGRAMS))
    assert any(how[f"{engine}: {outcome}"] for how in ended)


@pytest.mark.parametrize("way", crash_fuzz.WAYS)
def test_every_way_changes_some_program(way):
    changed = [
        crash_fuzz.WAYS[way](crash_fuzz.random.Random(seed), TEXT) != TEXT
        for seed in range(20)
    ]
    assert any(changed)


def die(signal_number: int):
    """End the process by a signal."""
    os.kill(os.getpid(), signal_number)


def wait_for_ever():
    """Never come to an end."""
    signal.pause()


def test_a_process_that_dies_is_noticed(worker):
    assert worker.call(die, signal.SIGSEGV) == ("the process died", Counter())


def test_a_process_that_hangs_is_noticed(worker):
    found, _ = worker.call(wait_for_ever, patience_s=0.1)
    assert found == "still running after 0.1 s"


def test_anything_but_an_error_of_the_course_is_a_crash(monkeypatch):
    def raises(*_, **__):
        raise KeyError("here")

    monkeypatch.setattr(crash_fuzz, "run", raises)
    monkeypatch.setattr(crash_fuzz, "bases", lambda: (BASE,))
    found, _ = crash_fuzz.check(3, TEXT)
    assert found.startswith("interpreter: KeyError at ")


def test_the_program_of_a_seed_stays_the_same():
    assert crash_fuzz.spoiled(7) == crash_fuzz.spoiled(7)


TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	mov.u32 %r1, 5;
$L__1:
	add.s32 %r1, %r1, -1;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 bra $L__1;
$L__2:
	bra $L__3;
$L__3:
	ret;
}
"""
BASE = crash_fuzz.Base("loop", TEXT, "k", (1, 1, 1), (1, 1, 1), ())
