"""Judge one answer in a process of its own, which has limits and must say its verdict.

What strangers wrote may end the process, never end itself, take all memory, or leave
threads and programs behind. None of that reaches who waits for the verdict. It is no
protection against malice: the answer runs with the rights of this account.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coursekit import paths
from coursekit.errors import CheckFailed
from coursekit.exercises import catalogue, checking, host_running
from coursekit.exercises.grading import extra, outside, tampering, variants
from coursekit.exercises.grading.terms import Limits, Terms
from coursekit.exercises.host_exercise import HostExercise
from coursekit.exercises.stages import Stage
from coursekit.toolchain.process_limits import limit

MOST_BYTES = 1 << 20  # of a verdict as text
SHADOW_BYTES = 1 << 46  # that AddressSanitizer may reserve
FILE_BYTES = 1 << 30  # of each file that an answer writes
_FOLDERS = [f"COURSEKIT_{name}" for name in ("CACHE", "DATA", "EXERCISES")]


@dataclass(frozen=True)
class Judged:
    """The verdict on an answer; without one, `message` says why there is none.

    Attributes
    ----------
    passed : bool or None
        Whether the exercise is solved; None where the answer could not be judged.
    passed_stages, stages : int
        The number of stages that passed, and of all.
    message : str
        Why the next stage did not pass.
    card : str
        What ``ck.check`` would have shown.
    stage : str
        The stage that did not pass.
    held : bool
        Whether the answer is held back, since it reaches outside of its exercise.
    """

    passed: bool | None
    passed_stages: int = 0
    stages: int = 0
    message: str = ""
    card: str = ""
    stage: str = ""
    held: bool = False

    @property
    def first_line(self) -> str:
        """The first line of the message that has letters."""
        lines = self.message.split("\n")
        return next((line.strip() for line in lines if line.strip()), "")

    @property
    def outcome(self) -> str:
        """The result in one line."""
        if self.passed:
            return "solved"
        if self.held:
            return f"held back: {self.first_line}"
        if self.passed is None:
            return f"not judged: {self.first_line}"
        return f"stage {self.passed_stages + 1} of {self.stages}: {self.first_line}"


def judge(id: str, text: str, terms: Terms) -> Judged:
    """Return the verdict on the text of an answer to an exercise."""
    limits = terms.limits
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        told, seal = Path(folder) / "verdict", secrets.token_hex()
        task = {"id": id, "text": text, "told": str(told), "seal": seal}
        code = _run(json.dumps(task | {"terms": asdict(terms)}), folder, limits)
        try:
            with open(told, "rb") as stream:
                verdict = json.loads(stream.read(MOST_BYTES))
            if verdict.pop("seal") == seal:
                return Judged(**verdict)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return Judged(None, message=_why(code, limits))


def _run(task: str, folder: str, limits: Limits) -> int | None:
    """Run the child; return its exit code, None where its time was up."""
    with subprocess.Popen(
        [sys.executable, "-m", "coursekit.exercises.grading.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env=_environment(folder),
        start_new_session=True,
    ) as process:
        try:
            process.communicate(task, timeout=limits.longest_wait)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end_all(process)
    return process.returncode


def _environment(folder: str) -> dict[str, str]:
    """Return the variables of the child, which runs in a folder of its own.

    It has no progress of anybody's and no saved answers: those are not its matter.
    """
    absolute = {
        name: os.path.abspath(os.path.expanduser(os.environ[name]))
        for name in _FOLDERS
        if os.environ.get(name)
    }
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    places = [
        str(Path(__file__).parents[3]),
        *map(os.path.abspath, filter(None, given)),
    ]
    private = {f"COURSEKIT_{name}": folder for name in ("STATE", "WORK")}
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    more = {"PYTHONPATH": os.pathsep.join(places), "COURSEKIT_PROGRESS": "0"}
    return {**os.environ, **absolute, **private, **one, **more}


def _end_all(process: subprocess.Popen) -> None:
    """End the process, and the programs that it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _why(code: int | None, limits: Limits) -> str:
    """Say why a child has left no verdict."""
    if code is None:
        return f"it waited for more than {limits.longest_wait:g} s"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            f"it took more than {limits.seconds:g} s of computing or "
            f"{limits.memory_bytes >> 20:,} MiB, or something ended it"
        )
    if code < 0:
        return f"it ended with signal {signal.Signals(-code).name}"
    return f"it ended with exit code {code} before its verdict"


def main() -> None:
    """Judge the answer that standard input describes, and end at once."""
    task: dict[str, Any] = json.load(sys.stdin)
    told, seal, terms = Path(task["told"]), task["seal"], task["terms"]
    terms = Terms(**terms | {"limits": Limits(**terms["limits"])})
    _limit(terms.limits)
    judged = _judged(task["id"], task["text"], terms)
    content = json.dumps(asdict(judged) | {"seal": seal})
    if len(content) > MOST_BYTES:
        short = Judged(judged.passed, judged.passed_stages, judged.stages)
        content = json.dumps(asdict(short) | {"seal": seal})
    paths.write_whole(told, content.encode())
    os._exit(0)  # threads that the answer has started may run on


def _limit(limits: Limits) -> None:
    limit("CPU", round(time.process_time() + limits.seconds + 0.5), 5)
    # Programs with sanitizers may have more: another process watches their memory.
    limit("DATA", limits.memory_bytes, SHADOW_BYTES)
    limit("FSIZE", FILE_BYTES)
    limit("CORE", 0)


def added(entry: catalogue.Entry, terms: Terms) -> list[Stage]:
    """Return the stages that a student's variant and the instructor's file add."""
    variant = variants.stage(entry, terms.seed)
    more = extra.stages(entry, extra.read(terms.extra), terms.seed)
    return [*([variant] if variant else []), *more]


def _judged(id: str, text: str, terms: Terms) -> Judged:
    try:
        entry = catalogue.find(id)
        if terms.strict and (reason := outside.objection(entry, text)):
            return Judged(None, message=reason, held=True)
        return _examined(entry, text, terms)
    except MemoryError:
        return Judged(None, message="it needs more memory than it may have")
    except CheckFailed as error:
        return Judged(None, message=str(error))
    except BaseException as error:  # whatever it is, others are still to be judged
        return Judged(None, message=f"{type(error).__name__}: {error}")


def _examined(entry: catalogue.Entry, text: str, terms: Terms) -> Judged:
    answer = text if text.strip() else host_running.empty(entry)
    stages = added(entry, terms)
    # Only a Python answer runs in this process.
    watched = terms.strict and isinstance(entry.exercise, HostExercise)
    before = tampering.snapshot() if watched else {}
    verdict = checking.examine(entry, answer, stages)
    if watched and (name := tampering.changed(before)):
        return Judged(None, message=f"it has changed {name}", held=True)
    return Judged(
        verdict.passed,
        verdict.passed_stages,
        len(verdict.stages),
        verdict.message,
        repr(verdict),
        "" if verdict.passed else verdict.stages[verdict.passed_stages],
    )


if __name__ == "__main__":
    main()
