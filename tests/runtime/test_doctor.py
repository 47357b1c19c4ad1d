"""Doctor on machines that these tests make up."""

import json
import re
from pathlib import Path

import pytest

from coursekit import __main__, paths
from coursekit.errors import DeviceError, UnsupportedError
from coursekit.runtime import doctor
from coursekit.runtime.doctor import checkup_gpu, places
from coursekit.runtime.doctor.checkup import required
from coursekit.runtime.doctor.probe import Outcome, Probe

GIB = 2**30
FULL_QUERY = "--query-gpu=name,driver_version,memory.total,compute_cap"
SHORT_QUERY = "--query-gpu=name,driver_version,memory.total"


def smi(line, cuda, *, knows_compute_cap=True):
    """Answers of nvidia-smi on a machine with one GPU."""
    short = ", ".join(line.split(", ")[:3])
    refusal = Outcome(2, 'Field "compute_cap" is not a valid field to query.')
    return {
        ("nvidia-smi",): Outcome(0, f"| NVIDIA-SMI   CUDA Version: {cuda}   |"),
        ("nvidia-smi", FULL_QUERY): Outcome(0, line) if knows_compute_cap else refusal,
        ("nvidia-smi", SHORT_QUERY): Outcome(0, short),
    }


def nvcc(release):
    text = f"Cuda compilation tools, release {release}, V{release}.88"
    return {("nvcc", "--version"): Outcome(0, text)}


class FakeMachine(Probe):
    """A healthy Linux machine without a GPU; keyword arguments change it."""

    python = (3, 12, 3)
    platform = "linux"
    machine = "x86_64"
    is_root = False

    def __init__(self, **facts):
        self.commands = {}
        self.files = {"/proc/version": "Linux version 6.8.0-45-generic"}
        self.missing = {"torch", "cupy-cuda13x", "triton"}
        self.free, self.memory = 50 * GIB, 16 * GIB
        self.unwritable, self.cuda = "", None
        self.compile_error = self.simulator_error = None
        self.tools = {"cuda_fp16.h", "nvdisasm", "c++"}
        self.gpu_reason = ""
        self.versions = {}
        for name, value in facts.items():
            setattr(self, name, value)

    def run(self, *command):
        return self.commands.get(command[:2])

    def read(self, path):
        return self.files.get(path)

    def version(self, package):
        return None if package in self.missing else self.versions.get(package, "1.2.3")

    def environment_folder(self):
        return places.course() / ".venv"

    def cache_folder(self):
        return Path.home() / ".cache" / "coursekit"

    def free_bytes(self, folder):
        return self.free

    def write_error(self, folder):
        return self.unwritable

    def memory_bytes(self):
        return self.memory

    def driver_cuda(self):
        return self.cuda

    def header(self, name):
        return Path("/include", name) if name in self.tools else None

    def disassembler(self):
        return Path("/bin/nvdisasm") if "nvdisasm" in self.tools else None

    def host_compiler(self):
        if "c++" not in self.tools:
            raise UnsupportedError.explained("No C++.", "It is not there.", "Get g++.")
        return Path("/bin/c++")

    def compile_kernel(self):
        if self.compile_error:
            raise self.compile_error
        return "13.5"

    def simulate_kernel(self):
        if self.simulator_error:
            raise self.simulator_error

    def gpu_missing(self):
        return self.gpu_reason


H200 = {
    "commands": smi("NVIDIA H200, 580.159.03, 143771, 9.0", "13.0") | nvcc("13.0"),
    "cuda": (13, 0),
    "missing": set(),
}
DRIVER_470 = {
    "commands": smi(
        "NVIDIA GeForce RTX 3070, 470.82.01, 7982", "11.4", knows_compute_cap=False
    ),
    "cuda": (11, 4),
}
MISMATCH = {
    "commands": smi("NVIDIA A100-SXM4-40GB, 535.104.05, 40960, 8.0", "12.2")
    | nvcc("13.0"),
}
GTX_1080 = {"commands": smi("NVIDIA GeForce GTX 1080, 580.95.05, 8192, 6.1", "13.0")}
NO_NVRTC = {"compile_error": RuntimeError("libnvrtc.so.13 was not found")}
DISK_FULL = {"free": 20 * 2**20}
MACHINES = {
    "no GPU": {},
    "driver 470": DRIVER_470,
    "nvcc newer than the driver": MISMATCH,
    "GPU too old": GTX_1080,
    "no NVRTC": NO_NVRTC,
    "disk full": DISK_FULL,
    "healthy H200": H200,
}


