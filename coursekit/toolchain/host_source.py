"""A C or C++ source file for the host, or a text, with its own headers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import paths
from coursekit.errors import LaunchError, UnsupportedError
from coursekit.toolchain import sources

SUFFIXES = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
CUDA = (".cu", ".cuh")
MAKEFILE = "Makefile"


@dataclass(frozen=True)
class HostSource:
    """What is compiled.

    Attributes
    ----------
    text, name, language : str
        The name is that of messages; the language is "c", "c++" or "make".
    folder : Path or None
        Where its file lies; None for text that came from no file.
    headers : dict of str to str
        Text of each own header that it includes, by name; beside a Makefile, of each
        file in its folder.
    """

    text: str
    name: str
    language: str
    folder: Path | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name of the program: overflow for start/overflow.c."""
        return Path(self.name).stem

    def shown(self, file: str) -> str:
        """Return the name of a file that a compiler or a sanitizer mentions."""
        return self.name if Path(file).name == Path(self.name).name else file

    def is_own(self, file: str) -> bool:
        """Tell whether a file is the source or one of its own headers."""
        known = {Path(name).name for name in (self.name, *self.headers)}
        return Path(file).name in known


def read(source_or_path: str | os.PathLike[str], name: str = "") -> HostSource:
    """Read a program that is given as a path or as text.

    Parameters
    ----------
    source_or_path : str or Path
        A path that ends in .c, .cc, .cpp or .cxx, or a Makefile, as given or below
        `kernels/`; else text.
    name : str
        The name for text, whose suffix tells the language; program.cpp by default.

    Raises
    ------
    UnsupportedError
        It is a CUDA file.
    LaunchError
        There is no such file, or its suffix is of no language.
    """
    path = _path_of(source_or_path)
    if path is not None:
        return _of_file(path)
    label = name or "program.cpp"
    return _with_headers(str(source_or_path), label, None)


def is_path(source_or_path: str | os.PathLike[str]) -> bool:
    """Tell whether it names a file of C or C++, or a Makefile."""
    path = Path(source_or_path)
    return path.suffix in SUFFIXES or path.name == MAKEFILE


def _of_file(path: Path) -> HostSource:
    label = sources.display_name(path)
    text = sources.read(path, label)
    if path.name != MAKEFILE:
        return _with_headers(text, label, path.parent)
    beside = sorted(file for file in path.parent.iterdir() if file.is_file())
    texts = {file.name: sources.read(file, file.name) for file in beside}
    return HostSource(text, label, "make", path.parent, texts)


def _with_headers(text: str, label: str, folder: Path | None) -> HostSource:
    suffix, base = Path(label).suffix, folder or Path.cwd()
    if suffix not in SUFFIXES:
        raise _refused(label)
    own = sources.Headers(base, (paths.kernels(),))
    own.collect(text, base)
    return HostSource(text, label, SUFFIXES[suffix], folder, own.texts)


def _path_of(source_or_path: str | os.PathLike[str]) -> Path | None:
    is_text = isinstance(source_or_path, str)
    given = os.fspath(source_or_path)
    if is_text and ("\n" in given or "{" in given):
        return None
    if given.endswith(CUDA):
        raise UnsupportedError.explained(
            f"{given} is CUDA C++, and ck.program takes C and C++ for now.",
            "A complete CUDA program needs a runtime for its launches, which comes "
            "later in the course.",
            "Compile its kernels with ck.compile, and launch them from Python.",
        )
    for root in (Path(), paths.kernels(), paths.repository()):
        candidate = Path(os.path.abspath(root / os.path.expanduser(given)))
        if candidate.is_file():
            return candidate
    raise LaunchError.explained(
        f"There is no file {given!r}, neither in the current folder nor below "
        "kernels/.",
        "The name is misspelt, or the file lies elsewhere.",
        "Give a path that ends in .c or .cpp, or the source text itself.",
    )


def _refused(name: str) -> LaunchError:
    return LaunchError.explained(
        f"ck.program cannot compile {name}: its name does not tell a language.",
        f"The suffixes of C and C++ are {', '.join(SUFFIXES)}.",
        "Rename the file, or give text with name='program.cpp'.",
    )
