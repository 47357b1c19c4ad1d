"""Show the source of a kernel, and what changed between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coursekit.display.diff import Comparison, Side, count_of_lines
from coursekit.display.listing import Cell, Fold, Listing, Row, highlighted, plain
from coursekit.errors import ArgumentError
from coursekit.toolchain import declarations, host_source, python_files, sources
from coursekit.toolchain.cuda_source import function_lines, header_lines


def show(
    source: Any,
    *,
    kernel: str | None = None,
    lines: tuple[int, int] | None = None,
    highlight: int | Iterable[int] = (),
) -> Listing:
    """Show CUDA C++ with line numbers; the header comment is folded away.

    A part of the source is shown without the header.

    Parameters
    ----------
    source : str, Path, module or kernel
        A path such as ``"matmul/step_03_shared_tiling"``, with or without ``.cu``,
        under ``kernels/`` or any; a compiled module; a kernel, of which only its own
        function is shown; a program of C or C++, or its path.
    kernel : str, optional
        Show only the function of this name.
    lines : tuple of int, optional
        Show only these lines, first and last, numbered from 1.
    highlight : int or iterable of int
        Lines to mark, with ``>`` and another ground.

    Returns
    -------
    Listing
        The numbered source as text, and as HTML in a notebook.

    Raises
    ------
    LaunchError
        If there is no such file.
    ArgumentError
        If the source has no such function or lines.
    """
    view = _View.of(source)
    first, last = _range(view, kernel, lines)
    marks = {highlight} if isinstance(highlight, int) else set(highlight)
    _check_marks(marks, first, last)
    rows = _rows(view, marks)
    whole = (first, last) == (1, len(view.lines))
    folded = whole and view.header > 1 and min(marks, default=last) > view.header
    begin = max(first, view.start + 1) if folded else first
    caption = view.name if whole else f"{view.name}, lines {first} to {last}"
    return Listing(
        caption=caption,
        text="\n".join([caption, *plain(rows[first - 1 : last])]),
        rows=rows[begin - 1 : last],
        folds=(_header_fold(view),) if folded else (),
    )


def show_diff(a: Any, b: Any, *, context: int | None = 3) -> Listing:
    """Show the differences between two sources; header comments are left out.

    Parameters
    ----------
    a, b : str, Path, module or kernel
        The older and the newer source, as `show` takes them.
    context : int or None
        Unchanged lines to show round each change; None shows all of them.

    Returns
    -------
    Listing
        A unified diff as text, and as HTML in a notebook; line numbers are the
        files' own.

    Raises
    ------
    LaunchError
        If there is no such file.
    ArgumentError
        If the context is negative.
    """
    if context is not None and context < 0:
        raise ArgumentError.explained(
            f"show_diff got context={context}.",
            cure="Give 0 or more lines, or None for all of them.",
        )
    views = _View.of(a), _View.of(b)
    old, new = (
        Side(v.name, v.lines, tuple(highlighted(v.text)), v.start) for v in views
    )
    comparison = Comparison.of(old, new, context)
    caption = f"{old.name} \N{RIGHTWARDS ARROW} {new.name}: " + _changes(comparison)
    return Listing(
        caption=caption,
        text="\n".join([caption, *comparison.unified()]),
        rows=tuple(comparison.rows()),
        folds=tuple(_header_fold(v, named=True) for v in views if v.header > 1),
    )


@dataclass(frozen=True)
class _View:
    """A source to show: its name, its text, and the requested function."""

    name: str
    text: str
    function: str | None = None
    near: int = 0  # a line of the function, where functions share its name

    @classmethod
    def of(cls, source: Any) -> _View:
        """Read a path, a module or a kernel."""
        if isinstance(source, str | Path):
            if host_source.is_path(source):
                return cls.of_host(host_source.read(source))
            file = sources.find(_path(source))
            return cls(file.name, _tidy(file.text))
        if isinstance(getattr(source, "source", None), host_source.HostSource):
            return cls.of_host(source.source)
        module = getattr(source, "module", source)
        texts = (getattr(module, name, None) for name in ("source", "name"))
        if not all(isinstance(text, str) for text in texts):
            raise ArgumentError.explained(
                f"show got {type(source).__name__}, which has no source.",
                "It shows CUDA C++: that of a file, or what was compiled.",
                "Give a path, a compiled module or a kernel.",
            )
        if module is source:
            return cls(module.name, _tidy(module.source))
        first_line = getattr(module, "first_line", None)
        near = first_line(source.lowered_name) if first_line else 0
        return cls(module.name, _tidy(module.source), _bare_name(source.name), near)

    @classmethod
    def of_host(cls, file: host_source.HostSource) -> _View:
        """Take a program of C or C++."""
        return cls(file.name, _tidy(file.text))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.text.split("\n"))

    @property
    def is_python(self) -> bool:
        return self.name.endswith(".py")

    @cached_property
    def header(self) -> int:
        """Number of lines of the opening comment."""
        return header_lines(self.text)

    @property
    def start(self) -> int:
        """Index of the first line that is neither header nor blank."""
        skipped = self.header if self.header > 1 else 0
        code = (i for i, line in enumerate(self.lines) if i >= skipped and line.strip())
        return next(code, skipped)


def _path(source: str | Path) -> Path:
    """Return the path with its `.cu`, which may be left out."""
    if re.search(r"[\n{}]", str(source)):
        raise ArgumentError.explained(
            "show got source text, which it takes for a path.",
            "Text has no name and no place that lines could be told from.",
            "Compile the text first: ck.show(ck.compile(text)).",
        )
    path = Path(source)
    return path if path.suffix or not path.name else path.with_suffix(".cu")


def _bare_name(kernel: str) -> str:
    """Return the name without scope and template arguments: f for q::f<float, 16>."""
    return kernel.partition("<")[0].rpartition("::")[2]


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").expandtabs(4).removesuffix("\n")


def _range(
    view: _View, kernel: str | None, lines: tuple[int, int] | None
) -> tuple[int, int]:
    """Return the first and last line to show, numbered from 1."""
    if lines is not None:
        return _checked_lines(view, kernel, lines)
    if kernel is not None:
        return _function_range(view, kernel)
    span = _lines_of(view, view.function) if view.function else None
    return span or (1, len(view.lines))


def _lines_of(view: _View, function: str) -> tuple[int, int] | None:
    """Return the first and last line of a function; of a name's last, in Python."""
    if not view.is_python:
        return function_lines(view.text, function)
    return python_files.function_lines(view.text, function, view.near)


