"""How pytest and nbval run the notebooks: hermetic, and never green by accident.

nbval leaves three gaps that are closed here. A dead kernel would be noticed only
at the cell's timeout. A cell tagged `raises-exception` that raises nothing would
pass. And kernels would share the caches and settings of whoever runs the tests.

With `--solutions` the solutions stand in the exercise cells, and a check that does
not pass raises. Stored outputs are then not compared: they are those of the starters.
"""

import os
import re
import shutil
import tempfile
import time
from queue import Empty

import nbval.kernel
import pytest
from nbval.plugin import IPyNbCell, NbCellError

POLL_SECONDS = 0.5
FOLDERS = (
    "COURSEKIT_CACHE",
    "COURSEKIT_DATA",
    "COURSEKIT_STATE",
    "COURSEKIT_WORK",
    "IPYTHONDIR",
)
EXERCISE = re.compile(r"exercise-(\d\d\.\d+)")


def pytest_addoption(parser):
    """Add the second way in which the notebooks are run."""
    parser.addoption(
        "--solutions", action="store_true", help="fill in the exercises' solutions"
    )


def pytest_configure(config):
    """Give the kernels folders of their own; xdist's workers inherit them."""
    if hasattr(config, "workerinput"):
        return
    config.kernel_folder = tempfile.mkdtemp(prefix="coursekit-notebooks-")
    for name in FOLDERS:
        os.environ[name] = os.path.join(config.kernel_folder, name.lower())
        os.mkdir(os.environ[name])
    strict = config.getoption("--solutions")
    os.environ["COURSEKIT_STRICT"] = "1" if strict else "0"
    os.environ["COURSEKIT_PROGRESS"] = "0"  # a slow machine shows nothing more


def pytest_unconfigure(config):
    """Remove what the kernels wrote."""
    if hasattr(config, "kernel_folder"):
        shutil.rmtree(config.kernel_folder, ignore_errors=True)


def pytest_collection_modifyitems(config, items):
    """Put the solutions into the exercise cells, when they are asked for."""
    if not config.getoption("--solutions"):
        return
    for item in items:
        if isinstance(item, IPyNbCell):
            item.options["check"] = False
            for tag in item.cell.metadata.get("tags", ()):
                if found := EXERCISE.fullmatch(tag):
                    item.cell.source = solved(item.cell.source, found[1])


def solved(source, exercise_id):
    """Return an exercise cell with the solution below its first line."""
    from coursekit.exercises import catalogue

    solution = catalogue.find(exercise_id).solution.read_text(encoding="utf-8")
    return source.partition("\n")[0] + "\n" + solution


def await_reply(self, msg_id, timeout=None):
    """Wait for a cell's reply, and notice within a second that the kernel died."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            message = self.get_message(stream="shell", timeout=POLL_SECONDS)
        except Empty:
            if not self.is_alive():
                raise RuntimeError("the kernel died while it ran this cell") from None
            if end is not None and time.monotonic() > end:
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            if message["content"].get("status") == "aborted":
                raise RuntimeError("the kernel refused to run this cell")
            return


# Of nbval 0.11.0, which pyproject.toml pins for this line.
nbval.kernel.RunningKernel.await_reply = await_reply


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a cell that is tagged `raises-exception` and raises nothing."""
    result = yield
    if isinstance(item, IPyNbCell) and item.options["check_exception"]:
        kinds = [output["output_type"] for output in item.test_outputs]
        if "error" not in kinds:
            raise NbCellError(
                item.cell_num,
                "The cell is tagged raises-exception and raised nothing",
                item.cell.source,
            )
    return result
