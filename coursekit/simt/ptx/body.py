"""Bodies of PTX functions: statements between braces."""

from __future__ import annotations

import re

from coursekit.simt.ptx import ir
from coursekit.simt.ptx.data import variables
from coursekit.simt.ptx.lexer import NAME, split_list
from coursekit.simt.ptx.operands import Frame, Scope

_STATEMENT = re.compile(
    rf"""\s*(?:
    (?P<instruction>
        (?:@\s*(?:(?P<negated>!)\s*)?(?P<guard>{NAME})\s+)?
        (?P<name>[a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;(\[{{])(?!\s*:)
        \s*(?P<operands>[^;]*);)
    |(?P<location>\.loc\s+(?P<at>\d{{1,9}}\s+\d{{1,9}}\s+\d{{1,9}})
        (?:\s*,\s*function_name\s+[^\s,;]+(?:\s*\+\s*\d+)?
           \s*,\s*inlined_at\s+(?P<call>\d{{1,9}}\s+\d{{1,9}}\s+\d{{1,9}}))?)
    |(?P<table>(?P<table_name>{NAME})\s*:\s*
        \.(?P<table_kind>branchtargets|calltargets|callprototype)\b
        (?P<targets>[^;]*);)
    |(?P<label>{NAME})\s*:
    |(?P<open>\{{)
    |(?P<close>\}})
    |(?P<registers>\.reg\s*\.(?P<kind>\w+)\s+(?P<names>[^;]*);)
    |(?P<variable>(?:\.extern\s*)?\.(?:param|local|shared|global|const)\b[^;]*);
    |(?P<pragma>\.pragma\b[^;]*;)
    )""",
    re.ASCII | re.VERBOSE,
)
_TARGET = re.compile(rf"({NAME})\s*(?:<\s*(\d{{1,4}})\s*>)?", re.ASCII)
_DEEPEST = 64
_LONGEST_TABLE = 2**16


class Locations:
    """Turns `.loc` directives into locations with the calls that inlined them.

    A `.loc` names only the position of its innermost call. Where that call was
    itself inlined, the last `.loc` at exactly that position says into what.
    """

    def __init__(self, files: dict[int, str]) -> None:
        self.files = files
        self.latest: dict[tuple[int, ...], tuple[ir.Location, int]] = {}
        self.current: ir.Location | None = None

    def move(self, at: str, call: str | None) -> None:
        """Apply one `.loc`; line 0 marks generated code and changes nothing."""
        key = tuple(map(int, at.split()))
        if key[1] == 0:
            return
        site, depth = self._site(call) if call else (None, 0)
        self.current = self._location(key, site)
        self.latest[key] = (self.current, depth)

    def _site(self, call: str) -> tuple[ir.Location | None, int]:
        """Return the location of the call, and the depth of inlining there."""
        key = tuple(map(int, call.split()))
        if key[1] == 0:
            return None, 0
        site, depth = self.latest.get(key, (None, 0))
        if site is None or depth >= _DEEPEST:
            return self._location(key, None), 1
        return site, depth + 1

    def _location(self, key: tuple[int, ...], site: ir.Location | None) -> ir.Location:
        name = self.files.get(key[0], f"<file {key[0]}>")
        return ir.Location(name, key[1], key[2], site)


