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
    """Draw copies and kernels, and above them the calls of the host.

    Parameters
    ----------
    operations, host : sequence of Operation
        As `Schedule` has them.
    title : str
        The title, a sentence.
    origin : str
        The rates, and where they are from.
    bound_us : float
        Work of the busiest engine, drawn as a limit.
    lanes : str
        "engine" or "stream": what a row of bars is.
    """
    waits = [operation.name for operation in host if operation.kind == "wait"]
    spans = [
        (lane, operation.name, operation.start_us, operation.end_us)
        for lane, members in _lanes(operations, host, lanes)
        for operation in members
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
    """Yield each lane with its bars; overlapping bars get lanes of their own."""
    yield HOST, list(host)
    names = dict.fromkeys(getattr(operation, by) for operation in operations)
    for name in names:
        mine = [operation for operation in operations if getattr(operation, by) == name]
        rows = _rows(mine)
        for number, row in enumerate(rows, 1):
            yield (name if len(rows) == 1 else f"{name} ({number})"), row


def _rows(operations: list[Operation]) -> list[list[Operation]]:
    rows: list[list[Operation]] = []
    for operation in sorted(
        operations, key=lambda operation: (operation.start_us, operation.end_us)
    ):
        free = (row for row in rows if row[-1].end_us <= operation.start_us)
        row = next(free, None)
        if row is None:
            rows.append(row := [])
        row.append(operation)
    return rows
