"""The set-up script finds what is wrong and says how to mend it; nothing is installed.

The conditions are faked; whole runs replace pip and `python -m venv` by stand-ins.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import namedtuple
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import setup_environment as setup

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "setup_environment.py"
PYTHON = (3, 12, 1)
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def course(tmp_path):
    """Make a folder that holds what is to be installed, and an empty `.venv`."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "requirements.lock").write_text("six==1.17.0\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("python", "pip"):
        (tmp_path / ".venv" / "bin" / name).touch()
    return tmp_path


# ---------------------------------------------------------------- the script itself


@pytest.mark.parametrize("version", [(3, 6), (3, 8)])
def test_script_parses_on_old_pythons(version):
    ast.parse(SCRIPT.read_text(), feature_version=version)


def test_script_imports_the_standard_library_alone():
    modules = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(SCRIPT.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or node.names[0].name]
    }
    assert modules <= sys.stdlib_module_names


def test_range_of_pythons_is_that_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    allowed = SpecifierSet(project["requires-python"])
    releases = [(3, minor) for minor in range(8, 20)]
    assert [r for r in releases if setup.supported(r)] == [
        r for r in releases if f"{r[0]}.{r[1]}" in allowed
    ]


def test_extras_exist_in_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {name for extras in setup.EXTRAS.values() for name in extras.split(",")}
    named |= {
        name for kinds in setup.MORE.values() for n in kinds.values() for name in n
    }
    assert named <= project["optional-dependencies"].keys()


# ---------------------------------------------------------------- what is needed


@pytest.mark.parametrize(("version", "word"), [((3, 9, 2), "old"), ((3, 15, 0), "new")])
def test_python_error_names_the_range(version, word):
    message = str(setup.python_error(version))
    assert f"too {word}" in message
    assert "needs Python 3.11 to 3.13" in message


def test_python_error_names_a_cure():
    assert "make lab PYTHON=" in str(setup.python_error((3, 9, 2)))


def test_newest_supported_python_on_path_is_taken():
    here = {"python3.11": "/bin/python3.11", "python3.12": "/bin/python3.12"}
    assert setup.suitable_python(here.get, bool) == "/bin/python3.12"


def test_python_that_does_not_start_is_passed_over():
    here = {"python3.11": "/bin/python3.11", "python3.12": "/shims/python3.12"}
    found = setup.suitable_python(here.get, lambda path: path.startswith("/bin"))
    assert found == "/bin/python3.11"


def test_running_python_starts():
    assert setup.starts(sys.executable)


def test_missing_python_does_not_start(tmp_path):
    assert not setup.starts(str(tmp_path / "python3.12"))


def test_no_supported_python_on_path_is_none():
    assert setup.suitable_python({"python3.14": "/bin/python3.14"}.get, bool) is None


