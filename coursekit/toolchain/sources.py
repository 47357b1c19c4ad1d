"""Source files: found by path, and named alike on every machine."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError, CompileError, LaunchError

_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include(?:_next)?|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)',
    re.MULTILINE,
)

# Comments and literals, in which any character may stand.
_ANYTHING = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)
    |R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"
    |"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])*'""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT = re.compile(
    r"""/\*.*?\*/|//[^\n]*|(?P<kept>"(?:\\.|[^"\\\n])*"|<[^>\n]*>)""", re.DOTALL
)
_SUFFIXES = (".cu", ".cuh")
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
        The name in messages and line information: kernels/matmul/step_03.cu.
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
        """The file name for the compiler, which looks for headers beside it."""
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
        return re.sub(r"^.*/(?:nvidia/cu\d+|toolchain)/include/(cccl/)?", "", path)

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
    """Read a source that is given as a path or as text.

    Parameters
    ----------
    source_or_path : str or Path
        A path (no newline, ends in .cu or .cuh), as given, or below `kernels/`; else
        text.
    name : str, optional
        The name for source text; `kernel.cu` by default.
    folders : sequence of str
        Further folders with own headers.

    Raises
    ------
    LaunchError
        When there is no such file.
    ArgumentError
        When the name is no text that can be printed in a line.
    CompileError
        When the text is empty, or code in it is in an unknown encoding.
    """
    path = _path_of(source_or_path)
    _check_name(name)
    if path is None:
        label, folder = name or "kernel.cu", Path.cwd()
        text = _cell_text(str(source_or_path), label)
    else:
        label, folder = name or display_name(path), path.parent
        text = read(path, label)
    own = _Headers(folder, (paths.kernels(), *map(Path, folders)))
    own.files[str(path or folder / label)] = label
    own.collect(text, folder)
    return Source(text, path, label, own.texts, own.files, own.foreign)


def display_name(path: Path) -> str:
    """Return a file's path from `kernels/` or the current folder, else its name."""
    for root in (paths.repository(), Path.cwd()):
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.name


def read(path: Path, label: str) -> str:
    """Read a source file: UTF-8, or any encoding of one byte a character in comments
    and literals, which is then taken for Latin-1.
    """
    try:
        content = paths.read_regular(path)
    except OSError as failure:
        raise LaunchError.explained(
            f"{label} cannot be read: {failure.strerror}.",
            "The file exists, but this account may not read it, or it is no source "
            "file.",
            "Check its permissions and its size.",
        ) from failure
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        if b"\0" not in content:
            _check_code(text, label)
    text = text.replace("\r\n", "\n")
    _check_text(text, label)
    return text


def _cell_text(text: str, label: str) -> str:
    """Return source text without its byte order mark; lone bytes become Latin-1."""
    _check_text(text, label)
    text = re.sub(r"\A(\n?)\ufeff", r"\1", text)  # a cell begins with a line end
    if not any("\udc80" <= character <= "\udcff" for character in text):
        return text
    text = text.translate({0xDC00 + byte: byte for byte in range(0x80, 0x100)})
    _check_code(text, label)
    return text


def _check_code(text: str, label: str) -> None:
    """Refuse what is not ASCII outside comments and literals of a Latin-1 text."""
    code = _ANYTHING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = re.search(r"[^\0-\x7f]", code)
    if found is None:
        return
    line = code.count("\n", 0, found.start()) + 1
    column = found.start() - code.rfind("\n", 0, found.start())
    error = CompileError.explained(
        f"{label}:{line}: byte {ord(found[0]):#04x} in column {column} is not UTF-8 "
        "text, and stands outside comments and strings.",
        "A name has a letter with an accent, or the file is not a source file.",
        "Write code in plain letters (a-z); comments may hold anything.",
    )
    error.file, error.line, error.log = label, line, ""
    raise error


def _check_text(text: str, label: str) -> None:
    what, cause, cure = "", "", ""
    if not text.strip():
        what = f"{label} is empty: there is nothing to compile."
        cause = "The cell or the file holds no code, or was not saved."
        cure = "Write a kernel: __global__ void name(...) { ... }"
    elif "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        what = f"{label}:{line}: the text holds a zero byte."
        cause = "The file was saved as UTF-16, or is not a source file."
        cure = "Save it as UTF-8, or fetch the file again."
    elif not _encodable(text):
        what = f"{label}: the text holds a character that UTF-8 cannot write."
        cause = "Half of a surrogate pair, often from a damaged copy."
        cure = "Remove the character."
    elif "\n" not in text and not re.search(r"[{};#()]", text):
        _check_path(text.strip())
    if what:
        error = CompileError.explained(what, cause, cure)
        error.file, error.line, error.log = label, None, ""
        raise error


