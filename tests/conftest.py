"""What the tests share: folders of their own, and both backends."""

from __future__ import annotations

import functools
import gc
import os
import tomllib
from collections import Counter
from pathlib import Path

import pytest

# Each process of a run has a core to itself; threads of libraries would wait for each
# other on the cores of other processes. NumPy and PyTorch read it when imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

TESTS = Path(__file__).parent
FOLDERS = ("CACHE", "DATA", "STATE", "WORK")


LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of a GPU where there is none, unless they are asked for.

    So are those of whole notebooks in a browser, which `make test-browser` asks for.
    """
    if "browser" not in config.option.markexpr:
        items[:] = [one for one in items if one.get_closest_marker("browser") is None]
    if "gpu" not in config.option.markexpr and no_gpu():
        kept = [item for item in items if item.get_closest_marker("gpu") is None]
        config.stash[LEFT_OUT] = len(items) - len(kept)
        items[:] = kept
    mark_slow(items)


def mark_slow(items):
    """Mark what `make test-fast` leaves out, as slow.toml says."""
    every = tomllib.loads((TESTS / "slow.toml").read_text(encoding="utf-8"))["every"]
    seen = Counter()
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        name = f"{file_of(item.path)}::{item.originalname}"
        if (nth := every.get(name)) is not None:
            if nth == 0 or seen[name] % nth:
                item.add_marker("slow")
            seen[name] += 1


@functools.cache
def file_of(path: Path) -> str:
    """Return a file's path as slow.toml has it, asked for each of 50,000 tests."""
    return os.path.relpath(path, TESTS)


def pytest_collection_finish():
    """Look for garbage no more among the tests themselves, a million of objects."""
    settle_objects()


@pytest.hookimpl(trylast=True)  # after the fixtures of the file are torn down
def pytest_runtest_teardown(item, nextitem):
    """Nor among what a file has left in caches, once it is done.

    Programs that tests keep compiled are millions of objects, and a search through
    them took half a minute, many times a run.
    """
    if nextitem is None or nextitem.path != item.path:
        settle_objects()


def settle_objects():
    """Free garbage, and take what is left out of later searches.

    The second search finds nothing. It resets the number of objects of which a quarter
    has to be new before Python searches by itself.
    """
    gc.collect()
    gc.freeze()
    gc.collect()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Tell the process that reports how many tests this one has left out."""
    if hasattr(session.config, "workeroutput"):
        left_out = session.config.stash.get(LEFT_OUT, 0)
        session.config.workeroutput["left_out"] = left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Hear it; all processes leave out the same."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[LEFT_OUT] = output.get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config):
    """Say once for each reason how many tests did not run, above what failed."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(
        report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)
    )
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.line(f"{left_out} left out: {no_gpu()}")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory):
    """Keep caches, data and progress of the tests apart from the user's.

    The processes of one run share the cache: what one has compiled serves all, and
    the notebooks too where COURSEKIT_TEST_CACHE names a folder for it.
    """
    before = dict(os.environ)
    for name in FOLDERS:
        folder = tmp_path_factory.mktemp(name.lower())
        if name == "CACHE" and "PYTEST_XDIST_WORKER" in os.environ:
            folder = tmp_path_factory.getbasetemp().parent / "cache"
        if name == "CACHE":
            folder = os.environ.get("COURSEKIT_TEST_CACHE", folder)
        os.environ[f"COURSEKIT_{name}"] = str(folder)
    yield
    for name in FOLDERS:
        os.environ.pop(f"COURSEKIT_{name}")
    os.environ.update(before)


@pytest.fixture(scope="module")
def compiled_here():
    """Compile in this process, whatever a source looks as if it took the compiler.

    For the kernels of the course alone: what they take is known, and a process for each
    costs several times as much.
    """
    from coursekit.toolchain import nvrtc_apart

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nvrtc_apart, "is_needed", lambda source: False)
        yield


@functools.cache
def no_gpu() -> str:
    """Why the GPU tests cannot run; empty where they can."""
    from coursekit.runtime import gpu

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
