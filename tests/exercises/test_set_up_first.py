"""A new kernel says that the set-up cell has not run."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import venv
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell

from coursekit import paths
from coursekit.exercises.cells import set_up_first

pytest_plugins = ("notebook_shell",)

ADVICE = "Run the set-up cell first, which is the first code cell; then this cell."


@pytest.fixture
def restarted(session, monkeypatch):
    """Turn the session into one of a kernel that has run no cell yet."""
    shell = session.shell
    config = shell.config
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()
    monkeypatch.chdir(paths.repository() / "notebooks")
    session.shell = InteractiveShell.instance(config=config)
    session.run(f"%load_ext {set_up_first.__name__}")
    yield session
    session.shell.restore_sys_module_state()


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ('ck.check("05.1")', "ck"),
        ("np.zeros(3)", "np"),
        ("%%cuda\n__global__ void f() {}", "%%cuda"),
        ("%%host --exercise 06.1\nx = 1", "%%host"),
    ],
)
def test_cell_without_the_set_up_names_it(restarted, cell, name):
    shown, _ = restarted.fail(cell)
    assert f"{name} is not defined: the set-up cell of this notebook" in shown
    assert ADVICE in shown


def test_after_the_set_up_a_name_error_is_pythons_own(restarted):
    restarted.run("import coursekit as ck\n%load_ext coursekit")
    shown, error = restarted.fail("nothing")
    assert type(error) is NameError
    assert "name 'nothing' is not defined" in shown
    assert ADVICE not in shown


def test_after_the_set_up_cells_compile(restarted):
    restarted.run("import coursekit as ck\n%load_ext coursekit")
    assert "Compiled" in restarted.run("%%cuda\n__global__ void f(int* a) { *a = 1; }")


def test_other_errors_are_shown_as_ever(restarted):
    shown, error = restarted.fail("def f():\n    x += 1\nf()")
    assert type(error) is UnboundLocalError
    assert ADVICE not in shown


def test_notebook_outside_of_the_course_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "work", lambda: paths.repository() / "work")
    set_up_first.load_ipython_extension(SimpleNamespace())


def test_kernels_of_the_environment_start_with_the_extension(tmp_path):
    venv.create(tmp_path, symlinks=True)
    set_up_first.install(str(tmp_path))
    python = tmp_path / "bin" / "python"
    program = "from ipykernel.kernelapp import IPKernelApp as App; app = App()\n"
    program += "app.init_profile_dir()\n"
    program += "app.init_config_files(); app.load_config_file()\n"
    program += "print(app.extra_extensions)"
    environment = {
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "IPYTHONDIR": str(tmp_path / "home"),
    }
    done = subprocess.run(
        [python, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == f"[{set_up_first.__name__!r}]\n", done.stderr


def test_settings_that_are_there_stay(tmp_path):
    settings = tmp_path / "etc" / "ipython" / "ipython_kernel_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{}")
    set_up_first.install(str(tmp_path))
    assert json.loads(settings.read_text()) == {}


def test_folder_that_cannot_be_written_does_no_harm(tmp_path):
    (tmp_path / "etc").write_text("a file")
    set_up_first.install(str(tmp_path))
