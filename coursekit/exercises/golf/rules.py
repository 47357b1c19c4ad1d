"""Rules for the source of a submission, which forbid what makes launches differ.

A score is worth something only where the same source does the same in every launch and
on every machine. So a submission can neither tell the compiler, the machine or the time
apart, nor remember one launch in the next, nor read a file.
"""

from __future__ import annotations

import re

from coursekit.errors import CheckFailed, CourseError

MOST_BYTES = 20_000
_SCAN = re.compile(r"//[^\n]*|/\*.*?\*/|/\*|\"|'", re.DOTALL)
_SPLIT = re.compile(r"(?:[^\n]*\\\n)+[^\n]*")
_EXTERN = re.compile(r'extern\s+"C"')
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)([^\n]*)", re.MULTILINE)
_NAME = re.compile(r"\b(?:__[A-Z]\w*|[A-Za-z_]\w*)")
_MACRO = re.compile(r"__[A-Z]\w*|CUDA(?:RT)?_VERSION|__cplusplus|__has_\w+")
_NAMES = {
    "asm": "assembly", "__asm": "assembly", "__asm__": "assembly",
    "clock": "the time", "clock64": "the time", "__globaltimer": "the time",
    "printf": "output", "vprintf": "output",
    "malloc": "memory", "free": "memory", "alloca": "memory",
    "new": "memory", "delete": "memory",
}  # fmt: skip
_PREFIXES = ("__builtin_", "__nvvm_", "__nv_")
# A variable in device memory: `.visible .global .align 4 .u32 turn;`
_VARIABLE = re.compile(
    r"^[ \t]*(?:\.(?:visible|weak|extern|common)\s+)*\.global\b[^;={\[]*?"
    r"([\w$]+)\s*(?:\[\d*\]\s*)*[=;]",
    re.MULTILINE,
)
# Forbidden constructs that the PTX shows, however the source hides them.
_PTX = {
    r"^\s*\.extern\s+\.func\b|^\s*alloca\b": (
        "calls a function of the system, such as printf or malloc",
        "A kernel of Count Golf takes its arguments and fills its outputs.",
    ),
    r"%(?:clock|globaltimer|smid|nsmid|warpid|nwarpid|gridid|envreg|pm\d)": (
        "asks for the time or for the place where it runs",
        "A score has to be the same on every machine.",
    ),
}


def canonical(source: str) -> str:
    """Return a source as it is hashed: plain line ends, one at the end."""
    return source.replace("\r\n", "\n").rstrip() + "\n"


def check_source(source: str) -> None:
    """Refuse forbidden constructs in the text of a submission.

    Raises
    ------
    CheckFailed
        With the line, and the reason.
    """
    if len(source.encode("utf-8", "replace")) > MOST_BYTES:
        raise CheckFailed.explained(
            f"The source has more than {MOST_BYTES:,} bytes.",
            "A table of results is longer than any way of computing them.",
            "Shorten it.",
        )
    for number, line in enumerate(source.split("\n"), 1):
        if not line.replace("\t", " ").isprintable():
            raise CheckFailed.explained(
                f"Line {number} of the submission has a character that is not shown.",
                "Others could not see what it does to the text.",
                "Delete the line and type it again.",
            )
    code = _without_comments(source)
    if odd := re.search(r"\\|\?\?", code):  # line splices and trigraphs
        raise _refused(code, odd.start(), f"`{odd.group()}`", "spellings by number")
    _check_directives(code)
    for match in _NAME.finditer(code):
        name = match.group()
        if _MACRO.fullmatch(name) or name.startswith(_PREFIXES):
            raise _refused(code, match.start(), f"`{name}`", "the compiler or the GPU")
        if name in _NAMES:
            raise _refused(code, match.start(), f"`{name}`", _NAMES[name])


def check_ptx(ptx: str) -> None:
    """Refuse compiled code with which two launches could differ.

    Raises
    ------
    CheckFailed
    """
    for pattern, (what, why) in _PTX.items():
        if re.search(pattern, ptx, re.MULTILINE):
            raise _remembers(what, why)
    for name in _VARIABLE.findall(ptx):
        # The compiler declares constants with known values without using them.
        if len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", ptx)) > 1:
            raise _remembers(
                f"uses a variable in device memory, {name}",
                "It would keep values from one launch to the next, and tell launches "
                "apart; a table of constants is `__constant__`.",
            )


def _remembers(what: str, why: str) -> CourseError:
    return CheckFailed.explained(
        f"The submission {what}.",
        why,
        "Keep values in registers, in shared memory and in the outputs.",
    )


def _without_comments(source: str) -> str:
    """Blank out comments; lines stay where they are.

    Texts are refused, so that nothing can hide in one.
    """
    if ambiguous := re.search(r"\\[ \t]+\n", source):  # compilers disagree
        raise _refused(
            source, ambiguous.start(), "`\\` and a blank", "hidden line ends"
        )
    spliced = _SPLIT.sub(_joined, source)
    parts, done = [], 0
    for match in _SCAN.finditer(spliced):
        if match.start() < done:
            continue
        begin, opening = match.start(), match.group()
        if opening[0] == "/" and opening != "/*":
            parts += [spliced[done:begin], re.sub(r"[^\n]", " ", opening)]
            done = match.end()
        elif opening == '"' and (extern := _extern(spliced, begin)):
            parts += [spliced[done:begin], " " * (extern - begin)]
            done = extern
        elif opening != "'" or not _separates_digits(spliced, begin):
            raise _refused(spliced, begin, f"{opening}", "texts or open comments")
    return "".join([*parts, spliced[done:]])


def _joined(match: re.Match[str]) -> str:
    """Join lines that end in a backslash, as the preprocessor does first."""
    return match.group().replace("\\\n", "") + "\n" * match.group().count("\n")


def _extern(text: str, quote: int) -> int | None:
    """Return where the text of `extern "C"` ends, if this quote begins one."""
    start = max(0, quote - 20)
    for match in _EXTERN.finditer(text, start, quote + 3):
        if match.end() == quote + 3:
            return match.end()
    return None


def _separates_digits(text: str, at: int) -> bool:
    return text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()


def _check_directives(code: str) -> None:
    for match in _DIRECTIVE.finditer(code):
        word, rest = match.groups()
        unroll = word == "pragma" and rest.split()[:1] in (["unroll"], ["nounroll"])
        if not unroll and (word != "define" or "#" in rest or "%:" in rest):
            directive = f"`{' '.join(match.group().split())}`"
            raise _refused(code, match.start(), directive, "other texts or compilers")
    rest = _DIRECTIVE.sub("", code)
    if "#" in rest or "%:" in rest or "_Pragma" in rest:
        at = re.search(r"#|%:|_Pragma", code).start()
        raise _refused(code, at, "a directive here", "other texts or compilers")


def _refused(text: str, at: int, what: str, subject: str) -> CourseError:
    line = text.count("\n", 0, at) + 1
    return CheckFailed.explained(
        f"Line {line} of the submission has {what}.",
        f"Count Golf has no {subject}: the same source has to do the same everywhere, "
        "and nothing may hide in it.",
        "Leave it out; `#define`, `#pragma unroll` and device code are allowed.",
    )
