"""A kernel in three languages, line by line: CUDA C++, PTX, machine code.

The compiler notes for each instruction the source line that it stems from: `.loc` in
PTX, and nvdisasm prints it for machine code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from coursekit.errors import UnsupportedError
from coursekit.runtime.launching import Kernel
from coursekit.runtime.modules import Module
from coursekit.simt import ptx_lines

_PLACE = re.compile(r'"([^"]*)", line (\d+)')
_LABEL = re.compile(r"(\.L_x_\w+):")
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
Places = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """An instruction or a label.

    Attributes
    ----------
    text : str
    source : int
        The line of the kernel's file that it stems from; 0 for none.
    live : int or None
        PTX alone: registers of 32 bits whose values are needed here or later.
    """

    text: str
    source: int = 0
    live: int | None = None


@dataclass(frozen=True)
class CompiledLines:
    """A kernel's source, PTX and machine code.

    Attributes
    ----------
    kernel, arch : str
        The kernel's name, and the architecture of the machine code.
    first : int
        The number of the first source line.
    source : tuple of str
        The lines of the kernel's file from the first to the last that has code.
    ptx, sass : tuple of Line
    why : str
        Why there is no machine code; empty where there is.
    registers : int
        Registers per thread in the machine code.
    """

    kernel: str
    arch: str
    first: int
    source: tuple[str, ...]
    ptx: tuple[Line, ...]
    sass: tuple[Line, ...]
    why: str
    registers: int

    @property
    def most_live(self) -> int:
        """The largest register pressure in the PTX."""
        return max((line.live or 0 for line in self.ptx), default=0)


def compiled_lines(kernel: Kernel) -> CompiledLines:
    """Return a kernel in its three languages.

    Parameters
    ----------
    kernel : Kernel
        Of a module that the course has compiled, with its source lines.
    """
    module, lowered = cast(Module, kernel.module), kernel.lowered_name
    file = module.name
    ptx = tuple(
        Line(line.text, _own_line(line.places, file), line.live)
        for line in ptx_lines(module.ptx, lowered)
    )
    sass, why = _machine_code(module, lowered, file)
    numbers = [line.source for line in (*ptx, *sass) if line.source]
    first, last = (min(numbers), max(numbers)) if numbers else (1, 1)
    return CompiledLines(
        kernel=kernel.name,
        arch=module.machine_target,
        first=first,
        source=tuple(module.source.split("\n")[first - 1 : last]),
        ptx=ptx,
        sass=sass,
        why=why,
        registers=module.resources[kernel.name].registers,
    )


def _own_line(places: Sequence[tuple[str, int]], file: str) -> int:
    """Return the innermost line of the kernel's own file."""
    return next((line for name, line in places if name == file), 0)


def _machine_code(
    module: Module, lowered: str, file: str
) -> tuple[tuple[Line, ...], str]:
    try:
        text = module.disassemble(lines=True)
    except UnsupportedError as error:
        return (), str(error)
    return tuple(machine_lines(text, lowered, file)), ""


def machine_lines(text: str, lowered: str, file: str) -> list[Line]:
    """Return the instructions of a kernel, and the labels that are jumped to.

    Parameters
    ----------
    text : str
        Output of nvdisasm with line information.
    lowered, file : str
        The kernel's name in the machine code, and its file.
    """
    lines = list(_instructions(_section(text, lowered), file))
    _drop_padding(lines)
    targets = set(re.findall(r"\.L_x_\w+", " ".join(_not_labels(lines))))
    return [line for line in lines if line.text[-1] != ":" or line.text[:-1] in targets]


def _not_labels(lines: list[Line]) -> Iterator[str]:
    return (line.text for line in lines if not line.text.endswith(":"))


def _drop_padding(lines: list[Line]) -> None:
    """Remove what follows the code: a branch to itself, and NOPs."""
    while lines and lines[-1].text.startswith(("NOP", ".L")):
        lines.pop()
    if len(lines) > 1 and lines[-1].text == f"BRA `({lines[-2].text[:-1]});":
        del lines[-2:]


def _section(text: str, lowered: str) -> str:
    begin = re.search(rf"^\s*\.section\s+\.text\.{re.escape(lowered)},", text, re.M)
    if begin is None:
        return ""
    rest = text[begin.end() :]
    end = re.search(r"^\s*\.section\b", rest, re.M)
    return rest[: end.start()] if end else rest


def _instructions(section: str, file: str) -> Iterator[Line]:
    source: int = 0
    chain: list[tuple[str, int]] = []
    for text in section.splitlines():
        if text.lstrip().startswith("//## File"):
            chain += [(name, int(line)) for name, line in _PLACE.findall(text)]
        elif label := _LABEL.match(text):
            yield Line(f"{label[1]}:")
        elif found := _INSTRUCTION.match(text):
            if chain:
                source, chain = _own_line(chain, file), []
            yield Line(f"{found[1]};", source)
