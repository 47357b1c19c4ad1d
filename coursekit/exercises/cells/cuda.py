"""The `%%cuda` cell: it compiles its text and binds the kernels for later cells."""

from __future__ import annotations

import builtins
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from coursekit.display.listing import Card
from coursekit.errors import ArgumentError, CourseError, LaunchError
from coursekit.exercises.cells.host import HostMagics
from coursekit.toolchain import declarations
from coursekit.toolchain.cuda_source import code_only, empty_ifs

USAGE = "%%cuda [NAME] [-D TILE=16] [--arch sm_90a] [--exercise 05.1]"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register `%%cuda` and `%%host`; loading again keeps what cells have bound."""
    earlier = shell.magics_manager.registry.get("CudaMagics")
    magics = CudaMagics(shell, getattr(earlier, "modules", {}))
    magics.exercises.update(getattr(earlier, "exercises", {}))
    shell.register_magics(magics)
    shell.register_magics(HostMagics(shell, magics.exercises))
    if _give_body not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_give_body)
    shell.events.register("post_run_cell", _allow_loading)


def _allow_loading(_: object) -> None:
    """Let IPython load the extension again, which it would otherwise refuse aloud."""
    shell = get_ipython()
    if shell is not None:
        shell.extension_manager.loaded.discard("coursekit")


def module(name: str) -> Any:
    """Return the module that a `%%cuda` cell compiled.

    Parameters
    ----------
    name : str
        The NAME after `%%cuda`, or the name of one of the cell's kernels.

    Raises
    ------
    LaunchError
        If no cell has bound this name.
    """
    magics = _registered()
    modules = magics.modules if magics else {}
    if not isinstance(name, str) or name not in modules:
        raise LaunchError.explained(
            f"No %%cuda cell has bound {name!r}.",
            "The cell has not run in this session, or it has another name.",
            f"Bound are: {', '.join(modules) or 'none'}. Run the %%cuda cell first.",
        )
    return modules[name]


def exercise(id: str) -> Any:
    """Return what the last `--exercise` cell of this id compiled or defined.

    Parameters
    ----------
    id : str

    Returns
    -------
    Module, Ran, CourseError or None
        The error with which the cell failed; None when no cell has run.
    """
    magics = _registered()
    return magics.exercises.get(id) if magics else None


def forget_exercise(id: str) -> None:
    """Forget what the cells of an exercise have compiled or defined."""
    magics = _registered()
    if magics:
        magics.exercises.pop(id, None)


def propose_cell(text: str) -> bool:
    """Ask the front end for a new cell with this text; False outside of a notebook."""
    shell = get_ipython()
    if shell is None:
        return False
    shell.set_next_input(text)
    return True


def _registered() -> CudaMagics | None:
    shell = get_ipython()
    return shell and shell.magics_manager.registry.get("CudaMagics")


@magics_class
class CudaMagics(Magics):
    """`%%cuda`, and the modules that its cells have compiled, by name."""

    def __init__(self, shell: InteractiveShell, modules: dict[str, Any]) -> None:
        super().__init__(shell)
        self.modules = modules
        self.exercises: dict[str, Any] = {}

    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compile the cell and bind its kernels: %%cuda [NAME] [-D TILE=16] [--arch A].

        Each kernel is bound under its own name, the module under NAME (a kernel of
        that name comes first; `ck.module(NAME)` always finds the module). -D defines a
        macro and may be repeated; {braces} insert Python values: -D TILE={tile}.
        --exercise saves the text below `work/` and compiles it for `ck.check`.
        """
        options = Options.parse(line)
        if options.exercise is None:
            _require_code(cell)
        compiled = self._compiled(cell, options)
        named = {options.name: compiled} if options.name else {}
        bound = {**named, **_kernels(compiled)}
        _require_names(bound)
        notes = [*_shadowed(bound, self.shell.user_ns), *_empty_guards(compiled)]
        self.modules.update(dict.fromkeys(bound, compiled))
        self.shell.push(bound, interactive=True)
        display(_summary(compiled, bound, notes, _log(compiled, options.exercise)))

    def _compiled(self, cell: str, options: Options) -> Any:
        """Compile a cell; an exercise's text is saved first, and its result is kept."""
        if options.exercise is None:
            return _compile(cell, options)
        from coursekit.exercises import catalogue, checking, host_running, saved

        entry = catalogue.find(options.exercise)
        host_running.require_magic(entry, "%%cuda")
        host_running.require_code(entry, code_only(cell), self.exercises)
        saved.save(entry, cell)
        try:
            compiled = _compile(cell, options, entry)
        except CourseError as failure:
            self.exercises[entry.id] = failure  # so that no check uses an older result
            raise
        self.exercises[entry.id] = compiled
        if not compiled.kernels:
            checking.kernel_of(entry, compiled)
        return compiled


