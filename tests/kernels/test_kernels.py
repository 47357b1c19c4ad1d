"""Every file of kernels/ is what its header says, counted and on both backends.

Headers are data: fields such as `Idea`, and lines that are parsed here.

    // expect: n=1000 global_load_sectors = 250   # 2 arrays * 4000 B / 32 B
    // finds: n=1000 OutOfBoundsError line 15     (see test_broken_kernels.py)
    // needs: sm_90a                              (where less will not do)

Sizes go to the file's function in tests/kernel_launches.py: `n=256,stride=3`, or
`M=N=K=1024`.
"""

from __future__ import annotations

import copy
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import broken_launches  # noqa: F401 (registers its launches)
import fused_launches  # noqa: F401 (registers its launches)
import fusion_launches  # noqa: F401 (registers its launches)
import golf_launches  # noqa: F401 (registers its launches)
import hunt_launches  # noqa: F401 (registers its launches)
import kernel_launches
import ladder_launches  # noqa: F401 (registers its launches)
import matmul_launches  # noqa: F401 (registers its launches)
import mnist_launches  # noqa: F401 (registers its launches)
import moving_launches  # noqa: F401 (registers its launches)
import numpy as np
import profiling_launches  # noqa: F401 (registers its launches)
import pytest
import tile_launches  # noqa: F401 (registers its launches)

import coursekit as ck
from coursekit.toolchain.cuda_source import function_lines, header_lines
from coursekit.toolchain.declarations import kernels as declared_kernels

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
# Complete programs have a main, exercises a spec; they have tests of their own.
ELSEWHERE = ("programs/", "exercises/", "solutions/")
FILES = sorted(
    name
    for path in KERNELS.rglob("*.cu")
    if not (name := path.relative_to(KERNELS).as_posix()).startswith(ELSEWHERE)
)
BROKEN = [name for name in FILES if name.startswith("broken/")]
CORRECT = [name for name in FILES if name not in BROKEN]

FIELDS = ("What", "Math", "Idea", "Launch", "On chip", "Limits", "Defect", "Repair")
REQUIRED = {"correct": {"What", "Idea", "Launch", "Limits"}}
REQUIRED["broken"] = {"What", "Launch", "Defect", "Repair"}
FIELD = re.compile(rf"// ({'|'.join(FIELDS)}) {{2,}}\S")
EXPECT = re.compile(r"// expect: (\S+) (\w+) = (\d+) +# (\S.*)")
FINDS = re.compile(r"// finds: (\S+) (?:(\w+check) )?([A-Z]\w+)(?: line (\d+))?")
NEEDS = re.compile(r"^// needs: (\w+)$", re.MULTILINE)
HOST_CODE = re.compile(r"\bmain\s*\(|\bcudaMalloc|\bcudaMemcpy|<<<|\bclock64?\s*\(")
SLIDE_COLUMNS, HEADER_COLUMNS = 76, 120
KERNEL_LINES, HOPPER_LINES = 60, 64  # where blocks of a cluster meet, more


@dataclass(frozen=True)
class Expectation:
    """One `expect:` line."""

    file: str
    sizes: str
    counter: str
    value: int

    def __str__(self) -> str:
        return f"{self.file}-{self.sizes}-{self.counter}"


def text(name: str) -> str:
    return (KERNELS / name).read_text(encoding="utf-8")


def header(name: str) -> list[str]:
    lines = text(name).split("\n")
    return lines[: header_lines(text(name))]


def sizes_of(spec: str) -> dict[str, int | str]:
    """Read `n=256,stride=3` or `M=N=K=1024`; `kernel=name` where a file has several."""
    found = {}
    for part in spec.split(","):
        *names, value = part.split("=")
        found |= dict.fromkeys(names, int(value) if value.isdigit() else value)
    return found


def launch_of(name: str, sizes: dict[str, int]) -> kernel_launches.Launch:
    return kernel_launches.PLANS[name].launch(**sizes)


def run(name: str, launch: kernel_launches.Launch) -> tuple:
    """Launch on copies of the arguments and return them."""
    arguments = copy.deepcopy(launch.arguments)
    needed = NEEDS.search(text(name))
    special = needed[1] if needed and needed[1].endswith("a") else None
    module = ck.compile(KERNELS / name, arch=special, defines=launch.defines)
    kernel = module[launch.kernel]
    kernel.launch(
        launch.grid,
        launch.block,
        *arguments,
        shared_bytes=launch.shared_bytes,
        cooperative=launch.cooperative,
    )
    return arguments


EXPECTATIONS = [
    Expectation(name, match[1], match[2], int(match[3]))
    for name in CORRECT
    for match in map(EXPECT.fullmatch, header(name))
    if match
]
CASES = [
    pytest.param(name, sizes, id=f"{name}-{'-'.join(map(str, sizes.values()))}")
    for name in CORRECT
    if name in kernel_launches.PLANS
    for sizes in kernel_launches.PLANS[name].sizes
]


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
    assert name in kernel_launches.PLANS


def test_every_plan_has_its_file():
    assert sorted(kernel_launches.PLANS.keys() - set(FILES)) == []


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
