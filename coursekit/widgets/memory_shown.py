"""What `SHOW` of coursekit_boxes.h has written, as scenes of boxes and arrows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MOST_CELLS = 8


@dataclass(frozen=True)
class Shown:
    """A variable at the moment when a program showed it.

    Attributes
    ----------
    name, type : str
        A block that a pointer points to is called *p.
    line, address, size, count : int
        Line of the SHOW; address and bytes; number of elements.
    values : tuple of str
        Of the elements, or of the variable; its bytes for a struct.
    pointer : bool
        Whether the values are addresses.
    """

    name: str
    type: str
    line: int
    address: int
    size: int
    count: int
    values: tuple[str, ...]
    pointer: bool

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from other variables: its name and its address."""
        return self.name, self.address

    @property
    def place(self) -> str:
        """Its address in hexadecimal."""
        return f"0x{self.address:x}"

    def element_at(self, address: int) -> int | None:
        """Return the element that holds an address, None where none does."""
        offset = address - self.address
        if not 0 <= offset < self.size:
            return None
        return offset * self.count // self.size


def parsed(text: str) -> list[Shown]:
    """Read what a program has written, a JSON object a line; a torn one is left out."""
    found = []
    for line in text.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        values = [value for value in one["values"] if value] or [one["hex"]]
        found.append(
            Shown(
                name=one["name"],
                type=one["type"],
                line=one["line"],
                address=one["address"],
                size=one["bytes"],
                count=one["count"],
                values=tuple(values),
                pointer=one["pointer"],
            )
        )
    return found


def scenes(shown: list[Shown]) -> list[dict[str, Any]]:
    """Return, for each SHOW, all variables as they were last shown."""
    known: dict[tuple[str, int], Shown] = {}
    found = []
    for one in shown:
        earlier = known.get(one.key)
        known[one.key] = one
        # The first that is drawn lies at the lowest address, as in memory.
        boxes = sorted(known.values(), key=lambda box: (box.address, -box.size))
        found.append(_scene(boxes, one, earlier))
    return found


def _scene(boxes: list[Shown], latest: Shown, earlier: Shown | None) -> dict[str, Any]:
    state = _state(boxes, latest)
    told = f"Line {latest.line}: {latest.name} {state}."
    if earlier and earlier.values != latest.values:
        told = f"Line {latest.line}: {latest.name} changed; it {state} now."
    arrows = [
        [row, target, cell]
        for row, box in enumerate(boxes)
        if box.pointer and box.count == 1
        for target, cell in [_target(boxes, box)]
        if target is not None
    ]
    return {
        "told": told,
        "arrows": arrows,
        "boxes": [_box(boxes, box, box.key == latest.key) for box in boxes],
    }


def _box(boxes: list[Shown], box: Shown, chosen: bool) -> dict[str, Any]:
    points = _points_to(boxes, box)
    kind = f"{box.type}, {box.size} byte{'s' if box.size > 1 else ''}"
    holds = f"holds {', '.join(_cells(box))}"
    words = f"{box.name}: {kind}, address {box.place}, {holds}"
    return {
        "name": box.name,
        "kind": kind,
        "place": box.place,
        "cells": _cells(box),
        "chosen": chosen,
        "points": points,
        "state": _state(boxes, box),
        "words": f"{words}{', ' + points if points else ''}.",
    }


def _cells(box: Shown) -> list[str]:
    """Return the texts of a variable's cells; the last stands for those left out."""
    cells = list(box.values[:MOST_CELLS])
    if len(box.values) > MOST_CELLS or box.count > len(box.values) > 1:
        cells[-1] = "..."
    return cells


def _state(boxes: list[Shown], box: Shown) -> str:
    """Return what a variable holds, or where it points, as the rest of a sentence."""
    return _points_to(boxes, box) or f"holds {', '.join(_cells(box))}"


def _target(boxes: list[Shown], box: Shown) -> tuple[int | None, int]:
    """Return the row and the element to which a pointer points."""
    address = int(box.values[0], 16)
    fitting = [
        (other.size, row, element)
        for row, other in enumerate(boxes)
        if other is not box and (element := other.element_at(address)) is not None
    ]
    if not fitting:
        return None, 0
    _, row, element = min(fitting)
    return row, min(element, MOST_CELLS - 1, len(boxes[row].values) - 1)


def _points_to(boxes: list[Shown], box: Shown) -> str:
    if not box.pointer or box.count != 1:
        return ""
    if int(box.values[0], 16) == 0:
        return "points nowhere: it is null"
    row, cell = _target(boxes, box)
    if row is None:
        return "points to something that is not shown"
    other = boxes[row]
    return (
        f"points to {other.name}[{cell}]"
        if other.count > 1
        else (f"points to {other.name}")
    )
