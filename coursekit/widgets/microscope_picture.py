"""The microscope as a static picture: costs by line, and the costliest access."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import Any

from coursekit.display.listing import TEXT
from coursekit.widgets import palette
from coursekit.widgets.panel import panel

WIDTH, LINE, TOP, MOST_LINES = 860, 19, 64, 34
_CODE_AT, _BAR, _MOST_LETTERS = 178, 70, 88
_LANE = 26
_SHARED = ("shared wavefronts", "bank conflicts")


def unpacked(packed: Any, mask: int) -> list:
    """Return the 32 values that `microscope_values.packed` wrote; None elsewhere."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    values: list = [None] * 32
    for position, lane in enumerate(lanes):
        if not isinstance(packed, list):
            values[lane] = packed
        elif packed and packed[0] == "step":
            values[lane] = packed[1] + lane * packed[2]
        else:
            values[lane] = packed[position]
    return values


def most_expensive(state: dict[str, Any], heat: str | None = None) -> int | None:
    """Return the step with the most expensive access of the kind that is counted."""
    best, most = None, -1
    for step, accesses in state["accesses"].items():
        for access in (_whole(state, packed_access) for packed_access in accesses):
            fits = heat in _SHARED if access["space"] == "shared" else (
                access["space"] == "global" and heat == "global sectors"
            )  # fmt: skip
            amount = _amount(access) + fits * 1000
            if amount > most:
                best, most = step, amount
    return best


def _whole(state: dict[str, Any], access: dict[str, Any]) -> dict[str, Any]:
    """Return an access together with the parts that it shares with others."""
    counts = state["counts"][access["counts"]]
    return {**access, **state["kinds"][access["kind"]], "counts": counts}


def _amount(access: dict[str, Any]) -> int:
    ending = "_wavefronts" if access["space"] == "shared" else "_sectors"
    return sum(n for name, n in access["counts"].items() if name.endswith(ending))


def words(views: list[dict], version: int, heat: str | None) -> str:
    """Return a description of the picture."""
    state = views[version]
    parts = [f"{state['kernel']}, {state['place']}, {len(state['lines']):,} steps."]
    if state["error"]:
        parts.append(state["error"].splitlines()[0])
    if heat is None:
        parts.append("The counts are hidden until the reader has predicted them.")
        return " ".join(parts)
    for label, view in zip(("Before", "After"), views, strict=False):
        lines = view["heats"].get(heat, {})
        total = sum(lines.values())
        name = f"{label}: " if len(views) > 1 else ""
        if lines:
            top = max(lines, key=lines.__getitem__)
            parts.append(
                f"{name}{total:,} {heat} ({view['scope']}), most of them, "
                f"{lines[top]:,}, on line {top}: {_source(view, top)}"
            )
        elif heat:
            parts.append(f"{name}no {heat}.")
    step = most_expensive(state, heat)
    if step is not None:
        parts.append(f"Its most expensive access: {told(state, step)}")
    return " ".join(part.rstrip(".") + "." for part in parts)


def told(state: dict[str, Any], step: int) -> str:
    """Return the cost of one access as a sentence."""
    access = _whole(state, state["accesses"][step][0])
    lanes = int(access["mask"], 16).bit_count()
    verb = access["verb"] if lanes == 1 else access["verb"][:-1]
    what = "wavefront" if access["space"] == "shared" else "sector"
    amount = _amount(access)
    return (
        f"{lanes} lane{'' if lanes == 1 else 's'} {verb} {access['array']} on line "
        f"{state['lines'][step]}: {amount} {what}{'' if amount == 1 else 's'}"
    )


def _source(state: dict[str, Any], line: int) -> str:
    parts = state["code"][line - state["first"]]
    return "".join(text for _, text in parts).strip()


def svg(views: list[dict], version: int, heat: str | None) -> str:
    """Draw a version with its costs by line; `heat` None hides them."""
    state = views[version]
    lines = _window(state, heat)
    below = TOP + LINE * len(lines) + 22
    step = most_expensive(state, heat) if heat is not None else None
    height = below + (186 if step is not None else 0)
    body = [
        _text(12, 22, f"Kernel Microscope: {state['kernel']}, {state['place']}",
              font_weight="bold", font_size=15),
        _text(12, 46, _heading(views, heat), font_size=13),
        *_bars(views, state, lines, heat),
        *_code(state, lines),
    ]  # fmt: skip
    if step is not None:
        body += _access(state, step, below)
    return panel(WIDTH, height, body)


def _heading(views: list[dict], heat: str | None) -> str:
    if heat is None:
        return "Predict what each marked line needs; the counts are hidden."
    sums = [sum(view["heats"].get(heat, {}).values()) for view in views]
    scope = views[-1]["scope"]
    if len(views) == 1 or views[0]["scope"] != scope:
        return f"Bars: {heat} of the {scope}, {sums[-1]:,} in all"
    return f"Bars: {heat} of the {scope}; before {sums[0]:,}, after {sums[1]:,}"


