"""What a compiler of C or C++ complains of, as an error of the course."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coursekit.errors import CompileError
from coursekit.toolchain.host_source import HostSource

_MESSAGE = re.compile(
    r"^([^\s:][^:\n]*):(\d+):(\d+): (fatal error|error|warning): (.*)$", re.MULTILINE
)
_UNDEFINED = re.compile(r"undefined reference to [`'\"](.+?)'")
_TWICE = re.compile(r"multiple definition of [`'\"](.+?)'")
# What a message says, and what it means: (pattern, likely cause, what to do).
# The line of the message comes first, then a newline and the text of the message.
IN_LINE = (
    (
        r"#define \w+ \(.*\n.*was not declared",
        "A space ends the name of a macro: what follows is its text, and no parameter.",
        "Write the bracket right behind the name, without a space.",
    ),
    (
        r"#define .*;\s*\n",
        "The semicolon at the end of a macro belongs to its text, and is put into "
        "each line that uses it.",
        "Remove the semicolon from the #define.",
    ),
    (
        r"\*\*.*\n.*unary '\*'",
        "C and C++ have no operator ** for powers: the second star asks for what lies "
        "at an address.",
        "Write a square as a product, x * x.",
    ),
)
ADVICE = (
    (
        r"request for member '(?P<m>\w+)' in '(?P<v>[^']+)', which is of pointer type",
        "{v} is a pointer. A dot takes a member of a struct itself.",
        "Write an arrow: {v}->{m}.",
    ),
    (
        r"member reference type '.*\*' is a pointer",
        "A dot takes a member of a struct itself, and this is a pointer to one.",
        "Write an arrow, ->, in place of the dot.",
    ),
    (
        r"base operand of '->' has non-pointer type|invalid type argument of '->'"
        r"|member reference type '.*' is not a pointer",
        "An arrow follows a pointer, and this is the struct itself.",
        "Write a dot in place of the arrow.",
    ),
    (
        r"invalid conversion from '(?:const )?void ?\*' to",
        "A void* says where, and not what lies there. C converts it silently; C++ "
        "asks for a cast.",
        "Cast it: static_cast<float *>(p).",
    ),
    (
        r"invalid conversion from '.*\*' to '(?:unsigned )?\w+'"
        r"|invalid conversion from '\w+' to '.*\*'"
        r"|makes (?:integer|pointer) from|incompatible (?:pointer|integer)",
        "An address stands where a value belongs, or a value where an address does.",
        "*p is the value at an address, and &x is the address of a value.",
    ),
    (
        r"(?:cannot convert|could not convert '.*' from) '(?P<a>[^']+)' to "
        r"'(?P<b>[^']+)'",
        "The types differ: {a} is given, and {b} is needed.",
        "Count the stars: *p and p[i] take one off, and &x adds one.",
    ),
    (
        r"invalid operands of types? .* to binary '(?:operator)?\*'",
        "A star between two values is a product. Perhaps the line above lacks its "
        "semicolon, and goes on here.",
        "End the line above with a semicolon.",
    ),
    (
        r"invalid type argument of unary '\*'",
        "A star asks for what lies at an address, and this is no pointer.",
        "Remove the star.",
    ),
    (
        r"was not declared|undeclared|does not name a type|unknown type name"
        r"|is not a member of 'std'|implicit declaration",
        "The name is misspelt, declared further down, or its header is not included.",
        "Compare the spelling; add the #include that declares it.",
    ),
    (
        r"expected '[;,)]'|expected '}'|expected .*primary-expression",
        "Something is missing before this place, often a semicolon or a bracket.",
        "Look at the end of the line above.",
    ),
    (
        r"too (?:few|many) arguments",
        "The call and the declaration have different numbers of parameters.",
        "Compare the call with the first line of the function.",
    ),
    (
        r"use of deleted function",
        "A class forbids the copy that this line makes.",
        "Pass it by reference, or move it with std::move.",
    ),
    (
        r"assignment of read-only|discards qualifiers|from 'const",
        "The value is const: it may be read, and not written.",
        "Write to another variable, or take away the const if you own the value.",
    ),
)
OTHERWISE = (
    "The compiler stops at the first place that makes no sense to it.",
    "Correct this line first; later messages often follow from the first.",
)


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
    code = _code(source, file, line, column)
    cause, cure = _advice(text, code)
    where = f"{source.shown(file)}:{line}: {text}{code}"
    more = len(found) - 1
    if more:
        cure += f" The compiler has {more} more message{'s' if more > 1 else ''}."
    failure = CompileError.explained(where, cause, cure)
    failure.file, failure.line = source.shown(file), int(line)
    failure.log, failure.count = log, len(found)
    return failure


def _advice(text: str, code: str) -> tuple[str, str]:
    line = code.strip("\n").split("\n")[0]
    for pattern, cause, cure in IN_LINE:
        if re.search(pattern, f"{line}\n{text}"):
            return cause, cure
    for pattern, cause, cure in ADVICE:
        match = re.search(pattern, text)
        if match:
            names = match.groupdict()
            return cause.format(**names), cure.format(**names) if names else cure
    return OTHERWISE


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
