"""The PTX parser: text in, `ir.Module` out."""

from __future__ import annotations

import re

from coursekit.errors import UnsupportedError
from coursekit.simt.ptx import ir
from coursekit.simt.ptx.body import BodyParser
from coursekit.simt.ptx.data import variables
from coursekit.simt.ptx.lexer import NAME, Source, unescaped
from coursekit.simt.ptx.operands import Frame

_LINKAGE = r"(?:\.(?:visible|extern|weak|common)\s*)*"
_TEXT = r'"(?:\\.|[^"\\\n])*"'
_ITEM = re.compile(
    rf"""\s*(?:
    (?P<version>\.version\s+(?P<number>\d+\.\d+))
    |(?P<target>\.target\s+(?P<architecture>\w+)(?:\s*,\s*\w+)*)
    |(?P<address_size>\.address_size\s+(?P<bits>\d+))
    |(?P<variable>{_LINKAGE}\.(?:global|const|shared|local)\b[^;]*);
    |(?P<function>{_LINKAGE}\.(?P<kind>entry|func)\b
        \s*(?:\((?P<results>[^()]*)\)\s*)?
        (?P<name>{NAME})\s*(?:\((?P<parameters>[^()]*)\))?)
    |(?P<skipped>\.file\s+\d+\s+{_TEXT}(?:\s*(?:,\s*)?(?:\d+|{_TEXT}))*
        |\.section\s+[\w.$]+\s*\{{[^{{}}]*\}}
        |\.pragma\b[^;]*;
        |@@[^\n]*)
    |(?P<end>\Z)
    )""",
    re.ASCII | re.VERBOSE,
)
_FILE = re.compile(rf"\.file\s+(\d{{1,9}})\s+({_TEXT})(?:\s+({_TEXT}))?", re.ASCII)
_DIRECTIVE = re.compile(
    r'\s*(?:\.pragma\s*"[^"]*"\s*;|\.(\w+)((?:\s*(?:,\s*)?\d{1,9}\b)*))', re.ASCII
)
_BODY_OR_END = re.compile(r"\s*([{;])")
_DIRECTIVES = frozenset(
    {
        "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "noreturn",
        "reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters",
        "abi_preserve", "abi_preserve_control",
    }
)  # fmt: skip


def parse(text: str) -> ir.Module:
    """Parse PTX.

    Parameters
    ----------
    text : str
        A whole PTX file, as NVRTC, Numba or Triton write it.

    Returns
    -------
    ir.Module
        Registers are distinct objects, numbered in the order of first use.
        Variables and labels that share a name in different scopes of a function
        become `name`, `name@1`, ...; a label may stand after the last
        instruction. Tables of `.calltargets` stand among the branch tables.

    Raises
    ------
    UnsupportedError
        For a construct that is not known, and for damaged text; it names the
        line of the PTX.

    Examples
    --------
    >>> module = parse('''
    ... .version 9.0
    ... .target sm_90
    ... .address_size 64
    ... .visible .entry stop() { ret; }
    ... ''')
    >>> module.functions["stop"].instructions[0].opcode
    'ret'
    """
    return _ModuleParser(text).parse()


class _ModuleParser:
    """Reads what stands outside functions, one method for each kind of item."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.module = ir.Module(version="", target="")
        self.position = 0
        self.unresolved: list[tuple[str, int]] = []

    def parse(self) -> ir.Module:
        """Read the module from beginning to end."""
        self._files()
        text, ended = self.source.text, False
        while not ended:
            item = _ITEM.match(text, self.position)
            kind = item.lastgroup if item else None
            if not self.module.version and kind != "version":
                raise self._error("this is not PTX, which begins with .version")
            if item is None:
                raise self._error("unknown construct")
            ended = kind == "end"
            getattr(self, f"_{kind}")(item)
        return self.module

    def _error(self, problem: str) -> UnsupportedError:
        return self.source.error(self.position, problem)

    def _files(self) -> None:
        """Collect the names of source files: they may stand after their use."""
        for index, name, second in _FILE.findall(self.source.text):
            parts = [unescaped(part[1:-1]) for part in (name, second) if part]
            self.module.files[int(index)] = "/".join(parts)

    # --- items

    def _version(self, item: re.Match[str]) -> None:
        self.module.version = item["number"]
        self.position = item.end()

    def _target(self, item: re.Match[str]) -> None:
        self.module.target = item["architecture"]
        self.position = item.end()

    def _address_size(self, item: re.Match[str]) -> None:
        if item["bits"] != "64":
            raise self._error("only addresses of 64 bits are supported")
        self.position = item.end()

    def _skipped(self, item: re.Match[str]) -> None:
        self.position = item.end()

    def _variable(self, item: re.Match[str]) -> None:
        """Read a module's variable; a definition replaces a declaration."""
        for variable in variables(item["variable"], self._error):
            known = self.module.variables.get(variable.name)
            if known is None or known.external:
                self.module.variables[variable.name] = variable
            elif not variable.external:
                raise self._error(f"variable {variable.name} is defined twice")
            self.unresolved.extend(
                (symbol, self.position) for _, symbol, _, _ in variable.relocations
            )
        self.position = item.end()

    def _function(self, item: re.Match[str]) -> None:
        """Read a function or its prototype; a definition replaces a prototype."""
        function = ir.Function(item["name"], item["kind"] == "entry")
        function.results = self._parameters(item["results"])
        function.parameters = self._parameters(item["parameters"])
        position = self._directives(function, item.end())
        mark = _BODY_OR_END.match(self.source.text, position)
        if mark is None:
            raise self.source.error(position, "a function's body was expected")
        function.external = mark[1] == ";"
        known = self.module.functions.get(function.name)
        if known is None or known.external:
            self.module.functions[function.name] = function
        elif not function.external:
            raise self._error(f"function {function.name} is defined twice")
        self.position = mark.end()
        if not function.external:
            frame = Frame(self.source, self.module, function, self.unresolved)
            self.position = BodyParser(frame).parse(self.position)

    def _parameters(self, text: str | None) -> list[ir.Variable]:
        """Read the list of parameters or results of a function."""
        if text is None or not text.strip():
            return []
        found = [v for p in text.split(",") for v in variables(p, self._error)]
        if any(v.space != "param" for v in found):
            raise self._error("parameters that are not in .param space")
        if len({v.name for v in found}) < len(found):
            raise self._error("two parameters of one name")
        return found

    def _directives(self, function: ir.Function, position: int) -> int:
        """Read the directives before a body; return where they end."""
        while match := _DIRECTIVE.match(self.source.text, position):
            name, values = match.groups()
            if name is not None:
                if name not in _DIRECTIVES:
                    raise self.source.error(position, f"unknown directive .{name}")
                numbers = values.replace(",", " ").split()
                function.directives[name] = tuple(map(int, numbers))
            position = match.end()
        return position

    def _end(self, _: re.Match[str]) -> None:
        """Check that every name that was used was also declared."""
        for name, position in self.unresolved:
            if name not in self.module.variables and name not in self.module.functions:
                raise self.source.error(position, f"undeclared name {name}")
