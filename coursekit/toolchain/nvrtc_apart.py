"""Compile one source in a process of its own, with limits: NVRTC cannot be stopped.

Some sources take NVRTC minutes, all memory, or its stack. In the process of a notebook
that would end the student's work. Starting a process takes a quarter of a second, so
only sources that look as if they may be such go there; the text alone decides.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coursekit.errors import CompileError

SECONDS = 120.0  # of computing
MEMORY_BYTES = 8 << 30
# The largest source of the course has 13,000 characters.
MOST_CHARACTERS = 30_000
MOST_CHOICES = 300  # NVRTC takes the square of their number, and more
MOST_DEPTH = 200
MOST_MACROS = 12  # each can double what the one above it stands for
_MACRO = re.compile(r"^[ \t]*#[ \t]*define\b", re.MULTILINE)
_HIDDEN_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)


def is_needed(source: str) -> bool:
    """Tell whether a source may take NVRTC very long."""
    return (
        len(source) > MOST_CHARACTERS
        or source.count("?") > MOST_CHOICES
        or len(_MACRO.findall(source)) > MOST_MACROS
        or _HIDDEN_INCLUDE.search(source) is not None
        or _depth(source) > MOST_DEPTH
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
            told, _ = process.communicate(
                json.dumps(task).encode(), timeout=4 * SECONDS + 60
            )
        except subprocess.TimeoutExpired:
            told = b""
        finally:
            process.kill()
    if process.returncode or not told:
        raise _gave_up(source, file, process.returncode)
    found: dict[str, Any] = json.loads(told)
    return found


def _gave_up(source: str, file: str, code: int) -> CompileError:
    import signal

    name = os.path.basename(file)
    late = code in (-signal.SIGXCPU, -signal.SIGKILL)
    what = (
        f"the compiler took more than {SECONDS:g} s, and was stopped"
        if late
        else f"the compiler needs more than {MEMORY_BYTES >> 30} GiB, or it crashed"
    )
    error = CompileError.explained(
        f"{name}: {what}. The source has {len(source):,} characters.",
        "Long chains of ?:, deep nesting, and macros that repeat macros take the "
        "compiler far more time than their length suggests.",
        "Put the values into a table, write a loop, or split the kernel.",
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
    import resource

    end = max(round(seconds), 1)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
