"""Decode Itanium-mangled names into C++ names and types.

Only the forms that NVRTC gives kernels and `ck_sig<decltype(&kernel)>` are
known: scoped names, templates of types and numbers, pointers, arrays,
functions and substitutions. Anything else is an `UnknownMangling`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from coursekit.toolchain.signature import CType

_Named = TypeVar("_Named", bound=CType | str)


class UnknownMangling(ValueError):
    """The name has a form that this decoder does not know."""


_BUILTIN = {
    "v": CType("void", "void"),
    "b": CType("bool", "bool", 1, "bool"),
    "c": CType("char", "int", 1, "int8"),
    "a": CType("signed char", "int", 1, "int8"),
    "h": CType("unsigned char", "uint", 1, "uint8"),
    "s": CType("short", "int", 2, "int16"),
    "t": CType("unsigned short", "uint", 2, "uint16"),
    "i": CType("int", "int", 4, "int32"),
    "j": CType("unsigned int", "uint", 4, "uint32"),
    "l": CType("long", "int", 8, "int64"),
    "m": CType("unsigned long", "uint", 8, "uint64"),
    "x": CType("long long", "int", 8, "int64"),
    "y": CType("unsigned long long", "uint", 8, "uint64"),
    "f": CType("float", "float", 4, "float32"),
    "d": CType("double", "float", 8, "float64"),
    "w": CType("wchar_t", "int", 4, "int32"),
    "Ds": CType("char16_t", "uint", 2, "uint16"),
    "Di": CType("char32_t", "uint", 4, "uint32"),
    "Dn": CType("std::nullptr_t", "uint", 8, "uint64"),
    "n": CType("__int128", "struct", 16),
    "o": CType("unsigned __int128", "struct", 16),
}

_VECTOR_BASES = {
    "char": ("int", "int8"), "uchar": ("uint", "uint8"),
    "short": ("int", "int16"), "ushort": ("uint", "uint16"),
    "int": ("int", "int32"), "uint": ("uint", "uint32"),
    "long": ("int", "int64"), "ulong": ("uint", "uint64"),
    "longlong": ("int", "int64"), "ulonglong": ("uint", "uint64"),
    "float": ("float", "float32"), "double": ("float", "float64"),
}  # fmt: skip


def _vector_types() -> dict[str, CType]:
    types = {}
    for base, (kind, dtype) in _VECTOR_BASES.items():
        width = int("".join(filter(str.isdigit, dtype))) // 8
        for lanes in (1, 2, 3, 4):
            name = f"{base}{lanes}"
            types[name] = CType(name, kind, width * lanes, dtype, lanes)
        for suffix in ("4_16a", "4_32a") if width == 8 else ():
            types[base + suffix] = CType(base + suffix, kind, 32, dtype, 4)
    return types


_NAMED = {
    **_vector_types(),
    "dim3": CType("dim3", "uint", 12, "uint32", 3),
    "__half": CType("__half", "float", 2, "float16"),
    "__half2": CType("__half2", "float", 4, "float16", 2),
    "__nv_bfloat16": CType("__nv_bfloat16", "bfloat16", 2, "uint16"),
    "__nv_bfloat162": CType("__nv_bfloat162", "bfloat16", 4, "uint16", 2),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A decoded function name: `q::scale<float, 4>` and its parameter types."""

    name: str
    template_arguments: tuple[CType | str, ...]
    parameters: tuple[CType, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def function(mangled: str) -> Function:
    """Decode the mangled name of a function.

    Raises
    ------
    UnknownMangling
        When the name is not mangled (`extern "C"`), or in a form unknown here.
    """
    if not mangled.startswith("_Z"):
        raise UnknownMangling(mangled)
    decoder = _Decoder(mangled[2:])
    try:
        return decoder.encoding()
    except (IndexError, ValueError, AttributeError) as failure:
        raise UnknownMangling(mangled) from failure


def signature(mangled: str) -> tuple[CType, ...]:
    """Return the parameter types of `kernel` from `ck_sig<decltype(&kernel)>`."""
    (pointer,) = function(mangled).template_arguments
    target = pointer.pointee if isinstance(pointer, CType) else None
    if target is None or target.kind != "function":
        raise UnknownMangling(mangled)
    return target.parameters


class _Decoder:
    """Recursive descent over a mangled name, one method per rule of the grammar."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.substitutions: list[CType | str] = []
        self.template_arguments: tuple[CType | str, ...] = ()

    def peek(self, count: int = 1) -> str:
        return self.text[self.at : self.at + count]

    def skip(self, expected: str) -> bool:
        if not self.text.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def expect(self, expected: str) -> None:
        if not self.skip(expected):
            raise UnknownMangling(self.text)

    def remember(self, item: _Named) -> _Named:
        self.substitutions.append(item)
        return item

    def encoding(self) -> Function:
        name, arguments = self.function_name()
        self.template_arguments = arguments
        if arguments:
            self.type()  # the return type, part of a template's name only
        parameters = self.parameter_list(stop="")
        return Function(name, arguments, parameters)

    def function_name(self) -> tuple[str, tuple[CType | str, ...]]:
        if self.skip("N"):
            return self.nested(of_type=False)
        name = self.source_name()
        if self.peek() != "I":
            return name, ()
        self.remember(name)
        return self.with_arguments(name)

    def with_arguments(self, name: str) -> tuple[str, tuple[CType | str, ...]]:
        arguments = self.arguments()
        return f"{name}<{', '.join(map(str, arguments))}>", arguments

    def parameter_list(self, stop: str) -> tuple[CType, ...]:
        found = []
        while self.at < len(self.text) and not (stop and self.peek() == stop):
            if self.peek() == ".":  # a suffix such as .isra
                break
            found.append(self.type())
        if len(found) == 1 and found[0].kind == "void":
            return ()
        return tuple(found)

    def number(self) -> int:
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return int(self.text[start : self.at])

    def source_name(self) -> str:
        self.skip("L")
        length = self.number()
        name = self.text[self.at : self.at + length]
        if len(name) < length:
            raise UnknownMangling(self.text)
        self.at += length
        return "" if name.startswith("_GLOBAL__N") else name

    def nested(self, of_type: bool) -> tuple[str, tuple[CType | str, ...]]:
        """Read a scoped name up to its E; every enclosing scope is a substitution."""
        name, fresh = "", False
        arguments: tuple[CType | str, ...] = ()
        while not self.skip("E"):
            if fresh:
                self.remember(name)
            fresh = True
            if self.peek() == "S":
                name, arguments = self.scope_substitution(), ()
                fresh = False
            elif self.peek() == "I":
                name, arguments = self.with_arguments(name)
            else:
                part, arguments = self.source_name(), ()
                name = f"{name}::{part}" if name and part else name or part
        if of_type:
            self.remember(self.named(name))
        return name, arguments

    def scope_substitution(self) -> str:
        if self.skip("St"):
            return "std"
        found = self.substitution()
        return found.name if isinstance(found, CType) else found

    def substitution(self) -> CType | str:
        self.expect("S")
        return self.substitutions[self.sequence()]

    def sequence(self) -> int:
        """Read a number in base 36: `_` is 0, `0_` is 1, and so on."""
        end = self.text.index("_", self.at)
        digits = self.text[self.at : end]
        self.at = end + 1
        return int(digits, 36) + 1 if digits else 0

    def arguments(self) -> tuple[CType | str, ...]:
        self.expect("I")
        found = []
        while not self.skip("E"):
            if self.peek() == "J":
                self.at += 1
                while not self.skip("E"):
                    found.append(self.argument())
            else:
                found.append(self.argument())
        return tuple(found)

    def argument(self) -> CType | str:
        if self.peek() == "L":
            return self.literal()
        return self.type()

    def literal(self) -> str:
        self.expect("L")
        if self.skip("_Z"):
            end = self.text.index("E", self.at)
            raise UnknownMangling(self.text[:end])
        kind = self.type()
        sign = "-" if self.skip("n") else ""
        value = sign + str(self.number())
        self.expect("E")
        if kind.kind == "bool":
            return "true" if value == "1" else "false"
        return f"({kind.name}){value}" if kind.kind == "struct" else value

    def type(self) -> CType:
        first = self.peek()
        rule = _RULES.get(first)
        if rule is not None:
            return rule(self)
        if first.isdigit():
            return self.unscoped_type()
        for code in (first, self.peek(2)):
            if code in _BUILTIN:
                self.at += len(code)
                return _BUILTIN[code]
        raise UnknownMangling(self.text)

    def unscoped_type(self) -> CType:
        name = self.source_name()
        if self.peek() != "I":
            return self.remember(self.named(name))
        self.remember(name)
        name, _ = self.with_arguments(name)
        return self.remember(self.named(name))

    def named(self, name: str) -> CType:
        return _NAMED.get(name) or CType(name, "struct")

    def qualified(self) -> CType:
        const = False
        while self.peek() in "rVK":
            const = const or self.peek() == "K"
            self.at += 1
        inner = self.type()
        return self.remember(replace(inner, const=const or inner.const))

    def pointer(self) -> CType:
        self.at += 1
        return self.remember(CType("", "pointer", 8, pointee=self.type()))

    def reference(self) -> CType:
        self.at += 1
        return self.remember(CType("", "reference", 8, pointee=self.type()))

    def array(self) -> CType:
        self.at += 1
        count = self.bound()
        self.expect("_")
        inner = self.type()
        return self.remember(
            replace(
                inner,
                name=f"{inner.name}[{count}]",
                size=inner.size * count,
                lanes=inner.lanes * count,
            )
        )

    def bound(self) -> int:
        """Read a number of elements: a literal, or a template parameter."""
        if self.skip("T"):
            found = self.template_arguments[self.sequence()]
            if isinstance(found, CType):
                raise UnknownMangling(self.text)
            return int(found)
        return self.number()

    def function(self) -> CType:
        self.expect("F")
        self.skip("Y")
        self.type()
        parameters = self.parameter_list(stop="E")
        self.expect("E")
        return self.remember(CType("function", "function", parameters=parameters))

    def d_type(self) -> CType:
        if self.skip("Do"):  # noexcept
            return self.function()
        code = self.peek(2)
        if code not in _BUILTIN:
            raise UnknownMangling(self.text)
        self.at += 2
        return _BUILTIN[code]

    def scoped_type(self) -> CType:
        self.at += 1
        self.nested(of_type=True)
        found = self.substitutions[-1]
        if not isinstance(found, CType):
            raise UnknownMangling(self.text)
        return found

    def template_parameter(self) -> CType:
        self.expect("T")
        found = self.template_arguments[self.sequence()]
        if not isinstance(found, CType):
            raise UnknownMangling(self.text)
        return self.remember(found)

    def substituted_type(self) -> CType:
        if self.skip("St"):
            name = f"std::{self.source_name()}"
            self.remember(name)
        else:
            found = self.substitution()
            if isinstance(found, CType) and self.peek() != "I":
                return found
            name = found.name if isinstance(found, CType) else found
        if self.peek() != "I":
            return self.named(name)
        name, _ = self.with_arguments(name)
        return self.remember(self.named(name))

    def vendor(self) -> CType:
        self.expect("u")
        return self.remember(self.named(self.source_name()))


_RULES = {
    "r": _Decoder.qualified,
    "V": _Decoder.qualified,
    "K": _Decoder.qualified,
    "P": _Decoder.pointer,
    "R": _Decoder.reference,
    "O": _Decoder.reference,
    "A": _Decoder.array,
    "F": _Decoder.function,
    "D": _Decoder.d_type,
    "N": _Decoder.scoped_type,
    "T": _Decoder.template_parameter,
    "S": _Decoder.substituted_type,
    "u": _Decoder.vendor,
}