def _window(state: dict[str, Any], heat: str | None) -> range:
    first, count = state["first"], len(state["code"])
    if count <= MOST_LINES:
        return range(first, first + count)
    lines = state["heats"].get(heat or "", {}) or {first: 1}
    top = max(lines, key=lines.__getitem__)
    start = min(max(first, top - MOST_LINES // 2), first + count - MOST_LINES)
    return range(start, start + MOST_LINES)


def _bars(views, state, lines: range, heat: str | None) -> Iterator[str]:
    """Draw line numbers, bars and costs."""
    alike = [view for view in views if view["scope"] == state["scope"]]
    most = max((n for view in alike for n in view["heats"].get(heat, {}).values()),
               default=1)  # fmt: skip
    counts = state["heats"].get(heat, {}) if heat is not None else {}
    yield f'<g text-anchor="end" font-size="11" fill="{palette.INKS["quiet"].light}">'
    for row, line in enumerate(lines):
        yield _text(36, TOP + row * LINE + 13, str(line))
    yield f'</g><g fill="{palette.LINES["heat"].light}">'
    amounts = {row: counts.get(line, 0) for row, line in enumerate(lines)}
    for row, amount in amounts.items():
        if amount:
            wide = max(3, _BAR * amount / most)
            yield (f'<rect x="44" y="{TOP + row * LINE + 3}" '
                   f'width="{wide:.1f}" height="12"/>')  # fmt: skip
    yield '</g><g text-anchor="end" font-size="11">'
    for row, line in enumerate(lines):
        y = TOP + row * LINE + 13
        if amounts[row]:
            yield _text(172, y, f"{amounts[row]:,}")
        elif heat is None and line in state["rates"]:
            yield _text(172, y, "?", font_weight="bold")
    yield "</g>"


def _code(state, lines: range) -> Iterator[str]:
    yield (f'<g font-family="monospace" fill="{TEXT["plain"].light}">')
    for row, line in enumerate(lines):
        y = TOP + row * LINE + 13
        yield f'<text xml:space="preserve" x="{_CODE_AT}" y="{y}">'
        yield from _parts(state["code"][line - state["first"]])
        yield "</text>"
    yield "</g>"


def _parts(parts: list) -> Iterator[str]:
    room = _MOST_LETTERS
    for kind, text in parts:
        text = text[:room].replace("\t", "    ")
        room -= len(text)
        text = escape(text, quote=False)
        if kind == "plain" or not text:
            yield text
        else:
            yield f'<tspan fill="{TEXT[kind].light}">{text}</tspan>'


def _access(state: dict[str, Any], step: int, top: int) -> Iterator[str]:
    access = _whole(state, state["accesses"][step][0])
    mask = int(access["mask"], 16)
    offsets = unpacked(access["at"], mask)
    shared = access["space"] == "shared"
    yield _text(12, top + 6, f"Dearest access: {told(state, step)}",
                font_weight="bold", font_size=13)  # fmt: skip
    bank = access.get("bank", 0)
    targets = [
        None if at is None else (at // 4 + bank) % 32 if shared else at // 32
        for at in offsets
    ]
    names = list(range(32)) if shared else sorted({t for t in targets if t is not None})
    wide = min(80.0, (WIDTH - 24) / max(len(names), 1))
    middles = {name: 12 + (n + 0.5) * wide - 1 for n, name in enumerate(names)}
    lanes_at, boxes_at = top + 18, top + 112
    yield from _arrows(targets, middles, lanes_at + 22, boxes_at)
    boxes = [
        (12 + lane * _LANE, lanes_at, _LANE - 3, str(lane),
         "panel" if target is None else "block0")
        for lane, target in enumerate(targets)
    ]  # fmt: skip
    for position, name in enumerate(names):
        users = [at // 4 for at, t in zip(offsets, targets, strict=True) if t == name]
        busy = len(set(users))
        ground = "panel" if not users else "block2"
        if shared and busy > 1:
            ground = "block1"
        label = str(name) if shared else str(math.ceil(name * 32 / access["item"]))
        every = math.ceil((len(label) + 1) * 6 / wide)
        label = "" if position % every else label
        boxes.append((middles[name] - wide / 2 + 1, boxes_at, wide - 3, label, ground))
        if shared and users:
            yield _text(middles[name], boxes_at + 36, str(busy), text_anchor="middle")
    yield from _boxes(boxes)
    legend = (
        "Above: lanes. Below: banks, and how many words the warp asks of each."
        if shared
        else f"Above: lanes. Below: sectors of {access['array']}, by the number of "
        "their first element."
    )
    yield _text(12, boxes_at + 56, legend)


def _arrows(targets, middles, top: float, bottom: float) -> Iterator[str]:
    """Draw a line from each lane to the sector or bank that it accesses."""
    yield f'<g fill="none" stroke="{palette.LINES["line"].light}">'
    for lane, target in enumerate(targets):
        if target is not None:
            x, to = 12 + lane * _LANE + (_LANE - 3) / 2, middles[target]
            yield (f'<path d="M{x:g} {top}C{x:g} {top + 36} '
                   f'{to:.4g} {bottom - 36} {to:.4g} {bottom}"/>')  # fmt: skip
    yield "</g>"


def _boxes(boxes: list[tuple[float, float, float, str, str]]) -> Iterator[str]:
    """Draw boxes of (x, y, width, label, ground), grouped by ground."""
    yield f'<g stroke="{palette.LINES["line"].light}">'
    for ground in sorted({box[-1] for box in boxes}):
        yield f'<g fill="{palette.GROUNDS[ground].light}">'
        for x, y, width, _, own in boxes:
            if own == ground:
                yield (f'<rect x="{x:.4g}" y="{y}" width="{width:.4g}" height="22" '
                       'rx="2"/>')  # fmt: skip
        yield "</g>"
    yield '</g><g text-anchor="middle" font-size="10.5">'
    for x, y, width, label, _ in boxes:
        if label:
            yield f'<text x="{x + width / 2:.4g}" y="{y + 15}">{label}</text>'
    yield "</g>"


def _text(x: float, y: float, text: str, **style: str | float) -> str:
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in style.items())
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