def examine(**facts):
    return doctor.examine(FakeMachine(**facts))


def about(report, topic):
    return [item for item in report.findings if item.topic == topic]


def only(report, topic):
    (finding,) = about(report, topic)
    return finding


def working(report):
    return [tier.name for tier in report.tiers if tier.works]


@pytest.mark.parametrize(
    ("machine", "tiers", "exit_code"),
    [
        ("no GPU", ["simulated", "compiled"], 0),
        ("driver 470", ["simulated", "compiled"], 0),
        ("nvcc newer than the driver", ["simulated", "compiled"], 0),
        ("GPU too old", ["simulated", "compiled"], 0),
        ("no NVRTC", ["simulated"], 1),
        ("disk full", ["simulated", "compiled"], 1),
        ("healthy H200", ["simulated", "compiled", "GPU"], 0),
    ],
)
def test_tiers_and_exit_code_of_a_machine(machine, tiers, exit_code):
    report = examine(**MACHINES[machine])
    assert (working(report), report.exit_code) == (tiers, exit_code)


@pytest.mark.parametrize("machine", MACHINES)
def test_whatever_is_not_ok_says_what_to_do(machine):
    report = examine(**MACHINES[machine])
    silent = [item for item in report.findings if item.status != "ok" and not item.cure]
    assert silent == []


@pytest.mark.parametrize("machine", MACHINES)
def test_addresses_are_public(machine):
    report = examine(**MACHINES[machine])
    urls = re.findall(r"\w+://([^/\s]+)", " ".join(i.cure for i in report.findings))
    public = (
        r"(\w+\.)*(nvidia\.com|python\.org|microsoft\.com|containers\.dev|ziglang\.org)"
    )
    assert [url for url in urls if not re.fullmatch(public, url.rstrip("."))] == []


def test_a_healthy_h200_has_no_complaint():
    assert {item.status for item in examine(**H200).findings} == {"ok"}


def test_a_gpu_is_shown_with_memory_driver_and_capability():
    found = only(examine(**H200), "GPU").found
    assert found == (
        "NVIDIA H200, 143771 MiB, driver 580.159.03, compute capability 9.0"
    )


def test_no_gpu_is_no_fault():
    assert only(examine(), "GPU").status == "info"


def test_an_old_driver_is_named_with_the_one_needed():
    finding = only(examine(**DRIVER_470), "GPU")
    assert "470.82.01" in finding.found
    assert "580 or newer" in finding.found


def test_in_wsl_the_driver_belongs_into_windows():
    files = {"/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2"}
    finding = only(examine(**DRIVER_470, files=files), "GPU")
    assert "in Windows, not in WSL2" in finding.cure


def test_in_wsl_nvidia_smi_is_found_off_the_path():
    commands = {
        ("/usr/lib/wsl/lib/nvidia-smi", FULL_QUERY): Outcome(
            0, "NVIDIA GeForce RTX 4090, 581.15, 24564, 8.9"
        )
    }
    assert only(examine(commands=commands), "GPU").status == "ok"


def test_an_old_gpu_is_named_with_the_capability_needed():
    finding = only(examine(**GTX_1080), "GPU")
    assert "compute capability 6.1" in finding.found
    assert "7.5" in finding.found


def test_two_gpus_are_two_findings():
    line = "NVIDIA H200, 580.159.03, 143771, 9.0"
    report = examine(commands=smi(f"{line}\n{line}", "13.0"))
    assert len(about(report, "GPU")) == 2


def test_a_failing_nvidia_smi_is_quoted():
    text = "NVIDIA-SMI has failed because it couldn't communicate with the driver."
    failing = Outcome(9, text)
    commands = {
        ("nvidia-smi", FULL_QUERY): failing,
        ("nvidia-smi", SHORT_QUERY): failing,
    }
    finding = only(examine(commands=commands), "GPU")
    assert finding.status == "warning"
    assert text in finding.found


def test_nvcc_newer_than_the_driver_is_explained_with_both_versions():
    finding = only(examine(**MISMATCH), "CUDA versions")
    assert finding.status == "warning"
    assert "up to 12.2" in finding.found
    assert "toolkit 13.0" in finding.found


@pytest.mark.parametrize(
    ("driver", "toolkit"), [((13, 0), "13.0"), ((13, 0), "13.4"), ((13, 0), "12.6")]
)
def test_versions_of_one_major_or_an_older_nvcc_are_fine(driver, toolkit):
    report = examine(commands=nvcc(toolkit), cuda=driver)
    assert only(report, "CUDA versions").status == "ok"


