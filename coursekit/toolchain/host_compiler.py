"""C and C++ for the host: compiled with the system's compiler, and cached."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit import paths
from coursekit.errors import CompileError, UnsupportedError
from coursekit.toolchain import host_diagnostics, thrust_options
from coursekit.toolchain.cache import Cache, key
from coursekit.toolchain.host_advice import explained
from coursekit.toolchain.host_source import HostSource

PATIENCE_S = 120
# What a make that runs this program has set for its own children.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
FLAGS = ("-g", "-Wall", "-Wextra", "-fno-omit-frame-pointer")
PLAIN = ("-O1",)
SANITIZED = (
    "-O0",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize=object-size",
)
FIELDS = {"executable": str, "warnings": list, "commands": str, "name": str}
_TARGET = re.compile(r"^([\w.-]+) *:(?!=)", re.MULTILINE)
# Each language: the variable that names a compiler, those to look for, the standard.
LANGUAGES = {
    "c": ("CC", ("cc", "gcc", "clang"), "-std=c17"),
    "c++": ("CXX", ("c++", "g++", "clang++"), "-std=c++20"),
}


@dataclass(frozen=True)
class Built:
    """A program that was compiled.

    Attributes
    ----------
    executable : bytes
    warnings : tuple of str
        What the compiler has warned of, a line each: "file:line: warning".
    commands : str
        What make has run, a command a line; "" without a Makefile.
    name : str
        The name of the program.
    """

    executable: bytes
    warnings: tuple[str, ...]
    commands: str
    name: str


def build(source: HostSource, *, sanitize: bool = False) -> Built:
    """Compile a source to a program; the same source is compiled once.

    Parameters
    ----------
    source : HostSource
    sanitize : bool
        Add checks of memory and of undefined behaviour, which report as it runs.

    Raises
    ------
    CompileError
        The compiler refuses it; the message has line and caret.
    UnsupportedError
        There is no compiler.
    """
    in_make = source.language == "make"
    language = "c++" if in_make else source.language
    compiler = find(language)
    checks = SANITIZED if sanitize else PLAIN
    used = "\n".join((source.text, *source.headers.values()))
    options = [LANGUAGES[language][2], *FLAGS, *checks, *thrust_options.options(used)]
    identity = [_identity(compiler), thrust_options.identity(used)]
    cache = Cache(paths.cache() / "programs")
    entry = key([source.name, source.text, source.headers, options, identity])
    value = cache.get(entry, FIELDS)
    if value is None:
        make = _made if in_make else _compiled
        value = make(source, [*compiler, *options])
        cache.put(entry, value)
    value["executable"] = base64.b64decode(value["executable"])
    value["warnings"] = tuple(value["warnings"])
    return Built(**value)


def find(language: str) -> list[str]:
    """Return the command of the compiler of a language.

    Raises
    ------
    UnsupportedError
        There is none; the message says what to install.
    """
    variable, names, _ = LANGUAGES[language]
    chosen = shlex.split(os.environ.get(variable, ""))
    for command in [chosen] if chosen else [[name] for name in names]:
        path = shutil.which(command[0])
        if path:
            return [path, *command[1:]]
    sought = f"{variable}={chosen[0]}" if chosen else ", ".join(names)
    raise UnsupportedError.explained(
        f"There is no compiler for {language.upper()} here; looked for {sought}.",
        "Kernels are compiled by the course's own NVRTC; programs with a main need "
        "the system's compiler.",
        "Install it: `sudo apt install g++` on Debian and Ubuntu, `sudo dnf install "
        "gcc-c++` on Fedora, `conda install gxx` with conda.",
    )


def _identity(compiler: list[str]) -> list[object]:
    """Return what changes when another compiler takes the place of this one."""
    path = os.path.realpath(compiler[0])
    status = os.stat(path)
    return [path, status.st_size, status.st_mtime_ns, *compiler[1:]]


def _compiled(source: HostSource, command: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file, place = source.name, source.folder
        if place is None:
            place, file = Path(folder), Path(source.name).name
            (place / file).write_text(source.text, encoding="utf-8")
        program = Path(folder) / "a.out"
        command += [f"-I{paths.kernels()}", f"-ffile-prefix-map={place}/=", "-o"]
        command += [str(program), Path(file).name, "-lm", "-lpthread"]
        answer = _run(command, place, source)
        return _value(source, answer, program)


def _made(source: HostSource, command: list[str]) -> dict[str, Any]:
    """Run make in a copy of the folder; its first target is the program."""
    if shutil.which("make") is None:
        raise UnsupportedError.explained(
            "There is no make here.",
            "A Makefile is a list of commands that the program make runs.",
            "Install it: `sudo apt install make` on Debian and Ubuntu, `conda install "
            "make` with conda.",
        )
    target = _TARGET.search(source.text)
    if target is None:
        raise CompileError.explained(
            f"{source.name} has no target.",
            "A rule is a target, a colon, and what the target is made of.",
            "Begin with the program: `network: main.o network.o`.",
        )
    with tempfile.TemporaryDirectory() as folder:
        for name, text in source.headers.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        flags = f"CXXFLAGS={shlex.join(command[1:])}"
        variables = [f"CXX={command[0]}", flags] if "-O0" in command else []
        answer = _run(["make", target[1], *variables], Path(folder), source)
        return _value(source, answer, Path(folder) / target[1])


def _value(
    source: HostSource, answer: subprocess.CompletedProcess[str], program: Path
) -> dict[str, Any]:
    """Return what is cached of a program; an error where there is none."""
    if answer.returncode != 0 or not program.is_file():
        raise host_diagnostics.error(source, answer.stderr)
    return {
        "executable": base64.b64encode(program.read_bytes()).decode(),
        "warnings": list(_warnings(source, answer.stderr)),
        "commands": answer.stdout.strip(),
        "name": program.name if source.language == "make" else source.stem,
    }


def _run(
    command: list[str], folder: Path, source: HostSource
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    for name in OF_MAKE:
        environment.pop(name, None)
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        raise CompileError.explained(
            f"{source.name}: the compiler has not ended after {PATIENCE_S} s.",
            "A macro or a template expands itself many times.",
            "Look for one that contains itself.",
        ) from None


def _warnings(source: HostSource, log: str) -> Iterator[str]:
    for file, line, kind, text in host_diagnostics.messages(log):
        if kind == "warning":
            text = explained(re.sub(r" *.-W[^]]*.$", "", text))
            yield f"{source.shown(file)}:{line}: {text}"