@dataclass
class Options:
    """The name and the options on the line of a `%%cuda` cell."""

    name: str | None = None
    arch: str | None = None
    exercise: str | None = None
    defines: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def parse(cls, line: str) -> Options:
        """Read the options of a cell; ArgumentError names the one that is wrong."""
        try:
            words = iter(shlex.split(line))
        except ValueError as problem:
            raise _bad_option(f"cannot read {line!r}: {problem}") from problem
        options = cls()
        for word in words:
            options._take(word, words)
        return options

    def _take(self, word: str, rest: Iterator[str]) -> None:
        if word.startswith("-D"):
            self._define(word[2:] or _value("-D", rest))
        elif word.partition("=")[0] == "--arch":
            self.arch = word.partition("=")[2] or _value("--arch", rest)
        elif word.partition("=")[0] == "--exercise":
            self.exercise = word.partition("=")[2] or _value("--exercise", rest)
        elif word.startswith("-"):
            raise _bad_option(f"has no option {word}")
        elif self.name is not None:
            raise _bad_option(f"takes one NAME, but got {self.name} and {word}")
        elif not word.isidentifier() or iskeyword(word):
            raise _bad_option(f"cannot bind {word!r}, which is no Python name")
        else:
            self.name = word

    def _define(self, text: str) -> None:
        name, _, value = text.partition("=")
        if not (name.isascii() and name.isidentifier()):
            raise _bad_option(f"got -D {text}, which defines no name")
        self.defines[name] = value if "=" in text else None


def _value(option: str, rest: Iterator[str]) -> str:
    value = next(rest, "")
    if not value or value.startswith("-"):
        raise _bad_option(f"needs a value after {option}")
    return value


def _bad_option(what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"%%cuda {what}.",
        "What follows %%cuda on its line are options; the code begins below it.",
        f"Usage: {USAGE}",
    )


def _give_body(lines: list[str]) -> list[str]:
    """Give a lone `%%cuda` or `%%host` line an empty body, so that it is refused.

    IPython's own refusal is a UsageError, which nbval does not notice.
    """
    lone = len(lines) == 1 and lines[0].split()[:1] in (["%%cuda"], ["%%host"])
    return [*lines, "\n"] if lone else lines


def _require_code(cell: str) -> None:
    if not cell.strip():
        raise ArgumentError.explained(
            "The %%cuda cell is empty.",
            "The first line is for options; the kernel's code is missing.",
            "Write a kernel below the %%cuda line.",
        )


def _require_names(bound: dict[str, Any]) -> None:
    if not bound:
        raise ArgumentError.explained(
            "The %%cuda cell has nothing to bind: no kernel, and no NAME.",
            "A kernel is a `__global__` function; a template is none until it is "
            "instantiated.",
            'Name the module with %%cuda NAME; then write NAME["kernel<float>"].',
        )


def _compile(cell: str, options: Options, entry: Any = None) -> Any:
    """Compile a cell; its first line counts as line 2, as the editor numbers it."""
    from coursekit.runtime import (
        compiler,  # starts NVRTC, which loading need not wait for
    )

    text, given = "\n" + cell, {"arch": options.arch, "defines": options.defines}
    if entry is not None:
        from coursekit.exercises import checking

        return checking.compiled(entry, text, **given)
    declared = [
        kernel.name.rpartition("::")[2] for kernel in declarations.kernels(cell)
    ]
    file = options.name or "_".join(["cell", *declared[:1]])
    return compiler.compile(text, name=f"{file}.cu", **given)


def _kernels(compiled: Any) -> dict[str, Any]:
    """Return a module's kernels by the names that Python gives them: f for q::f."""
    return {name.rpartition("::")[2]: compiled[name] for name in compiled.kernels}


def _shadowed(bound: dict[str, Any], namespace: dict[str, Any]) -> Iterator[str]:
    """Name the variables, and the functions of Python, that a binding hides."""
    for name in bound:
        if name in namespace:
            value = namespace[name]
            if not (hasattr(value, "launch") or hasattr(value, "kernels")):
                yield f"replaces your variable {name} ({type(value).__name__})"
        elif hasattr(builtins, name):
            yield f"hides Python's {name}"


def _empty_guards(compiled: Any) -> Iterator[str]:
    """Name each `if (...);`, of which the compiler says nothing."""
    code = code_only(compiled.source)
    for start, condition in empty_ifs(code):
        line = code.count("\n", 0, start) + 1
        yield (
            f"line {line} has a semicolon right after `if ({condition})`. It ends the "
            "if, and every thread runs what follows. Remove the semicolon."
        )


def _log(compiled: Any, exercise: str | None) -> list[str]:
    """Return the compiler's warnings; a starter has gaps, and no warning is new."""
    if exercise is not None:
        from coursekit.exercises import catalogue, checking

        if checking.is_untouched(catalogue.find(exercise), compiled):
            return []
    return [line for line in compiled.log.splitlines() if not _is_noise(line)]


def _summary(
    compiled: Any, bound: dict[str, Any], notes: Iterable[str], log: list[str]
) -> Card:
    """List the kernels with their parameters, on every machine alike, and warnings."""
    name = next(iter(bound))
    lines = [
        *(str(compiled[kernel].signature) for kernel in compiled.kernels),
        *(f'{t}<...>: ck.module("{name}")["{t}<...>"]' for t in compiled.templates),
        *(f"Note: {note}" for note in notes),
        *log,
    ]
    return Card(f"Compiled {compiled.name}", "\n  ".join(["", *lines]))


def _is_noise(line: str) -> bool:
    """Whether a line of the compiler's log says nothing about the source."""
    return not line.strip() or line.startswith("Remark: The warnings can be")