def test_main_says_that_python_is_too_old(monkeypatch, capsys):
    monkeypatch.setattr(setup.sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(setup, "suitable_python", lambda: None)
    assert setup.main() == 1
    assert "Python 3.9.2 is too old" in capsys.readouterr().err


def test_main_goes_on_with_a_supported_python(monkeypatch):
    started = []
    monkeypatch.setattr(setup.sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(setup, "suitable_python", lambda: "/bin/python3.12")
    monkeypatch.setattr(setup, "set_up", lambda *_: None)
    monkeypatch.setattr(setup.os, "execv", lambda *call: started.append(call))
    setup.main()
    assert started == [("/bin/python3.12", ["/bin/python3.12", "-I", str(SCRIPT)])]


def test_windows_is_sent_to_wsl():
    with pytest.raises(setup.SetupError, match="wsl --install"):
        setup.check_platform("win32")


def test_missing_ensurepip_names_the_package_to_install():
    with pytest.raises(setup.SetupError, match=r"apt install python3\.12-venv"):
        setup.check_modules(PYTHON, lambda name: None if name == "ensurepip" else name)


def test_complete_python_passes():
    setup.check_modules(PYTHON, lambda name: name)


def test_folder_without_write_permission_is_named(tmp_path):
    with pytest.raises(setup.SetupError, match="cannot be written"):
        setup.check_writable(str(tmp_path), lambda path, mode: False)


def test_venv_of_another_user_is_named(course):
    with pytest.raises(setup.SetupError, match=r"\.venv cannot be written"):
        setup.check_writable(str(course), lambda path, mode: ".venv" not in path)


def test_full_disk_names_what_is_free_and_what_is_needed(tmp_path):
    with pytest.raises(setup.SetupError, match=r"1\.5 GB free") as error:
        setup.check_space(str(tmp_path), 4, lambda path: Usage(0, 0, 1.5e9))
    assert "needs about 4 GB" in str(error.value)


def test_what_an_unfinished_venv_holds_counts_as_free(course):
    (course / ".venv" / "big").write_bytes(b"x" * 1000)
    held = setup.size_of(str(course / ".venv"))
    setup.check_space(str(course), 4, lambda path: Usage(0, 0, 4e9 - held))


# ---------------------------------------------------------------- which variant


def nvidia_smi(stdout, returncode=0):
    """Return a stand-in for subprocess.run with this answer."""
    return lambda command, **_: subprocess.CompletedProcess(command, returncode, stdout)


def test_gpu_is_read_from_nvidia_smi():
    assert setup.query_gpu(nvidia_smi("580.65.06, 9.0\n580.65.06, 9.0\n")) == (
        "580.65.06",
        "9.0",
    )


@pytest.mark.parametrize(
    "run",
    [nvidia_smi("NVIDIA-SMI has failed", 9), nvidia_smi("No devices were found\n")],
)
def test_nvidia_smi_without_a_gpu_is_none(run):
    assert setup.query_gpu(run) is None


def test_missing_nvidia_smi_is_none():
    def absent(command, **_):
        raise FileNotFoundError(command[0])

    assert setup.query_gpu(absent) is None


@pytest.mark.parametrize(
    ("gpu", "kind", "words"),
    [
        (None, "cpu", "no NVIDIA GPU"),
        (("580.65.06", "9.0"), "gpu", "580.65.06"),
        (("535.183", "9.0"), "cpu", "older than CUDA 13 needs (580)"),
        (("580.65.06", "6.1"), "cpu", "below CUDA 13's 7.5"),
    ],
)
def test_variant_follows_the_gpu(gpu, kind, words):
    chosen, reason = setup.choose_kind(gpu)
    assert chosen == kind
    assert words in reason


def test_index_of_cpu_builds_is_extra_and_only_for_cpu():
    cpu = setup.commands(".venv", "cpu", setup.CPU_TORCH_INDEX)[-1]
    gpu = setup.commands(".venv", "gpu", setup.CPU_TORCH_INDEX)[-1]
    assert cpu[cpu.index("--extra-index-url") + 1] == setup.CPU_TORCH_INDEX
    assert "--extra-index-url" not in gpu


@pytest.mark.parametrize(
    ("kind", "extras", "named"),
    [
        ("cpu", [], ".[test,torch]"),
        ("cpu", ["dsl"], ".[test,torch,dsl]"),
        ("cpu", ["dsl", "libraries"], ".[test,torch,dsl,libraries]"),
        ("gpu", ["dsl"], ".[test,gpu,tiles]"),
        ("gpu", ["libraries"], ".[test,gpu]"),
        ("cpu", ["cudnn"], ".[test,torch,cudnn]"),
        ("gpu", ["cudnn"], ".[test,gpu]"),
    ],
)
def test_extras_are_installed_with_the_course(kind, extras, named):
    assert named in setup.commands(".venv", kind, None, extras)[3]


def test_headers_of_cutlass_come_without_their_old_cuda_python():
    last = setup.commands(".venv", "cpu", None, ["libraries"])[-1]
    assert last[-2:] == ["--no-deps", "nvidia-cutlass==4.2.0.0"]


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_graphs_of_cudnn_come_without_compilers(kind):
    last = setup.commands(".venv", kind, None, ["cudnn"])[-1]
    assert last[-2:] == ["--no-deps", "nvidia-cudnn-frontend==1.32.0"]


def test_triton_of_the_extra_is_not_that_of_a_gpu():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tiles = " ".join(project["optional-dependencies"]["tiles"])
    assert "triton" not in tiles


def test_extras_are_taken_once_and_in_order():
    assert setup.check_extras(["libraries", "dsl", "dsl"]) == ["dsl", "libraries"]


def test_unknown_extra_says_which_there_are(capsys):
    assert setup.main(["dls"]) == 1
    message = capsys.readouterr().err
    assert "There is no extra 'dls'" in message
    assert "`make setup EXTRAS=dsl`" in message


def test_unreachable_index_is_left_out():
    commands = setup.commands(".venv", "cpu", None)
    assert [c for c in commands if "--extra-index-url" in c] == []


@pytest.mark.parametrize("installer", [1, 2], ids=["uv", "pip"])
def test_lock_is_installed_with_its_hashes(installer):
    command = setup.commands(".venv", "cpu", None)[installer]
    assert command[-3:] == ["--require-hashes", "--requirement", "requirements.lock"]


def test_uv_has_one_exact_version():
    assert re.fullmatch(r"uv==[\d.]+", setup.commands(".venv", "cpu", None)[0][-1])


def test_failing_probe_is_unreachable():
    def refuse(url, timeout):
        raise OSError("no route to host")

    assert not setup.reachable("https://example.invalid", 1.0, refuse)


def test_pip_settings_of_the_user_stay_in_force(monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels")
    monkeypatch.setenv("PIP_TARGET", "elsewhere")
    found = setup.environment()
    assert found["PIP_FIND_LINKS"] == "wheels"
    assert "PIP_TARGET" not in found


# ---------------------------------------------------------------- what pip says


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "  Downloading torch-2.13.0-cp311-linux.whl (190.4 MB)",
            "downloading torch (190.4 MB) ...",
        ),
        ("  Downloading six-1.17.0-py2.py3-none-any.whl (11 kB)", None),
        ("Downloading nvidia-nvvm (71.6MiB)", "downloading nvidia-nvvm (71.6 MB) ..."),
        ("Downloading numpy (15.9MiB)", None),
        ("Installing collected packages: a, b, c", "unpacking 3 packages ..."),
        ("Installing collected packages: torch, a", "unpacking torch, a ..."),
        ("Installed 9 packages in 1s", "unpacked 9 packages; compiling them ..."),
        ("Collecting numpy<3,>=2.0", None),
    ],
)
def test_progress_says_what_takes_long(line, message):
    assert setup.stage(line) == message


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (
            "ERROR: Could not install packages due to an OSError: "
            "[Errno 28] No space left on device",
            "the disk is full",
        ),
        (
            "  WARNING: Retrying after connection broken by 'NewConnectionError: [Errno"
            " -3] Temporary failure in name resolution'\n"
            "  ERROR: No matching distribution found for setuptools>=77\n"
            "note: This error originates from a subprocess",
            "the package index cannot be reached",
        ),
        (
            "WARNING: Retrying ... SSLError(SSLCertVerificationError(1, "
            "'[SSL: CERTIFICATE_VERIFY_FAILED]'",
            "certificate was not accepted",
        ),
        ("ERROR: [Errno 13] Permission denied: 'x'", "may not be written"),
        (
            "ERROR: No matching distribution found for torch==2.13.0",
            "no version that fits",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "arrived damaged"),
        ("Segmentation fault", "pip failed; pip says: Segmentation fault"),
        ("", "pip says: no output"),
    ],
)
def test_failure_of_pip_is_explained(log, cause):
    assert cause in str(setup.diagnose(log))


