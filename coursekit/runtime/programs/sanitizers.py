"""Read the reports of AddressSanitizer, LeakSanitizer and UBSan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.runtime.programs.findings import ProgramFinding
from coursekit.toolchain.host_source import HostSource

_UNDEFINED = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: runtime error: (?P<text>.*)$",
    re.MULTILINE,
)
_ADDRESS = re.compile(
    r"^==\d+==ERROR: AddressSanitizer:? (?P<kind>attempting double-free"
    r"|attempting free|[\w-]+)(?P<rest>.*)$",
    re.MULTILINE,
)
_LEAK = re.compile(
    r"^Direct leak of (\d+) byte\(s\) in (\d+) object\(s\)", re.MULTILINE
)
_FRAME = re.compile(
    r"^ +#\d+ 0x[0-9a-f]+ in (\S+).*? (\S+?):(\d+)(?::\d+)?$", re.MULTILINE
)
# libubsan writes to stderr, wherever it is told to write.
_IN_STDERR = re.compile(
    r"^[^\s:][^:\n]*:\d+:\d+: runtime error: .*\n"
    r"(?:0x[0-9a-f]+: note: .*\n.*\n.*\n?)?"
    r"|^AddressSanitizer:DEADLYSIGNAL\n",
    re.MULTILINE,
)
_ACCESS = re.compile(r"^(READ|WRITE) of size (\d+)", re.MULTILINE)
_BLOCK = re.compile(
    r"is located (\d+) bytes (to the right|to the left|after|before|inside)"
    r"(?: of)? (\d+)-byte region"
)
_VARIABLE = re.compile(r"'(\w+)' \(line (\d+)\) <== Memory access")
_GLOBAL = re.compile(r"global variable '(\w+)'")


@dataclass(frozen=True)
class Kind:
    """A defect that AddressSanitizer names: what happened, its cause, its cure."""

    what: str
    cause: str
    cure: str


_PAST = Kind(
    "{access} {block}",
    "An array of n elements has the indices 0 to n - 1; or too few bytes were "
    "allocated for it.",
    "Compare the index with the number of elements, and the bytes with "
    "count * sizeof(type).",
)
KINDS = {
    "heap-buffer-overflow": _PAST,
    "stack-buffer-overflow": _PAST,
    "global-buffer-overflow": _PAST,
    "dynamic-stack-buffer-overflow": _PAST,
    "stack-buffer-underflow": _PAST,
    "container-overflow": _PAST,
    "heap-use-after-free": Kind(
        "{access} in memory that was freed{freed}",
        "A pointer still holds the address of a block after free or delete.",
        "Free it later, or take no copy of the pointer.",
    ),
    "stack-use-after-return": Kind(
        "{access} in a local variable of a function that has returned",
        "The address of a local variable was returned or kept. The variable ends "
        "with its function.",
        "Return the value itself, or let the caller own the memory.",
    ),
    "stack-use-after-scope": Kind(
        "{access} in a local variable behind the end of its block",
        "A pointer outlives the brackets { } in which its variable was made.",
        "Declare the variable outside of these brackets.",
    ),
    "attempting double-free": Kind(
        "frees a block that was freed before{freed}",
        "Two pointers hold the same address, and both are freed; often a struct with "
        "a pointer was copied.",
        "Let one of them own the block, and forbid the copy.",
    ),
    "attempting free": Kind(
        "frees an address that malloc or new never returned",
        "The pointer was moved on, or points to a variable.",
        "Keep the address that malloc returned, and free that.",
    ),
    "alloc-dealloc-mismatch": Kind(
        "frees a block by another way than it was allocated{rest}",
        "malloc goes with free, new with delete, and new[] with delete[].",
        "Use the partner of what allocated it.",
    ),
    "new-delete-type-mismatch": Kind(
        "deletes an object as another type than it was made",
        "The sizes of the two types differ.",
        "Delete it through a pointer of its own type, or give the base a virtual "
        "destructor.",
    ),
    "stack-overflow": Kind(
        "has no stack left",
        "A function calls itself and never stops to, or a local array is too large.",
        "Find the case in which it has to return without a call; put large arrays on "
        "the heap.",
    ),
    "FPE": Kind(
        "divides an integer by zero", "A divisor can be 0.", "Ask for 0 before."
    ),
    "SEGV": Kind(
        "{access} at an address where the program has no memory",
        "A null pointer, a pointer that was never set, or an index far outside.",
        "Look where the pointer gets its value, and whether that can fail.",
    ),
    "requested": Kind(
        "asks for more memory than there can be",
        "A size became negative, or overflowed, before it was converted to size_t.",
        "Print the size, and compute it in size_t.",
    ),
    "negative-size-param": Kind(
        "passes a negative size",
        "A difference was computed in int, and is below zero.",
        "Print the two values of the difference.",
    ),
}
_LEAKED = Kind(
    "{n} bytes that line {line} allocates are never freed",
    "A path through the program leaves without free or delete; often an early return.",
    "Free them on every path, or let an owner do it: std::vector, std::unique_ptr.",
)
# What UBSan says, and what it means: (pattern, kind, cause, what to do).
UNDEFINED = (
    (
        "signed integer overflow",
        "overflow",
        "The result does not fit into its type. int ends at 2147483647.",
        "Compute in a wider type: convert one operand before the operation, for "
        "example to size_t or long long.",
    ),
    (
        "division by zero",
        "division-by-zero",
        "A divisor can be 0.",
        "Ask for 0 before the division.",
    ),
    (
        "is outside the range of representable values",
        "conversion",
        "A floating-point value is too large for the integer type that it is cast to.",
        "Ask for its range before the cast.",
    ),
    (
        "shift exponent",
        "shift",
        "A value is shifted by as many bits as it has, or by a negative number.",
        "Shift by 0 to 31 in an int; make the value long long for more.",
    ),
    (
        "null pointer",
        "null",
        "The pointer is null here: nothing was stored into it, or nothing was found.",
        "Look where it gets its value; ask for nullptr before you follow it.",
    ),
    (
        "out of bounds for type",
        "index",
        "An array of n elements has the indices 0 to n - 1.",
        "Compare the index with the number of elements.",
    ),
    (
        "misaligned address",
        "alignment",
        "A pointer was cast to a type whose addresses are multiples of its size.",
        "Copy the bytes with memcpy, or allocate with the right type.",
    ),
    (
        "execution reached the end of a value-returning function",
        "no-return",
        "A path through the function has no return.",
        "Return a value at the end of every path.",
    ),
    (
        "is not a valid value for type",
        "value",
        "A bool or an enum holds a number that is none of its values; often it was "
        "never set.",
        "Set the variable when you declare it.",
    ),
)


def parted(stderr: str) -> tuple[str, str]:
    """Return what the program wrote to stderr, and what a sanitizer wrote there."""
    return _IN_STDERR.sub("", stderr), "".join(_IN_STDERR.findall(stderr))


def findings(report: str, source: HostSource) -> list[ProgramFinding]:
    """Return the findings of a report, each place once.

    Parameters
    ----------
    report : str
        What the sanitizers wrote.
    source : HostSource
        The program, whose lines the findings name.
    """
    found: dict[tuple[str | None, int | None], ProgramFinding] = {}
    for finding in (*_undefined(report, source), *_address(report, source)):
        found.setdefault((finding.file, finding.line), finding)
    return [*found.values(), *_leaks(report, source)]


def _undefined(report: str, source: HostSource) -> Iterator[ProgramFinding]:
    for match in _UNDEFINED.finditer(report):
        text, line = match["text"], int(match["line"])
        entry = next((row for row in UNDEFINED if row[0] in text), None)
        kind, cause, cure = entry[1:] if entry else ("undefined", "", "")
        cause = cause or "The language does not say what this does."
        file = source.shown(match["file"])
        what = f"{file}:{line}: {text}{_code(source, file, line)}"
        yield ProgramFinding(kind, what, cause, cure, file, line)


def _address(report: str, source: HostSource) -> Iterator[ProgramFinding]:
    for match in _ADDRESS.finditer(report):
        text = report[match.start() :].split("\nSUMMARY:")[0]
        entry = KINDS.get(match["kind"])
        file, line = _place(text.split("\n\n")[0], source)
        words = _words(text, match["rest"], source)
        said = entry.what if entry else f"{match['kind']}{match['rest']}"
        what = f"{_at(file, line)}{said.format(**words) if entry else said}"
        what += _code(source, file, line)
        cause, cure = (entry.cause, entry.cure) if entry else ("", "")
        yield ProgramFinding(match["kind"], what, cause, cure, file, line)


def _leaks(report: str, source: HostSource) -> Iterator[ProgramFinding]:
    for match in _LEAK.finditer(report):
        text = report[match.start() :].split("\n\n")[0]
        file, line = _place(text, source)
        said = _LEAKED.what.format(n=match[1], line=line)
        if line is None:
            said = f"{match[1]} bytes are never freed"
        what = f"{_at(file, line)}{said}{_code(source, file, line)}"
        yield ProgramFinding("leak", what, _LEAKED.cause, _LEAKED.cure, file, line)


def _place(text: str, source: HostSource) -> tuple[str | None, int | None]:
    """Return the first frame of a stack that lies in the program's own files."""
    for _, file, line in _FRAME.findall(text):
        if source.is_own(file):
            return source.shown(file), int(line)
    return None, None


