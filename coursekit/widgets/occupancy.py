"""Sliders for registers, shared memory and block size, which set the occupancy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from html import escape
from typing import Any

import traitlets

from coursekit import hardware
from coursekit.analysis.occupancy import occupancy
from coursekit.analysis.occupancy.result import Occupancy
from coursekit.analysis.occupancy.rules import Demand, blocks, configurations, warps_of
from coursekit.errors import ArgumentError
from coursekit.hardware.architectures import SmLimits
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget

PANEL, GAP, HIGH = 240, 14, 150
WIDTH = 3 * PANEL + 2 * GAP + 8
_LEFT, _TOP, _BOTTOM = 34, 22, 34
_POINTS = 256
KEYS = ("registers", "shared_bytes", "threads")
TITLES = ("registers per thread", "shared KiB per block", "threads per block")


MOST_REGISTERS = 255


def occupancy_explorer(
    kernel: Any = 32,
    block: Any = 256,
    shared_bytes: int = 0,
    device: Any = None,
    *,
    grid: Any = None,
) -> OccupancyExplorer:
    """Change what a block needs and see how many of them an SM holds.

    Parameters
    ----------
    kernel, block, shared_bytes, device, grid
        The start of the sliders; as for ``ck.occupancy``. On another GPU the registers
        stay those of the first: compile for it to know its own.

    Returns
    -------
    OccupancyExplorer
        A widget; stored, it is a picture and a table.

    Examples
    --------
    ``ck.occupancy_explorer(kernel, 256, grid=4096)``
    """
    start = occupancy(kernel, block, shared_bytes, device, grid=grid)
    return OccupancyExplorer(within_sliders("occupancy_explorer", start))


def within_sliders(function: str, start: Occupancy) -> Occupancy:
    """Return what a widget starts with; refuse more registers than a thread can have.

    Raises
    ------
    ArgumentError
        The message names `function`.
    """
    if start.demand.registers > MOST_REGISTERS:
        raise ArgumentError.explained(
            f"{function} got {start.demand.registers} registers per thread.",
            f"A thread has at most {MOST_REGISTERS} registers.",
            "Give a kernel, or a smaller number.",
        )
    return start


class OccupancyExplorer(CourseWidget, files="occupancy"):
    """A launch whose resources the reader changes, on any GPU of the table.

    Attributes
    ----------
    registers, shared_bytes, threads : int
        Registers per thread; shared bytes and threads per block.
    grid : int
        Blocks of the launch; 0 where none is given.
    device : str
        A name of `ck.devices`, or that of the GPU here.
    result : Occupancy
        The result of `ck.occupancy` for the present choices.
    """

    registers = traitlets.Int(32, min=1, max=MOST_REGISTERS).tag(sync=True)
    shared_bytes = traitlets.Int(0, min=0).tag(sync=True)
    threads = traitlets.Int(256, min=1, max=1024).tag(sync=True)
    barriers = traitlets.Int(0, min=0).tag(sync=True)
    max_threads = traitlets.Int(1024, min=1).tag(sync=True)
    grid = traitlets.Int(0, min=0).tag(sync=True)
    kernel = traitlets.Unicode().tag(sync=True)
    device = traitlets.Unicode().tag(sync=True)
    devices = traitlets.Dict().tag(sync=True)

    def __init__(self, start: Occupancy) -> None:
        self._properties = {**hardware.devices(), start.device.name: start.device}
        demand = start.demand
        super().__init__(
            registers=max(demand.registers, 1),
            shared_bytes=demand.shared_bytes,
            threads=demand.threads,
            barriers=demand.barriers,
            max_threads=demand.max_threads,
            grid=start.grid_blocks or 0,
            kernel=start.kernel,
            device=start.device.name,
            devices={name: _state(gpu) for name, gpu in self._properties.items()},
        )

    @property
    def result(self) -> Occupancy:
        demand = Demand(
            self.threads,
            self.registers,
            self.shared_bytes,
            self.barriers,
            self.max_threads,
        )
        properties = self._properties[self.device]
        return Occupancy(self.kernel, properties, demand, self.grid or None)

    def __repr__(self) -> str:
        return repr(self.result)

    def alt_text(self) -> str:
        result = self.result
        return f"{result.title}. {result.summary} {' '.join(result.advice)}"

    def static_html(self) -> str:
        return super().static_html() + self.result._repr_html_()

    def static_svg(self) -> str:
        result = self.result
        panels = "".join(_panel(number, key, result) for number, key in enumerate(KEYS))
        ground, line = palette.GROUNDS["panel"].light, palette.LINES["line"].light
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HIGH}" '
            f'viewBox="0 0 {WIDTH} {HIGH}" font-family="sans-serif" font-size="11" '
            f'fill="{palette.INKS["ink"].light}"><rect x="0.5" y="0.5" rx="4" '
            f'width="{WIDTH - 1}" height="{HIGH - 1}" fill="{ground}" '
            f'stroke="{line}"/>{panels}</svg>'
        )


def _state(device: Any) -> dict[str, Any]:
    """Return the limits of a device with which the view computes the occupancy."""
    own = {item.name: getattr(device, item.name) for item in fields(SmLimits)}
    own["shared_carveouts_bytes"] = configurations(device)
    own["compute_capability"] = list(own["compute_capability"])
    return own | {
        "sm_count": device.sm_count,
        "max_warps_per_sm": device.max_warps_per_sm,
        "shared_bytes_per_block_optin": device.shared_bytes_per_block_optin,
    }


def largest(sm: SmLimits, key: str) -> int:
    """Return the largest value on the axis of a panel."""
    return {
        "registers": sm.max_registers_per_thread,
        "shared_bytes": sm.shared_bytes_per_block_optin,
        "threads": sm.max_threads_per_block,
    }[key]


def curve(sm: SmLimits, demand: Demand, key: str) -> Iterator[tuple[int, int]]:
    """Yield values on the axis of a panel, and the warps per SM at each."""
    most = largest(sm, key)
    for point in range(_POINTS):
        value = max(point * most // (_POINTS - 1), 1)
        changed = replace(demand, **{key: value})
        yield value, blocks(sm, changed) * warps_of(sm, changed)


def _panel(number: int, key: str, result: Occupancy) -> str:
    """Draw the warps per SM over one resource, and mark the launch."""
    sm, x0 = result.device, 4 + number * (PANEL + GAP)
    width, height = PANEL - _LEFT - 8, HIGH - _TOP - _BOTTOM
    most = largest(sm, key)

    def at(value: int, warps: int) -> tuple[float, float]:
        x = x0 + _LEFT + width * value / most
        return x, _TOP + height * (1 - warps / sm.max_warps_per_sm)

    steps, before = [], None
    for value, warps in curve(sm, result.demand, key):
        x, y = at(value, warps)
        steps.append(f"M{x:.1f} {y:.1f}" if before is None else f"H{x:.1f}")
        if before is not None and y != before:
            steps.append(f"V{y:.1f}")
        before = y
    x, y = at(getattr(result.demand, key), result.active_warps)
    accent, heat = palette.LINES["accent"].light, palette.LINES["heat"].light
    bottom = _TOP + height
    scale = 1024 if key == "shared_bytes" else 1
    return (
        f'<text x="{x0 + 4}" y="14" font-weight="bold">warps over '
        f"{escape(TITLES[number])}</text>"
        f'<path d="M{x0 + _LEFT} {_TOP}V{bottom}H{x0 + _LEFT + width}" fill="none" '
        f'stroke="{palette.LINES["line"].light}"/>'
        f'<path d="{"".join(steps)}" fill="none" stroke="{accent}" stroke-width="2"/>'
        f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="{heat}" stroke-dasharray="3 3"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{heat}"/>'
        f'<text x="{x0 + _LEFT - 4}" y="{_TOP + 8}" text-anchor="end">'
        f"{sm.max_warps_per_sm}</text>"
        f'<text x="{x0 + _LEFT - 4}" y="{bottom}" text-anchor="end">0</text>'
        f'<text x="{x0 + _LEFT}" y="{bottom + 14}">0</text>'
        f'<text x="{x0 + _LEFT + width}" y="{bottom + 14}" text-anchor="end">'
        f"{most // scale}</text>"
        f'<text x="{x0 + _LEFT + width / 2}" y="{bottom + 28}" text-anchor="middle">'
        f"now {getattr(result.demand, key) / scale:.4g}: {result.active_warps} warps"
        "</text>"
    )
