"""The parameters of a kernel: arguments checked, brought to the device, and packed.

An array in the launching backend's own memory is used where it lies. Any other is
copied to an allocation of its own before the launch, and copied back after it where
the kernel may have written. Arguments that overlap share one allocation, so that
they alias as they do on the host.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coursekit.errors import ArgumentError, CourseError
from coursekit.runtime.arguments.complaints import Context, summary
from coursekit.runtime.arguments.converters import ArrayOf, Untyped, by_value
from coursekit.runtime.arguments.operands import Operand
from coursekit.toolchain.signature import Parameter

if TYPE_CHECKING:
    from coursekit.runtime.protocols import Allocator, Buffer

# Copies an allocation, under a name.
Duplicate = Callable[["Buffer", str], "Buffer"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule says how one parameter takes its argument.

    Attributes
    ----------
    code : str
        How the value is packed, in the format language of the module `struct`.
    convert : callable
        Checks a value and returns what is packed; of a pointer, the Operand or None.
    """

    parameter: Parameter
    code: str
    convert: Callable[[Any], Any]

    @property
    def is_output(self) -> bool:
        """Whether the kernel may write through the pointer."""
        target = self.parameter.type.pointee
        return target is None or not target.const


class Signature:
    """The parameters of one kernel, ready to check and pack arguments.

    Parameters
    ----------
    kernel_name : str
        For messages.
    parameters : sequence of Parameter
    """

    def __init__(self, kernel_name: str, parameters: Iterable[Parameter]):
        self.kernel_name = kernel_name
        self.parameters = tuple(parameters)
        self.rules = tuple(_rule(kernel_name, each) for each in self.parameters)
        self.layout = struct.Struct(_layout(self.rules))

    def __str__(self) -> str:
        return f"{self.kernel_name}({', '.join(map(str, self.parameters))})"

    @property
    def names(self) -> str:
        """Names of the parameters with commas, as a launch would be written."""
        return ", ".join(each.name for each in self.parameters)

    def flat(self, arguments: Sequence[Any]) -> list[Any]:
        """Return one argument for each parameter of the PTX."""
        return list(arguments)

    def convert(self, arguments: Sequence[Any]) -> list[Any]:
        """Check every argument; arrays become Operands, the rest is ready to pack.

        Raises
        ------
        ArgumentError
            There are too few or too many arguments, or one does not fit.
        """
        if len(arguments) != len(self.rules):
            raise self._wrong_count(arguments)
        return [
            rule.convert(value)
            for rule, value in zip(self.rules, arguments, strict=True)
        ]

    def pack(self, values: Sequence[Any]) -> bytes:
        """Lay the values out as the kernel reads them; pointers are addresses."""
        return self.layout.pack(*values)

    def _wrong_count(self, arguments: Sequence[Any]) -> CourseError:
        expected, given = len(self.parameters), len(arguments)
        if given < expected:
            missing = ", ".join(each.name for each in self.parameters[given:])
            detail = f"nothing is left for {missing}"
        else:
            detail = f"{summary(arguments[expected])} has no parameter"
        noun = "argument" if expected == 1 else "arguments"
        return ArgumentError.explained(
            f"{self.kernel_name} takes {expected} {noun}, got {given}: {detail}.",
            "The arguments of a launch are the parameters of the kernel, in its order.",
            f"The kernel is declared as {self}.",
        )


def _layout(rules: tuple[Rule, ...]) -> str:
    """Return the format of `struct` that puts each parameter at its offset."""
    parts, end = ["<"], 0
    for rule in rules:
        parts.append(f"{rule.parameter.offset - end}x{rule.code}")
        end = rule.parameter.offset + rule.parameter.size
    return "".join(parts)


def _rule(kernel_name: str, parameter: Parameter) -> Rule:
    ctype = parameter.type
    context = Context(kernel_name, parameter)
    if ctype.is_pointer and ctype.pointee is not None:
        return Rule(parameter, "Q", ArrayOf(context, ctype.pointee))
    if ctype.kind == "unknown":
        code = "Q" if parameter.size == 8 else f"{parameter.size}s"
        return Rule(parameter, code, Untyped(context))
    return Rule(parameter, *by_value(context))


@dataclass(slots=True)
class _Item:
    """An array argument of a launch that has to be copied to the device."""

    position: int
    rule: Rule
    operand: Operand
    whole: Buffer | None = None  # what the operand is a part of, if all is copied

    @property
    def start(self) -> int:
        return self.whole.address if self.whole else self.operand.address

    @property
    def end(self) -> int:
        return self.start + (self.whole or self.operand).nbytes


