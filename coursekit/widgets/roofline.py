"""An interactive roofline: choose the GPU, add kernels, see what bounds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from coursekit import hardware
from coursekit.errors import ArgumentError
from coursekit.plot.chart import Chart
from coursekit.plot.rooflines import Roof, placed, roofline
from coursekit.widgets.base import CourseWidget

KINDS = (
    "fp32", "fp64", "fp16_tensor", "bf16_tensor", "tf32_tensor", "fp8_tensor",
)  # fmt: skip
MOST = 12


def roofline_explorer(
    points: Mapping[str, Any],
    *,
    device: Any = None,
    kind: str = "fp32",
) -> RooflineExplorer:
    """Look at kernels under the roof of one GPU after another, and add some.

    Parameters
    ----------
    points : mapping of str to a point
        As for ``ck.plot.roofline``: counts, counts with a time, reports, or pairs.
    device : str, optional
        The first GPU, on which the times were measured; as for ``ck.device``.
    kind : str
        The arithmetic of the flat roof: fp32, fp64, bf16_tensor, ...

    Returns
    -------
    RooflineExplorer
        A widget; stored, it is the plot.

    Raises
    ------
    ArgumentError
        A point has no operations or no bytes, or the GPU no such arithmetic.

    Examples
    --------
    ``ck.roofline_explorer({"mine": ck.count(kernel, grid, block, args)})``
    """
    return RooflineExplorer(points, hardware.device(device), kind)


class RooflineExplorer(CourseWidget, files="roofline"):
    """Kernels at their operations per byte, below the roof of a GPU.

    Attributes
    ----------
    points : list of [str, float, float or None]
        Name, FLOP per byte, and TFLOP/s where a time is known.
    device, kind : str
        The GPU and the arithmetic of the roof.
    timed_on : str
        The GPU that the times are of: under another one's roof they say nothing.
    roof : Roof
        Its limits.
    """

    points = traitlets.List().tag(sync=True)
    device = traitlets.Unicode().tag(sync=True)
    kind = traitlets.Enum(KINDS, "fp32").tag(sync=True)
    timed_on = traitlets.Unicode().tag(sync=True)
    devices = traitlets.Dict().tag(sync=True)

    def __init__(self, points: Mapping[str, Any], device: Any, kind: str) -> None:
        gpus = {**hardware.devices(), device.name: device}
        state = {name: _limits(gpu) for name, gpu in gpus.items()}
        if kind not in state[device.name]["tflops"]:
            raise ArgumentError.explained(
                f"The {device.name} has no peak of {kind!r}.",
                cure=f"Take one of {', '.join(state[device.name]['tflops'])}.",
            )
        if not isinstance(points, Mapping):
            raise ArgumentError.explained(
                f"The roofline got {type(points).__name__}, which names no kernels.",
                "Each kernel has a name and a place: its counts, or a pair of numbers.",
                'Write for example {"copy": (0.1, 3.5)}.',
            )
        given = [[name, *placed(point)[:2]] for name, point in points.items()]
        if not 1 <= len(given) <= MOST or any(not x > 0 for _, x, _ in given):
            raise ArgumentError.explained(
                f"The roofline got {len(given)} kernels, or one without operations "
                "or bytes.",
                "A kernel lies where its operations a byte say.",
                f"Give 1 to {MOST} kernels that compute and move something.",
            )
        traits = {"device": device.name, "timed_on": device.name, "devices": state}
        super().__init__(points=given, kind=kind, **traits)

    @property
    def roof(self) -> Roof:
        limits = self.devices[self.device]
        peak = limits["tflops"][self.kind]
        return Roof(self.device, limits["gbs"], peak, self.kind)

    def lines(self) -> list[str]:
        """Return for each kernel what bounds it, and its share of the bound."""
        return [_told(self.roof, *point, self.timed_on) for point in self.points]

    def __repr__(self) -> str:
        return "\n".join([self.chart().alt, *self.lines()])

    def alt_text(self) -> str:
        return self.chart().alt

    def chart(self) -> Chart:
        """Return the plot that is stored in the notebook."""
        roof, timed = self.roof, self.device == self.timed_on
        bounds = [name for name, _, y in self.points if y is None or not timed]
        pairs = {
            name: (x, roof.at(x) if name in bounds else y) for name, x, y in self.points
        }
        note = f"without a time, at most: {', '.join(bounds)}" if bounds else ""
        title = f"Kernels under the roof of the {self.device}"
        return roofline(
            pairs, title=title, device=self.device, kind=self.kind, origin=note
        )

    def static_html(self) -> str:
        return self.chart()._html()


def _limits(device: Any) -> dict[str, Any]:
    peaks = {kind: getattr(device, f"{kind}_tflops", None) for kind in KINDS}
    return {
        "gbs": device.memory_bandwidth_gbs,
        "tflops": {kind: peak for kind, peak in peaks.items() if peak},
    }


def _told(
    roof: Roof, name: str, intensity: float, tflops: float | None, timed_on: str
) -> str:
    side = "memory" if intensity < roof.ridge else "arithmetic"
    most = roof.at(intensity)
    text = f"{name}: bound by {side}, at most {digits(most)} TFLOP/s"
    if tflops is None:
        return f"{text}."
    if roof.device != timed_on:
        return f"{text}; its time is of the {timed_on}."
    return f"{text}; it reaches {digits(tflops)}."


def digits(number: float) -> str:
    """Write a number with three digits, and never with an exponent."""
    return f"{float(f'{number:.3g}'):,.10g}"
