"""Loads and stores: a few wide ones for patterned addresses, else lane by lane."""

from __future__ import annotations

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import patterns
from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import Request
from coursekit.simt.compiled.tier import DATA, splat, vector
from coursekit.simt.compiled.unit import bits
from coursekit.simt.compiled.values import Value, uniform
from coursekit.simt.ptx.ir import BYTES, Immediate, Register, Symbol, Vector


class Accesses:
    """The loads and stores of `WarpCode`."""

    def host_offsets(self, request: Request) -> tuple[int, ...]:
        """Return the byte offsets of the lanes from the base, in host memory."""
        offsets = [o + request.constant for o in request.pattern.offsets]
        if request.space == "local":
            stride = self.unit.local_stride
            offsets = [o + lane * stride for lane, o in enumerate(offsets)]
        return tuple(offsets)

    def load_pattern(self, request, bases, distance, reach=None) -> list[Value]:
        """Return the elements of a load with patterned addresses.

        `reach` are the bytes from each base that are known to be legal.
        """
        reach = reach or request.reach
        if request.space == "local":
            reach = reach[0], reach[1] + (LANES - 1) * self.unit.local_stride
        offsets = self.host_offsets(request)
        starts = [self.out.op(f"add i64 {base}, {distance}") for base in bases]
        if len(set(offsets)) == 1 and len(bases) == 1:
            places = (
                offsets[0] + k * request.element for k in range(len(request.elements))
            )
            return [uniform(self._load_one(starts[0], at, request)) for at in places]
        size = LANES // len(bases)
        parts = [
            patterns.load(
                self.out, start, offsets[g * size : (g + 1) * size],
                request.element, len(request.elements), reach,
            )
            for g, start in enumerate(starts)
        ]  # fmt: skip
        return [
            Value(patterns.joined(self.out, names, request.element))
            for names in zip(*parts, strict=True)
        ]

    def _load_one(self, start, offset, request) -> str:
        at = self.out.op(f"add i64 {start}, {offset}")
        pointer = self.out.op(f"inttoptr i64 {at} to ptr")
        size = request.element
        return self.out.op(f"load i{8 * size}, ptr {pointer}, align {size}, {DATA}")

    def load_lanes(self, request: Request, hosts: str, lanes: str) -> list[Value]:
        """Return the elements of a load with arbitrary addresses."""
        found = []
        for k in range(len(request.elements)):
            at = self._element_address(hosts, k * request.element)
            found.append(Value(patterns.gather(self.out, at, lanes, request.element)))
        return found

    def _element_address(self, hosts: str, offset: int) -> str:
        if not offset:
            return hosts
        return self.out.op(f"add {vector('i64')} {hosts}, {splat('i64', offset)}")

    def stored(self, request: Request) -> list[Value]:
        """Return the values of a store, as bits of the element type."""
        type_ = f"u{8 * request.element}"
        found = []
        for element in request.elements:
            kind = request.type_ if isinstance(element, Immediate) else type_
            if isinstance(element, Immediate) and element.kind == "int":
                kind = type_
            found.append(self.operand(element, kind))
        return found

    def store_pattern(self, request, bases, distance, values) -> None:
        """Store to patterned addresses; the last of equal ones wins."""
        one = f"i{8 * request.element}"
        offsets = self.host_offsets(request)
        size = LANES // len(bases)
        single = len(set(offsets)) == 1 and len(bases) == 1
        wide = [] if single else [self.spread(one, value) for value in values]
        for g, base in enumerate(bases):
            start = self.out.op(f"add i64 {base}, {distance}")
            if single:
                self._store_last(request, start, offsets[0], values)
                continue
            lanes = range(g * size, (g + 1) * size)
            own = [
                patterns.part(self.out, name, lanes, request.element) for name in wide
            ]
            patterns.store(
                self.out, start, [offsets[n] for n in lanes], request.element, own
            )

    def _store_last(self, request, start, offset, values) -> None:
        """Store the last lane's value: all lanes have the same address."""
        one = f"i{8 * request.element}"
        for k, value in enumerate(values):
            name = value.name
            if not value.uniform:
                wide = self.spread(one, value)
                name = self.out.op(
                    f"extractelement {vector(one)} {wide}, i32 {LANES - 1}"
                )
            at = self.out.op(f"add i64 {start}, {offset + k * request.element}")
            pointer = self.out.op(f"inttoptr i64 {at} to ptr")
            self.out.line(
                f"store {one} {name}, ptr {pointer}, align {request.element}, {DATA}"
            )

    def store_lanes(self, request, hosts, lanes, values) -> None:
        """Store to arbitrary addresses."""
        one = f"i{8 * request.element}"
        for k, value in enumerate(values):
            at = self._element_address(hosts, k * request.element)
            patterns.scatter(
                self.out, at, lanes, self.spread(one, value), request.element
            )

    def finish_load(self, request: Request, values: list[Value], guard=None) -> None:
        """Write loaded values to their registers."""
        type_ = request.type_
        kind = type_ if type_[0] == "s" else f"u{8 * request.element}"
        for register, value in zip(request.elements, values, strict=True):
            if isinstance(register, Register):
                self.give(register, kind, value, guard)

    def load_parameter(self, instruction) -> None:
        """Load a kernel parameter, a constant of the launch: `ld.param`."""
        target, source = instruction.operands[:2]
        base = source.base
        start = (
            self.unit.parameters.get(base.name) if isinstance(base, Symbol) else None
        )
        if start is None:
            raise UnsupportedError("a parameter by address")
        elements = target.elements if isinstance(target, Vector) else (target,)
        type_, guard = instruction.type, self.guard(instruction)
        for k, register in enumerate(elements):
            if not isinstance(register, Register):
                continue
            at = start + base.offset + source.offset + k * BYTES[type_]
            name = self.field("%params", at, f"i{bits(type_)}")
            kind = type_ if type_[0] == "s" else f"u{bits(type_)}"
            self.give(register, kind, uniform(name), guard)
