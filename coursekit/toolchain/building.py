"""Build PTX and machine code from a source, through the cache."""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coursekit import paths
from coursekit.errors import CompileError
from coursekit.toolchain import cache, declarations, headers, mangling, nvrtc
from coursekit.toolchain.sources import Source
from coursekit.toolchain.targets import Target

SCHEMA = 3  # part of every cache key: raise it when what is stored changes
_SIGNATURE = "ck_sig"
_SIGNATURE_SOURCE = "template<class F> __global__ void ck_sig(){}\n"
# An anonymous namespace is named after the first external symbol; without one it is
# named after the process, and PTX and machine code would not agree. Leaves no code.
_ANCHOR_SOURCE = '\nextern "C" __device__ void ck_anchor(){}\n'
_SIGNATURE_ENTRY = re.compile(
    r"(?:\t// \.(?:weak|globl)\t_Z\d+ck_sigI\S*\n)?"
    r"(?:\.weak |\.visible )?\.entry _Z\d+ck_sigI\w*\(\s*\)\s*\{.*?\n\}\n",
    re.DOTALL,
)
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+")((?:\\.|[^"\\\n])+)(")', re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_watching: contextvars.ContextVar[Callable[[str], None] | None] = (
    contextvars.ContextVar("watching", default=None)
)
_ParameterNames = Mapping[str, tuple[str | None, ...]]
# Name, lowered name, signature and names of the parameters, as the cache has them.
_StoredEntry = tuple[str, str, str | None, tuple[str | None, ...]]
# What an entry of the cache must have to be used, by its kind's first word.
_FIELDS: dict[str, dict[str, type]] = {
    "ptx": {"ptx": str, "log": str, "entries": list, "templates": list},
    "cubin": {"cubin": str, "report": str},
}
_UNKNOWN = re.compile(r"#pragma nv_mangled_name (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A source with the options that determine the compiler's output."""

    source: Source
    target: Target
    options: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()

    @property
    def cacheable(self) -> bool:
        return not any("pre-include" in option for option in self.options)

    def key(self, kind: str, target: Target) -> str:
        """The cache key: a hash of source and options, computed without NVRTC."""
        source = self.source
        parts = [
            SCHEMA, kind, source.name, source.text, source.headers, str(target),
            self.options, self.expressions, nvrtc.identity(),
            nvrtc.headers_identity() if source.needs_cuda_headers else "",
            headers.identity(),
        ]  # fmt: skip
        return cache.key(parts)

    def flags(self, target: Target) -> list[str]:
        """Options for NVRTC."""
        flags = [f"-arch={target}", "-lineinfo", *self.options]
        if not any(option.lstrip("-").startswith("std") for option in self.options):
            flags.append("--std=c++17")
        if self.source.headers:
            beside = [] if self.source.path else ["-I."]
            flags += [*beside, f"-I{paths.kernels()}"]
        return flags + (_library() if self.source.needs_cuda_headers else [])


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel that a build contains.

    Attributes
    ----------
    name : str
        The name in the source: scale, q::scale, scale<float, 4>.
    lowered : str
        The name in the PTX.
    signature : str or None
        Mangled name from which the parameter types can be decoded.
    parameter_names : tuple of (str or None)
    """

    name: str
    lowered: str
    signature: str | None
    parameter_names: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Build:
    """PTX, the compiler's log, and the kernels."""

    ptx: str
    log: str
    entries: tuple[Entry, ...]
    templates: tuple[str, ...]
    cache_state: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A cubin and the assembler's report."""

    cubin: bytes
    report: str


@contextlib.contextmanager
def watched(notice: Callable[[str], None]) -> Iterator[None]:
    """Call `notice` with the name of each source that the block builds."""
    token = _watching.set(notice)
    try:
        yield
    finally:
        _watching.reset(token)


def announce(source: str) -> None:
    """Notify the function set by `watched` that a source is being built."""
    if (notice := _watching.get()) is not None:
        notice(source)


def build(unit: Unit) -> Build:
    """Compile to PTX, or take it from the cache.

    Raises
    ------
    CompileError
        When the compiler refuses the source.
    """
    announce(unit.source.name)
    target = replace(unit.target, real=False)
    stored, state = through_cache(unit, "ptx", target, lambda: _build(unit, target))
    entries = tuple(
        Entry(name, lowered, signature, tuple(names))
        for name, lowered, signature, names in stored["entries"]
    )
    templates = tuple(stored["templates"])
    return Build(stored["ptx"], stored["log"], entries, templates, state)


def machine_code(unit: Unit, target: Target, names: Sequence[str]) -> MachineCode:
    """Compile to machine code, or take it from the cache.

    Parameters
    ----------
    unit : Unit
    target : Target
    names : sequence of str
        Name expressions of kernels that nothing else would keep.
    """
    target = replace(target, real=True)

    def compiled() -> dict[str, Any]:
        flags = [*unit.flags(target), "--ptxas-options=-v"]
        try:
            text = unit.source.text + _ANCHOR_SOURCE
            output = _compile(unit, text, flags, names)
        except nvrtc.Refused as refused:
            raise _refusal(refused.log, unit) from None
        return {"cubin": output.code.hex(), "report": output.log}

    kind = "cubin " + " ".join(names)
    stored, _ = through_cache(unit, kind, target, compiled)
    return MachineCode(bytes.fromhex(stored["cubin"]), stored["report"])


def through_cache(
    unit: Unit, kind: str, target: Target, make: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], str]:
    """Return a unit's result from the cache or from `make`, and its origin.

    Parameters
    ----------
    unit : Unit
    kind : str
        The kind of result, a part of the key.
    target : Target
    make : callable
        Returns something that JSON can write.
    """
    if not unit.cacheable:
        return make(), "disabled"
    store = cache.Cache(paths.cache() / "compiled")
    key = unit.key(kind, target)
    found = store.get(key, _FIELDS.get(kind.partition(" ")[0], {}))
    state = store.state
    if found is None:
        found = make()
        store.put(key, found)
        state = store.state if store.state == "unwritable" else state
    return found, state


