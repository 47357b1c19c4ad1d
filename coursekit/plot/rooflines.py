"""Roofline plot: rates of kernels below the limits of memory and arithmetic."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context

from coursekit import hardware
from coursekit.errors import ArgumentError
from coursekit.plot.chart import (
    LIMIT,
    STYLE,
    Chart,
    in_words,
    new_chart,
    sign,
)
from coursekit.plot.drawing import draw_grid, draw_title, mark


def roofline(
    points: Any,
    *,
    title: str,
    size: int | None = None,
    device: Any = None,
    kind: str = "fp32",
    origin: str = "",
) -> Chart:
    """Draw kernels under the roof of a GPU: operations per byte, and per second.

    Parameters
    ----------
    points : Benchmark, or mapping of str to a point
        A benchmark that knows bytes and operations, or for each kernel one of: what
        ``ck.count`` returns, a line up to the roof, the most that it can reach; such
        counts with a time, ``(counts, milliseconds)`` or ``(counts, row)`` of a
        benchmark; what ``ck.report`` returns, by the bytes that passed through memory;
        or FLOP per byte and TFLOP/s.
    title : str
        What the picture shows, as a sentence.
    size : int, optional
        Of a benchmark; the largest unless told otherwise.
    device : str, optional
        The GPU of the roof, where the points are no benchmark.
    kind : str
        The arithmetic of the flat roof: fp32, fp64, bf16_tensor, ...
    origin : str
        Where pairs are from: a GPU and a day.

    Returns
    -------
    Chart
        A matplotlib figure; `alt` tells it in words, `rows` are its numbers.

    Raises
    ------
    ArgumentError
        The points have no bytes or no operations.

    Notes
    -----
    Counts hold the bytes that warps ask for. What a cache serves again never comes from
    memory, so a kernel that reuses values lies further right, and can be faster than
    its counts alone allow.
    """
    if isinstance(points, Mapping):
        roof, placed_points, note = _from_mapping(points, device, kind, origin)
    else:
        roof, placed_points, note = _from_benchmark(points, size)
    with rc_context(STYLE):
        chart = new_chart()
        axes = chart.add_subplot()
        places = [point[:2] for point in placed_points.values()]
        _draw_roof(axes, roof, *zip(*places, strict=True))
        _draw_points(axes, placed_points)
        axes.set_xlabel("arithmetic intensity (FLOP per byte)")
        axes.set_ylabel("performance (TFLOP/s)")
        draw_title(axes, title)
        draw_grid(axes, "both")
        sign(chart, textwrap.fill(note, _NOTE_WIDTH))
    chart.headings = ("kernel", "FLOP per byte", "TFLOP/s", "of the roof")
    chart.rows = tuple(
        (name, x, "at most " + f"{y:,.3g}" if is_bound else y, f"{y / roof.at(x):.0%}")
        for name, (x, y, is_bound) in placed_points.items()
    )
    chart.alt = in_words(chart, title, {}, f"{note}. {roof.sentence}")
    return chart


@dataclass(frozen=True)
class Roof:
    """The roof of a device: a slope by its bandwidth, and a flat part by its peak."""

    device: str
    bandwidth_gbs: float
    peak_tflops: float
    kind: str

    @property
    def ridge(self) -> float:
        """FLOP per byte at which the two limits meet."""
        return 1e3 * self.peak_tflops / self.bandwidth_gbs

    def at(self, intensity: float) -> float:
        """TFLOP/s that the roof allows at an intensity."""
        return min(self.peak_tflops, 1e-3 * self.bandwidth_gbs * intensity)

    @property
    def name(self) -> str:
        """The two limits, for the legend."""
        kind = self.kind.replace("_", " ")
        return (
            f"roof: {self.bandwidth_gbs:,.4g} GB/s, then {self.peak_tflops:,.3g} "
            f"TFLOP/s of {kind}"
        )

    @property
    def sentence(self) -> str:
        return (
            f"Dashed lines, the limits of the {self.device}: {self.bandwidth_gbs:,.4g} "
            f"GB/s up to {self.ridge:.3g} FLOP per byte, then {self.peak_tflops:,.3g} "
            f"TFLOP/s of {self.kind.replace('_', ' ')}"
        )


def _refusal(what: str) -> ArgumentError:
    return ArgumentError.explained(
        f"plot.roofline {what}.",
        "A roofline relates operations to bytes.",
        "Give ck.benchmark both bytes_moved and flops, or counts of ck.count.",
    )


def _from_benchmark(benchmark: Any, size: int | None) -> tuple:
    ceiling = benchmark.ceiling
    size = max(benchmark.sizes) if size is None else size
    limits = ceiling.bandwidth_gbs, ceiling.peak_tflops
    if not (ceiling.bytes_moved and ceiling.flops and all(limits)):
        raise _refusal("got a benchmark without bytes, operations, or known limits")
    roof = Roof(ceiling.device, *limits, ceiling.kind)
    intensity = ceiling.flops[size] / ceiling.bytes_moved[size]
    placed_points = {}
    for case in benchmark.cases:
        row = benchmark.find(case, size)
        rate = benchmark.tflops(row) if row else roof.at(intensity)
        name = case if row else f"{case} ({benchmark.missing.get(case, 'no time')})"
        placed_points[name] = (intensity, rate, row is None)
    return roof, placed_points, benchmark.note


def _from_mapping(
    points: Mapping[str, Any], device: Any, kind: str, origin: str
) -> tuple:
    properties = hardware.device(device)
    peak = getattr(properties, f"{kind}_tflops", None)
    if not points or not peak:
        raise _refusal(f"got {len(points)} points, and the peak {peak} for {kind!r}")
    name = properties.name.removeprefix("NVIDIA ")
    roof = Roof(name, properties.memory_bandwidth_gbs, peak, kind)
    placed_points, notes = {}, [origin] if origin else []
    notes.append(f"limits by the data sheet of the {name}")
    for key, point in points.items():
        intensity, rate, note = placed(point)
        is_bound = rate is None
        rate = roof.at(intensity) if is_bound else rate
        notes += [note] if note else []
        if not (intensity > 0 and rate > 0):
            raise _refusal(f"finds no operations or no bytes for {key!r}")
        placed_points[key] = (intensity, rate, is_bound)
    return roof, placed_points, "; ".join(dict.fromkeys(notes))


_NOTE_WIDTH = 115
_COUNTED = "counted; points are what is possible, not measured"
_TIMED = "bytes as warps ask for them: caches can lift a point over the slope"
_PROFILED = "times and bytes through memory by Nsight Compute on {}, {}"


def placed(point: Any) -> tuple[float, float | None, str]:
    """Return FLOP per byte, TFLOP/s where they are known, and where they are from."""
    if hasattr(point, "arithmetic_intensity"):
        return point.arithmetic_intensity, None, _COUNTED
    if hasattr(point, "memory_bytes"):
        moved, done = point.memory_bytes, point.flops
        rate = done / point.elapsed_ns * 1e-3 if point.elapsed_ns else 0.0
        return (
            (done / moved if moved else 0.0),
            rate,
            _PROFILED.format(point.device, point.date),
        )
    first, second = point
    if not hasattr(first, "arithmetic_intensity"):
        return first, second, ""
    elapsed_ms = getattr(second, "median_ms", second)
    done = first.arithmetic_intensity * (first.bytes_read + first.bytes_written)
    rate = done / elapsed_ms * 1e-9 if elapsed_ms else 0.0
    return first.arithmetic_intensity, rate, _TIMED


def _draw_roof(axes: Any, roof: Roof, intensities: tuple, rates: tuple) -> None:
    low = min([*(x / 3 for x in intensities), roof.ridge / 30])
    high = max([*intensities, roof.ridge]) * 24
    places = [low, roof.ridge, high]
    axes.set_xscale("log")
    axes.set_yscale("log")
    style = {"color": LIMIT, "linestyle": "--", "linewidth": 1.4, "zorder": 2}
    axes.plot(places, [roof.at(x) for x in places], label=roof.name, **style)
    axes.set_xlim(low, high)
    lowest = min([roof.at(low), *rates])
    axes.set_ylim(lowest / 3, roof.peak_tflops * 3)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_major_formatter("{x:,.10g}")


def _draw_points(axes: Any, placed_points: Mapping[str, tuple]) -> None:
    bottom = axes.get_ylim()[0]
    for number, (name, (x, y, is_bound)) in enumerate(placed_points.items()):
        drawn = mark(number)
        if is_bound:
            upright = {"color": drawn["color"], "linestyle": ":", "linewidth": 1.6}
            axes.plot([x, x], [bottom, y], **upright, zorder=3)
        axes.plot(
            x,
            y,
            linestyle="none",
            markersize=8,
            markerfacecolor="none" if is_bound else drawn["color"],
            **drawn,
            markeredgewidth=1.8,
            label=f"{name}, at most" if is_bound else name,
            zorder=4,
        )
