"""`compile` makes a `Module` of a path or of source text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from coursekit.errors import CompileError
from coursekit.runtime import forks
from coursekit.runtime.modules import Module
from coursekit.runtime.progress_bar import compiling
from coursekit.toolchain import targets
from coursekit.toolchain.building import Unit
from coursekit.toolchain.sources import check_regular, find


@forks.held_off()
def compile(
    source_or_path: str | os.PathLike[str],
    *,
    arch: str | int | None = None,
    defines: Mapping[str, object] | None = None,
    options: Sequence[str] = (),
    name: str | None = None,
) -> Module:
    """Compile CUDA C++ of kernels.

    Parameters
    ----------
    source_or_path : str or Path
        A path (no newline, ends in .cu or .cuh), as given or below `kernels/`; else
        the source text itself.
    arch : str or int, optional
        "sm_90a", "compute_80", 86, ...; compute_90 by default.
    defines : dict, optional
        Macros, {"TILE": 16}; None as a value defines a name alone.
    options : sequence of str, optional
        Further options of NVRTC, such as "--use_fast_math".
    name : str, optional
        What messages call source text; kernel.cu by default.

    Returns
    -------
    Module

    Raises
    ------
    CompileError
        When the compiler refuses the source.
    LaunchError
        When there is no such file.
    UnsupportedError
        When there is no compiler on this machine.

    Examples
    --------
    >>> module = compile("__global__ void twice(float* x) { *x *= 2; }")
    >>> module.kernels
    ('twice',)
    """
    target = targets.target(arch)
    flags = (*_define_flags(defines or {}), *_checked_options(options))
    folders = [match[1] for flag in flags if (match := _INCLUDE_OPTION.match(flag))]
    for flag in flags:
        if match := _FILE_OPTION.match(flag):
            check_regular(match[1])
    source = find(source_or_path, name, folders)
    with compiling(source.name):
        return Module(Unit(source, target, flags))


_INCLUDE_OPTION = re.compile(r"(?:-I|--include-path=)(.+)")
_FILE_OPTION = re.compile(
    r"(?:-include|--pre-include|--options-file|-optf|-time|--time)[= ]?(.+)"
)
_ARCH_OPTION = re.compile(r"-{1,2}(?:arch|gpu-architecture)\b")


def _define_flags(defines: Mapping[str, object]) -> tuple[str, ...]:
    if not isinstance(defines, Mapping):
        raise CompileError.explained(
            f"defines: {defines!r} is no dict.",
            "Each macro has a name and a value.",
            'Write for example defines={"TILE": 16}; None defines a name alone.',
        )
    return tuple(_define_flag(name, value) for name, value in defines.items())


def _define_flag(name: str, value: object) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", str(name), re.ASCII):
        raise CompileError.explained(
            f"defines: {name!r} is not a name.",
            "A macro's name has letters, digits and underscores, no digit first.",
            'Write for example defines={"TILE": 16}.',
        )
    if value is None:
        return f"-D{name}"
    if isinstance(value, bool):
        return f"-D{name}={str(value).lower()}"
    text = str(value)
    if "\n" in text or "\0" in text:
        raise CompileError.explained(
            f"defines: the value of {name} has more than one line.",
            "A macro given here is one line.",
            "Put longer text into the source.",
        )
    return f"-D{name}={text}"


def _checked_options(options: Sequence[str]) -> tuple[str, ...]:
    flags = (options,) if isinstance(options, str) else tuple(options)
    for flag in flags:
        if not isinstance(flag, str) or not flag.startswith("-"):
            raise CompileError.explained(
                f"options: {flag!r} is not an option.",
                "Each option is a text that begins with a minus sign.",
                'Write for example options=("--use_fast_math",).',
            )
        if _ARCH_OPTION.match(flag):
            raise CompileError.explained(
                f"options: {flag!r} chooses an architecture.",
                "The architecture decides names in the cache, so it has its own place.",
                'Write arch="sm_90a" instead.',
            )
    return flags