class BodyParser:
    """Reads the statements of one function, one method for each kind."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.function = frame.function
        self.locations = Locations(frame.module.files)
        self.scope: Scope | None = Scope(frame)
        self.label_copies: dict[str, int] = {}
        self.branches: list[tuple[ir.Instruction, Scope, int]] = []
        self.tables: list[tuple[str, list[str], Scope, int]] = []

    def parse(self, position: int) -> int:
        """Read from after the opening brace; return where the closing one ends."""
        for parameter in (*self.function.parameters, *self.function.results):
            self.scope.symbols[parameter.name] = parameter.name
            self.frame.copies[parameter.name] = 1
        text, match = self.frame.source.text, _STATEMENT.match
        kinds = {kind: getattr(self, kind) for kind in _KINDS}
        while self.scope is not None:
            self.frame.position = position
            statement = match(text, position)
            if statement is None:
                raise self.frame.error("unknown statement")
            kinds[statement.lastgroup](statement)
            position = statement.end()
        self._resolve_branches()
        self._resolve_tables()
        return position

    # --- statements

    def instruction(self, statement: re.Match[str]) -> None:
        """Read `@p opcode.modifiers operands;`."""
        text, negated, guard, name, operands = statement.group(
            "instruction", "negated", "guard", "name", "operands"
        )
        opcode, *modifiers = name.split(".")
        scope, instructions = self.scope, self.function.instructions
        special = _SPECIAL_FORMS.get(opcode)
        instruction = ir.Instruction(
            opcode,
            tuple(modifiers),
            special(self, operands) if special else scope.operands(operands),
            ir.Guard(scope.predicate(guard), bool(negated)) if guard else None,
            self.locations.current,
            len(instructions),
            " ".join(text.split()),
        )
        instructions.append(instruction)
        if opcode == "bra":
            self.branches.append((instruction, scope, self.frame.position))

    def location(self, statement: re.Match[str]) -> None:
        """Read `.loc file line column, function_name f, inlined_at ...`."""
        self.locations.move(*statement.group("at", "call"))

    def label(self, statement: re.Match[str]) -> None:
        """Read `name:`; a name that was met before in another scope is renamed."""
        name = statement["label"]
        if name in self.scope.labels:
            raise self.frame.error("a label for the second time")
        copy = self.label_copies[name] = self.label_copies.get(name, -1) + 1
        unique = self.scope.labels[name] = f"{name}@{copy}" if copy else name
        self.function.labels[unique] = len(self.function.instructions)

    def table(self, statement: re.Match[str]) -> None:
        """Read `name: .branchtargets ...;` and its two relatives."""
        name, kind, targets = statement.group("table_name", "table_kind", "targets")
        unique = self.scope.declare_symbol(name)
        if kind == "branchtargets":
            words = self._expand(targets)
            self.tables.append((unique, words, self.scope, self.frame.position))
        elif kind == "calltargets":
            functions = self._expand(targets)
            self.function.branch_tables[unique] = tuple(functions)
            self.frame.unresolved.extend((f, self.frame.position) for f in functions)

    def open(self, _: re.Match[str]) -> None:
        """Enter a scope."""
        if self.scope.depth >= _DEEPEST:
            raise self.frame.error("scopes nested too deeply")
        self.scope = Scope(self.frame, self.scope)

    def close(self, _: re.Match[str]) -> None:
        """Leave a scope; leaving the outermost one ends the function."""
        self.scope = self.scope.parent

    def registers(self, statement: re.Match[str]) -> None:
        """Read `.reg .type names;`."""
        self.scope.declare_registers(*statement.group("kind", "names"))

    def variable(self, statement: re.Match[str]) -> None:
        """Read a variable of the function or of a call sequence."""
        for variable in variables(statement["variable"], self.frame.error):
            variable.name = self.scope.declare_symbol(variable.name)
            self.function.variables[variable.name] = variable
            self.frame.unresolved.extend(
                (symbol, self.frame.position)
                for _, symbol, _, _ in variable.relocations
            )

    def pragma(self, statement: re.Match[str]) -> None:
        """Skip `.pragma "...";`, advice to the assembler."""

    # --- operands that are not values

    def _expand(self, targets: str) -> list[str]:
        """Read the names of a table; `N<3>` stands for `N0, N1, N2`."""
        names = []
        for word in targets.split(","):
            match = _TARGET.fullmatch(word.strip())
            if match is None:
                raise self.frame.error("a table of names was expected")
            name, count = match.groups()
            names += [f"{name}{i}" for i in range(int(count))] if count else [name]
            if len(names) > _LONGEST_TABLE:
                raise self.frame.error("a table that is too long")
        return names

    def _branch(self, operands: str) -> tuple[ir.Label]:
        """Read the target of `bra`; labels are found when the function is read."""
        return (ir.Label(operands.strip()),)

    def _call(self, operands: str) -> tuple[ir.Call]:
        """Read `(results), function, (arguments), prototype`; most may be missing."""
        pieces = split_list(operands) or [""]
        results = self._names(pieces.pop(0)) if pieces[0][:1] == "(" else ()
        function = self.scope[pieces.pop(0)] if pieces else None
        arguments = (
            self._names(pieces.pop(0)) if pieces and pieces[0][:1] == "(" else ()
        )
        prototype = self.scope.symbol(pieces[0]) if pieces else None
        known = isinstance(function, ir.Register | ir.Symbol)
        if not known or len(pieces) > (prototype is not None):
            raise self.frame.error("unknown form of call")
        return (ir.Call(results, function, arguments, prototype),)

    def _names(self, text: str) -> tuple[str, ...]:
        """Read the names of `.param` variables in parentheses."""
        inside = text[1:-1].strip()
        words = inside.split(",") if inside else []
        names = tuple([self.scope.symbol(word.strip()) for word in words])
        if None in names or not text.endswith(")"):
            raise self.frame.error("a call whose arguments are not .param variables")
        return names

    # --- the end of the function

    def _resolve_branches(self) -> None:
        """Give every branch the unique name of its target."""
        for instruction, scope, position in self.branches:
            (target,) = instruction.operands
            label = scope.label(target.name)
            if label is None:
                raise self.frame.source.error(position, f"no label {target.name}")
            if label != target.name:
                instruction.operands = (ir.Label(label),)

    def _resolve_tables(self) -> None:
        """Store the branch tables with the unique names of their labels."""
        for table, words, scope, position in self.tables:
            labels = [scope.label(word) for word in words]
            if None in labels:
                raise self.frame.source.error(position, "a table with unknown labels")
            self.function.branch_tables[table] = tuple(labels)


_KINDS = (
    "instruction", "location", "table", "label", "open", "close",
    "registers", "variable", "pragma",
)  # fmt: skip
_SPECIAL_FORMS = {"bra": BodyParser._branch, "call": BodyParser._call}