def _check_path(text: str) -> None:
    """Refuse a word that is no source code; name the file that it may mean."""
    cause = "A path ends in .cu or .cuh; source code holds at least one function."
    try:
        _path_of(f"{text}.cu")
    except LaunchError as missing:
        near = f" {missing.cause}" if missing.cause.startswith("Close") else ""
        cause, cure = cause + near, "Give source code, or the path of a file."
    else:
        cure = f'Write "{text}.cu" if you mean the file.'
    shown = _shortened(text)
    raise LaunchError.explained(
        f"{shown!r} is neither source code nor a path.", cause, cure
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:100]} ... {text[-50:]}"


def _encodable(text: str) -> bool:
    """Tell whether there is no half of a surrogate pair, bytes of a file aside."""
    return not any(
        "\ud800" <= character <= "\udfff" and not "\udc80" <= character <= "\udcff"
        for character in text
    )


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
    if not is_path and ("\n" in text or not text.endswith(_SUFFIXES)):
        return None
    for root in (Path(), paths.kernels(), paths.repository()):
        candidate = Path(os.path.abspath(root / os.path.expanduser(text)))
        if _is_file(candidate):
            return candidate
    raise _missing(text)


def _is_file(path: Path) -> bool:
    """Tell whether a file has this path; none has one that is too long."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def _check_name(name: object) -> None:
    if name is None or (isinstance(name, str) and name.isprintable()):
        return
    raise ArgumentError.explained(
        f"compile got name={name!r}, which is no text of one line.",
        "The name stands for the file in messages and in line information.",
        'Write for example name="scale.cu", or leave it out.',
    )


def _missing(text: str) -> LaunchError:
    root = paths.kernels()
    found = (p.relative_to(root) for end in _SUFFIXES for p in root.rglob(f"*{end}"))
    known = sorted(p.as_posix() for p in found if p.parts[0] not in _NOT_SUGGESTED)
    wanted = text.removeprefix("kernels/")
    near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    by_name = {Path(name).name: name for name in known}
    close = difflib.get_close_matches(Path(wanted).name, by_name, n=3)
    near += [by_name[name] for name in close if by_name[name] not in near]
    shown = _shortened(text)
    cause = (
        f"Close to it: {', '.join(near[:3])}."
        if near
        else "The name is misspelt, or the file lies elsewhere."
    )
    return LaunchError.explained(
        f"There is no file {shown!r}, neither in the current folder nor below "
        "kernels/.",
        cause,
        "Give a path from the current folder, or one below kernels/.",
    )


@dataclass(slots=True)
class _Headers:
    """The project's own headers that a source includes, directly or not."""

    base: Path
    search: tuple[Path, ...]
    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    foreign: bool = False

    def collect(self, text: str, folder: Path) -> None:
        """Read the headers of a text, and theirs, however deep, as they are met."""
        waiting = [self._included(text, folder)]
        while waiting:
            path = next(waiting[-1], None)
            if path is None:
                waiting.pop()
            elif str(path) not in self.files:
                label = self.name(path)
                self.files[str(path)] = label
                self.texts[label] = read(path, label)
                waiting.append(self._included(self.texts[label], path.parent))

    def _included(self, text: str, folder: Path) -> Iterator[Path]:
        """Yield the own headers that a text includes, and note whether others are."""
        if not re.search("include|import", text.replace("\\\n", "")):
            return
        for found in _INCLUDE.finditer(_as_directives(text)):
            roots = (folder, *self.search) if found[1] else self.search
            path = _first(roots, found[1] or found[2])
            if path is None:
                self.foreign = True
            else:
                yield path

    def name(self, path: Path) -> str:
        label = display_name(path)
        if label != path.name:
            return label
        return Path(os.path.relpath(path, self.base)).as_posix()


def _as_directives(text: str) -> str:
    """Return a text whose directives stand as most people write them.

    The compiler joins lines that end in a backslash, takes a comment for a space, and
    %: for #.
    """
    joined = text.replace("\\\n", "")
    spaced = _COMMENT.sub(lambda found: found["kept"] or " ", joined)
    return re.sub(r"^([ \t]*)%:", r"\1#", spaced, flags=re.MULTILINE)


def _first(roots: tuple[Path, ...], name: str) -> Path | None:
    """Return the file of this name in the first folder that contains it."""
    for root in roots:
        candidate = Path(os.path.abspath(root / name))
        if _is_file(candidate):
            return candidate
        check_regular(candidate, name)
    return None


def check_regular(path: str | os.PathLike[str], name: str = "") -> None:
    """Refuse an include of something that is there, and is neither file nor folder."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise _endless(name or os.fspath(path))


def _endless(name: str) -> LaunchError:
    error = LaunchError.explained(
        f'#include "{name}" names something that is no regular file.',
        "It is a device or a named pipe, whose reading may never end.",
        "Include a file with source text.",
    )
    error.file, error.line, error.log = name, None, ""
    return error
