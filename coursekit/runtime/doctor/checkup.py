"""The topics of doctor: each function turns facts of a `Probe` into findings."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from coursekit import paths
from coursekit.errors import UnsupportedError
from coursekit.runtime.doctor.checkup_gpu import list_gpus
from coursekit.runtime.doctor.findings import Finding, dotted
from coursekit.runtime.doctor.places import course, shown
from coursekit.runtime.doctor.probe import Probe

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
GIB = 2**30

# Package: (extra of pyproject.toml, purpose).
OPTIONAL = {
    "torch": ("torch", "comparisons with PyTorch"),
    "cupy-cuda13x": ("gpu", "running kernels on a GPU"),
    "triton": ("dsl", "kernels written in Triton, in chapter 23"),
}

INSTALL = "In the course's folder run `python -m pip install -e .`."


@functools.cache
def required() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the packages of the course, and those of the CUDA compiler.

    macOS lacks the latter. The list is that of pyproject.toml, as the installed course
    recorded it.
    """
    try:
        listed = importlib.metadata.requires("coursekit") or []
    except importlib.metadata.PackageNotFoundError:
        project = paths.repository() / "pyproject.toml"
        listed = tomllib.loads(project.read_text())["project"]["dependencies"]
    core: list[str] = []
    compiler: list[str] = []
    for line in listed:
        name, _, marker = line.partition(";")
        if "extra" not in marker:
            group = compiler if "darwin" in marker else core
            group.extend(re.findall(r"^[\w.-]+", name))
    return tuple(core), tuple(compiler)


def check_python(probe: Probe) -> Iterator[Finding]:
    """Compare the Python that runs with those of the course."""
    version = dotted(probe.python)
    if OLDEST_PYTHON <= probe.python[:2] <= NEWEST_PYTHON:
        yield Finding("Python", "ok", version)
        return
    yield Finding(
        "Python",
        "problem",
        f"{version}: the course needs {dotted(OLDEST_PYTHON)} to "
        f"{dotted(NEWEST_PYTHON)}.",
        "Install one, for example from https://www.python.org/downloads/, "
        "and make the environment again with `make lab`.",
    )


def check_platform(probe: Probe) -> Iterator[Finding]:
    """Name the operating system, and advise where CUDA does not support it."""
    if probe.platform == "darwin":
        yield _macos(probe)
    elif probe.platform == "win32":
        yield Finding(
            "system",
            "warning",
            "Windows without WSL2: the course is tested on Linux.",
            "Run `wsl --install`, then set the course up inside it: "
            "https://learn.microsoft.com/windows/wsl/install",
        )
    elif probe.is_wsl:
        yield Finding("system", "ok", f"Linux in WSL2, {probe.machine}")
    elif probe.machine in ("x86_64", "AMD64"):
        yield Finding("system", "ok", f"Linux, {probe.machine}")
    else:
        yield Finding(
            "system",
            "info",
            f"Linux, {probe.machine}: the course is tested on x86_64.",
            "If a package is missing for this processor, use an x86_64 machine.",
        )


def _macos(probe: Probe) -> Finding:
    if probe.run("docker", "--version"):
        advice = (
            "To follow the course, open the course's folder in a devcontainer "
            "(Docker is installed here): https://containers.dev."
        )
    else:
        advice = (
            "To follow the course, use your class's JupyterHub, or install Docker and "
            "open the course's folder in a devcontainer: https://containers.dev."
        )
    return Finding(
        "system",
        "info",
        f"macOS, {probe.machine}: NVIDIA has no CUDA compiler for it. The simulator "
        "runs compiled PTX here; CUDA C++ has to be compiled elsewhere.",
        advice,
    )


def check_packages(probe: Probe) -> Iterator[Finding]:
    """List the Python packages, and each that is missing."""
    core, compiler = required()
    needed = core if probe.platform == "darwin" else core + compiler
    versions = {name: probe.version(name) for name in needed}
    present = [f"{name} {number}" for name, number in versions.items() if number]
    absent = [name for name, number in versions.items() if not number]
    if present:
        yield Finding("packages", "ok", ", ".join(present))
    if absent:
        yield Finding("packages", "problem", f"Missing: {', '.join(absent)}.", INSTALL)


def check_optional(probe: Probe) -> Iterator[Finding]:
    """List the packages that only some chapters, or only a GPU, need."""
    has_gpu = any(gpu.is_fit for gpu in list_gpus(probe)[0])
    for name, (extra, purpose) in OPTIONAL.items():
        number = probe.version(name)
        missing = f"{name} is not installed. It is for {purpose}."
        cure = f'Run `python -m pip install -e ".[{extra}]"`.'
        if number:
            yield Finding("optional package", "ok", f"{name} {number}")
        elif name != "cupy-cuda13x":
            wish = cure.replace("Run", "If you want it, run")
            yield Finding("optional package", "info", missing, wish)
        elif has_gpu:
            yield Finding("optional package", "warning", missing, cure)
        else:
            yield Finding(
                "optional package", "info", missing, "It is not needed without a GPU."
            )


