"""Machine code as text, from NVIDIA's disassembler."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from coursekit.errors import UnsupportedError


def find_disassembler() -> Path | None:
    """Find nvdisasm: in the pip package, else on PATH."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec and spec.submodule_search_locations) or ():
        for program in sorted(Path(root).glob("*/bin/nvdisasm")):
            return program
    found = shutil.which("nvdisasm")
    return Path(found) if found else None


def disassemble(
    cubin: bytes,
    *,
    lines: bool = False,
    flow: bool = True,
    display: Callable[[str], str] = str,
) -> str:
    """Disassemble a cubin.

    Parameters
    ----------
    cubin : bytes
        Machine code.
    lines : bool
        Mark the source line of each instruction, `//## File "name", line 3`.
    flow : bool
        Find out where jumps by a register go, and which stores only spill one; a third
        of the disassembler's time.
    display : callable
        From the compiler's file names to those shown.

    Raises
    ------
    UnsupportedError
        When there is no disassembler here, or it fails.
    """
    program = find_disassembler()
    if program is None:
        raise UnsupportedError.explained(
            "Machine code cannot be shown: there is no disassembler (nvdisasm).",
            "The package nvidia-cuda-nvdisasm is not installed, nor a CUDA toolkit.",
            "Install it: pip install nvidia-cuda-nvdisasm",
        )
    with tempfile.TemporaryDirectory(prefix="coursekit-") as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        options = ["-c", *(["-gi"] if lines else []), *([] if flow else ["-ndf"])]
        text = _run([str(program), *options, str(file)])
    return re.sub(
        r'(//## File ")([^"]+)(")', lambda m: m[1] + display(m[2]) + m[3], text
    )


def jumps_by_register(text: str) -> bool:
    """Whether code has jumps whose targets only an analysis of its flow tells."""
    return re.search(r"\b(?:BRX|JMX)", text) is not None


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=120
        )
    except subprocess.CalledProcessError as failure:
        reason = failure.stderr.strip() or f"exit status {failure.returncode}"
    except (OSError, subprocess.TimeoutExpired) as failure:
        reason = str(failure)
    else:
        return done.stdout
    raise UnsupportedError.explained(
        f"The disassembler {command[0]} failed: {reason}",
        "It is older than the compiler, or damaged.",
        "Install it again: pip install --upgrade nvidia-cuda-nvdisasm",
    )
