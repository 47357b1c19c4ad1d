"""Two boards side by side, as a whole or by what one SM of each has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context
from html import escape

import traitlets

from coursekit import hardware
from coursekit.hardware import DeviceProperties
from coursekit.widgets.base import CourseWidget

VIEWS = ("whole board", "one SM")
UNKNOWN = "-"
THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)  # as JavaScript rounds


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the comparison.

    Attributes
    ----------
    title, unit : str
    value : callable
        Takes a board; returns its number, or None where it is unknown.
    shared_out : bool
        Whether the number of the board is a sum over its SMs, or is shared by them.
        The others, such as a clock, are the same for an SM and the board.
    """

    title: str
    unit: str
    value: Callable[[DeviceProperties], float | None]
    shared_out: bool = True


def _of_sms(name: str, unit: int = 1) -> Callable[[DeviceProperties], float]:
    """Return a function that adds up what the SMs of a board have."""
    return lambda gpu: gpu.sm_count * getattr(gpu, name) / unit


FIGURES = (
    Figure("SMs", "", lambda gpu: gpu.sm_count),
    Figure("clock, at most", "MHz", lambda gpu: gpu.boost_clock_mhz, False),
    Figure("FP32 lanes", "", _of_sms("fp32_lanes_per_sm")),
    Figure("FP64 lanes", "", _of_sms("fp64_lanes_per_sm")),
    Figure("FP32 peak", "TFLOP/s", lambda gpu: gpu.fp32_tflops),
    Figure(
        "generation of tensor cores", "", lambda gpu: gpu.tensor_core_generation, False
    ),
    Figure("FP16 tensor peak, dense", "TFLOP/s", lambda gpu: gpu.fp16_tensor_tflops),
    Figure("resident threads", "", _of_sms("max_threads_per_sm")),
    Figure("registers", "KiB", _of_sms("registers_per_sm", 256)),
    Figure("L1 and shared memory", "KiB", _of_sms("l1_and_shared_bytes_per_sm", 1024)),
    Figure("L2 cache", "KiB", lambda gpu: gpu.l2_bytes / 1024),
    Figure("memory", "GiB", lambda gpu: gpu.memory_bytes / 2**30),
    Figure("memory bandwidth", "GB/s", lambda gpu: gpu.memory_bandwidth_gbs),
    Figure(
        "FP32 peak per bandwidth",
        "FLOP per byte",
        lambda gpu: 1000 * gpu.fp32_tflops / gpu.memory_bandwidth_gbs,
        False,
    ),
    Figure("power, at most", "W", lambda gpu: gpu.tdp_w),
)


def chip_explorer(
    left: str | DeviceProperties | None = None,
    right: str | DeviceProperties | None = "RTX 4090",
    *,
    view: str = VIEWS[0],
) -> ChipExplorer:
    """Compare two boards of the table, as a whole or by their SMs.

    Parameters
    ----------
    left, right : str or DeviceProperties, optional
        As for ``ck.device``.
    view : str
        "whole board", or "one SM": each number divided by the SMs of its board.

    Returns
    -------
    ChipExplorer
        A widget; stored, it is a table.

    Examples
    --------
    ``ck.chip_explorer("H100 SXM", "H100 PCIe")``
    """
    return ChipExplorer(hardware.device(left), hardware.device(right), view)


class ChipExplorer(CourseWidget, files="chip_explorer"):
    """Two boards whose figures stand side by side.

    Attributes
    ----------
    left, right : str
        Names of `ck.devices`, or that of the GPU here.
    view : str
        "whole board" or "one SM".
    """

    left = traitlets.Unicode().tag(sync=True)
    right = traitlets.Unicode().tag(sync=True)
    view = traitlets.Enum(VIEWS, VIEWS[0]).tag(sync=True)
    figures = traitlets.List(traitlets.Any()).tag(sync=True)
    devices = traitlets.Dict().tag(sync=True)

    def __init__(
        self, left: DeviceProperties, right: DeviceProperties, view: str
    ) -> None:
        self._boards = {**hardware.devices(), left.name: left, right.name: right}
        super().__init__(
            left=left.name,
            right=right.name,
            view=view,
            figures=[[one.title, one.unit, one.shared_out] for one in FIGURES],
            devices={name: _state(board) for name, board in self._boards.items()},
        )

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield title, both values with their unit, and left divided by right."""
        for figure in FIGURES:
            one, other = (self._value(name, figure) for name in (self.left, self.right))
            ratio = UNKNOWN if not (one and other) else digits(one / other)
            unit = figure.unit
            yield figure.title, shown(one, unit), shown(other, unit), ratio

    def _value(self, name: str, figure: Figure) -> float | None:
        board = self._boards[name]
        value = figure.value(board)
        if value is None or self.view == VIEWS[0] or not figure.shared_out:
            return value
        return value / board.sm_count

    def __repr__(self) -> str:
        head = ("", self.left, self.right, "left / right")
        lines = [head, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            [f"Two boards, {self.view}"]
            + [
                "  ".join(
                    text.ljust(width) for text, width in zip(line, widths, strict=True)
                ).rstrip()
                for line in lines
            ]
        )

    def alt_text(self) -> str:
        return f"{self.left} beside {self.right}, {self.view}."

    def static_html(self) -> str:
        names = ("figure", self.left, self.right, "left / right")
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr><th scope='row'>{escape(title)}</th>"
            + "".join(f"<td>{escape(text)}</td>" for text in texts)
            + "</tr>"
            for title, *texts in self.rows()
        )
        return (
            f"<table><caption>{escape(self.alt_text())}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _state(board: DeviceProperties) -> dict[str, object]:
    """Return what the view has to know of a board."""
    return {"sms": board.sm_count, "values": [one.value(board) for one in FIGURES]}


def digits(number: float) -> str:
    """Write a number to the next unit, and with three digits below 100."""
    if number >= 100:
        return f"{math.floor(number + 0.5):,}"
    return f"{float(THREE_DIGITS.create_decimal(number)):,.10g}"


def shown(value: float | None, unit: str) -> str:
    """Write a value with its unit; "-" where it is unknown."""
    return UNKNOWN if value is None else f"{digits(value)} {unit}".rstrip()