@pytest.mark.parametrize("failure", setup.FAILURES, ids=lambda row: row[1])
def test_every_explanation_has_a_cure(failure):
    assert failure[2].endswith(".")


def test_failure_quotes_pip():
    message = str(setup.diagnose("noise\n  ERROR: this and that.\nmore"))
    assert "pip says: ERROR: this and that." in message


REASONS = {
    "pyproject": (
        "  error: subprocess-exited-with-error\n"
        "  × Preparing editable metadata did not run successfully.\n"
        "      tomllib.TOMLDecodeError: Expected ']' (at line 3, column 9)\n"
        "ERROR: Failed to build the course",
        "pyproject.toml is damaged; pip says: tomllib.TOMLDecodeError: Expected ']'",
    ),
    "uv": (
        "error: Failed to fetch something\n  Caused by: operation of another kind\n",
        "pip says: Caused by: operation of another kind",
    ),
    "file size": (
        "  OSError: [Errno 27] File too large: 'torch.so'\nERROR: see above",
        "is limited for this account; pip says: OSError: [Errno 27] File too large",
    ),
    "unknown": (
        "  ValueError: odd\n  ERROR: metadata-generation-failed\nnote: no pip issue",
        "pip says: ValueError: odd",
    ),
}


@pytest.mark.parametrize("case", REASONS)
def test_failure_quotes_the_line_that_says_why(case):
    log, words = REASONS[case]
    assert words in str(setup.diagnose(log))


def test_index_that_does_not_answer_is_named_before_the_wait(course, capsys):
    called(course)
    assert f"{setup.INDEX} does not answer" in capsys.readouterr().out