def _compile(
    unit: Unit, text: str, flags: list[str], names: Sequence[str]
) -> nvrtc.Output:
    """Compile; where a name of C is missing, once more with its header, as nvcc."""
    included: frozenset[str] = frozenset()
    given = flags
    while True:
        try:
            return nvrtc.compile_program(text, unit.source.compiler_name, given, names)
        except nvrtc.Refused as refused:
            implied = headers.implied(refused.log) | included
            if implied == included:
                raise
        included = implied
        library = [] if unit.source.needs_cuda_headers else _library()
        given = [*flags, *library, *headers.flags(included)]


def _library() -> list[str]:
    """Options for the folders of C's headers for device code, and of CUDA's."""
    folders = (headers.FOLDER, *nvrtc.include_folders())
    return [f"-I{folder}" for folder in folders]


def _build(unit: Unit, target: Target) -> dict[str, Any]:
    """Compile with the requested signatures, or without them if that fails."""
    declared = _declared(unit.source)
    plain = {d.name: d for d in declared if not d.is_template}
    flags = unit.flags(target)
    output = _with_signatures(unit, flags, [*plain, *unit.expressions])
    if output is None:
        try:
            output = _compile(unit, unit.source.text, flags, unit.expressions)
        except nvrtc.Refused as refused:
            raise _refusal(refused.log, unit) from None
    ptx = output.code.decode().rstrip("\0")
    ptx = _SIGNATURE_ENTRY.sub("", ptx)
    ptx = _FILE.sub(lambda m: m[1] + _file_name(unit.source, m[2]) + m[3], ptx)
    names = {d.name: d.parameters for d in declared}
    return {
        "ptx": ptx,
        "log": unit.source.with_display_names(output.log),
        "entries": _entries(ptx, output.lowered, names),
        "templates": sorted({d.name for d in declared if d.is_template}),
    }


def _file_name(source: Source, written: str) -> str:
    r"""Return the name that messages give a file which PTX names, escaped as there.

    Quotation marks, backslashes and the bytes of other letters are escaped: \303\266.
    """
    name = _ESCAPE.sub(
        lambda m: bytes([int(m[1], 8) & 255]) if len(m[1]) == 3 else m[1],
        written.encode(),
    )
    shown = os.fsencode(source.display(os.fsdecode(name)))
    return "".join(
        f"\\{byte:03o}" if byte > 126 or byte < 32 or byte in b'"\\' else chr(byte)
        for byte in shown
    )


