"""The kernels of the course as the tests see them: files, headers, launches.

Headers are data: fields such as `Idea`, and lines that are parsed here.

    // expect: n=1000 global_load_sectors = 250   # 2 arrays * 4000 B / 32 B
    // finds: n=1000 OutOfBoundsError line 15     (see test_broken_kernels.py)
    // needs: sm_90a                              (where less will not do)

Sizes go to the file's function in tests/kernels/launches/: `n=256,stride=3`, or
`M=N=K=1024`.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from kernel_launches import Launch, plans

import coursekit as ck
from coursekit.toolchain.cuda_source import header_lines

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
# Complete programs have a main, exercises a spec; they have tests of their own.
ELSEWHERE = ("programs/", "libraries/", "exercises/", "solutions/")
FILES = sorted(
    name
    for path in KERNELS.rglob("*.cu")
    if not (name := path.relative_to(KERNELS).as_posix()).startswith(ELSEWHERE)
)
BROKEN = [name for name in FILES if name.startswith("broken/")]
CORRECT = [name for name in FILES if name not in BROKEN]

EXPECT = re.compile(r"// expect: (\S+) (\w+) = (\d+) +# (\S.*)")
FINDS = re.compile(r"// finds: (\S+) (?:(\w+check) )?([A-Z]\w+)(?: line (\d+))?")
NEEDS = re.compile(r"^// needs: (\w+)$", re.MULTILINE)


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


def launch_of(name: str, sizes: dict[str, int]) -> Launch:
    return plans()[name].launch(**sizes)


def run(name: str, launch: Launch) -> tuple:
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
    if name in plans()
    for sizes in plans()[name].sizes
]
