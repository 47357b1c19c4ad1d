"""Plot of one memory access: the sector, or the bank, that each lane reaches."""

from __future__ import annotations

import math

from matplotlib import rc_context
from matplotlib.patches import FancyArrowPatch, Rectangle

from coursekit.analysis.tracing import Trace
from coursekit.errors import ArgumentError
from coursekit.plot.chart import COLOURS, FAINT, INK, STYLE, Chart, new_chart, sign
from coursekit.plot.drawing import draw_title
from coursekit.simt import BANKS, LANES, MemoryAccess, Step

_LANES_AT, _BOXES_AT, _HIGH = 1.0, 0.0, 0.2
_CALM, _ALARM, _IDLE, _IN_BOX = "#c8ecdd", "#ffddc2", "#dfe3e8", "#1f2328"


def memory_access(
    trace: Trace,
    line: int | None = None,
    step: int | None = None,
    *,
    title: str | None = None,
) -> Chart:
    """Draw the lanes of one access and the sectors, or banks, that they reach.

    Parameters
    ----------
    trace : Trace
        Of ``ck.trace``.
    line : int, optional
        A source line: its access that needs most sectors or wavefronts is drawn.
    step : int, optional
        The very step, by its position in the trace, from 0. Without line and step,
        the access that needs most of all.
    title : str, optional
        The claim of the picture; what the access needs, unless told otherwise.

    Returns
    -------
    Chart
        With lane, element, and sector or bank as its table.

    Raises
    ------
    ArgumentError
        If there is no such access of global or shared memory.

    Examples
    --------
    ``ck.plot.memory_access(ck.trace(kernel, grid, block, args), line=7)``
    """
    chosen, access = _chosen(trace, line, step)
    chart = new_chart()
    with rc_context(STYLE):
        axes = chart.add_subplot()
        boxes = _boxes(access)
        _draw(axes, access, boxes)
        draw_title(axes, title or _needs(access))
    shared = access.space == "shared"
    chart.headings = ("lane", "element", "bank" if shared else "sector")
    targets = access.banks if shared else access.sectors
    chart.rows = [
        (lane, access.element_name(lane), targets[lane]) for lane in access.lanes
    ]
    note = (
        f"{trace.kernel}, line {chosen.line}, warp {trace.warp} of block "
        f"{trace.block_index}"
    )
    where = f"simulated {trace.device.removeprefix('NVIDIA ')}".strip()
    chart.alt = (
        f"{title or _needs(access)}. {_words(access, boxes)} In {note}, {where}."
    )
    sign(chart, f"{note}; {where}")
    return chart


def amount(access: MemoryAccess) -> int:
    """Return the sectors or wavefronts that an access needs."""
    ending = "_wavefronts" if access.space == "shared" else "_sectors"
    counted = [n for name, n in access.counts.items() if name.endswith(ending)]
    return sum(counted) if counted else access.distinct_sectors


def _chosen(trace, line, step) -> tuple[Step, MemoryAccess]:
    candidates = [
        (each_step, access)
        for number, each_step, access in trace.accesses()
        if access.space in ("global", "shared")
        and line in (None, each_step.line)
        and step in (None, number)
    ]
    if candidates:
        return max(candidates, key=lambda entry: amount(entry[1]))
    lines = sorted({each_step.line for _, each_step, _ in trace.accesses()})
    raise ArgumentError.explained(
        f"memory_access finds no access of global or shared memory "
        f"(line={line!r}, step={step!r}).",
        "The warp reaches memory elsewhere, or left before.",
        f"Lines with accesses are: {', '.join(map(str, lines)) or 'none'}.",
    )


def _boxes(access: MemoryAccess) -> list[int]:
    if access.space == "shared":
        return list(range(BANKS))
    return sorted({sector for sector in access.sectors if sector is not None})


def _needs(access: MemoryAccess) -> str:
    lanes, many = len(access.lanes), amount(access)
    what = "wavefront" if access.space == "shared" else "sector"
    what += "" if many == 1 else "s"
    verb = access.verb if lanes == 1 else access.verb[:-1]
    name = access.array or "memory"
    return f"{lanes} lane{'' if lanes == 1 else 's'} {verb} {name}: {many} {what}"


def _words(access: MemoryAccess, boxes: list[int]) -> str:
    if access.space != "shared":
        first, last = boxes[0], boxes[-1]
        return f"The {len(boxes)} sectors lie from sector {first} to sector {last}."
    users = _users(access)
    busiest = max(users.values())
    return f"The busiest bank is asked for {busiest} of its words."


def _users(access: MemoryAccess) -> dict[int, int]:
    words: dict[int, set[int]] = {}
    for bank, at in zip(access.banks, access.addresses, strict=True):
        if at is not None:
            words.setdefault(bank, set()).add(at // 4)
    return {bank: len(addresses) for bank, addresses in words.items()}


def _draw(axes, access: MemoryAccess, boxes: list[int]) -> None:
    shared = access.space == "shared"
    targets = access.banks if shared else access.sectors
    users = _users(access) if shared else {}
    wide = min(3.0, LANES / len(boxes))
    middle = {box: (n + 0.5) * wide for n, box in enumerate(boxes)}
    for lane in range(LANES):
        taking = targets[lane] is not None
        ground = "#cfe4f5" if taking else _IDLE
        _box(axes, lane + 0.5, _LANES_AT, 1.0, str(lane), ground=ground)
        if taking:
            _arrow(axes, lane + 0.5, middle[targets[lane]])
    for position, box in enumerate(boxes):
        busy = users.get(box, 0) if shared else 1
        ground = _IDLE if not busy else _ALARM if busy > 1 else _CALM
        element = box if shared else math.ceil(box * 32 / access.item_bytes)
        every = math.ceil((len(str(element)) + 1) * 0.32 / wide)
        label = "" if position % every else str(element)
        _box(axes, middle[box], _BOXES_AT, wide, label, ground=ground)
        if busy > 1:
            _label(axes, middle[box], _BOXES_AT - 0.09, str(busy))
    below = (
        "banks of shared memory; below a bank, how many of its words are asked for"
        if shared
        else f"sectors of {access.array}, by their first element"
    )
    _label(axes, 0, _LANES_AT + _HIGH + 0.05, "lanes of the warp", ha="left")
    _label(axes, 0, _BOXES_AT - 0.2, below, ha="left")
    axes.set_xlim(-0.2, LANES + 0.2)
    axes.set_ylim(-0.28, _LANES_AT + _HIGH + 0.12)
    axes.axis("off")


def _box(axes, x: float, y: float, wide: float, label: str, *, ground: str) -> None:
    axes.add_patch(
        Rectangle(
            (x - wide / 2 + 0.04, y),
            wide - 0.08,
            _HIGH,
            facecolor=ground,
            edgecolor=FAINT,
            linewidth=0.8,
            zorder=3,
        )  # fmt: skip
    )
    axes.text(x, y + _HIGH / 2, label, ha="center", va="center", fontsize=7.5,
              color=_IN_BOX, zorder=4)  # fmt: skip


def _arrow(axes, start: float, end: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            (start, _LANES_AT),
            (end, _BOXES_AT + _HIGH),
            arrowstyle="-|>",
            mutation_scale=6,
            linewidth=0.8,
            color=COLOURS[0],
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )  # fmt: skip
    )


def _label(axes, x: float, y: float, text: str, ha: str = "center") -> None:
    axes.text(x, y, text, ha=ha, va="center", fontsize=9, color=INK)