def test_index_of_the_user_is_the_one_that_is_asked(course, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    assert setup.package_index(str(course)) == "https://mirror.example/simple"


def test_set_up_that_never_ends_is_not_waited_for_without_end():
    def busy():
        raise BlockingIOError

    pauses = []
    with pytest.raises(setup.SetupError, match="does not end"):
        setup.wait_for_lock(busy, pauses.append)
    assert sum(pauses) == 1800


# ---------------------------------------------------------------- whole runs


@pytest.fixture
def stand_ins(monkeypatch, course):
    """Replace the checks and the two commands; record the pip commands."""
    commands = []

    def pip(command, root):
        commands.append(command)
        return 0, ""

    monkeypatch.setattr(setup, "check_space", lambda *_: None)
    monkeypatch.setattr(setup, "install", lambda *call: INSTALL(*call, run=pip))
    monkeypatch.setattr(setup, "make_venv", lambda *_: None)
    monkeypatch.setattr(setup, "reachable", lambda url: False)
    return commands


INSTALL = setup.install
STAMP = "coursekit-setup.json"


def test_second_set_up_installs_nothing(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    first = len(stand_ins)
    setup.set_up(str(course), PYTHON, None)
    assert first > 0
    assert len(stand_ins) == first


def test_second_set_up_prints_nothing(course, stand_ins, capsys):
    setup.set_up(str(course), PYTHON, None)
    capsys.readouterr()
    setup.set_up(str(course), PYTHON, None)
    assert capsys.readouterr().out == ""


def test_changed_list_of_dependencies_installs_again(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    first = len(stand_ins)
    (course / "pyproject.toml").write_text("[project]\ndependencies = ['six']\n")
    setup.set_up(str(course), PYTHON, None)
    assert len(stand_ins) > first


def test_changed_lock_installs_again(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    first = len(stand_ins)
    (course / "requirements.lock").write_text("six==1.18.0\n")
    setup.set_up(str(course), PYTHON, None)
    assert len(stand_ins) > first


def test_extra_that_is_not_there_is_installed(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    setup.set_up(str(course), PYTHON, None, ["dsl"])
    assert ".[test,torch,dsl]" in [part for command in stand_ins for part in command]


@pytest.mark.parametrize("asked", [[], ["dsl"]])
def test_extra_that_is_there_is_not_installed_again(course, stand_ins, asked):
    setup.set_up(str(course), PYTHON, None, ["dsl", "libraries"])
    first = len(stand_ins)
    setup.set_up(str(course), PYTHON, None, asked)
    assert len(stand_ins) == first


def test_extras_stay_when_the_lock_changes(course, stand_ins):
    setup.set_up(str(course), PYTHON, None, ["dsl"])
    (course / "requirements.lock").write_text("six==1.18.0\n")
    setup.set_up(str(course), PYTHON, None)
    assert setup.read_stamp(str(course))["extras"] == ["dsl"]


def test_more_extras_need_more_space(course, stand_ins, monkeypatch):
    needed = []
    monkeypatch.setattr(
        setup, "check_space", lambda _, gigabytes: needed.append(gigabytes)
    )
    setup.set_up(str(course), PYTHON, None, ["dsl", "libraries"])
    assert needed[0] == setup.GIGABYTES["cpu"] + 4


def test_other_python_sets_up_again(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    first = len(stand_ins)
    setup.set_up(str(course), (3, 13, 0), None)
    assert len(stand_ins) > first


def test_new_gpu_installs_its_packages(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    setup.set_up(str(course), PYTHON, ("580.65.06", "9.0"))
    assert ".[test,gpu]" in [part for command in stand_ins for part in command]


def test_environment_with_gpu_packages_serves_without_a_gpu(course, stand_ins):
    setup.set_up(str(course), PYTHON, ("580.65.06", "9.0"))
    first = len(stand_ins)
    setup.set_up(str(course), PYTHON, None)
    assert len(stand_ins) == first


def test_failed_pip_leaves_no_stamp(course, stand_ins):
    with pytest.raises(setup.SetupError):
        INSTALL(str(course), "cpu", run=lambda *_: (1, "ERROR: no"), probe=bool)
    assert not (course / ".venv" / STAMP).exists()


def called(course, fails=lambda command: False):
    """Install where some commands fail; return the commands, as words in a line."""
    commands = []

    def run(command, root):
        commands.append(" ".join(command))
        return int(fails(commands[-1])), ""

    INSTALL(str(course), "cpu", run=run, probe=lambda url: False)
    return commands


def test_uv_installs_the_lock_and_pip_the_rest(course):
    _, lock, rest, imports = called(course)
    assert "/bin/uv pip install" in lock
    assert "-m pip install" in rest and ".[test,torch]" in rest
    assert " -c import coursekit" in imports


@pytest.mark.parametrize("missing", ["pip install --no-input .* uv==", "/bin/uv "])
def test_pip_installs_the_lock_where_uv_does_not(course, missing):
    commands = called(course, lambda command: bool(re.search(missing, command)))
    by_pip = "-m pip install .* --require-hashes --requirement requirements.lock$"
    assert len([c for c in commands if re.search(by_pip, c)]) == 1


def test_set_up_says_that_pip_takes_the_place_of_uv(course, capsys):
    called(course, lambda command: "/bin/uv " in command)
    assert "uv cannot install them (the log says why); pip" in capsys.readouterr().out


def test_set_up_says_nothing_of_pip_where_uv_serves(course, capsys):
    called(course)
    assert "pip" not in capsys.readouterr().out


def test_interrupted_install_is_not_reused(course):
    def interrupt(command, root):
        raise KeyboardInterrupt

    setup.write_stamp(str(course), PYTHON, "abc", "cpu")
    with pytest.raises(KeyboardInterrupt):
        INSTALL(str(course), "cpu", run=interrupt, probe=bool)
    assert not setup.is_reusable(str(course), PYTHON)


def test_finished_install_is_reused(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    assert setup.is_reusable(str(course), PYTHON)


def test_venv_without_pip_is_not_reused(course):
    setup.write_stamp(str(course), PYTHON, "abc", "cpu")
    (course / ".venv" / "bin" / "pip").unlink()
    assert not setup.is_reusable(str(course), PYTHON)


def test_venv_of_another_python_is_not_reused(course):
    setup.write_stamp(str(course), PYTHON, "abc", "cpu")
    assert not setup.is_reusable(str(course), (3, 11, 7))


def test_damaged_stamp_sets_up_again(course, stand_ins):
    setup.set_up(str(course), PYTHON, None)
    (course / ".venv" / STAMP).write_text("{")
    assert not setup.is_current(
        str(course), setup.fingerprint(str(course), PYTHON), "cpu"
    )


def test_stamp_is_written_whole(course):
    setup.write_stamp(str(course), PYTHON, "abc", "cpu")
    stamp = json.loads((course / ".venv" / STAMP).read_text())
    assert stamp == {"python": [3, 12], "fingerprint": "abc", "kind": "cpu"}


def test_moved_course_sets_up_again(course, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(course / name, elsewhere)
    here, there = (
        setup.fingerprint(str(folder), PYTHON) for folder in (course, elsewhere)
    )
    assert here != there


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 130, "Run the same command again"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (setup.SetupError("It stopped", "the reason", "The cure."), 1, "Cure:  The"),
    ],
    ids=["interrupt", "disk", "explained"],
)
def test_main_reports_in_one_message(monkeypatch, capsys, error, status, words):
    def stop(*_):
        raise error

    monkeypatch.setattr(setup, "query_gpu", lambda: None)
    monkeypatch.setattr(setup, "set_up", stop)
    assert setup.main() == status
    assert words in capsys.readouterr().err


def test_log_keeps_what_the_command_said(course):
    command = [sys.executable, "-c", "print('one'); print('two')"]
    assert setup.run_logged(command, str(course)) == (0, "one\ntwo\n")
    assert "one\ntwo\n" in (course / ".venv" / "setup.log").read_text()


def test_set_ups_in_one_folder_wait_for_each_other(course):
    probe = (
        "import fcntl, os, sys; handle = os.open(sys.argv[1], os.O_RDONLY)\n"
        "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    command = [sys.executable, "-c", probe, str(course)]
    with setup.one_at_a_time(str(course)):
        answer = subprocess.run(command, capture_output=True, text=True)
    assert "BlockingIOError" in answer.stderr


@pytest.mark.parametrize(
    ("goal", "given", "extras"),
    [
        ("setup", [], []),
        ("setup", ["EXTRAS=dsl libraries"], ["dsl", "libraries"]),
        ("lab", ["EXTRAS=dsl"], ["dsl"]),
        ("test", [], ["dsl"]),
        ("test", ["EXTRAS=libraries"], ["libraries", "dsl"]),
    ],
)
def test_make_hands_the_extras_on(goal, given, extras):
    own = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "EXTRAS")}
    command = ["make", "--dry-run", goal, *given]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=own)
    (line,) = re.findall(r"-I setup_environment\.py(.*)", answer.stdout)
    assert line.split() == extras