@dataclass(slots=True)
class Staged:
    """The arguments of one launch, which the device can reach.

    Attributes
    ----------
    values : list
        The values to pack; pointers are device addresses.
    arrays : list
        (device address, parameter name, Operand) of each array, for messages.
    copies : list
        (item, buffer, offset) of every array that was copied to the device.
    uses_torch : bool
        Whether an argument is a torch tensor that is used where it lies.
    """

    values: list[Any]
    arrays: list[tuple[int, str, Operand]] = field(default_factory=list)
    copies: list[tuple[_Item, Buffer, int]] = field(default_factory=list)
    uses_torch: bool = False

    def copy_back(self) -> None:
        """Copy results into the arrays that the kernel may have written."""
        for item, buffer, offset in self.copies:
            if item.rule.is_output and item.operand.writable:
                item.operand.write(buffer.read(offset, item.operand.nbytes))


def stage(
    backend: Allocator,
    rules: Sequence[Rule],
    values: Sequence[Any],
    *,
    duplicate: Duplicate | None = None,
) -> Staged:
    """Bring the array arguments of a launch to the memory of a backend.

    Parameters
    ----------
    backend
        The backend that launches; its own arrays are used where they lie.
    rules, values : sequence
        The rules and the converted arguments of a Signature.
    duplicate : callable, optional
        Copy the backend's own arrays too, so that the launch changes nothing:
        ``duplicate(buffer, name)`` copies the whole allocation of such an array, so
        that a slice lies where it lies in a launch, with all that is around it.
    """
    staged = Staged(list(values))
    foreign = []
    for position, (rule, value) in enumerate(zip(rules, values, strict=True)):
        if not isinstance(value, Operand):
            staged.values[position] = 0 if value is None else value
        elif value.space == backend.space and duplicate is None:
            _place(staged, _Item(position, rule, value), value.address)
            staged.uses_torch |= value.is_torch
        else:
            whole = value.buffer if value.space == backend.space else None
            foreign.append(_Item(position, rule, value, whole))
    for group in _overlapping(foreign):
        _copy(backend, staged, group, duplicate)
    return staged


def _place(staged: Staged, item: _Item, address: int) -> None:
    staged.values[item.position] = address
    staged.arrays.append((address, item.rule.parameter.name, item.operand))


def _overlapping(items: list[_Item]) -> Iterator[list[_Item]]:
    """Yield groups of items whose bytes overlap, directly or through others."""
    group: list[_Item] = []
    space, end = "", 0
    for item in sorted(items, key=lambda each: (each.operand.space, each.start)):
        if group and (item.operand.space != space or item.start >= end):
            yield group
            group, end = [], 0
        group.append(item)
        space, end = item.operand.space, max(end, item.end)
    if group:
        yield group


def _copy(
    backend: Allocator,
    staged: Staged,
    group: list[_Item],
    duplicate: Duplicate | None,
) -> None:
    """Give a group one allocation and fill it with the bytes of its arrays."""
    widest = max(group, key=lambda item: item.operand.nbytes)
    name, start = widest.rule.parameter.name, min(item.start for item in group)
    if widest.whole is not None and duplicate is not None:
        lead, buffer = 0, duplicate(widest.whole, name)
    else:
        lead = _lead(group, widest)
        buffer = _filled(backend, group, widest, lead)
    for item in group:
        offset = lead + item.operand.address - start
        _place(staged, item, buffer.address + offset)
        staged.copies.append((item, buffer, offset))


def _is_alone(group: list[_Item], widest: _Item) -> bool:
    """Whether the widest item of a group holds all of it."""
    return all(widest.start <= one.start and one.end <= widest.end for one in group)


def _lead(group: list[_Item], widest: _Item) -> int:
    """Return how many bytes stand in front of a copy, for its alignment.

    What lies on a device keeps its place in a line of 256 bytes, as allocations begin
    at such lines. Of what lies on the host, several views keep the alignment that
    their common base has there.
    """
    start = min(item.start for item in group)
    if widest.operand.space != "host":
        return start % 256
    return 0 if _is_alone(group, widest) else start % 16


def _filled(backend: Allocator, group: list[_Item], widest: _Item, lead: int) -> Buffer:
    """Allocate memory for a group, and copy its arrays there."""
    start, end = min(item.start for item in group), max(item.end for item in group)
    operand = widest.operand
    alone = not lead and _is_alone(group, widest)
    buffer = backend.allocate(
        lead + end - start,
        name=widest.rule.parameter.name,
        shape=operand.shape if alone else None,
        dtype=operand.dtype,
    )
    parts = {(item.start, item.end): item.operand for item in group}
    for (begin, _), each in parts.items():
        buffer.write(lead + begin - start, each.read())
    return buffer
