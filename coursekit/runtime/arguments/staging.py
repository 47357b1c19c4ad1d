"""Array arguments brought to where a kernel can reach them, and results brought back.

An array in the launching backend's own memory is used where it lies. Any other is
copied to an allocation of its own before the launch, and copied back after it where
the kernel may have written. Arguments that overlap share one allocation, so that
they alias as they do on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coursekit.runtime.arguments.signature import Rule
from coursekit.runtime.arguments.operands import Operand


@dataclass(slots=True)
class _Item:
    """One array argument of a launch."""

    position: int
    rule: Rule
    operand: Operand

    @property
    def start(self) -> int:
        return self.operand.address

    @property
    def end(self) -> int:
        return self.operand.address + self.operand.nbytes


@dataclass(slots=True)
class Staged:
    """The arguments of one launch, ready to pack.

    Attributes
    ----------
    values : list
        What is packed; pointers are device addresses.
    names : dict
        Device address to parameter name, for messages.
    copies : list
        (item, buffer, offset) of every array that was copied to the device.
    uses_torch : bool
        Whether an argument is a torch tensor that is used where it lies.
    """

    values: list
    names: dict[int, str] = field(default_factory=dict)
    copies: list[tuple] = field(default_factory=list)
    uses_torch: bool = False

    def copy_back(self) -> None:
        """Copy results into the arrays that the kernel may have written."""
        for item, buffer, offset in self.copies:
            if item.rule.is_output and item.operand.writable:
                item.operand.write(buffer.read(offset, item.operand.nbytes))


def stage(backend, rules, values, *, isolate: bool = False) -> Staged:
    """Bring the array arguments of a launch to a backend.

    Parameters
    ----------
    backend
        Its own arrays are used where they lie.
    rules, values : sequence
        From a Signature: the rules, and the converted arguments.
    isolate : bool
        Copy the backend's own arrays too, so that the launch changes nothing.
    """
    staged = Staged(list(values))
    foreign = []
    for position, (rule, value) in enumerate(zip(rules, values, strict=True)):
        if not isinstance(value, Operand):
            staged.values[position] = 0 if value is None else value
        elif value.space == backend.space and not isolate:
            _place(staged, position, rule, value.address)
            staged.uses_torch |= value.is_torch
        else:
            foreign.append(_Item(position, rule, value))
    for group in _overlapping(foreign):
        _copy(backend, staged, group)
    return staged


def _place(staged: Staged, position: int, rule: Rule, address: int) -> None:
    staged.values[position] = address
    staged.names.setdefault(address, rule.parameter.name)


def _overlapping(items: list[_Item]) -> Iterator[list[_Item]]:
    """Group the items whose bytes overlap, directly or through others."""
    group, space, end = [], "", 0
    for item in sorted(items, key=lambda each: (each.operand.space, each.start)):
        if group and (item.operand.space != space or item.start >= end):
            yield group
            group, end = [], 0
        group.append(item)
        space, end = item.operand.space, max(end, item.end)
    if group:
        yield group


def _copy(backend, staged: Staged, group: list[_Item]) -> None:
    """Give a group one allocation and fill it with the bytes of its arrays."""
    widest = max(group, key=lambda item: item.operand.nbytes)
    start = min(item.start for item in group)
    end = max(item.end for item in group)
    # Several views keep the alignment that their common base has on the host.
    alone = (widest.start, widest.end) == (start, end)
    lead = 0 if alone else start % 16
    operand = widest.operand
    buffer = backend.allocate(
        lead + end - start,
        name=widest.rule.parameter.name,
        shape=operand.shape if alone else None,
        dtype=operand.dtype,
    )
    written = set()
    for item in group:
        offset = lead + item.start - start
        if (item.start, item.end) not in written:
            written.add((item.start, item.end))
            buffer.write(offset, item.operand.read())
        _place(staged, item.position, item.rule, buffer.address + offset)
        staged.copies.append((item, buffer, offset))