def _checked_lines(
    view: _View, kernel: str | None, lines: tuple[int, int]
) -> tuple[int, int]:
    if kernel is not None:
        raise ArgumentError.explained(
            "show got both kernel= and lines=.", cure="Leave one of them out."
        )
    first, last = lines
    if not 1 <= first <= last <= len(view.lines):
        raise ArgumentError.explained(
            f"show got lines=({first}, {last}), but {view.name} has the lines 1 to "
            f"{len(view.lines)}.",
            cure="Give the first and the last line, both within the file.",
        )
    return first, last


def _function_range(view: _View, kernel: str) -> tuple[int, int]:
    span = _lines_of(view, kernel)
    if span is None:
        declared = declarations.kernels(view.text)
        names = ", ".join(kernel.name for kernel in declared) or "none"
        raise ArgumentError.explained(
            f"{view.name} has no function {kernel}.",
            "The name is misspelt, or a macro writes the function.",
            f"Its kernels are: {names}.",
        )
    return span


def _check_marks(marks: set[int], first: int, last: int) -> None:
    outside = sorted(mark for mark in marks if not first <= mark <= last)
    if outside:
        raise ArgumentError.explained(
            f"show got highlight={outside[0]}, but shows the lines {first} to {last}.",
            cure="Mark lines among those that are shown.",
        )


def _rows(view: _View, marks: Iterable[int] = ()) -> tuple[Row, ...]:
    """Return the rows of a source; the column for marks exists only with marks."""
    width = len(str(len(view.lines)))
    html = highlighted(view.text, python=view.is_python)
    return tuple(
        Row(
            (
                *([Cell(">" if n in marks else " ")] if marks else []),
                Cell(f"{n:>{width}} "),
            ),
            text,
            html[n - 1],
            "marked" if n in marks else "",
        )
        for n, text in enumerate(view.lines, 1)
    )


def _header_fold(view: _View, *, named: bool = False) -> Fold:
    texts = (line.strip().strip("/*").strip() for line in view.lines[: view.header])
    title = next(filter(None, texts), "Header comment")
    summary = f"{view.name}: {title}" if named else title
    return Fold(summary, _rows(view)[: view.header])


def _changes(comparison: Comparison) -> str:
    if not comparison.groups:
        return "no line of code differs"
    added = count_of_lines(comparison.added)
    return f"{added} added, {comparison.removed} removed"