def check_compiler(probe: Probe) -> Iterator[Finding]:
    """Compile a kernel, and look for headers and disassembler."""
    if probe.platform == "darwin":
        return
    try:
        version = probe.compile_kernel()
    except Exception as error:  # whatever it is, it is the finding
        yield Finding(
            "NVRTC",
            "problem",
            f"The CUDA compiler cannot compile a kernel: {_first_line(error)}",
            f"{INSTALL} It brings cuda-bindings and nvidia-cuda-nvrtc.",
        )
    else:
        yield Finding("NVRTC", "ok", f"{version} compiled a kernel")
        yield from _other_compilers(probe, version)
    yield _tool(
        "CUDA headers",
        probe.header("cuda_fp16.h"),
        "No CUDA headers: kernels that include <cuda_fp16.h> and the like fail.",
    )
    yield _tool(
        "disassembler",
        probe.disassembler(),
        "nvdisasm is missing: SASS cannot be shown for your own kernels.",
    )


def check_host_compiler(probe: Probe) -> Iterator[Finding]:
    """Look for the compiler of programs with a main, which chapter 01 needs."""
    try:
        yield Finding("C++ compiler", "ok", shown(probe.host_compiler()))
    except UnsupportedError as error:
        where, _, cure = (line.strip() for line in str(error).splitlines())
        yield Finding("C++ compiler", "warning", f"{where} Chapter 01 needs it.", cure)


def _other_compilers(probe: Probe, nvrtc: str) -> Iterator[Finding]:
    """Name each compiler that is not the one of the lock."""
    lock = probe.read(str(course() / "requirements.lock")) or ""
    in_use = {"nvidia-cuda-nvrtc": nvrtc, "nvidia-cuda-nvcc": None}
    for package, release in in_use.items():
        locked = re.search(rf"^{package}==([\d.]+)", lock, re.MULTILINE)
        found = probe.version(package) or release
        # NVRTC itself tells two numbers of its version.
        if locked and found and not f"{locked[1]}.".startswith(f"{found}."):
            yield Finding(
                "compiler version",
                "info",
                f"{package} is {found} here, and {locked[1]} in requirements.lock: "
                "counts of instructions, registers and merged accesses may differ from "
                "those in the notebooks.",
                "`make setup` installs the lock's. PyTorch for a GPU brings one of its "
                "own, which serves as well.",
            )


def _tool(topic: str, path: Path | None, loss: str) -> Finding:
    if path is not None:
        return Finding(topic, "ok", shown(path))
    return Finding(topic, "warning", loss, INSTALL)


def check_simulator(probe: Probe) -> Iterator[Finding]:
    """Run a kernel on the simulator."""
    try:
        probe.simulate_kernel()
    except Exception as error:  # whatever it is, it is the finding
        yield Finding(
            "simulator",
            "problem",
            f"The simulator cannot run a kernel: {_first_line(error)}",
            f"{INSTALL} If it stays so, report it with the output of "
            "`python -m coursekit doctor --json`.",
        )
    else:
        yield Finding("simulator", "ok", "ran a kernel of 32 threads")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    name = type(error).__name__
    return f"{name}: {lines[0]}" if lines else f"{name}."


def check_resources(probe: Probe) -> Iterator[Finding]:
    """Look at disk and memory."""
    yield from _disk("disk, environment", probe, probe.environment_folder())
    try:
        cache = probe.cache_folder()
    except ImportError:  # platformdirs, which `check_packages` reports
        return
    yield from _disk("disk, cache", probe, cache)
    reason = probe.write_error(cache)
    if reason:
        yield Finding(
            "cache",
            "warning",
            f"{cache} cannot be written ({reason}): every kernel is compiled anew.",
            "Set COURSEKIT_CACHE to a folder of yours.",
        )
    else:
        yield Finding("cache", "ok", shown(cache))
    memory = probe.memory_bytes()
    if memory is None:
        return
    if memory < 2 * GIB:
        yield Finding(
            "memory",
            "warning",
            f"{memory / GIB:.1f} GiB: the chapters with PyTorch may run out.",
            "Close other programs, or use a machine with 4 GiB.",
        )
    else:
        yield Finding("memory", "ok", f"{memory / GIB:.1f} GiB")


def _disk(topic: str, probe: Probe, folder: Path) -> Iterator[Finding]:
    free = probe.free_bytes(folder)
    if free >= GIB:
        where = shown(folder)
        yield Finding(topic, "ok", f"{free / GIB:.0f} GiB free for {where}")
        return
    full = free < 0.1 * GIB
    yield Finding(
        topic,
        "problem" if full else "warning",
        f"Only {free / 2**20:.0f} MiB are free for {folder}.",
        "Free some space: `python -m pip cache purge` clears pip's downloads. "
        "COURSEKIT_CACHE moves the cache.",
    )
