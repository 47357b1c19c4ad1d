"""`load_ptx` makes a module of PTX that another compiler wrote."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError, UnsupportedError
from coursekit.runtime.modules import Module
from coursekit.toolchain import assembler, building, ptx_text, signature, targets
from coursekit.toolchain.python_files import PythonFile, python_file
from coursekit.toolchain.sources import Source

NAME = "kernel.ptx"
_POINTER = 8


def load_ptx(
    text_or_path: str | os.PathLike[str],
    *,
    name: str = NAME,
    kernels: Sequence[str] = (),
) -> PtxModule:
    """Load PTX of any compiler: of Triton, Numba, CuTe DSL, nvcc, or by hand.

    Its kernels are launched, counted, checked, traced and profiled as those of
    `ck.compile`. Messages and costs name the lines of the language that the PTX came
    from, where it says so (``.loc``), else the lines of the PTX.

    Parameters
    ----------
    text_or_path : str or Path
        PTX, or the path of a file of it, which ends in .ptx, as given or below
        `kernels/`.
    name : str
        What messages call a text without line information.
    kernels : sequence of str, optional
        Shorter names of the kernels, in the order of the PTX.

    Returns
    -------
    PtxModule
        ``module["name"]`` and ``module.name`` are its kernels. PTX tells of most
        parameters their width alone: pass an array for a pointer, else a NumPy scalar,
        or a Python number of that width.

    Raises
    ------
    ArgumentError
        This is no text of PTX, or it has no kernel, or another number of them.

    Examples
    --------
    >>> module = load_ptx('''
    ... .version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry stop() { ret; }
    ... ''')
    >>> module.kernels
    ('stop',)
    """
    text, path = _read(text_or_path)
    names = _named(ptx_text.entries(text), kernels)
    return PtxModule(text, name=path.name if path else name, path=path, names=names)


class PtxModule(Module):
    """A module whose PTX another compiler wrote, which `ck.load_ptx` returns.

    It has the attributes of what `ck.compile` returns; `source` is the text of the
    language that the PTX came from where that is here, else the PTX.

    Parameters
    ----------
    ptx : str
    name : str
        What messages call it where the PTX names no file.
    path : Path, optional
        The file of the PTX.
    file : str
        The path of the file with the kernel, where the PTX may name another one.
    parameter_names : dict, optional
        Names of the parameters by the kernel's name in the PTX.
    names : dict, optional
        Names of kernels by their name in the PTX.
    """

    def __init__(
        self,
        ptx: str,
        *,
        name: str = NAME,
        path: Path | None = None,
        file: str = "",
        parameter_names: Mapping[str, tuple[str | None, ...]] | None = None,
        names: Mapping[str, str] | None = None,
    ):
        self._names = dict(parameter_names or {})
        ptx = ptx_text.with_wide_parameter_addresses(ptx)
        ptx, files = _with_shown_files(ptx, name, file)
        self._own = {each.name: each.text for each in files if each.own and each.text}
        self._main = next(iter(self._own), name)
        self._unit = building.Unit(
            Source(ptx, path, self._main, {}, {}, False), ptx_text.target_of(ptx)
        )
        entries = tuple(
            replace(entry, name=(names or {}).get(entry.lowered, entry.name))
            for entry in building.entries_of(ptx)
        )
        self._build = building.Build(ptx, "", entries, (), "disabled")
        self._found = {}

    @property
    def language(self) -> str:
        return "Python" if self._main.endswith(".py") else "PTX"

    @property
    def source(self) -> str:
        return self._own.get(self._main) or self.ptx

    @property
    def sources(self) -> dict[str, str]:
        return {self._main: self.source, **self._own}

    def parameters(self, entry: building.Entry) -> tuple[signature.Parameter, ...]:
        """Return the parameters of one entry; those without a type have a width."""
        names = self._names.get(entry.lowered, ())
        found = super().parameters(replace(entry, parameter_names=names))
        return tuple(map(_perhaps_pointer, found))

    def name_parameters(self, lowered: str, names: tuple[str, ...]) -> None:
        """Name the parameters of a kernel, before it is first looked up."""
        self._names[lowered] = names

    def first_line(self, lowered: str) -> int:
        """Return the source line with which a kernel begins; 0 if it is not known."""
        return ptx_text.first_line(self.ptx, lowered)

    def loadable(self, arch: str) -> bytes:
        """Return the PTX, which a GPU's driver compiles for itself."""
        return self.ptx.encode() + b"\0"

    def edited(self, text: str) -> Module:
        """Refuse: the compiler of the other language is not here."""
        raise UnsupportedError.explained(
            f"{self.name} cannot be compiled again with another text.",
            "The module was loaded as PTX, and its source is not CUDA C++.",
            "Change the source, compile it with its own compiler, and load that PTX.",
        )

    @functools.cached_property
    def _machine_code(self) -> Callable[[targets.Target], building.MachineCode]:
        @functools.cache
        def assembled(target: targets.Target) -> building.MachineCode:
            code, report = assembler.assemble(self.ptx, target.real_name)
            return building.MachineCode(code, report)

        return assembled


