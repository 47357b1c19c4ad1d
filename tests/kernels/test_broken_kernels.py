"""Every file of kernels/broken has one defect, and what finds it says where.

// finds: n=1000 OutOfBoundsError line 15              a launch raises it
// finds: n=1000 racecheck DataRaceError line 15       ck.racecheck finds it
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import course_kernels as kernels
import numpy as np
import pytest
from kernel_launches import Launch

import coursekit as ck

pytestmark = pytest.mark.usefixtures("own_folders")


@dataclass(frozen=True)
class Declared:
    """One `finds:` line; without a checker the launch itself raises."""

    file: str
    sizes: str
    checker: str | None
    error: str
    line: int | None

    def __str__(self) -> str:
        return f"{self.file}-{self.checker or 'launch'}-{self.sizes}"


DECLARED = [
    Declared(name, match[1], match[2], match[3], int(match[4]) if match[4] else None)
    for name in kernels.BROKEN
    for match in map(kernels.FINDS.fullmatch, kernels.header(name))
    if match
]
RAISED = [one for one in DECLARED if one.checker is None]
CHECKED = [one for one in DECLARED if one.checker is not None]


def launch_of(declared: Declared) -> Launch:
    return kernels.launch_of(declared.file, kernels.sizes_of(declared.sizes))


def blank_as_fresh(arguments: tuple) -> tuple:
    """Replace outputs that nothing has written by fresh device memory."""
    return tuple(
        ck.empty(each.shape, each.dtype)
        if isinstance(each, np.ndarray)
        and each.dtype.kind == "f"
        and np.isnan(each).all()
        else each
        for each in arguments
    )


def patience_s(declared: Declared) -> float:
    """Seconds for a launch: few where it never ends, more than enough elsewhere."""
    return 1 if declared.error == "DeadlockError" else 60


def check(checker: str, declared: Declared, **options):
    launch = launch_of(declared)
    arguments = blank_as_fresh(copy.deepcopy(launch.arguments))
    kernel = ck.compile(kernels.KERNELS / declared.file)[launch.kernel]
    with ck.simulator(timeout_s=patience_s(declared)):
        return getattr(ck, checker)(
            kernel,
            launch.grid,
            launch.block,
            arguments,
            shared_bytes=launch.shared_bytes,
            **options,
        )


@pytest.mark.parametrize("name", kernels.BROKEN)
def test_file_declares_what_is_found(name):
    assert name in {declared.file for declared in DECLARED}


def test_there_are_many_defects():
    assert len(kernels.BROKEN) >= 20


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_declared_line_is_in_the_kernel(declared):
    limit = len(kernels.header(declared.file))
    assert declared.line is None or declared.line > limit


# Lanes of one warp, which GPUs before Volta ran in step: a warning, and not raised.
WARNED = ("broken/warp_sum_no_syncwarp.cu",)
ERRORS = [declared for declared in CHECKED if declared.file not in WARNED]
WARNINGS = [declared for declared in CHECKED if declared.file in WARNED]


@pytest.mark.parametrize("declared", RAISED, ids=str)
def test_launch_raises_what_is_declared(declared):
    with (
        ck.simulator(timeout_s=patience_s(declared)),
        pytest.raises(getattr(ck, declared.error)) as caught,
    ):
        kernels.run(declared.file, launch_of(declared))
    assert type(caught.value).__name__ == declared.error
    assert declared.line in (None, getattr(caught.value, "line", None))


@pytest.mark.parametrize("declared", CHECKED, ids=str)
def test_checker_finds_what_is_declared(declared):
    first = next(iter(check(declared.checker, declared)))
    assert (first.kind, first.line) == (declared.error, declared.line)
    assert first.file.endswith(declared.file)


@pytest.mark.parametrize("declared", CHECKED, ids=str)
def test_finding_names_thread_and_line(declared):
    error = check(declared.checker, declared)[0].error
    assert f"thread {error.thread} of block {error.block}" in str(error)
    assert f"{declared.file}:{declared.line}" in str(error)


@pytest.mark.parametrize("declared", ERRORS, ids=str)
def test_checker_raises_on_demand(declared):
    with pytest.raises(getattr(ck, declared.error)) as caught:
        check(declared.checker, declared, raise_=True)
    assert caught.value.line == declared.line


@pytest.mark.parametrize("declared", WARNINGS, ids=str)
def test_checker_returns_a_warning(declared):
    findings = check(declared.checker, declared, raise_=True)
    assert findings[0].level == "warning"
