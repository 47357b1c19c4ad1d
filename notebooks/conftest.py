"""How pytest and nbval run the notebooks: hermetic, and never green by accident.

nbval leaves three gaps that are closed here. A dead kernel would be noticed only
at the cell's timeout. A cell tagged `raises-exception` that raises nothing would
pass. And kernels would share the caches and settings of whoever runs the tests.

A notebook that imports a package of an extra is skipped where that is not installed.

With `--solutions` a notebook that has exercises runs a second time, in a kernel of its
own: the solutions stand in the exercise cells, and a check that does not pass raises.
Stored outputs are then not compared: they are those of the starters. All kernels share
one cache of compiled code, and nothing else of these two runs is shared.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import tempfile
import time
from queue import Empty

import nbval.kernel
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

POLL_SECONDS = 0.5
FOLDERS = (
    "COURSEKIT_CACHE",
    "COURSEKIT_DATA",
    "COURSEKIT_STATE",
    "COURSEKIT_WORK",
    "IPYTHONDIR",
)
OF_ANSWERS = ("COURSEKIT_STATE", "COURSEKIT_WORK")
SOLVED = "(with the solutions filled in)"
OF_EXTRAS = re.compile(r'"(?:import|from) (triton|helion|cutlass)\b')
EXERCISE = re.compile(r"exercise-(\d\d\.(?:\d+|[a-z]))")


def pytest_addoption(parser):
    """Add the second way in which the notebooks are run."""
    parser.addoption(
        "--solutions",
        action="store_true",
        help="run notebooks with exercises once more, with their solutions filled in",
    )


def pytest_configure(config):
    """Give the kernels folders of their own; xdist's workers inherit them."""
    if hasattr(config, "workerinput"):
        return
    config.kernel_folder = tempfile.mkdtemp(prefix="coursekit-notebooks-")
    for name in FOLDERS:
        os.environ[name] = os.path.join(config.kernel_folder, name.lower())
        os.mkdir(os.environ[name])
    if "COURSEKIT_TEST_CACHE" in os.environ:  # the tests have compiled much already
        os.environ["COURSEKIT_CACHE"] = os.environ["COURSEKIT_TEST_CACHE"]
    os.environ["COURSEKIT_STRICT"] = "0"
    os.environ["COURSEKIT_PROGRESS"] = "0"  # a slow machine shows nothing more


def pytest_unconfigure(config):
    """Remove what the kernels wrote."""
    if hasattr(config, "kernel_folder"):
        shutil.rmtree(config.kernel_folder, ignore_errors=True)


def pytest_collect_file(file_path, parent):
    """Collect a notebook a second time when it has exercises; nbval is the first."""
    option = parent.config.option
    if not (option.solutions and option.nbval_lax and file_path.suffix == ".ipynb"):
        return None
    if '"exercise-' not in file_path.read_text(encoding="utf-8"):
        return None
    given = IPyNbFile.from_parent(parent, path=file_path)
    return SolvedNotebook.from_parent(
        parent, path=file_path, nodeid=f"{given.nodeid} {SOLVED}"
    )


def pytest_collection_modifyitems(items):
    """Skip the cells of notebooks that need an extra which is not installed."""
    files = {item.parent.path for item in items if isinstance(item, IPyNbCell)}
    needs = {path: lacking(path.read_text(encoding="utf-8")) for path in files}
    for item in items:
        if isinstance(item, IPyNbCell) and (reason := needs[item.parent.path]):
            item.add_marker(pytest.mark.skip(reason=reason))


def lacking(text):
    """Say which package of an extra a notebook imports that is not installed here."""
    for name in sorted(set(OF_EXTRAS.findall(text))):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: run `make setup EXTRAS=dsl`"
    return ""


class SolvedCell(IPyNbCell):
    """A cell of a notebook with the solutions filled in."""

    def reportinfo(self):
        path, line, description = super().reportinfo()
        return path, line, f"{description} {SOLVED}"


class SolvedNotebook(IPyNbFile):
    """A notebook with the solutions filled in."""

    def collect(self):
        for item in super().collect():
            for tag in item.cell.metadata.get("tags", ()):
                if found := EXERCISE.fullmatch(tag):
                    item.cell.source = solved(item.cell.source, found[1])
            item.options["check"] = False
            yield SolvedCell.from_parent(
                self,
                name=item.name,
                cell_num=item.cell_num,
                cell=item.cell,
                options=item.options,
            )

    def setup(self):
        """Start a kernel that knows nothing of what was answered elsewhere."""
        own = {name: f"{os.environ[name]}-solved" for name in OF_ANSWERS}
        for folder in own.values():
            os.makedirs(folder, exist_ok=True)
        with environment(COURSEKIT_STRICT="1", **own):
            super().setup()


@contextlib.contextmanager
def environment(**variables):
    """Set environment variables for what starts in the block."""
    before = {name: os.environ[name] for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.update(before)


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
