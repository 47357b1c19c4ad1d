"""A compiled source: its PTX, its machine code, and its kernels by name."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit.errors import CompileError, UnknownNameError
from coursekit.runtime.progress_bar import compiling
from coursekit.toolchain import building, cubin, mangling, signature, targets
from coursekit.toolchain.cubin import Resources

if TYPE_CHECKING:
    from coursekit.runtime.launching import Kernel


class Module:
    """A compiled source, which `ck.compile` returns.

    `module["name"]` and `module.name` are a kernel; `module["scale<float, 4>"]`
    instantiates a template.

    Attributes
    ----------
    kernels : tuple of str
        Names of the kernels, in the order of the source.
    templates : tuple of str
        Names of the kernel templates.
    ptx, source, name, log : str
        PTX, source text, the name that messages give it, the compiler's warnings.
    sources : dict of str to str
        Text of each own file by its name in line information.
    options : tuple of str
        Options of the compiler that somebody asked for, macros among them.
    path : Path or None
    target : Target
        What it was compiled for.
    cache_state : str
        "hit", "miss", "damaged", "unwritable" or "disabled".
    """

    def __init__(self, unit: building.Unit):
        self._unit = unit
        self._build = building.build(unit)
        self._found: dict[str, Kernel] = {}

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self._build.entries)

    @property
    def templates(self) -> tuple[str, ...]:
        return self._build.templates

    @property
    def ptx(self) -> str:
        return self._build.ptx

    @property
    def log(self) -> str:
        return self._build.log

    @property
    def cache_state(self) -> str:
        return self._build.cache_state

    @property
    def source(self) -> str:
        return self._unit.source.text

    @property
    def sources(self) -> dict[str, str]:
        return {self.name: self.source, **self._unit.source.headers}

    @property
    def name(self) -> str:
        return self._unit.source.name

    @property
    def options(self) -> tuple[str, ...]:
        return self._unit.options

    @property
    def path(self) -> Path | None:
        return self._unit.source.path

    @property
    def target(self) -> targets.Target:
        return self._unit.target

    @property
    def language(self) -> str:
        """The language of the source."""
        return "CUDA C++"

    @property
    def machine_target(self) -> str:
        """The architecture that `cubin` and `sass` have by default, such as sm_90."""
        return self._real_target().real_name

    def cubin(self, arch: str | int | None = None) -> bytes:
        """Return machine code.

        Parameters
        ----------
        arch : str or int, optional
            For example "sm_86". By default what was asked of `compile` with sm_ or
            a suffix, else the GPU here, else the architecture of the PTX. The
            suffix that the source was compiled with is kept.
        """
        return self._machine_code(self._real_target(arch)).cubin

    def loadable(self, arch: str) -> bytes:
        """Return what a GPU's driver loads on an architecture."""
        return self.cubin(arch)

    @property
    def sass(self) -> str:
        """Machine code as text, for the default architecture of `cubin`."""
        return self.disassemble()

    def disassemble(self, arch: str | int | None = None, *, lines: bool = False) -> str:
        """Return machine code as text, on request with source lines; kept."""
        return self._disassembled(self._real_target(arch), lines)

    def machine_listing(self, arch: str | int) -> str:
        """Return machine code with source lines and the targets of jumps; cached.

        It says less than `disassemble` about registers and the stack.
        """
        return self._listed(self._real_target(arch))

    def remember(
        self, kind: str, arch: str | int, make: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return what `make` computes from machine code, from the cache if possible."""
        target = self._real_target(arch)
        return building.through_cache(self._unit, kind, target, make)[0]

    @property
    def resources(self) -> Mapping[str, Resources]:
        """Resources of each kernel by name, for the default architecture of `cubin`."""
        return _ResourcesByName(self)

    def resources_on(self, name: str, arch: str | int) -> Resources:
        """Return the resources of a kernel that is compiled for an architecture."""
        module, entry = self.find(name)
        return module._needs(entry, arch)

    def edited(self, text: str) -> Module:
        """Compile another text in place of the source, with the same options."""
        source = replace(self._unit.source, text=text)
        return type(self)(replace(self._unit, source=source))

    def make_kernel(self, name: str, entry: building.Entry) -> Kernel:
        """Make the object that stands for a kernel; a hook for subclasses."""
        from coursekit.runtime.launching import Kernel

        return Kernel(self, name, entry.lowered, self.parameters(entry))

    def parameters(self, entry: building.Entry) -> tuple[signature.Parameter, ...]:
        """Return the parameters of one entry, with types where they are known."""
        slots = signature.slots(self.ptx, entry.lowered)
        return signature.parameters(slots, _types(entry), entry.parameter_names)

    def find(self, name: str) -> tuple[Module, building.Entry]:
        """Return a kernel's module and entry; a template's instance has its own module.

        Raises
        ------
        UnknownNameError
            When there is no kernel of this name.
        CompileError
            When a template cannot be instantiated like this.
        """
        spelling = _spelling(name)
        for entry in self._build.entries:
            if spelling in (_spelling(entry.name), entry.lowered):
                return self, entry
        short = [
            entry
            for entry in self._build.entries
            if _spelling(entry.name).endswith("::" + spelling)
        ]
        if len(short) == 1:
            return self, short[0]
        return self._instance(name)

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._found:
            module, entry = self.find(name)
            self._found[name] = module.make_kernel(name, entry)
        return self._found[name]

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(f"'Module' object has no attribute {name!r}")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self.kernels)})

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self._build.entries)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return name in self.kernels

    def __repr__(self) -> str:
        kernels = ", ".join((*self.kernels, *(f"{t}<...>" for t in self.templates)))
        return f"<Module {self.name} for {self.target}: {kernels or 'no kernels'}>"

    def _instance(self, name: str) -> tuple[Module, building.Entry]:
        base, bracket, _ = name.partition("<")
        template = self._template(base.strip())
        if template is None:
            raise self._unknown(name)
        rest = name[len(base) :] if bracket else "<>"
        expression = template + " ".join(rest.split())
        module = self._instances(expression)
        return module, module.entry(expression)

    def entry(self, name: str) -> building.Entry:
        """Return the entry of exactly this name."""
        return next(entry for entry in self._build.entries if entry.name == name)

    def _template(self, name: str) -> str | None:
        fitting = [
            template
            for template in self.templates
            if template == name or template.endswith("::" + name)
        ]
        return fitting[0] if fitting else None

    @functools.cached_property
    def _instances(self) -> Callable[[str], Module]:
        @functools.cache
        def instantiated(expression: str) -> Module:
            with compiling(self.name):
                return type(self)(replace(self._unit, expressions=(expression,)))

        return instantiated

    def _unknown(self, name: str) -> UnknownNameError:
        names = [*self.kernels, *self.templates]
        what = f"{self.name} has no kernel {name!r}"
        overloads = [each for each in names if each.startswith(f"{name}(")]
        if overloads:
            return UnknownNameError.explained(
                f"{self.name} has several kernels {name!r}: {', '.join(overloads)}.",
                "They differ in their parameters, so one has to be chosen.",
                f"Write for example module[{overloads[0]!r}].",
            )
        if not names:
            return UnknownNameError.explained(
                f"{what}, nor any other.",
                "A kernel is a function marked __global__ void; there is none.",
                "Mark it, and compile again.",
            )
        by_end = {full.rpartition("::")[2]: full for full in names}
        base = name.partition("<")[0].rpartition("::")[2]
        near = difflib.get_close_matches(base, by_end, n=1, cutoff=0.5)
        return UnknownNameError.explained(
            f"{what}; it has {', '.join(names)}.",
            "The name is misspelt, or the source was changed.",
            f"Did you mean {by_end[near[0]]!r}?"
            if near
            else "Take one of these names.",
        )

    def _real_target(self, arch: str | int | None = None) -> targets.Target:
        own = self._unit.target
        if arch is not None:
            asked = targets.target(arch)
            return own if own.number == asked.number and own.suffix else asked
        if own.real or own.suffix:
            return own
        return targets.present() or own

    @functools.cached_property
    def _machine_code(self) -> Callable[[targets.Target], building.MachineCode]:
        names = [
            entry.name
            for entry in self._build.entries
            if entry.signature != entry.lowered and entry.signature
        ]

        @functools.cache
        def compiled(target: targets.Target) -> building.MachineCode:
            with compiling(self.name):
                return building.machine_code(self._unit, target, names)

        return compiled

    @functools.cached_property
    def _disassembled(self) -> Callable[[targets.Target, bool], str]:
        from coursekit.toolchain import (
            sass,
        )  # the subprocess module, for the few who need it

        @functools.cache
        def disassembled(target: targets.Target, lines: bool) -> str:
            code, display = self._machine_code(target).cubin, self._unit.source.display
            return sass.disassemble(code, lines=lines, display=display)

        return disassembled

    @functools.cached_property
    def _listed(self) -> Callable[[targets.Target], str]:
        from coursekit.toolchain import sass

        @functools.cache
        def listed(target: targets.Target) -> str:
            code = self._machine_code(target).cubin
            disassemble = functools.partial(
                sass.disassemble, code, lines=True, display=self._unit.source.display
            )
            text = disassemble(flow=False)
            if sass.jumps_by_register(text):
                text = disassemble()
            return text

        return listed

    def _needs(self, entry: building.Entry, arch: str | int | None = None) -> Resources:
        target = self._real_target(arch)
        code = self._machine_code(target)
        return cubin.resources(code.cubin, code.report, target.number)[entry.lowered]


class _ResourcesByName(Mapping[str, Resources]):
    """A mapping from kernels to their resources, which compiles on access."""

    def __init__(self, module: Module):
        self._module = module

    def __getitem__(self, name: str) -> Resources:
        module, entry = self._module.find(name)
        return module._needs(entry)

    def __iter__(self) -> Iterator[str]:
        return iter(self._module)

    def __len__(self) -> int:
        return len(self._module)

    def __repr__(self) -> str:
        return repr(dict(self))


def _types(entry: building.Entry) -> tuple[signature.CType, ...] | None:
    """Return the parameter types, or None where the mangled name does not tell."""
    if entry.signature is None:
        return None
    try:
        if entry.signature == entry.lowered:
            types = mangling.function(entry.signature).parameters
        else:
            types = mangling.signature(entry.signature)
    except mangling.UnknownMangling:
        return None
    for ctype in types:
        if ctype.kind == "reference":
            raise _reference_error(entry, ctype)
    return types


def _reference_error(entry: building.Entry, ctype: signature.CType) -> CompileError:
    return CompileError.explained(
        f"kernel {entry.name} has a parameter of type {ctype}, a reference.",
        "A reference would point into the memory of the host.",
        f"Take a value ({ctype.pointee}) or a pointer ({ctype.pointee}*) instead.",
    )


def _spelling(name: str) -> str:
    """Return a name expression without needless spaces, for comparison."""
    return re.sub(r"\s*([<>,*&()])\s*", r"\1", " ".join(name.split()))
