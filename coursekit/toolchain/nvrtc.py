"""NVRTC, NVIDIA's run-time compiler: CUDA C++ in, PTX or machine code out.

A thin wrapper of `cuda.bindings.nvrtc`, imported at the first compilation. It
needs no GPU and no driver.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit.errors import UnsupportedError
from coursekit.toolchain import nvrtc_apart, nvrtc_watch


class Refused(Exception):
    """NVRTC refused the program; `log` has its messages, `lowered` is empty."""

    def __init__(self, log: str):
        super().__init__(log)
        self.log = log


@dataclass(frozen=True, slots=True)
class Output:
    """The result of one compilation.

    Attributes
    ----------
    code : bytes
        PTX text for a compute_XX architecture, a cubin for an sm_XX one.
    log : str
        Warnings, and what ptxas reports.
    lowered : dict of str to str
        The mangled name of each name expression.
    """

    code: bytes
    log: str
    lowered: dict[str, str]


def version() -> tuple[int, int]:
    """Return the version of the NVRTC library in use, for example (13, 5)."""
    library = _bindings()
    return tuple(_checked(library, library.nvrtcVersion()))


@functools.cache
def identity() -> str:
    """Return a text that identifies the NVRTC library, without loading it."""
    import importlib.metadata  # 15 ms, needed by the first compilation only

    try:
        return "nvidia-cuda-nvrtc " + importlib.metadata.version("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        return _library_identity()


def _library_identity() -> str:
    folders = [Path(sys.prefix) / "lib", *(root / "lib64" for root in _toolkits())]
    for folder in folders:
        for library in sorted(folder.glob("libnvrtc.so.*")):
            status = library.stat()
            return f"{library} {status.st_size} {status.st_mtime_ns}"
    return "nvrtc {}.{}".format(*version())


@functools.cache
def include_folders() -> tuple[str, ...]:
    """Return the folders of the CUDA headers and of CCCL's, pip packages first.

    They come in separate packages, so each is looked up by itself.
    """
    spec = importlib.util.find_spec("nvidia")
    roots = [
        Path(root) / "cu13" for root in (spec and spec.submodule_search_locations) or ()
    ]
    roots += [Path(sys.prefix) / "targets/x86_64-linux", *_toolkits()]
    folders = [root / "include" for root in roots]
    cuda = _first_with("cuda_fp16.h", folders)
    cccl = _first_with("nv/target", [f / "cccl" for f in folders])
    return (*cuda, *cccl)


def _first_with(header: str, folders: list[Path]) -> list[str]:
    return [str(f) for f in folders if (f / header).is_file()][:1]


@functools.cache
def headers_identity() -> str:
    """Return a text that identifies the set of CUDA headers."""
    return " ".join(f"{f} {os.stat(f).st_mtime_ns}" for f in include_folders())


def _toolkits() -> list[Path]:
    named = [os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH")]
    return [Path(root) for root in (*named, "/usr/local/cuda") if root]


def compile_program(
    source: str, file: str, options: Sequence[str], expressions: Sequence[str] = ()
) -> Output:
    """Compile one source text.

    Parameters
    ----------
    source : str
        CUDA C++ of device code.
    file : str
        Name in messages and line information; quoted includes start beside it.
    options : sequence of str
        NVRTC's options, the architecture among them.
    expressions : sequence of str
        Names, such as "f<float, 4>", to instantiate and to look up.

    Raises
    ------
    Refused
        When the program does not compile; with the compiler's log.
    CompileError
        When the compiler takes too much time or memory.
    UnsupportedError
        When there is no NVRTC on this machine.
    """
    library = _bindings()
    if nvrtc_apart.is_needed(source):
        module = "coursekit.toolchain.nvrtc"
        return _unpacked(nvrtc_apart.run(module, source, file, options, expressions))
    return _compiled(library, source, file, options, expressions)


def packed(
    source: str, file: str, options: Sequence[str], expressions: Sequence[str]
) -> dict[str, Any]:
    """Return the output, or the refusal, as something that JSON can write."""
    try:
        output = _compiled(_bindings(), source, file, options, expressions)
    except Refused as refused:
        return {"refused": refused.log}
    return {"code": output.code.hex(), "log": output.log, "lowered": output.lowered}


def _unpacked(answer: dict[str, Any]) -> Output:
    if "refused" in answer:
        raise Refused(answer["refused"])
    return Output(bytes.fromhex(answer["code"]), answer["log"], answer["lowered"])


def _compiled(
    library: Any,
    source: str,
    file: str,
    options: Sequence[str],
    expressions: Sequence[str],
) -> Output:
    with _program(library, source, file) as program:
        for expression in expressions:
            encoded = expression.encode()
            _checked(library, library.nvrtcAddNameExpression(program, encoded))
        flags = [option.encode() for option in options]
        with nvrtc_watch.Watch(library, program) as watch:
            status, *_ = library.nvrtcCompileProgram(program, len(flags), flags)
        if watch.stopped:
            late = watch.stopped == "time"
            raise nvrtc_apart.gave_up(source, file, late=late)
        log = _log(library, program)
        if status != library.nvrtcResult.NVRTC_SUCCESS:
            raise Refused(log or _reason(library, status))
        lowered = {
            name: _checked(library, library.nvrtcGetLoweredName(program, name.encode()))
            for name in expressions
        }
        kind = "CUBIN" if any("arch=sm_" in option for option in options) else "PTX"
        code = _text(library, program, kind)
        names = {name: found.decode() for name, found in lowered.items()}
        return Output(code, log, names)


@contextlib.contextmanager
def _program(library: Any, source: str, file: str) -> Iterator[Any]:
    created = library.nvrtcCreateProgram(
        source.encode(), file.encode(errors="replace"), 0, [], []
    )
    program = _checked(library, created)
    try:
        yield program
    finally:
        library.nvrtcDestroyProgram(program)


def _log(library: Any, program: Any) -> str:
    """Return the log as text; each stage ends its part with a zero byte."""
    content = _text(library, program, "ProgramLog").replace(b"\0", b"\n").strip(b" \n")
    return content.decode() if content.isascii() else readable(content)


def readable(log: bytes) -> str:
    """Decode a log line by line, and set each caret below its character.

    The compiler counts bytes, and it quotes lines in the encoding of their file.
    """
    lines = log.split(b"\n")
    texts = [line.decode(_encoding(line)) for line in lines]
    for i in range(1, len(lines)):
        quoted, caret = lines[i - 1], lines[i]
        if caret.strip() == b"^" and not quoted.isascii():
            before = quoted[: caret.index(b"^")].decode(_encoding(quoted), "ignore")
            texts[i] = re.sub(r"[^\t]", " ", before) + "^"
    return "\n".join(texts)


def _encoding(line: bytes) -> str:
    try:
        line.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _text(library: Any, program: Any, kind: str) -> bytes:
    size_call = "ProgramLogSize" if kind == "ProgramLog" else f"{kind}Size"
    size = _checked(library, getattr(library, f"nvrtcGet{size_call}")(program))
    buffer = bytearray(size)
    _checked(library, getattr(library, f"nvrtcGet{kind}")(program, buffer))
    return bytes(buffer)


def _checked(library: Any, result: tuple[Any, ...]) -> Any:
    status, *values = result
    if status != library.nvrtcResult.NVRTC_SUCCESS:
        raise Refused(_reason(library, status))
    return values[0] if len(values) == 1 else values


def _reason(library: Any, status: object) -> str:
    _, text = library.nvrtcGetErrorString(status)
    return f"nvrtc: error: {text.decode()}"


def _bindings() -> Any:
    """Return the module cuda.bindings.nvrtc, with its library loaded."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as failure:
        raise _missing(str(failure)) from failure
    return nvrtc


def _missing(reason: str) -> UnsupportedError:
    if sys.platform == "darwin":
        return UnsupportedError.explained(
            "CUDA C++ cannot be compiled on macOS: NVIDIA offers no compiler for it.",
            "The course's own kernels run here from the PTX that comes with them.",
            "To edit kernels, open the course in a devcontainer or on a JupyterHub.",
        )
    return UnsupportedError.explained(
        f"NVIDIA's compiler NVRTC cannot be loaded: {reason.splitlines()[0]}",
        "The packages cuda-bindings and nvidia-cuda-nvrtc are missing or damaged.",
        "Install them again: pip install -e . (or make lab), then restart the kernel.",
    )


if __name__ == "__main__":
    nvrtc_apart.answer(packed)
