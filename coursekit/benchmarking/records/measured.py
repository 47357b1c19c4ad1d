"""Measure a definition, and describe the machine and the sources in its record."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import subprocess
from pathlib import Path

from coursekit import paths
from coursekit.benchmarking.records.case_sources import LIBRARY, sha256
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarking.records.records import Record
from coursekit.errors import CheckFailed, DeviceError
from coursekit.toolchain import nvrtc

LIBRARIES = (
    "numpy", "cupy-cuda13x", "torch", "triton", "cuda-bindings",
    "nvidia-cudnn-cu13", "nvidia-cudnn-frontend",
)  # fmt: skip
COMPILER = "nvidia-cuda-nvrtc"


def record_of(definition: Definition) -> Record:
    """Measure a definition on the GPU of this machine.

    Raises
    ------
    DeviceError
        There is no GPU.
    CheckFailed
        The benchmark refuses to report a time.
    """
    result = definition.benchmark()
    if result.origin != "measured":
        raise DeviceError.explained(
            f"{definition.key} was not measured: there is no GPU here.",
            cure="Run this on a machine with a GPU.",
        )
    if result.ceiling.through != definition.through:
        raise CheckFailed.explained(
            f"The bytes of {definition.key} pass the {result.ceiling.through}, but its "
            f"definition says {definition.through!r}.",
            "Its setup has arrays on the host, or has none any more.",
            "Correct `through` in the definition.",
        )
    own = {name: sha256(case) for name, case in definition.cases().items()}
    hashes = {name: own.get(name, LIBRARY) for name in result.cases}
    return Record(
        key=definition.key,
        device=result.device,
        driver=driver_version(),
        toolkit=f"NVRTC {compiler_version()}",
        libraries={name: v for name in LIBRARIES if (v := _version(name))},
        date=result.date,
        source_sha256=combined(hashes),
        case_sha256=hashes,
        commit=commit(paths.repository()),
        through=result.ceiling.through,
        rows=result.rows,
    )


def compiler_version() -> str:
    """Return the version of the NVRTC that compiles, such as 13.5.37.

    The package tells the last number, if it is its library that is loaded; another one
    may have been put in front of it.
    """
    loaded = ".".join(map(str, nvrtc.version()))
    packaged = _version(COMPILER)
    return packaged if packaged.startswith(f"{loaded}.") else loaded


def combined(hashes: dict[str, str]) -> str:
    """Hash the hashes of all cases."""
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def driver_version() -> str:
    """Return the version of the GPU's driver, such as 580.159, or "unknown"."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        text = _answer(
            "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"
        )
    match = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", text)
    return match[0] if match else "unknown"


def commit(folder: Path) -> str | None:
    """Return the commit of a clean working tree, None where anything is changed."""
    git = ("git", "--no-optional-locks", "-C", str(folder))
    if _answer(*git, "status", "--porcelain", "-uno").strip():
        return None
    head = _answer(*git, "rev-parse", "HEAD").strip()
    return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else None


def _answer(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