def test_nvcc_without_a_driver_is_fine():
    assert only(examine(commands=nvcc("13.0")), "nvcc").found == "toolkit 13.0"


def test_missing_nvcc_is_no_fault():
    assert only(examine(), "nvcc").status == "info"


@pytest.mark.parametrize(
    ("banner", "version"),
    [("CUDA Version: 12.2", (12, 2)), ("CUDA UMD Version: 13.1", (13, 1))],
)
def test_the_drivers_cuda_is_read_from_nvidia_smi(banner, version):
    machine = FakeMachine(commands={("nvidia-smi",): Outcome(0, banner)})
    assert checkup_gpu.driver_cuda(machine) == version


def test_the_driver_library_is_asked_before_nvidia_smi():
    machine = FakeMachine(**MISMATCH, cuda=(12, 1))
    assert checkup_gpu.driver_cuda(machine) == (12, 1)


PARAMETERS = "/proc/driver/nvidia/params"


def test_refused_counters_are_explained():
    files = {PARAMETERS: "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"}
    finding = only(examine(**H200, files=files), "GPU counters")
    assert "ERR_NVGPUCTRPERM" in finding.found


@pytest.mark.parametrize(
    "facts",
    [
        {"files": {PARAMETERS: "RmProfilingAdminOnly: 0\n"}},
        {"files": {PARAMETERS: "RmProfilingAdminOnly: 1\n"}, "is_root": True},
        {"files": {}},
    ],
    ids=["everyone may", "root may", "not told"],
)
def test_permitted_counters_are_not_mentioned(facts):
    assert about(examine(**H200, **facts), "GPU counters") == []


def test_a_gpu_without_cupy_is_warned_about():
    report = examine(**{**H200, "missing": {"cupy-cuda13x"}})
    assert only_missing(report).status == "warning"


def test_without_a_gpu_cupy_is_not_needed():
    report = examine(missing={"cupy-cuda13x"})
    assert only_missing(report).status == "info"


def only_missing(report):
    (finding,) = (i for i in about(report, "optional package") if i.status != "ok")
    return finding


def test_the_launcher_has_the_last_word_on_the_gpu():
    report = examine(**H200, gpu_reason="CuPy is broken")
    assert report.tiers[2].explanation == "CuPy is broken"


def test_the_launcher_is_not_asked_without_a_fit_gpu():
    report = examine(gpu_reason="never shown")
    assert "never shown" not in repr(report)


@pytest.mark.parametrize("version", [(3, 10, 12), (3, 14, 0), (2, 7, 18)])
def test_another_python_is_a_problem(version):
    assert only(examine(python=version), "Python").status == "problem"


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 3), (3, 13, 9)])
def test_the_pythons_of_the_course_are_fine(version):
    assert only(examine(python=version), "Python").status == "ok"


CORE, COMPILER = required()


@pytest.mark.parametrize("package", CORE + COMPILER)
def test_a_missing_package_is_a_problem(package):
    problems = examine(missing={package}).problems
    assert [item.found for item in problems] == [f"Missing: {package}."]


def test_the_packages_are_those_of_the_project():
    text = paths.repository().joinpath("pyproject.toml").read_text()
    core = re.search(r"\ndependencies = \[(.*?)\n\]", text, re.S)[1]
    named = re.findall(r'"([a-z][\w-]*)[><=]', core)
    assert set(CORE + COMPILER) == set(named)


def test_a_missing_compiler_quotes_the_error():
    finding = only(examine(**NO_NVRTC), "NVRTC")
    assert "RuntimeError: libnvrtc.so.13 was not found" in finding.found


LOCK = {
    str(places.course() / "requirements.lock"): (
        "nvidia-cuda-nvcc==13.5.37 ; sys_platform != 'darwin' \\\n"
        "nvidia-cuda-nvrtc==13.5.37 ; sys_platform != 'darwin' \\\n"
    )
}
LOCKED = {"nvidia-cuda-nvrtc": "13.5.37", "nvidia-cuda-nvcc": "13.5.37"}


def test_the_compiler_of_the_lock_needs_no_word():
    assert about(examine(files=LOCK, versions=LOCKED), "compiler version") == []


@pytest.mark.parametrize("package", LOCKED)
def test_another_compiler_is_named_beside_that_of_the_lock(package):
    report = examine(files=LOCK, versions=LOCKED | {package: "13.0.88"})
    finding = only(report, "compiler version")
    assert finding.found.startswith(f"{package} is 13.0.88 here, and 13.5.37 in")


