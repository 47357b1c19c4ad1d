"""Compile one source in a process of its own, with limits.

Some sources take NVRTC minutes, all memory, or its stack, before it can be stopped. In
the process of a notebook that would end the student's work. Starting a process takes a
quarter of a second, so only sources that look as if they may be such go there; the text
alone decides.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit.errors import CompileError
from coursekit.toolchain import cuda_source, growth, nvrtc_watch
from coursekit.toolchain.process_limits import limit

if TYPE_CHECKING:
    import subprocess

SECONDS = nvrtc_watch.SECONDS
MEMORY_BYTES = nvrtc_watch.MEMORY_BYTES
IDLE_SECONDS = 20  # without any computing
# The largest source of the course has 13,000 characters.
MOST_CHARACTERS = 30_000
MOST_CHOICES = 300  # NVRTC takes the square of their number, and more
MOST_DEPTH = 200
MOST_USES = 1000  # of macros, functions and templates, one inside the other
_HIDDEN_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)


# Values of an array, or of a class, that are given where it is declared. NVRTC writes
# all of them down, in 16 bytes of memory and 2 of text each, or more.
_VALUES = re.compile(r"[]=]\s*\{|\bconstexpr\s+\w+\s*\(")
_LARGE = re.compile(
    r"<<\s*(?:1[6-9]|[2-9]\d)|\d{6,}|0x[\da-fA-F]{5,}|\d{2,}\w*\s*\*\s*\d{2,}|\de\d"
)


def is_needed(source: str) -> bool:
    """Tell whether a source may take NVRTC very long."""
    code = cuda_source.without_comments(source)
    return (
        len(source) > MOST_CHARACTERS
        or source.count("?") > MOST_CHOICES
        or _HIDDEN_INCLUDE.search(source) is not None
        or _depth(source) > MOST_DEPTH
        or (_VALUES.search(code) is not None and _LARGE.search(code) is not None)
        or growth.uses(source) > MOST_USES
    )


def _depth(source: str) -> int:
    """Return how deeply brackets are nested, those in comments included."""
    deepest = depth = 0
    for bracket in re.findall(r"[][(){}]", source):
        depth += 1 if bracket in "({[" else -1
        deepest = max(deepest, depth)
    return deepest


def run(
    module: str,
    source: str,
    file: str,
    options: Sequence[str],
    expressions: Sequence[str],
) -> dict[str, Any]:
    """Return what NVRTC says in the other process, which runs a module: see `answer`.

    Raises
    ------
    CompileError
        The compiler took too much time or memory, or it crashed.
    """
    import subprocess  # for the few who need it

    task = [source, file, [*options], [*expressions], SECONDS, MEMORY_BYTES]
    own = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, own))},
    ) as process:
        try:
            told, waited = _told(process, json.dumps(task).encode())
        finally:
            process.kill()
    if process.returncode or not told:
        late = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        raise gave_up(source, file, late=late, waited=waited)
    found: dict[str, Any] = json.loads(told)
    return found


def _told(process: subprocess.Popen[bytes], task: bytes) -> tuple[bytes, bool]:
    """Return what the other process says, and whether it waited instead.

    It says nothing if it takes too long, or if it computes nothing for a time.
    """
    import subprocess

    given: bytes | None = task
    computed, idle = "", 0
    for _ in range(round(4 * SECONDS + 60)):
        try:
            return process.communicate(given, timeout=1)[0], False
        except subprocess.TimeoutExpired:
            given = None  # what is given once goes on being written
            nvrtc_watch.tell()
        before, computed = computed, _computed(process.pid)
        idle = idle + 1 if computed and computed == before else 0
        if idle >= IDLE_SECONDS:
            return b"", True
    return b"", False


def _computed(process: int) -> str:
    """Return the time that a process has computed; nothing where nothing tells."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    return " ".join(text.rpartition(")")[2].split()[11:13])


def gave_up(
    source: str, file: str, *, late: bool, waited: bool = False
) -> CompileError:
    """Return the error for a source that NVRTC could not compile within its limits."""
    name = os.path.basename(file)
    long = len(source) > MOST_CHARACTERS
    length = f" The source has {len(source):,} characters." if long else ""
    what = (
        f"the compiler took more than {SECONDS:g} s, and was stopped"
        if late
        else f"the compiler needs more than {MEMORY_BYTES >> 20:,} MiB, or it crashed"
    )
    if waited:
        error = CompileError.explained(
            f"{name}: the compiler waited for {IDLE_SECONDS} s, and was stopped.",
            "An #include names a named pipe, or a file that cannot be read.",
            "Include a file with source text.",
        )
        error.file, error.line, error.log, error.count = name, None, "", 1
        return error
    error = CompileError.explained(
        f"{name}: {what}.{length}",
        "Long chains of ?:, deep nesting, templates that use themselves, macros or "
        "functions that each use another several times, unrolled loops, and large "
        "arrays with initial values take the compiler far more than their length "
        "suggests.",
        "Write a loop, unroll less of it, fill the array in a kernel, or split the "
        "kernel.",
    )
    error.file, error.line, error.log, error.count = name, None, "", 1
    return error


def answer(compiled: Callable[..., dict[str, Any]]) -> None:
    """Compile what standard input describes, in the other process, and end it."""
    source, file, options, expressions, seconds, memory_bytes = json.load(sys.stdin)
    _limit(seconds, memory_bytes)
    told = compiled(source, file, options, expressions)
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


def _limit(seconds: float, memory_bytes: int) -> None:
    limit("CPU", max(round(seconds), 1), 5)
    limit("DATA", memory_bytes)
    limit("CORE", 0)
