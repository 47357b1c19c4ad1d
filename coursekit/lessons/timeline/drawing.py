"""Draw a schedule as bars in lanes."""

from __future__ import annotations

from coursekit.lessons.timeline.program import HOST
from coursekit.lessons.timeline.schedule import MODEL, Operation, Schedule
from coursekit.plot.timelines import timeline


def chart(schedule: Schedule, title: str, lanes: str):
    """Return the picture; `lanes` is "engine" or "stream"."""
    waits = [each.name for each in schedule.host if each.kind == "wait"]
    spans = [
        (lane, each.name, each.start_us, each.end_us)
        for lane, members in _lanes(schedule, lanes)
        for each in members
    ]
    title = title or f"The model needs {schedule.makespan_us:.6g} us"
    bound = schedule.bound_us
    return timeline(
        spans,
        title=title,
        origin=f"{schedule.origin}; {MODEL}",
        limits={f"no order beats {bound:.6g} us": bound},
        unit="us",
        waits=waits,
    )


def _lanes(schedule: Schedule, by: str):
    """Yield each lane with its bars; what runs side by side gets lanes of its own."""
    yield HOST, list(schedule.host)
    names = dict.fromkeys(getattr(each, by) for each in schedule.operations)
    for name in names:
        mine = [each for each in schedule.operations if getattr(each, by) == name]
        rows = _rows(mine)
        for number, row in enumerate(rows, 1):
            yield (name if len(rows) == 1 else f"{name} ({number})"), row


def _rows(operations: list[Operation]) -> list[list[Operation]]:
    rows: list[list[Operation]] = []
    for each in sorted(operations, key=lambda each: (each.start_us, each.end_us)):
        free = (row for row in rows if row[-1].end_us <= each.start_us)
        row = next(free, None)
        if row is None:
            rows.append(row := [])
        row.append(each)
    return rows