def test_another_compiler_is_no_fault():
    report = examine(files=LOCK, versions=LOCKED | {"nvidia-cuda-nvrtc": "13.0.88"})
    assert only(report, "compiler version").status == "info"


# Conda's packages are none of Python's: NVRTC is asked itself, and says 13.5.
def test_nvrtc_that_is_no_python_package_tells_its_release():
    assert about(examine(files=LOCK, missing=set(LOCKED)), "compiler version") == []


def test_nvrtc_of_another_release_is_named_without_its_package():
    older = {path: text.replace("13.5", "13.50") for path, text in LOCK.items()}
    report = examine(files=older, missing=set(LOCKED))
    assert "nvidia-cuda-nvrtc is 13.5 here" in only(report, "compiler version").found


def test_without_a_lock_no_compiler_is_another():
    assert about(examine(versions=LOCKED), "compiler version") == []


def test_an_error_without_words_is_named():
    report = examine(simulator_error=KeyError())
    assert only(report, "simulator").found.endswith("KeyError.")


def test_a_broken_simulator_ends_the_simulated_tier():
    report = examine(simulator_error=ImportError("no"))
    assert (working(report), report.exit_code) == (["compiled"], 1)


@pytest.mark.parametrize(
    ("tool", "topic"),
    [
        ("cuda_fp16.h", "CUDA headers"),
        ("nvdisasm", "disassembler"),
        ("c++", "C++ compiler"),
    ],
)
def test_a_missing_tool_is_a_warning(tool, topic):
    tools = {"cuda_fp16.h", "nvdisasm", "c++"} - {tool}
    assert only(examine(tools=tools), topic).status == "warning"


def test_a_missing_host_compiler_says_what_needs_it_and_how_to_get_it():
    finding = only(examine(tools=set()), "C++ compiler")
    assert finding.found == "No C++. Chapter 01 needs it."
    assert finding.cure == "Get g++."


