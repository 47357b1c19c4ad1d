"""Every file of kernels/ is what its header says, counted and on both backends.

How headers are read stands in course_kernels.py.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from course_kernels import (
    BROKEN,
    CASES,
    EXPECT,
    EXPECTATIONS,
    FILES,
    FINDS,
    KERNELS,
    NEEDS,
    header,
    launch_of,
    run,
    sizes_of,
    text,
)
from kernel_launches import missing_plan, plans

import coursekit as ck
from coursekit.toolchain.cuda_source import function_lines
from coursekit.toolchain.declarations import kernels as declared_kernels

pytestmark = pytest.mark.usefixtures("compiled_here")

FIELDS = ("What", "Math", "Idea", "Launch", "On chip", "Limits", "Defect", "Repair")
REQUIRED = {"correct": {"What", "Idea", "Launch", "Limits"}}
REQUIRED["broken"] = {"What", "Launch", "Defect", "Repair"}
FIELD = re.compile(rf"// ({'|'.join(FIELDS)}) {{2,}}\S")
HOST_CODE = re.compile(r"\bmain\s*\(|\bcudaMalloc|\bcudaMemcpy|<<<|\bclock64?\s*\(")
SLIDE_COLUMNS, HEADER_COLUMNS = 76, 120
KERNEL_LINES, HOPPER_LINES = 60, 64  # where blocks of a cluster meet, more


# ---------------------------------------------------------------- the text


@pytest.mark.parametrize("name", FILES)
def test_first_line_is_a_sentence(name):
    assert re.fullmatch(r"// [A-Z].*\.", header(name)[0])


@pytest.mark.parametrize("name", FILES)
def test_header_has_the_fields(name):
    found = {match[1] for line in header(name) if (match := FIELD.match(line))}
    assert REQUIRED["broken" if name in BROKEN else "correct"] <= found


@pytest.mark.parametrize("name", FILES)
def test_lines_of_data_can_be_read(name):
    data = [line for line in header(name) if re.match(r"// *(expect|finds)\b", line)]
    pattern = FINDS if name in BROKEN else EXPECT
    assert [line for line in data if not pattern.fullmatch(line)] == []


@pytest.mark.parametrize("name", FILES)
def test_lines_fit_a_slide(name):
    lines, limit = text(name).split("\n"), len(header(name))
    allowed = [
        HEADER_COLUMNS if n < limit else SLIDE_COLUMNS for n in range(len(lines))
    ]
    pairs = zip(lines, allowed, strict=True)
    assert [line for line, most in pairs if len(line) > most] == []


@pytest.mark.parametrize("name", FILES)
def test_file_holds_kernels_only(name):
    assert (
        HOST_CODE.findall("\n".join(text(name).split("\n")[len(header(name)) :])) == []
    )


@pytest.mark.parametrize("name", FILES)
def test_kernels_are_short(name):
    ranges = {
        kernel.name: function_lines(text(name), kernel.name)
        for kernel in declared_kernels(text(name))
    }
    lengths = {name: last - first + 1 for name, (first, last) in ranges.items()}
    most = HOPPER_LINES if "__cluster_dims__" in text(name) else KERNEL_LINES
    assert {n: count for n, count in lengths.items() if count > most} == {}


@pytest.mark.parametrize("name", FILES)
def test_file_can_be_launched_by_the_tests(name):
    assert name in plans(), missing_plan(name)


def test_every_plan_has_its_file():
    assert sorted(plans().keys() - set(FILES)) == []


# ---------------------------------------------------------------- the code


@pytest.mark.parametrize("arch", ["compute_75", "compute_90"])
@pytest.mark.parametrize("name", FILES)
def test_file_compiles(name, arch):
    needed = NEEDS.search(text(name))
    assert ck.compile(KERNELS / name, arch=needed[1] if needed else arch).kernels


# Case by case, so that the tests of a case follow each other and share its launch.
every_case = pytest.mark.parametrize(("name", "sizes"), CASES, scope="module")


@pytest.fixture(scope="module")
def latest():
    """What the latest launch was, left and printed."""
    return {}


@pytest.fixture
def ran(name, sizes, backend, latest, capfd):
    """A launch, its arguments afterwards, and the lines that it printed."""
    case = name, *sizes.items(), backend
    if case not in latest:
        latest.clear()
        launch = launch_of(name, sizes)
        arguments = run(name, launch)
        latest[case] = launch, arguments, capfd.readouterr().out.splitlines()
    return latest[case]


@every_case
def test_result_is_right(name, sizes, ran):
    launch, arguments, printed = ran
    assert sorted(printed) == sorted(launch.prints)
    for position, wanted in launch.results.items():
        found = arguments[position].astype(np.float64)
        off = launch.atol.get(position)
        if off is not None:  # in units of what is allowed, which may differ by place
            found, wanted = (found - wanted) / np.maximum(off, 1e-300), 0 * wanted
        np.testing.assert_allclose(
            found,
            wanted,
            rtol=launch.rtol,
            atol=0 if off is None else 1,
            equal_nan=False,
            strict=True,
        )


@every_case
def test_inputs_are_left_alone(name, sizes, ran):
    launch, arguments, _ = ran
    changed = [
        position
        for position, (found, given) in enumerate(
            zip(arguments, launch.arguments, strict=True)
        )
        if position not in launch.results and not np.array_equal(found, given)
    ]
    assert changed == []


@functools.cache
def counted(file: str, sizes: str):
    """Counters of a launch, which several lines of its file may be about."""
    launch = launch_of(file, sizes_of(sizes))
    return ck.count(
        ck.compile(KERNELS / file, defines=launch.defines)[launch.kernel],
        launch.grid,
        launch.block,
        launch.arguments,
        shared_bytes=launch.shared_bytes,
    )


@pytest.mark.parametrize("expected", EXPECTATIONS, ids=str)
def test_count_is_as_expected(expected):
    counts = counted(expected.file, expected.sizes)
    assert getattr(counts, expected.counter) == expected.value
    assert counts.label(expected.counter) in ("exact", "sass")
