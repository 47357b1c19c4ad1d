"""A kernel's source, PTX and machine code side by side, linked line by line."""

from __future__ import annotations

import json
from typing import Any

import traitlets

from coursekit.analysis.compiled_lines import CompiledLines, Line, compiled_lines
from coursekit.errors import CourseError
from coursekit.runtime.launching import Kernel
from coursekit.toolchain.cuda_source import tokens
from coursekit.widgets import compiled_picture
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.compiled_words import Parts, parts
from coursekit.widgets.microscope_launch import Launch

MOST_ROWS = 1500  # of PTX, and of machine code


def show_compiled(kernel: Kernel) -> CompiledView:
    """Show what the compiler has made of a kernel: source, PTX, machine code.

    Point at a line, or go to it with the arrow keys: the lines that it became, or
    came from, light up in the other two. Beside the PTX stands its register pressure:
    the number of registers of 32 bits whose values are still needed. Below, the kernel
    can be edited and compiled again.

    Parameters
    ----------
    kernel : Kernel
        Of a module that ``ck.compile`` or ``%%cuda`` has made.

    Returns
    -------
    CompiledView
        A widget; stored, it is a picture. Where there is no disassembler it shows
        source and PTX, and says so.

    Examples
    --------
    ``ck.show_compiled(ck.compile("start/vec_add.cu").vec_add)``
    """
    return CompiledView(kernel)


class CompiledView(CourseWidget, files="compiled"):
    """Source, PTX and machine code of a kernel.

    Attributes
    ----------
    lines : CompiledLines
    line : int
        The source line that is chosen; 0 for none.
    text : str
        The kernel, for the reader to edit.
    edited, answered : dict
        The text that the reader wants compiled, with its turn; which turn is done,
        and what was wrong with it.
    """

    view = traitlets.Unicode().tag(sync=True)
    line = traitlets.Int(0, min=0).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    edited = traitlets.Dict().tag(sync=True)
    answered = traitlets.Dict().tag(sync=True)

    def __init__(self, kernel: Kernel) -> None:
        self._launch = Launch(kernel, 1, 1, ())  # for its text and its edits
        self.lines = compiled_lines(kernel)
        super().__init__(view=as_json(self.lines), text=self._launch.text)

    @traitlets.observe("edited")
    def _compile(self, _change: object) -> None:
        """Compile the reader's edit, and show it."""
        turn, trouble = self.edited.get("turn"), ""
        try:
            lines = compiled_lines(self._launch.edited(self.edited["text"]).kernel)
        except CourseError as error:
            trouble = str(error)
        else:
            self.lines = lines
            with self.hold_sync():
                self.view, self.line = as_json(lines), 0
        self.answered = {"turn": turn, "trouble": trouble}

    def __repr__(self) -> str:
        return f"Compiled view of the kernel {self.lines.kernel}"

    def alt_text(self) -> str:
        return compiled_picture.words(self.lines)

    def static_svg(self) -> str:
        return compiled_picture.svg(self.lines)


def as_json(lines: CompiledLines) -> str:
    """Return what the page needs, as JSON."""
    state = {
        "kernel": lines.kernel,
        "arch": lines.arch,
        "first": lines.first,
        "source": source_parts(lines),
        "ptx": _rows(lines.ptx, "ptx"),
        "sass": _rows(lines.sass, "sass"),
        "why": lines.why,
        "registers": lines.registers,
        "most": lines.most_live,
        "left_out": max(0, len(lines.ptx) - MOST_ROWS, len(lines.sass) - MOST_ROWS),
    }
    return json.dumps(state, separators=(",", ":"))


def _rows(lines: tuple[Line, ...], language: str) -> list[list[Any]]:
    return [
        [parts(line.text, language), line.source, line.live]
        for line in lines[:MOST_ROWS]
    ]


def source_parts(lines: CompiledLines) -> list[Parts]:
    """Return the parts of each source line."""
    rows: list[Parts] = [[]]
    for kind, text in tokens("\n".join(lines.source)):
        for index, piece in enumerate(text.split("\n")):
            if index:
                rows.append([])
            if piece:
                rows[-1].append([kind, piece])
    return rows
