"""What a compiler of C or C++ complains of, as an error of the course."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from coursekit.errors import CompileError
from coursekit.toolchain.host_advice import IN_A_TEMPLATE, advice
from coursekit.toolchain.host_source import HostSource

_MESSAGE = re.compile(
    r"^([^\s:][^:\n]*):(\d+):(\d+): (fatal error|error|warning): (.*)$", re.MULTILINE
)
_USED = re.compile(
    r"^([^\s:][^:\n]*):(\d+):(\d+):\s+(?:recursively )?required from", re.MULTILINE
)
_UNDEFINED = re.compile(r"undefined reference to [`'\"](.+?)'")
_TWICE = re.compile(r"multiple definition of [`'\"](.+?)'")


def messages(log: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield file, line, kind and text of each message of a compiler."""
    for file, line, _, kind, text in _MESSAGE.findall(log):
        yield file, int(line), kind.removeprefix("fatal "), text


def error(source: HostSource, log: str) -> CompileError:
    """Return the error for what a compiler wrote."""
    found = [match for match in _MESSAGE.finditer(log) if "error" in match[4]]
    if not found:
        return _of_linker(source, log)
    file, line, column, _, text = found[0].groups()
    text = text.removesuffix(" [-fpermissive]")
    used = _use(source, log[: found[0].start()]) if not source.is_own(file) else None
    if used:
        text += f", in {Path(file).name}"
        file, line, column = used
    code = _code(source, file, line, column)
    cause, cure = advice(text, code.strip("\n").split("\n")[0])
    if used:
        cause, cure = IN_A_TEMPLATE
    where = f"{source.shown(file)}:{line}: {text}{code}"
    more = len(found) - 1
    if more:
        cure += f" The compiler has {more} more message{'s' if more > 1 else ''}."
    failure = CompileError.explained(where, cause, cure)
    failure.file, failure.line = source.shown(file), int(line)
    failure.log, failure.count = log, len(found)
    return failure


def _use(source: HostSource, before: str) -> tuple[str, str, str] | None:
    """Return where the source uses the template that an error lies in."""
    own = [use for use in _USED.finditer(before) if source.is_own(use[1])]
    return (own[-1][1], own[-1][2], own[-1][3]) if own else None


def _code(source: HostSource, file: str, line: str, column: str) -> str:
    lines = source.text.split("\n")
    if source.shown(file) != source.name or int(line) > len(lines):
        return ""
    code = lines[int(line) - 1].expandtabs(1)
    return f"\n    {code}\n    {' ' * (int(column) - 1)}^"


def _of_linker(source: HostSource, log: str) -> CompileError:
    missing, twice = _UNDEFINED.search(log), _TWICE.search(log)
    if missing and missing[1] == "main":
        what = f"{source.name} has no function main."
        cause = "A program begins in main; a kernel or a lone function has none."
        cure = "Add `int main() { ... return 0; }`."
    elif missing:
        what = f"{source.name} calls {missing[1]}, and nothing defines it."
        cause = "It is declared, and its body is missing or has another name."
        cure = "Write the function, or include the file that has it."
    elif twice:
        what = f"{source.name} defines {twice[1]} more than once."
        cause = "Its name is that of a function in another file or library."
        cure = "Rename one of them."
    else:
        last = log.strip().split("\n")[-1] if log.strip() else "no message"
        what = f"{source.name} could not be compiled: {last}"
        cause, cure = "The compiler ended without naming a line.", "Read error.log."
    failure = CompileError.explained(what, cause, cure)
    failure.file, failure.line, failure.log, failure.count = source.name, None, log, 1
    return failure