def _named(entries: list[str], kernels: Sequence[str]) -> dict[str, str]:
    """Return the names that kernels are to have, by their names in the PTX."""
    given = [kernels] if isinstance(kernels, str) else list(kernels)
    if given and len(given) != len(entries):
        raise ArgumentError.explained(
            f"load_ptx got {len(given)} names for {len(entries)} kernels.",
            "Each kernel takes one name, in the order of the PTX.",
            f"The kernels are {', '.join(entries)}.",
        )
    return dict(zip(entries, given, strict=False))


def _perhaps_pointer(parameter: signature.Parameter) -> signature.Parameter:
    """Take an array for a struct of 8 bytes: CuTe DSL wraps its pointers so."""
    ctype = parameter.type
    if ctype.kind != "struct" or ctype.name != "struct" or ctype.size != _POINTER:
        return parameter
    return replace(parameter, type=signature.CType("8-byte value", "unknown", _POINTER))


def _read(text_or_path: str | os.PathLike[str]) -> tuple[str, Path | None]:
    """Return the text, and its path where it came from a file."""
    if not isinstance(text_or_path, str | os.PathLike):
        raise ArgumentError.explained(
            f"load_ptx got {type(text_or_path).__name__}, which is no text.",
            "PTX is text; Triton has it in kernel.asm['ptx'].",
            "Pass the text, or the path of a file that ends in .ptx.",
        )
    text, path = os.fspath(text_or_path), None
    if "\n" not in text and text.endswith(".ptx"):
        path = _found(Path(text))
        try:
            text = path.read_text()
        except OSError as error:
            raise ArgumentError.explained(
                f"load_ptx cannot read {path.name}: {error.strerror}.",
                "There is no such file, or it may not be read.",
                "Give the path as seen from the current folder, or the text itself.",
            ) from None
    text = text.rstrip("\0")
    if not ptx_text.entries(text) or not re.search(r"^\s*\.version", text, re.M):
        raise ArgumentError.explained(
            f"load_ptx got {len(text):,} characters without a kernel in PTX.",
            "PTX begins with .version and .target, and each kernel is an .entry; CUDA "
            "C++ and machine code are no PTX.",
            "For CUDA C++ call ck.compile(source). Triton has PTX in "
            "kernel.asm['ptx'], Numba in cuda.compile_ptx(function, signature)[0].",
        )
    return text, path


def _found(path: Path) -> Path:
    """Return a path as given, or below `kernels/` if only there is such a file."""
    below = paths.kernels() / path
    return below if below.is_file() and not path.exists() else path


def _with_shown_files(ptx: str, name: str, file: str) -> tuple[str, list[PythonFile]]:
    """Name the files as messages are to name them; return what they are."""
    if not ptx_text.has_lines(ptx):
        return ptx_text.with_own_lines(ptx, name), [PythonFile(name, ptx, True)]
    ptx = ptx_text.without_lines_of_inline_assembly(ptx)
    files = {path: python_file(path, file) for path in ptx_text.files(ptx)}
    shown = ptx_text.with_files(ptx, lambda path: files[path].name)
    return shown, list(files.values())
