"""Draw a schedule as bars in lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coursekit.lessons.timeline.operations import MODEL, Operation
from coursekit.lessons.timeline.program import HOST
from coursekit.plot.timelines import timeline


def chart(
    operations: Sequence[Operation],
    host: Sequence[Operation],
    *,
    title: str,
    origin: str,
    bound_us: float,
    lanes: str,
):
    """Draw copies and kernels, and above them what the host did.

    Parameters
    ----------
    operations, host : sequence of Operation
        As `Schedule` has them.
    title : str
        What the picture shows, as a sentence.
    origin : str
        The rates, and where they are from.
    bound_us : float
        Work of the busiest engine, drawn as a limit.
    lanes : str
        "engine" or "stream": what a row of bars is.
    """
    waits = [each.name for each in host if each.kind == "wait"]
    spans = [
        (lane, each.name, each.start_us, each.end_us)
        for lane, members in _lanes(operations, host, lanes)
        for each in members
    ]
    return timeline(
        spans,
        title=title,
        origin=f"{origin}; {MODEL}",
        limits={f"no order beats {bound_us:.6g} us": bound_us},
        unit="us",
        waits=waits,
    )


def _lanes(
    operations: Sequence[Operation], host: Sequence[Operation], by: str
) -> Iterator[tuple[str, list[Operation]]]:
    """Yield each lane with its bars; what runs side by side gets lanes of its own."""
    yield HOST, list(host)
    names = dict.fromkeys(getattr(each, by) for each in operations)
    for name in names:
        mine = [each for each in operations if getattr(each, by) == name]
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