def _at(file: str | None, line: int | None) -> str:
    return f"{file}:{line}: " if file else "The program: "


def _words(text: str, rest: str, source: HostSource) -> dict[str, str]:
    """Return what a message names: the access, the block, where it was freed."""
    access = _ACCESS.search(text)
    verb = "uses memory"
    if access:
        verb = f"{'reads' if access[1] == 'READ' else 'writes'} {access[2]} bytes"
    elif "caused by a WRITE" in text:
        verb = "writes"
    elif "caused by a READ" in text:
        verb = "reads"
    parts = text.split("\n\n")
    freed = next((part for part in parts if "freed by thread" in part), "")
    line = _place(
        freed[freed.find("freed by thread") :].split("previously")[0], source
    )[1]
    return {
        "access": verb,
        "block": _block(text, source),
        "freed": f", in line {line}" if line else "",
        "rest": rest.partition(" on 0x")[0],
    }


def _block(text: str, source: HostSource) -> str:
    """Name the memory next to an access: a block of the heap, or a variable."""
    block, variable = _BLOCK.search(text), _VARIABLE.search(text)
    if block:
        allocated = text[text.find("allocated by thread") :]
        line = _place(allocated, source)[1]
        made = f", which line {line} allocated" if line else ""
        side = "before" if block[2] in ("to the left", "before") else "behind"
        far = "right" if block[1] == "0" else f"{block[1]} bytes"
        return f"{far} {side} a block of {block[3]} bytes{made}"
    if variable:
        return f"outside of the variable {variable[1]} of line {variable[2]}"
    named = _GLOBAL.search(text)
    return (
        f"outside of {f'the global variable {named[1]}' if named else 'its variable'}"
    )


def _code(source: HostSource, file: str | None, line: int | None) -> str:
    lines = source.text.split("\n")
    if file != source.name or line is None or line > len(lines):
        return ""
    return f"\n    {lines[line - 1].strip()}"