def test_the_real_probe_looks_where_programs_do(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(UnsupportedError, match="looked for CXX=no-such-compiler"):
        Probe().host_compiler()


@pytest.mark.parametrize(
    ("free", "status"),
    [(20 * 2**20, "problem"), (GIB // 2, "warning"), (GIB, "ok")],
)
def test_disk_space_decides(free, status):
    assert only(examine(free=free), "disk, cache").status == status


def test_a_cache_that_cannot_be_written_is_a_warning():
    finding = only(examine(unwritable="Read-only file system"), "cache")
    assert finding.status == "warning"
    assert "Read-only file system" in finding.found


@pytest.mark.parametrize(("memory", "status"), [(GIB, "warning"), (4 * GIB, "ok")])
def test_memory_decides(memory, status):
    assert only(examine(memory=memory), "memory").status == status


def test_unknown_memory_is_not_mentioned():
    assert about(examine(memory=None), "memory") == []


MAC = {
    "platform": "darwin",
    "machine": "arm64",
    "missing": set(COMPILER) | {"torch", "cupy-cuda13x", "triton"},
    "files": {},
    "compile_error": ImportError("no cuda.bindings on macOS"),
}


def test_on_a_mac_the_course_can_be_followed():
    report = examine(**MAC)
    assert (working(report), report.exit_code) == (["simulated"], 0)


@pytest.mark.parametrize(
    ("commands", "advice"),
    [
        ({("docker", "--version"): Outcome(0, "Docker 27")}, "Docker is installed"),
        ({}, "JupyterHub"),
    ],
    ids=["with Docker", "without Docker"],
)
def test_on_a_mac_doctor_recommends_a_way_to_edit(commands, advice):
    assert advice in only(examine(**MAC, commands=commands), "system").cure


def test_wsl_is_recognised():
    files = {"/proc/version": "Linux version 5.15.153.1-microsoft-standard-WSL2"}
    assert "WSL2" in only(examine(files=files), "system").found


def test_windows_is_sent_to_wsl():
    assert "wsl --install" in only(examine(platform="win32"), "system").cure


def test_the_text_ends_with_the_verdict():
    report = examine(**DISK_FULL)
    assert repr(report).endswith("To put right: disk, environment, disk, cache.")


def test_the_text_shows_every_status_as_a_word():
    lines = repr(examine(**DRIVER_470)).splitlines()
    assert [line for line in lines if line.startswith("warning  GPU ")]


def test_the_text_stays_within_88_columns():
    assert max(map(len, repr(examine(**H200)).splitlines())) <= 88


def test_the_card_says_every_status_in_words():
    card = examine(**DISK_FULL)._repr_html_()
    assert card.count("problem</td>") == 2


def test_the_card_has_captions_and_headers_for_screen_readers():
    card = examine()._repr_html_()
    assert (card.count("<caption "), card.count("scope='col'")) == (2, 6)


def test_the_card_escapes_what_it_quotes():
    card = examine(simulator_error=ImportError("<script>"))._repr_html_()
    assert "<script>" not in card


def test_json_holds_findings_tiers_and_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "Probe", lambda: FakeMachine(**DISK_FULL))
    doctor.main(["--json"])
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"findings", "tiers", "exit_code", "verdict"}


@pytest.mark.parametrize(("facts", "code"), [({}, 0), (DISK_FULL, 1)])
def test_the_command_exits_with_the_reports_code(monkeypatch, facts, code):
    monkeypatch.setattr(doctor, "Probe", lambda: FakeMachine(**facts))
    assert __main__.main(["doctor"]) == code


def test_an_unknown_command_lists_the_known(capsys):
    with pytest.raises(SystemExit):
        __main__.main(["docter"])
    assert "doctor" in capsys.readouterr().err


def test_no_command_shows_the_commands(capsys):
    assert __main__.main([]) == 2
    assert "new-exercise" in capsys.readouterr().err


def test_an_error_of_the_course_is_shown_without_traceback(monkeypatch, capsys):
    def fail(arguments):
        raise DeviceError.explained("It broke.", "", "Mend it.")

    monkeypatch.setattr(doctor, "main", fail)
    assert __main__.main(["doctor"]) == 1
    assert capsys.readouterr().err == "It broke.\n  Mend it.\n"


def test_a_command_that_is_not_installed_answers_none():
    assert Probe().run("no-such-command-of-coursekit") is None


def test_a_command_answers_with_code_and_text():
    assert Probe().run("sh", "-c", "echo hello; exit 3") == Outcome(3, "hello")


def test_an_unreadable_file_reads_as_none(tmp_path):
    assert Probe().read(str(tmp_path / "none")) is None


def test_space_is_measured_for_a_folder_that_is_yet_to_be_made(tmp_path):
    assert Probe().free_bytes(tmp_path / "a" / "b") > 0


def test_a_writable_folder_has_no_write_error(tmp_path):
    assert Probe().write_error(tmp_path / "cache") == ""


def test_a_file_in_the_folders_place_is_a_write_error(tmp_path):
    (tmp_path / "cache").touch()
    assert Probe().write_error(tmp_path / "cache") == "it is a file"


def test_the_compiler_of_this_environment_compiles():
    pytest.importorskip("cuda.bindings.nvrtc", reason="macOS has no CUDA compiler")
    assert Probe().compile_kernel().startswith("13.")


def test_the_simulator_of_this_environment_runs_a_kernel():
    Probe().simulate_kernel()


def test_a_folder_of_the_course_is_named_from_there():
    assert "GiB free for .venv" in only(examine(), "disk, environment").found


def test_a_folder_of_the_user_is_named_from_home(monkeypatch):
    monkeypatch.delenv("COURSEKIT_CACHE")
    assert only(examine(), "cache").found == "~/.cache/coursekit"


def test_a_folder_that_a_variable_names_is_named_by_it(monkeypatch):
    chosen = Path.home() / ".cache" / "coursekit"
    monkeypatch.setenv("COURSEKIT_CACHE", str(chosen))
    assert only(examine(), "cache").found == "$COURSEKIT_CACHE"


def test_a_folder_that_cannot_be_written_is_named_in_full():
    found = only(examine(unwritable="Read-only file system"), "cache").found
    assert found.startswith(str(Path.home()))


def test_a_healthy_card_holds_no_folder_of_the_user():
    report = examine()
    assert str(Path.home()) not in repr(report) + report._repr_html_()


def test_the_card_folds_its_findings_when_all_is_well():
    assert "<details><summary>" in examine(**H200)._repr_html_()


@pytest.mark.parametrize("facts", [DISK_FULL, DRIVER_470], ids=["problem", "warning"])
def test_the_card_opens_its_findings_when_something_is_wrong(facts):
    assert "<details open><summary>" in examine(**facts)._repr_html_()


def test_the_card_sets_its_headings_over_their_columns():
    card = examine()._repr_html_()
    assert card.count("<th scope='col' style='text-align:left'>") == 6
