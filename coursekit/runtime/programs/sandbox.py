"""Run an executable in a folder of its own, with limits, and return what it left."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.errors import DeviceError, UnsupportedError
from coursekit.runtime.programs.limits import Limits

SUPERVISOR = Path(__file__).with_name("supervisor.py")
BOXES = "3"  # the file descriptor that supervisor.py opens
# Reports go to files of their own, so that stderr is the program's alone.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"
    ":print_legend=0:color=never:log_path={reports}/asan",
    "UBSAN_OPTIONS": "print_stacktrace=0:color=never:log_path={reports}/ubsan",
    "LSAN_OPTIONS": "color=never:log_path={reports}/lsan",
}


@dataclass(frozen=True)
class Outcome:
    """What a program has left when it ended.

    Attributes
    ----------
    status : int
        The exit code, or minus the number of the signal that ended it.
    stopped : str
        The limit of `Limits` that it exceeded, or "waiting"; "" where it ended itself.
    amount : float
        How much it had of that.
    stdout, stderr, boxes, report : str
        What it wrote; what the sanitizers wrote.
    lost : tuple of int
        Bytes that were not kept of stdout, stderr and boxes.
    """

    status: int
    stopped: str
    amount: float
    stdout: str
    stderr: str
    boxes: str
    report: str
    lost: tuple[int, int, int]


def run(
    executable: bytes, command: Sequence[str], stdin: str, limits: Limits
) -> Outcome:
    """Run a program, and end all that it has started.

    Parameters
    ----------
    executable : bytes
    command : sequence of str
        Its name and its arguments.
    stdin : str
        What it can read.
    limits : Limits

    Raises
    ------
    UnsupportedError
        This is not Linux.
    DeviceError
        No process can be started.
    """
    if not sys.platform.startswith("linux"):
        raise UnsupportedError.explained(
            f"ck.program cannot run programs on {sys.platform}.",
            "The process that watches them asks Linux what they use.",
            "Use Linux, Windows with WSL2, or the course's devcontainer.",
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, reports = Path(folder, "files"), Path(folder, "reports")
        os.chmod(folder, 0o711)  # noqa: S103 - another user runs what lies in it
        for each in (home, reports):
            each.mkdir()
        program = Path(folder, "program")
        program.write_bytes(executable)
        program.chmod(0o755)
        task = limits.as_task() | {
            "program": str(program),
            "command": list(command),
            "folder": str(home),
            "own": [str(home), str(reports)],
            "environment": _environment(home, reports),
        }
        told = _supervised(json.dumps(task), stdin)
        return _outcome(told, reports)


def _environment(home: Path, reports: Path) -> dict[str, str]:
    options = {name: text.format(reports=reports) for name, text in SANITIZERS.items()}
    return options | {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(home),
        "COURSEKIT_BOXES": BOXES,
    }


def _supervised(task: str, stdin: str) -> dict[str, Any]:
    command = [sys.executable, "-I", "-S", str(SUPERVISOR), task]
    with tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            answer, problems = process.communicate()
        finally:  # an interrupt: what watches ends the program, then itself
            process.terminate()
            process.wait()
    try:
        told: dict[str, Any] = json.loads(answer)
    except ValueError:
        words = problems.decode(errors="replace").strip().split("\n")[-1]
        raise DeviceError.explained(
            f"The program could not be watched: {words or 'no answer'}.",
            "The process beside it ended, or could not start.",
            "Run the cell again; look whether the machine is out of memory.",
        ) from None
    return told


def _outcome(told: dict[str, Any], reports: Path) -> Outcome:
    texts = {
        name: base64.b64decode(told[name]).decode(errors="replace")
        for name in ("stdout", "stderr", "boxes")
    }
    files = sorted(reports.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    report = "".join(file.read_text(errors="replace")[:200_000] for file in files)
    status = told["status"] if told["status"] is not None else -9
    return Outcome(
        status,
        told["stopped"],
        told["amount"],
        **texts,
        report=report,
        lost=tuple(told["lost"]),
    )
