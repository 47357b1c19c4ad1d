"""What the tests share: folders of their own, and both backends."""

from __future__ import annotations

import functools
import os
from collections import Counter

import pytest

FOLDERS = ("CACHE", "DATA", "STATE", "WORK")


def pytest_terminal_summary(terminalreporter):
    """Say once for each reason how many tests were skipped, above what failed."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(
        report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory):
    """Keep caches, data and progress of the tests apart from the user's."""
    before = dict(os.environ)
    for name in FOLDERS:
        folder = tmp_path_factory.mktemp(name.lower())
        os.environ[f"COURSEKIT_{name}"] = str(folder)
    yield
    for name in FOLDERS:
        os.environ.pop(f"COURSEKIT_{name}")
    os.environ.update(before)


@functools.cache
def no_gpu() -> str:
    """Why the GPU tests cannot run; empty where they can."""
    from coursekit import gpu

    reason = gpu.missing()
    return f"no CUDA GPU here: {reason}" if reason else ""


@pytest.fixture
def gpu():
    """Run the test on the GPU alone; mark it `gpu`."""
    if reason := no_gpu():
        pytest.skip(reason)
    return "gpu"


@pytest.fixture(
    params=["simulator", pytest.param("gpu", marks=pytest.mark.gpu)],
)
def backend(request):
    """Run the test on the simulator and, where there is one, on the GPU.

    On the GPU nothing is forced: a launch finds it by itself.
    """
    if request.param == "gpu":
        yield request.getfixturevalue("gpu")
        return
    import coursekit as ck

    with ck.simulator():
        yield "simulator"


@pytest.fixture
def simulated():
    """Run the test on the simulator alone."""
    import coursekit as ck

    with ck.simulator() as simulation:
        yield simulation
