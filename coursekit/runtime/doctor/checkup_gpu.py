"""The topics of doctor about GPUs: driver, counters and CUDA versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.hardware import OLDEST_CAPABILITY
from coursekit.runtime.doctor.findings import Finding, dotted
from coursekit.runtime.doctor.probe import Outcome, Probe

OLDEST_DRIVER = 580
DRIVERS = "https://www.nvidia.com/drivers"


@dataclass(frozen=True)
class Gpu:
    """One line of nvidia-smi."""

    name: str
    driver: str
    memory_mib: str
    capability: tuple[int, int] | None

    @property
    def driver_is_new_enough(self) -> bool:
        """Whether CUDA 13 runs on this driver."""
        major = re.match(r"\d+", self.driver)
        return major is not None and int(major[0]) >= OLDEST_DRIVER

    @property
    def is_new_enough(self) -> bool:
        """Whether CUDA 13 supports this GPU; True where its capability is unknown."""
        return self.capability is None or self.capability >= OLDEST_CAPABILITY

    @property
    def is_fit(self) -> bool:
        """Whether kernels of this course can run on it."""
        return self.driver_is_new_enough and self.is_new_enough


_SMI_COMMANDS = ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")
_SMI_FIELDS = "name,driver_version,memory.total"


def list_gpus(probe: Probe) -> tuple[list[Gpu], str]:
    """Ask nvidia-smi; returns the GPUs, and its complaint when it has one."""
    complaint = ""
    # Drivers before 510 refuse a query with compute_cap.
    for query in (f"{_SMI_FIELDS},compute_cap", _SMI_FIELDS):
        answer = _smi(probe, f"--query-gpu={query}", "--format=csv,noheader,nounits")
        if answer is None:
            return [], ""
        if answer.code == 0:
            lines = answer.text.splitlines()
            return [_gpu(line) for line in lines if line.count(",") >= 2], ""
        complaint = answer.text or f"it ends with code {answer.code}"
    return [], complaint


def _smi(probe: Probe, *options: str) -> Outcome | None:
    answers = (probe.run(command, *options) for command in _SMI_COMMANDS)
    return next((answer for answer in answers if answer is not None), None)


def _gpu(line: str) -> Gpu:
    name, driver, memory, *rest = (part.strip() for part in line.split(","))
    numbers = re.fullmatch(r"(\d+)\.(\d+)", rest[0]) if rest else None
    capability = (int(numbers[1]), int(numbers[2])) if numbers else None
    return Gpu(name, driver, memory, capability)


def check_gpu(probe: Probe) -> Iterator[Finding]:
    """Look at the GPUs and their driver."""
    gpus, complaint = list_gpus(probe)
    if complaint:
        yield Finding(
            "GPU",
            "warning",
            f"nvidia-smi fails: {complaint.splitlines()[0]}",
            "Restart the machine. If it stays so, install the driver again: "
            f"{DRIVERS}. In a container, start it with `--gpus all`.",
        )
    elif not gpus:
        yield Finding(
            "GPU",
            "info",
            "No NVIDIA GPU was found.",
            "None is needed: kernels run on the simulator.",
        )
    for gpu in gpus:
        yield _judge(gpu, probe.is_wsl)
    if gpus:
        yield from _counters(probe)


def _judge(gpu: Gpu, wsl: bool) -> Finding:
    capability = (
        f", compute capability {dotted(gpu.capability)}" if gpu.capability else ""
    )
    text = f"{gpu.name}, {gpu.memory_mib} MiB, driver {gpu.driver}{capability}"
    if not gpu.is_new_enough:
        return Finding(
            "GPU",
            "warning",
            f"{text}: CUDA 13 needs compute capability "
            f"{dotted(OLDEST_CAPABILITY)} (Turing) or newer.",
            "No driver changes that. The simulator serves, or a newer GPU: "
            "https://developer.nvidia.com/cuda-gpus",
        )
    if not gpu.driver_is_new_enough:
        where = "in Windows, not in WSL2" if wsl else "and restart"
        return Finding(
            "GPU",
            "warning",
            f"{text}: CUDA 13 needs a driver of {OLDEST_DRIVER} or newer.",
            f"Install one ({where}): {DRIVERS}. Until then the simulator serves.",
        )
    return Finding("GPU", "ok", text)


def _counters(probe: Probe) -> Iterator[Finding]:
    """Tell whether Nsight Compute may read the GPU's counters."""
    parameters = probe.read("/proc/driver/nvidia/params") or ""
    if not re.search(r"RmProfilingAdminOnly:\s*1", parameters) or probe.is_root:
        return
    yield Finding(
        "GPU counters",
        "warning",
        "Nsight Compute may not read this GPU's counters (ERR_NVGPUCTRPERM); "
        "ck.profile shows simulated ones.",
        "An administrator permits it with the module option "
        "NVreg_RestrictProfilingToAdminUsers=0: "
        "https://developer.nvidia.com/ERR_NVGPUCTRPERM",
    )


def check_versions(probe: Probe) -> Iterator[Finding]:
    """Compare the CUDA of the driver with the CUDA of nvcc."""
    driver, toolkit = driver_cuda(probe), _toolkit_cuda(probe)
    if toolkit is None:
        yield Finding(
            "nvcc",
            "info",
            "nvcc is not installed: only the complete C++ programs need it.",
            "If you want it: https://developer.nvidia.com/cuda-downloads",
        )
        return
    if driver is None:
        yield Finding("nvcc", "ok", f"toolkit {dotted(toolkit)}")
        return
    both = (
        f"The driver supports CUDA up to {dotted(driver)} (nvidia-smi's figure); "
        f"nvcc belongs to toolkit {dotted(toolkit)}."
    )
    if toolkit[0] <= driver[0]:
        yield Finding("CUDA versions", "ok", f"{both} They need not be equal.")
        return
    yield Finding(
        "CUDA versions",
        "warning",
        f"{both} Programs that this nvcc builds do not run on this driver.",
        f"Install a driver for CUDA {toolkit[0]} ({DRIVERS}), or a toolkit "
        f"{driver[0]}.x (https://developer.nvidia.com/cuda-toolkit-archive).",
    )


def driver_cuda(probe: Probe) -> tuple[int, int] | None:
    """Newest CUDA of the driver: from its library, else from nvidia-smi."""
    version = probe.driver_cuda()
    if version is not None:
        return version
    return _release(r"CUDA (?:UMD )?Version:\s*(\d+)\.(\d+)", _smi(probe))


def _toolkit_cuda(probe: Probe) -> tuple[int, int] | None:
    return _release(r"release (\d+)\.(\d+)", probe.run("nvcc", "--version"))


def _release(pattern: str, answer: Outcome | None) -> tuple[int, int] | None:
    match = re.search(pattern, answer.text) if answer else None
    return (int(match[1]), int(match[2])) if match else None
