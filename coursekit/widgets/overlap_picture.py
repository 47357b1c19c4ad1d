"""Overlap as data for its view, as text, and as a static picture."""

from __future__ import annotations

from html import escape
from typing import Any

from coursekit.lessons.timeline.operations import MODEL
from coursekit.lessons.timeline.program import HOST
from coursekit.lessons.timeline.schedule import Schedule
from coursekit.widgets import palette
from coursekit.widgets.panel import panel

WIDTH, LEFT, TOP, LANE, BAR = 760, 74, 52, 34, 24
_GROUNDS = ("block5", "block0", "block2", "block3")
_LETTER = 6.6


def plan_of(widget, key: str, schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as data for the view: bars and sentences."""
    lanes = [HOST, *schedule.engines]
    if len(schedule.engines) == 3:
        lanes = [HOST, "H2D", "compute", "D2H"]
    path = {
        (operation.name, operation.start_us) for operation in schedule.critical_path
    }
    bars = [
        [lanes.index(o.engine), o.name, round(o.start_us, 3), round(o.end_us, 3),
         int((o.name, o.start_us) in path), o.kind]
        for o in (*schedule.host, *schedule.operations)
    ]  # fmt: skip
    return {
        "for": key,
        "lanes": lanes,
        "bars": bars,
        "makespan": round(schedule.makespan_us, 3),
        "bound": round(schedule.bound_us, 3),
        "told": _told(schedule),
        "problem": _problem(schedule),
        "origin": f"{schedule.origin}; {MODEL}",
    }


def _told(schedule: Schedule) -> str:
    alone = sum(operation.us for operation in schedule.operations)
    return (
        f"The model needs {schedule.makespan_us:.4g} us; copies and kernels one after "
        f"another would take {alone:.4g} us. "
        f"No order beats {schedule.bound_us:.4g} us, the work of the busiest engine "
        f"({schedule.bottleneck})."
    )


def _problem(schedule: Schedule) -> str:
    conflicts = schedule.conflicts
    if not conflicts:
        return ""
    first = conflicts[0]
    more = f", and {len(conflicts) - 1} more like it" if conflicts[1:] else ""
    return (
        f"Wrong: nothing orders {first.first} and {first.second}{more}. The bars may "
        "look right; a GPU promises nothing."
    )


def words(widget) -> str:
    """Return a description of the picture."""
    plan = widget.plan
    memory = "pinned" if widget.pinned else "pageable"
    chunks = f"{widget.chunks} chunk{'s' if widget.chunks > 1 else ''}"
    used = len(set(widget.placed))
    streams = f"{used} stream{'s' if used > 1 else ''}"
    parts = [f"{chunks} in {streams}, {memory} memory, issued {widget.order}."]
    parts += [plan["told"], plan["problem"]]
    parts += [_lane(plan, number) for number in range(1, len(plan["lanes"]))]
    parts.append(_by(plan))
    return " ".join(part for part in parts if part)


def _by(plan: dict) -> str:
    """Return the rates of the model as a sentence."""
    return f"{plan['origin'][:1].upper()}{plan['origin'][1:]}."


def _lane(plan: dict, number: int) -> str:
    bars = [bar for bar in plan["bars"] if bar[0] == number]
    told = ", ".join(f"{bar[1]} from {bar[2]:.4g} to {bar[3]:.4g}" for bar in bars)
    return f"{plan['lanes'][number]}: {told}."


def svg(widget) -> str:
    """Draw the bars of each engine; the critical path has thick outlines."""
    plan = widget.plan
    height = TOP + LANE * len(plan["lanes"]) + 74
    scale = (WIDTH - LEFT - 16) / max(plan["makespan"], plan["bound"], 1e-9)
    body = [_text(12, 24, "Overlap: spread copies and kernels over streams", size=15,
                  weight="bold")]  # fmt: skip
    for number, lane in enumerate(plan["lanes"]):
        body.append(_text(12, TOP + number * LANE + 17, lane))
    body += [_bar(bar, scale) for bar in plan["bars"] if bar[3] > bar[2]]
    bottom = TOP + LANE * len(plan["lanes"])
    body.append(_bound(LEFT + plan["bound"] * scale, bottom))
    first, _, rest = plan["told"].partition(". ")
    body += [_text(12, bottom + 20, f"{first}."), _text(12, bottom + 38, rest)]
    last = plan["problem"] or f"Thick: the chain that takes all the time. {_by(plan)}"
    body.append(_text(12, bottom + 58, last[:125]))
    return panel(WIDTH, height, body)


def _bar(bar: list, scale: float) -> str:
    lane, name, start, end, critical, kind = bar
    x, y, width = LEFT + start * scale, TOP + lane * LANE, (end - start) * scale
    fill = "none" if kind == "wait" else palette.GROUNDS[_GROUNDS[lane]].light
    line = palette.INKS["ink"].light if critical else palette.LINES["line"].light
    dashes = ' stroke-dasharray="3 3"' if kind == "wait" else ""
    drawn = (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{fill}" '
        f'stroke="{line}" stroke-width="{3 if critical else 1}"{dashes}/>'
    )
    short = name.rpartition(" ")[2] if kind == "operation" else ""
    fits = (words for words in (name, short) if _LETTER * len(words) + 4 <= width)
    return drawn + _text(x + width / 2, y + 16, next(fits, ""), anchor="middle")


def _bound(x: float, bottom: float) -> str:
    colour = palette.LINES["heat"].light
    return (
        f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="{colour}" stroke-width="2" '
        f'stroke-dasharray="6 4"/>'
        + _text(x, TOP - 12, "no order beats this", anchor="middle")
    )


def _text(x, y, text, *, size=0, weight="", anchor="") -> str:
    extra = f' font-size="{size}"' if size else ""
    extra += f' font-weight="{weight}"' if weight else ""
    extra += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
