"""The CI script gets itself what is missing where it may, and runs the tests anyway.

It is run in a folder of its own, with stand-ins for every command that does something.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "run"
COMMANDS = ("bash", "dirname", "mktemp", "tail", "cat", "rm")
INSTALLED = "apt-get -q -y install --no-install-recommends chromium fonts-dejavu-core"
TESTED = "make test EXTRAS=libraries"


@pytest.fixture
def run(tmp_path):
    """Run the script; return its answer and the commands that it called."""
    folder = tmp_path / "bin"
    (tmp_path / ".ci").mkdir()
    folder.mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    for name in COMMANDS:
        (folder / name).symlink_to(shutil.which(name))

    def put(name, *lines):
        stand_in = folder / name
        call = f'echo "{name} $*" >>{tmp_path}/calls'
        stand_in.write_text("\n".join([f"#!{folder}/bash", *(lines or [call])]))
        stand_in.chmod(0o755)

    def go(*, user=0, has=("make", "apt-get", "c++"), apt_fails=False):
        put("id", f"echo {user}")
        for name in has:
            put(name)
        if apt_fails:
            put("apt-get", "echo no network", "exit 100")
        answer = subprocess.run(
            [folder / "bash", tmp_path / ".ci" / "run"],
            env={"PATH": str(folder), "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        return answer, (tmp_path / "calls").read_text().splitlines()

    return go


def test_root_without_browser_installs_one(run):
    assert INSTALLED in run()[1]


def test_tests_run_after_the_browser_is_there(run):
    calls = run()[1]
    assert calls[-1] == TESTED
    assert INSTALLED in calls[:-1]


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param({"user": 1000}, id="not root"),
        pytest.param({"has": ("make",)}, id="not Debian"),
        pytest.param(
            {"has": ("make", "apt-get", "c++", "chromium")}, id="has Chromium"
        ),
        pytest.param(
            {"has": ("make", "apt-get", "c++", "google-chrome")}, id="has Chrome"
        ),
    ],
)
def test_nothing_is_installed_elsewhere(run, machine):
    assert run(**machine)[1] == [TESTED]


def test_root_without_a_compiler_installs_one(run):
    calls = run(has=("make", "apt-get", "chromium"))[1]
    assert "apt-get -q -y install --no-install-recommends g++" in calls[:-1]


def test_libraries_are_installed_while_the_browser_is(run):
    assert "make setup EXTRAS=dsl libraries" in run()[1][:-1]


def test_failing_installation_is_told(run):
    assert "no network" in run(apt_fails=True)[0].stderr


def test_failing_installation_does_not_stop_the_tests(run):
    assert run(apt_fails=True)[1][-1] == TESTED


def test_compiled_code_is_kept_for_the_notebooks_and_then_removed(run, tmp_path):
    run()
    (tmp_path / "bin" / "make").write_text(
        f"#!{tmp_path}/bin/bash\n"
        f'[ -d "$COURSEKIT_TEST_CACHE" ] && echo "$COURSEKIT_TEST_CACHE" >{tmp_path}/it'
    )
    run(user=1000, has=())
    assert not Path((tmp_path / "it").read_text().strip()).exists()


def test_failing_tests_fail_the_script(run, tmp_path):
    run()
    (tmp_path / "bin" / "make").write_text(f"#!{tmp_path}/bin/bash\nexit 3")
    assert run(user=1000, has=())[0].returncode == 3
