"""A Probe reads the facts about a machine for doctor; tests replace it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.toolchain import host_compiler

KERNEL = (
    'extern "C" __global__ void doctor(int* out) { out[threadIdx.x] = threadIdx.x; }'
)

# The same kernel as PTX, for machines without a compiler.
PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry doctor(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    text: str


class Probe:
    """Reads facts about this machine and this Python; changes nothing."""

    @property
    def python(self) -> tuple[int, ...]:
        """Version of the running Python, for example (3, 12, 3)."""
        return tuple(sys.version_info[:3])

    @property
    def platform(self) -> str:
        """Operating system: "linux", "darwin" or "win32"."""
        return sys.platform

    @property
    def machine(self) -> str:
        """Processor, for example "x86_64"."""
        return platform.machine()

    @property
    def is_wsl(self) -> bool:
        """Whether this Linux runs inside Windows."""
        return "microsoft" in (self.read("/proc/version") or "").lower()

    @property
    def is_root(self) -> bool:
        """Whether this process has an administrator's rights."""
        return hasattr(os, "geteuid") and os.geteuid() == 0

    def run(self, *command: str) -> Outcome | None:
        """Run a command for up to 20 s; None when it is not installed."""
        program = shutil.which(command[0])
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=20,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(124, "no answer within 20 seconds")
        except OSError as error:
            return Outcome(126, str(error))
        return Outcome(done.returncode, done.stdout.strip())

    def read(self, path: str) -> str | None:
        """Text of a file; None when it cannot be read."""
        try:
            return Path(path).read_text(errors="replace")
        except OSError:
            return None

    def version(self, package: str) -> str | None:
        """Version of an installed Python package."""
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return None

    def environment_folder(self) -> Path:
        """Folder of the running Python's environment."""
        return Path(sys.prefix)

    def cache_folder(self) -> Path:
        """Folder where compiled kernels are kept."""
        from coursekit import paths

        return paths.cache()

    def free_bytes(self, folder: Path) -> int:
        """Space left on the disk that holds, or would hold, a folder."""
        return shutil.disk_usage(_existing(folder)).free

    def write_error(self, folder: Path) -> str:
        """Why files cannot be made in a folder, or where it would be; else ""."""
        if folder.exists() and not folder.is_dir():
            return "it is a file"
        try:
            with tempfile.TemporaryFile(dir=_existing(folder)):
                return ""
        except OSError as error:
            return error.strerror or str(error)

    def memory_bytes(self) -> int | None:
        """Memory that this process may use: the machine's, or its container's."""
        try:
            physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, OSError, ValueError):
            return None
        limit = (self.read("/sys/fs/cgroup/memory.max") or "").strip()
        return min(physical, int(limit)) if limit.isdigit() else physical

    def driver_cuda(self) -> tuple[int, int] | None:
        """Newest CUDA that the installed driver library supports."""
        try:
            from cuda.bindings import driver

            status, number = driver.cuDriverGetVersion()
        except (ImportError, RuntimeError, OSError):
            return None
        return None if status else (number // 1000, number % 1000 // 10)

    def header(self, name: str) -> Path | None:
        """A CUDA header, from the Python packages or an installed toolkit."""
        toolkits = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
        folders = [_nvidia_packages(), *(Path(home) for home in toolkits if home)]
        found = [folder / "include" / name for folder in folders]
        return next((path for path in found if path.is_file()), None)

    def disassembler(self) -> Path | None:
        """The program nvdisasm, which turns machine code into SASS text."""
        packaged = _nvidia_packages() / "bin" / "nvdisasm"
        on_path = shutil.which("nvdisasm")
        if packaged.is_file():
            return packaged
        return Path(on_path) if on_path else None

    def host_compiler(self) -> Path:
        """Return the system's C++ compiler; raises UnsupportedError without one."""
        return Path(host_compiler.find("c++")[0])

    def compile_kernel(self) -> str:
        """Compile a kernel to PTX; returns NVRTC's version, raises if it fails."""
        from cuda.bindings import nvrtc

        def call(function: Callable[..., Any], *arguments: object) -> list[Any]:
            values: list[Any]
            status, *values = function(*arguments)
            if status:
                raise RuntimeError(f"{function.__name__}: {status!s}")
            return values

        (program,) = call(
            nvrtc.nvrtcCreateProgram, KERNEL.encode(), b"doctor.cu", 0, [], []
        )
        try:
            call(nvrtc.nvrtcCompileProgram, program, 1, [b"--gpu-architecture=sm_90"])
            call(nvrtc.nvrtcGetPTXSize, program)
        finally:
            nvrtc.nvrtcDestroyProgram(program)
        return ".".join(map(str, call(nvrtc.nvrtcVersion)))

    def simulate_kernel(self) -> None:
        """Run a warp on the simulator; raises if it fails or answers wrongly."""
        from coursekit import simt

        store = simt.Memory()
        out = store.allocate(32 * 4)
        loaded = simt.load(PTX, store)
        address = out.address.to_bytes(8, "little")
        simt.launch(loaded, "doctor", (1, 1, 1), (32, 1, 1), address)
        values = memoryview(out.data.tobytes()[: 32 * 4]).cast("I").tolist()
        if values != list(range(32)):
            raise RuntimeError(f"32 threads wrote their indices, memory has {values}")

    def gpu_missing(self) -> str:
        """What keeps kernels from running on the GPU, "" when nothing does."""
        from coursekit.runtime import gpu

        return gpu.missing() or ""


def _existing(folder: Path) -> Path:
    return next(part for part in (folder, *folder.parents) if part.is_dir())


def _nvidia_packages() -> Path:
    return Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13"
