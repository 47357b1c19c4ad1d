"""Source files: found by path, read, and named the same on every machine."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import paths
from coursekit.errors import CompileError, LaunchError

_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE
)

_NOT_SUGGESTED = ("solutions",)  # they would give exercises away


@dataclass(frozen=True, slots=True)
class Source:
    """A source text with the project's own headers that it includes.

    Attributes
    ----------
    text : str
    path : Path or None
        None for text that came from no file.
    name : str
        How messages and line information call it: kernels/matmul/step_03.cu.
    headers : dict of str to str
        Text of each own header, by the same kind of name.
    files : dict of str to str
        Name of each file by its absolute path.
    needs_cuda_headers : bool
        Whether something is included that is not an own header.
    """

    text: str
    path: Path | None
    name: str
    headers: dict[str, str]
    files: dict[str, str]
    needs_cuda_headers: bool

    @property
    def compiler_name(self) -> str:
        """Name given to the compiler, beside which it looks for headers."""
        return str(self.path) if self.path else self.name

    def display(self, file: str) -> str:
        """Return the name of a file that the compiler mentions.

        The file may come from a cache entry that another folder or checkout
        made; then the end of its path decides.
        """
        path = os.path.normpath(file)
        known = self.files.get(path)
        if known is not None:
            return known
        names = (self.name, *self.headers)
        fitting = [name for name in names if path.endswith("/" + name) or path == name]
        if fitting:
            return max(fitting, key=len)
        return re.sub(r"^.*/nvidia/cu\d+/include/(cccl/)?", "", path)

    def with_display_names(self, log: str) -> str:
        """Return a compiler log with the names of own files shortened."""
        for path, name in self.files.items():
            log = log.replace(f"{path}(", f"{name}(").replace(f'"{path}"', f'"{name}"')
        return log


def find(
    source_or_path: str | os.PathLike[str],
    name: str | None = None,
    folders: Iterable[str] = (),
) -> Source:
    """Tell a path from source text, and read what it needs.

    Parameters
    ----------
    source_or_path : str or Path
        A path (no newline, ends in .cu), as given, or below `kernels/`; else text.
    name : str, optional
        What to call source text; `kernel.cu` by default.
    folders : sequence of str
        Further folders with own headers.

    Raises
    ------
    LaunchError
        When there is no such file.
    CompileError
        When the text is empty, or not UTF-8.
    """
    path = _path_of(source_or_path)
    if path is None:
        text, label, folder = str(source_or_path), name or "kernel.cu", Path.cwd()
        _check_text(text, label)
    else:
        label, folder = name or display_name(path), path.parent
        text = read(path, label)
    own = _Headers(folder, (paths.kernels(), *map(Path, folders)))
    own.files[str(path or folder / label)] = label
    own.collect(text, folder)
    return Source(text, path, label, own.texts, own.files, own.foreign)


def display_name(path: Path) -> str:
    """Name a file: from `kernels/`, else from the current folder, else bare."""
    for root in (paths.repository(), Path.cwd()):
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.name


def read(path: Path, label: str) -> str:
    """Read a source file as UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise LaunchError.explained(
            f"{label} cannot be read: {failure.strerror}.",
            "The file exists, but this account may not read it.",
            "Check its permissions.",
        ) from failure
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        error = CompileError.explained(
            f"{label}:{line}: byte {content[failure.start]:#04x} is not UTF-8 text.",
            "The file was saved in another encoding, or is not a source file.",
            "Save it as UTF-8.",
        )
        error.file, error.line, error.log = label, line, ""
        raise error from failure
    _check_text(text, label)
    return text


def _check_text(text: str, label: str) -> None:
    what, cause, cure = "", "", ""
    if not text.strip():
        what = f"{label} is empty: there is nothing to compile."
        cause = "The cell or the file holds no code, or was not saved."
        cure = "Write a kernel: __global__ void name(...) { ... }"
    elif "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        what = f"{label}:{line}: the text holds a zero byte."
        cause = "The file is not a source file, or was damaged."
        cure = "Remove the byte, or fetch the file again."
    elif not _encodable(text):
        what = f"{label}: the text holds a character that UTF-8 cannot write."
        cause = "Half of a surrogate pair, often from a damaged copy."
        cure = "Remove the character."
    elif "\n" not in text and not re.search(r"[{};#()]", text):
        what = f"{text!r} is neither source code nor a path."
        cause = "A path ends in .cu; source code holds at least one function."
        cure = f'Write "{text.strip()}.cu" if you mean a file.'
    if what:
        kind = LaunchError if cure.endswith("mean a file.") else CompileError
        error = kind.explained(what, cause, cure)
        error.file, error.line, error.log = label, None, ""
        raise error


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _path_of(source_or_path: str | os.PathLike[str]) -> Path | None:
    if not isinstance(source_or_path, str | os.PathLike):
        raise LaunchError.explained(
            f"compile got {type(source_or_path).__name__}, which is neither source "
            "code nor a path.",
            "Its first argument is text: CUDA C++, or the path of a .cu file.",
            'Write for example ck.compile("start/vec_add.cu").',
        )
    text = os.fspath(source_or_path)
    is_path = not isinstance(source_or_path, str)
    if not is_path and ("\n" in text or not text.endswith(".cu")):
        return None
    for root in (Path(), paths.kernels(), paths.repository()):
        candidate = Path(os.path.abspath(root / Path(text).expanduser()))
        if candidate.is_file():
            return candidate
    raise _missing(text)


def _missing(text: str) -> LaunchError:
    root = paths.kernels()
    found = (p.relative_to(root) for p in root.rglob("*.cu"))
    known = sorted(p.as_posix() for p in found if p.parts[0] not in _NOT_SUGGESTED)
    wanted = text.removeprefix("kernels/")
    near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    by_name = {Path(name).name: name for name in known}
    close = difflib.get_close_matches(Path(wanted).name, by_name, n=3)
    near += [by_name[name] for name in close if by_name[name] not in near]
    cause = (
        f"Close to it: {', '.join(near[:3])}."
        if near
        else "The name is misspelt, or the file lies elsewhere."
    )
    return LaunchError.explained(
        f"There is no file {text!r}, neither in the current folder nor below kernels/.",
        cause,
        "Give a path from the current folder, or one below kernels/.",
    )


@dataclass(slots=True)
class _Headers:
    """The own headers that a source includes, and that these include."""

    base: Path
    search: tuple[Path, ...]
    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    foreign: bool = False

    def collect(self, text: str, folder: Path) -> None:
        if "include" not in text:
            return
        for found in _INCLUDE.finditer(text):
            roots = (folder, *self.search) if found[1] else self.search
            path = _first(roots, found[1] or found[2])
            if path is None:
                self.foreign = True
            elif str(path) not in self.files:
                label = self.name(path)
                self.files[str(path)] = label
                self.texts[label] = read(path, label)
                self.collect(self.texts[label], path.parent)

    def name(self, path: Path) -> str:
        label = display_name(path)
        if label != path.name:
            return label
        return Path(os.path.relpath(path, self.base)).as_posix()


def _first(roots: tuple[Path, ...], name: str) -> Path | None:
    """Return the file of this name in the first folder that has it."""
    for root in roots:
        candidate = Path(os.path.abspath(root / name))
        if candidate.is_file():
            return candidate
    return None