def _declared(source: Source) -> list[declarations.Declaration]:
    texts = (source.text, *source.headers.values())
    return [found for text in texts for found in declarations.kernels(text)]


def _with_signatures(
    unit: Unit, flags: list[str], names: Sequence[str]
) -> nvrtc.Output | None:
    """Compile with `ck_sig` appended; drop, once, the names it does not know."""
    names = list(dict.fromkeys(names))
    text = unit.source.text + _ANCHOR_SOURCE + _SIGNATURE_SOURCE
    for _ in range(2):
        expressions = [*names, *map(_signature_of, names)]
        try:
            return _compile(unit, text, flags, expressions)
        except nvrtc.Refused as refused:
            asked = {found.strip() for found in _UNKNOWN.findall(refused.log)}
        known = [n for n in names if n not in asked and _signature_of(n) not in asked]
        if len(known) == len(names) or set(unit.expressions) - set(known):
            return None
        names = known
    return None


def _signature_of(name: str) -> str:
    return f"{_SIGNATURE}<decltype(&{name})>"


def entries_of(ptx: str) -> tuple[Entry, ...]:
    """Return the kernels of PTX without its source; mangled names tell of types."""
    return tuple(
        Entry(name, lowered, signature, tuple(names))
        for name, lowered, signature, names in _entries(ptx, {}, {})
    )


def _entries(
    ptx: str, lowered: dict[str, str], parameter_names: _ParameterNames
) -> list[_StoredEntry]:
    """Match the entries of the PTX with the names that the source has for them."""
    in_ptx = re.findall(r"\.entry\s+([\w$]+)\s*\(", ptx)
    found = []
    for name, mangled in lowered.items():
        if mangled in in_ptx and not name.startswith(_SIGNATURE + "<"):
            base = name.partition("<")[0].strip()
            names = parameter_names.get(base, ())
            found.append((name, mangled, lowered.get(_signature_of(name)), names))
            in_ptx.remove(mangled)
    rest = [_undeclared(mangled, parameter_names) for mangled in in_ptx]
    short = [entry[0] for entry in found] + [name for name, _ in rest]
    for name, entry in rest:
        found.append((name, *entry[1:]) if short.count(name) == 1 else entry)
    return found


def _undeclared(
    mangled: str, parameter_names: _ParameterNames
) -> tuple[str, _StoredEntry]:
    """Describe an entry that the source text does not declare, from its mangled name.

    Returns its short name, and the entry under its name with parameter types.
    """
    try:
        function = mangling.function(mangled)
    except mangling.UnknownMangling:
        return mangled, (mangled, mangled, None, parameter_names.get(mangled, ()))
    names = parameter_names.get(function.name.partition("<")[0], ())
    return function.name, (str(function), mangled, mangled, names)


def _refusal(log: str, unit: Unit) -> CompileError:
    """Return the error for a refusal; a wrong name expression gets its own message."""
    from coursekit.toolchain.diagnostics import compile_error  # for failures only

    if "invalid value for --gpu-architecture" in log:
        error = CompileError.explained(
            f"{unit.source.name}: the compiler knows no architecture {unit.target}.",
            "CUDA 13 compiles for compute capability 7.5, compute_75, and newer ones.",
            'Leave arch out, or write for example arch="sm_90a".',
        )
    elif "__nv_name_map" in log and unit.expressions:
        error = _not_instantiated(log, unit.expressions[-1])
    else:
        return compile_error(log, unit.source)
    error.file, error.line, error.log, error.count = unit.source.name, None, log, 1
    return error


def _not_instantiated(log: str, expression: str) -> CompileError:
    found = re.search(r"__nv_name_map\(\d+\): error: (.*)", log)
    reason = found[1] if found else "the compiler refuses it"
    return CompileError.explained(
        f"{expression} cannot be instantiated: {reason}.",
        "The template arguments do not fit the template's parameters.",
        "Write the arguments into the name, as in module['scale<float, 4>']; the line "
        "template<...> above the kernel says which it takes.",
    )
