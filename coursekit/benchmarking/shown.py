"""Without a GPU, a benchmark shows recorded times, or else counts and a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from coursekit import hardware
from coursekit.benchmarking.ceilings import Ceiling, ceiling
from coursekit.benchmarking.records import case_sources, records
from coursekit.benchmarking.results import NO_RECORD, Benchmark, Row
from coursekit.errors import DeviceError, UnsupportedError

NOT_RECORDED = "nothing is recorded, and there is no GPU here"


class Countable(Protocol):
    """The part of a recorded benchmark's definition that counting needs."""

    count_size: int | None
    setup: Callable[[int], tuple]
    through: str


def without_gpu(
    cases: Mapping[str, Callable],
    sizes: tuple[int, ...],
    *,
    bytes_moved,
    flops,
    record: str | None,
    definition: Countable | None,
) -> Benchmark:
    """Show recorded times, else counts; nothing is timed, and setup is not called.

    Cases without a recorded time are counted with the arrays of `definition`, at its
    `count_size`.
    """
    stored = records.load(record) if record else None
    missing = {name: _missing(stored, name, case) for name, case in cases.items()}
    missing = {name: why for name, why in missing.items() if why}
    rows = _rows(stored, cases, sizes, missing) if stored else ()
    for name in cases:
        if name not in missing and not any(row.case == name for row in rows):
            missing[name] = f"recorded at other sizes than {', '.join(map(str, sizes))}"
    size = definition.count_size if definition else None
    uncounted = {name: cases[name] for name in missing} if size else {}
    counts = _counts(definition, uncounted) if uncounted else {}
    return Benchmark(
        tuple(cases),
        sizes,
        rows,
        "recorded" if rows else "none",
        stored.device if rows else "",
        stored.date if rows else "",
        _limits(stored or definition, sizes, bytes_moved, flops),
        missing,
        counts,
        size if counts else None,
    )


def _missing(record, name: str, case: Callable) -> str:
    """Return why a record has no times of a case; empty where it has them."""
    if record is None:
        return NOT_RECORDED
    same = record.case_sha256.get(name) == case_sources.sha256(case)
    return "" if same else NO_RECORD


def _rows(record, cases, sizes, missing) -> tuple[Row, ...]:
    recorded = {(row.case, row.size): row for row in record.rows}
    first, recorded_first = next(iter(cases)), record.rows[0].case
    rows = []
    for size in sizes:
        base = recorded.get((first, size)) if first not in missing else None
        for name in cases:
            row = recorded.get((name, size))
            if row is None or name in missing:
                continue
            if base is not None and first != recorded_first:
                row = replace(row, ratio=base.median_ms / row.median_ms)
            rows.append(row)
    return tuple(rows)


def _limits(source, sizes, bytes_moved, flops) -> Ceiling:
    """Return the limits of the GPU of the record, else of the simulated GPU.

    `source` is the record, else the definition; None where there is neither.
    """
    through = getattr(source, "through", "memory")
    name = getattr(source, "device", None)
    try:
        device = hardware.device(name)
    except DeviceError:  # a GPU that no data sheet of ours describes
        limit = ceiling(hardware.device(), sizes, bytes_moved, flops)
        return replace(limit, device=name, bandwidth_gbs=None, peak_tflops=None)
    return ceiling(device, sizes, bytes_moved, flops, through)


def _counts(definition, cases: Mapping[str, Callable]) -> dict:
    """Count the cases on the simulator, at the small size of their definition."""
    from coursekit.analysis.counting import added, counted
    from coursekit.runtime import simulator

    counts = {}
    for name, case in cases.items():
        with simulator.simulator():
            try:
                arguments = definition.setup(definition.count_size)
                with counted() as launches:  # the case, not its set-up
                    case(*arguments)
            except UnsupportedError:  # the simulator cannot run it: no counts
                continue
        if launches:
            counts[name] = added(launches)
    return counts
