"""PTX as data: modules, functions, instructions and their operands."""

from __future__ import annotations

from dataclasses import dataclass, field

BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Location:
    """A source position; `inlined_at` is the call that brought the code here."""

    file: str
    line: int
    column: int = 0
    inlined_at: Location | None = None


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register; `index` numbers it within its function."""

    name: str
    index: int
    type: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: an int, or a float of 4 or 8 bytes (`kind` int, f32 or f64)."""

    value: int | float
    kind: str = "int"


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as %tid.x or %laneid; name without the percent sign."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, parameter, function or branch table, plus bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """A memory operand in brackets: base plus a constant number of bytes."""

    base: Register | Symbol | Immediate
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """Operands in braces; an element that is `_` is None."""

    elements: tuple


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations joined by a bar, `p|q`; either is None where written `_`."""

    first: Register | None
    second: Register | None


@dataclass(frozen=True, slots=True)
class Not:
    """A predicate source written `!p`."""

    register: Register


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate before an instruction, `@p` or `@!p`."""

    register: Register
    negated: bool


@dataclass(frozen=True, slots=True)
class Call:
    """The operands of `call`: targets of results, function, arguments."""

    results: tuple[str, ...]
    function: Register | Symbol
    arguments: tuple[str, ...]
    prototype: str | None = None


@dataclass(slots=True)
class Instruction:
    """One PTX instruction.

    `opcode` is the word before the first dot, `modifiers` the words after it
    (`ld.global.v4.f32` has ("global", "v4", "f32")); a double colon stays within
    its word ("shared::cta"). `operands` are in PTX order, destinations first.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple
    guard: Guard | None
    location: Location | None
    index: int
    text: str

    @property
    def name(self) -> str:
        """The full opcode, as in `add.s32`."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def type(self) -> str | None:
        """The last modifier that is a type, as in `f32`."""
        return next((m for m in reversed(self.modifiers) if m in BYTES), None)


@dataclass(slots=True)
class Variable:
    """A variable or parameter.

    `initial` holds `nbytes` bytes or None; `relocations` are (byte offset, symbol,
    addend, bytes) to be filled with addresses. `external` marks dynamic shared memory.
    """

    name: str
    space: str
    type: str
    align: int
    nbytes: int
    initial: bytes | None = None
    relocations: tuple[tuple[int, str, int, int], ...] = ()
    external: bool = False


@dataclass(slots=True)
class Function:
    """A kernel or device function; labels map to instruction indices."""

    name: str
    is_kernel: bool
    parameters: list[Variable] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    branch_tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    external: bool = False


@dataclass(slots=True)
class Module:
    """A parsed PTX file."""

    version: str
    target: str
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
