"""Plots of counters: lines over numbers, bars over names."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from matplotlib import rc_context

from coursekit.errors import ArgumentError
from coursekit.plot.chart import COLOURS, STYLE, Chart, in_words, new_chart, sign
from coursekit.plot.drawing import (
    draw_bars,
    draw_grid,
    draw_limits,
    draw_lines,
    draw_title,
    keep_labels_off,
)

_UNITS = {
    "arithmetic_intensity": "arithmetic intensity (FLOP per byte)",
    "warp_efficiency": "warp efficiency (share of lanes, 0 to 1)",
    "flops_fp16": "FP16 operations (FLOP)",
    "flops_fp32": "FP32 operations (FLOP)",
    "flops_fp64": "FP64 operations (FLOP)",
    "tensor_flops": "tensor-core operations (FLOP)",
}
_ORIGINS = {"simulator": "counted on the simulator", "ncu": "Nsight Compute"}


def counters(
    counts: Mapping[Any, Any],
    fields: str | Sequence[str],
    *,
    title: str,
    along: str,
    limits: Mapping[str, float] | None = None,
) -> Chart:
    """Draw counters of several launches: lines over numbers, bars over names.

    Parameters
    ----------
    counts : mapping of number or str to Counters, or to several of them
        For example ``{stride: ck.count(...)}``. Several are added up, as of kernels
        that run one after the other.
    fields : str or sequence of str
        Names of counters, at most six; each is a series.
    title : str
        What the picture shows, as a sentence.
    along : str
        What the keys are, with their unit.
    limits : mapping of str to float, optional
        Lines across the picture: what each is, and where it lies.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.

    Raises
    ------
    ArgumentError
        If there is nothing to draw, or a field is no counter.
    """
    fields = (fields,) if isinstance(fields, str) else tuple(fields)
    limits = dict(limits or {})
    keys = sorted(counts) if _are_numbers(counts) else list(counts)
    series = {key: _several(counts[key]) for key in keys}
    _check(series, fields)
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        values = [[_total(f, name) for f in series.values()] for name in fields]
        draw = draw_lines if _are_numbers(counts) else draw_bars
        draw(axes, keys, values, [name.replace("_", " ") for name in fields])
        draw_limits(axes, limits)
        _label(axes, fields, title=title, along=along)
        keep_labels_off(axes, limits.values())
        note = ", ".join(dict.fromkeys(_origins(series, fields)))
        sign(chart, note)
    chart.headings = (along, *(name.replace("_", " ") for name in fields))
    chart.rows = tuple(zip(keys, *values, strict=True))
    chart.alt = in_words(chart, title, limits, note)
    return chart


def _several(counters: Any) -> tuple[Any, ...]:
    return tuple(counters) if isinstance(counters, list | tuple) else (counters,)


def _total(several: Sequence[Any], name: str) -> Any:
    return sum(getattr(counters, name) for counters in several)


def _check(series: Mapping[Any, Sequence[Any]], fields: Sequence[str]) -> None:
    if not all(series.values()) or not series or not 1 <= len(fields) <= len(COLOURS):
        raise ArgumentError.explained(
            f"plot.counters got {len(series)} entries and {len(fields)} counters.",
            cure=f"Give at least one count an entry, and 1 to {len(COLOURS)} counters.",
        )
    for key, several in series.items():
        for name in fields:
            _check_counter(key, several, name)


def _check_counter(key: Any, several: Sequence[Any], name: str) -> None:
    for counters in several:
        if not isinstance(getattr(counters, name, None), Real):
            raise ArgumentError.explained(
                f"plot.counters finds no counter {name!r} for {key!r}, which is of "
                f"the type {type(counters).__name__}.",
                "The name is misspelt, or the value is not what ck.count returns.",
                "print(ck.count(...)) lists the names.",
            )
    if len(several) > 1 and isinstance(getattr(several[0], name), float):
        raise ArgumentError.explained(
            f"plot.counters cannot add up {name} of {len(several)} counts, for "
            f"{key!r}.",
            "It is a ratio, and ratios of several launches have no sum.",
            "Draw counts, or one launch an entry.",
        )


def _are_numbers(counts: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, Real) for key in counts)


def _label(axes, fields: Sequence[str], *, title: str, along: str) -> None:
    unit = _UNITS.get(fields[0], fields[0].replace("_", " "))
    several = "bytes" if all(f.startswith("bytes_") for f in fields) else "count"
    axes.set_ylabel(unit if len(fields) == 1 else several)
    axes.set_xlabel(along)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.1)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    draw_title(axes, title)
    draw_grid(axes, "y")


def _origins(series: Mapping[Any, Any], fields: Sequence[str]) -> Iterator[str]:
    for counters in (each for several in series.values() for each in several):
        yield _origin(counters)
        if any(counters.label(name) == "ptx" for name in fields):
            yield "of PTX, not of machine code"


def _origin(counters: Any) -> str:
    """Return how a launch was counted, on which GPU, and for a real one the day."""
    said, device = _ORIGINS.get(counters.source, counters.source), counters.device
    if device and counters.source == "simulator":
        return f"counted on the simulated {device.removeprefix('NVIDIA ')}"
    if device and counters.source == "ncu":
        return f"{said} on {device}, {datetime.date.today().isoformat()}"
    return f"{said}, {device}" if device else said
