"""PTX that other compilers wrote: its target, its files, its lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from coursekit.toolchain.targets import DEFAULT, Target, target

_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_FILE = re.compile(
    r'^(?P<start>\s*\.file\s+\d+\s+)"(?P<first>(?:\\.|[^"\\\n])*)"'
    r'(?:\s+"(?P<second>(?:\\.|[^"\\\n])*)")?',
    re.MULTILINE,
)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ENTRY = re.compile(r"^\s*(?:\.(?:visible|weak)\s+)*\.entry\s+([\w$]+)", re.MULTILINE)
_TAKEN = re.compile(r"^\s*mov\.[bu]32\s+(%\w+), (\w+_param_\d+);", re.MULTILINE)
_WIDENED = re.compile(r"\bcvt\.u64\.u32\s+(?P<target>%\w+), (?P<source>%\w+);")
_INLINE = re.compile(r"// begin inline asm\n.*?// end inline asm\n", re.DOTALL)
_LINE = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)", re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s.*\n", re.MULTILINE)
_FIRST = re.compile(r"^\s*\.address_size\s+64[^\n]*\n", re.MULTILINE)
_INSTRUCTION = re.compile(r"\s*(?:@!?[%\w$]+\s+)?[a-z][a-z0-9_]*(?:[.\s;]|::)")


def target_of(ptx: str) -> Target:
    r"""Return the architecture that PTX is for.

    Examples
    --------
    >>> target_of(".version 8.0\n.target sm_90a\n").virtual_name
    'compute_90a'
    """
    found = _TARGET.search(ptx)
    if found is None:
        return DEFAULT
    asked = target(found[1])
    return Target(asked.number, asked.suffix)


def entries(ptx: str) -> list[str]:
    """Return the kernels' names in a text of PTX."""
    return _ENTRY.findall(ptx)


def files(ptx: str) -> list[str]:
    """Return the source files that PTX names in its line information."""
    return [_path(found) for found in _FILE.finditer(ptx)]


def with_files(ptx: str, display: Callable[[str], str]) -> str:
    """Write other names for the source files, in the order of `files`."""

    def renamed(found: re.Match[str]) -> str:
        name = display(_path(found)).encode()
        written = "".join(
            f"\\{byte:03o}" if byte > 126 or byte < 32 or byte in b'"\\' else chr(byte)
            for byte in name
        )
        return f'{found["start"]}"{written}"'

    return _FILE.sub(renamed, ptx)


def with_wide_parameter_addresses(ptx: str) -> str:
    r"""Take addresses of parameters in 64 bits where LLVM takes 32, and widens them.

    The simulator's addresses of parameters have more bits than a GPU's.

    Examples
    --------
    >>> with_wide_parameter_addresses(
    ...     "mov.b32 \t%r1, f_param_0;\ncvt.u64.u32 \t%rd1, %r1;\n"
    ... )
    'mov.b32 \t%r1, f_param_0;\nmov.b64 \t%rd1, f_param_0;\n'
    """
    taken = dict(_TAKEN.findall(ptx))
    if not taken:
        return ptx

    def widened(found: re.Match[str]) -> str:
        name = taken.get(found["source"])
        return f"mov.b64 \t{found['target']}, {name};" if name else found[0]

    return _WIDENED.sub(widened, ptx)


def has_lines(ptx: str) -> bool:
    """Tell whether PTX says which source lines its instructions come from."""
    return re.search(r"^\s*\.loc\s", ptx, re.MULTILINE) is not None


def first_line(ptx: str, entry: str) -> int:
    """Return the source line of an entry's first instruction; 0 without lines."""
    begin = re.search(rf"\.entry\s+{re.escape(entry)}\b", ptx)
    found = begin and _LINE.search(ptx, begin.end())
    return int(found[1]) if found else 0


def without_lines_of_inline_assembly(ptx: str) -> str:
    """Leave inline assembly the source line of the statement that it stands for.

    LLVM adds the lines of the assembly to that of the statement: the second instruction
    of a load in Triton, which is the load itself, would belong to the next line.
    """
    return _INLINE.sub(lambda found: _LOC.sub("", found[0]), ptx)


def with_own_lines(ptx: str, name: str) -> str:
    r"""Give each instruction its line in the PTX itself as its source line.

    Examples
    --------
    >>> print(with_own_lines(".address_size 64\n.entry f() {\n  ret;\n}", "f.ptx"))
    .address_size 64
    .file 1 "f.ptx"
    .entry f() {
    .loc 1 3 1
      ret;
    }
    """
    lines, inside = [], False
    ptx = _FILE.sub("", ptx)
    for number, line in enumerate(ptx.split("\n"), start=1):
        if not inside and _INSTRUCTION.match(line):
            lines.append(f".loc 1 {number} 1")
            inside = True
        code = line.partition("//")[0]
        inside = inside and ";" not in code
        lines.append(line)
    declared = f'\\g<0>.file 1 "{name}"\n'
    return _FIRST.sub(declared, "\n".join(lines), count=1)


def _path(found: re.Match[str]) -> str:
    parts = [part for part in (found["first"], found["second"]) if part]
    unescaped = _ESCAPE.sub(
        lambda m: bytes([int(m[1], 8) & 255]) if len(m[1]) == 3 else m[1],
        "/".join(parts).encode(),
    )
    return unescaped.decode(errors="replace")
