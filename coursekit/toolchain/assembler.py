"""Machine code from PTX, by NVIDIA's assembler ptxas."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from coursekit.errors import CompileError, UnsupportedError

_COMPLAINT = re.compile(
    r"^ptxas .*?line (\d+); (?:error|fatal)\s*: (.*)$", re.MULTILINE
)


def find_assembler() -> Path | None:
    """Find ptxas: in the pip package of nvcc, else on PATH."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(root).glob("*/bin/ptxas")):
            return program
    found = shutil.which("ptxas")
    return Path(found) if found else None


def assemble(ptx: str, arch: str) -> tuple[bytes, str]:
    """Assemble PTX.

    Parameters
    ----------
    ptx : str
    arch : str
        For example "sm_90a".

    Returns
    -------
    cubin : bytes
    report : str
        What ``ptxas -v`` says of registers and spills.

    Raises
    ------
    UnsupportedError
        There is no assembler here.
    CompileError
        The assembler refuses the PTX.
    """
    program = find_assembler()
    if program is None:
        raise UnsupportedError.explained(
            "PTX cannot be turned into machine code: there is no assembler (ptxas).",
            "The package nvidia-cuda-nvcc is not installed, nor a CUDA toolkit.",
            "Install it: pip install nvidia-cuda-nvcc",
        )
    with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [program, f"-arch={arch}", "-v", "-lineinfo", source, "-o", result]
        answer = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=600
        )
        if answer.returncode:
            raise _refusal(answer.stderr + answer.stdout, arch)
        return result.read_bytes(), answer.stderr + answer.stdout


def _refusal(log: str, arch: str) -> CompileError:
    found = _COMPLAINT.search(log)
    where, why = (f" in line {found[1]}", found[2]) if found else ("", log.strip())
    error = CompileError.explained(
        f"ptxas refuses the PTX for {arch}{where}: {why}",
        "The PTX asks for another architecture, or for a newer PTX than this ptxas.",
        "Compile it for this architecture, or run it on the simulator.",
    )
    error.log = log
    return error
