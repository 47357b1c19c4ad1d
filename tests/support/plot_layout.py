"""What lies on what in a chart: texts, and the curves and limits under them."""

from __future__ import annotations

import functools

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def overlaps(chart) -> list[tuple[str, str]]:
    """Return each text that a curve, a limit or another text passes through."""
    renderer = _drawn(chart)
    boxes = {text: text.get_window_extent(renderer) for text in _texts(chart)}
    found = [
        (text.get_text(), f"line {line.get_label()}")
        for text, box in boxes.items()
        for line in _lines(chart)
        if _passes(line, box) and not _covered(line, box, renderer)
    ]
    pairs = list(boxes.items())
    for number, (text, box) in enumerate(pairs):
        found += [
            (text.get_text(), other.get_text())
            for other, other_box in pairs[:number]
            if Bbox.intersection(box.padded(-1), other_box.padded(-1))
        ]
    return found


def cut_off(chart) -> list[str]:
    """Return the texts that reach beyond the picture."""
    renderer, whole = _drawn(chart), chart.bbox.padded(1)
    boxes = ((text, text.get_window_extent(renderer)) for text in _texts(chart))
    return [
        text.get_text()
        for text, box in boxes
        if not (whole.contains(box.x0, box.y0) and whole.contains(box.x1, box.y1))
    ]


def texts(chart) -> list[Text]:
    """Return the texts that a reader sees."""
    _drawn(chart)
    return _texts(chart)


@functools.lru_cache(maxsize=1)
def _drawn(chart):
    """Draw a chart, once for all that is asked of it; return the renderer."""
    canvas = FigureCanvasAgg(chart)
    canvas.draw()
    return canvas.get_renderer()


def _texts(chart) -> list[Text]:
    seen = (text for text in chart.findobj(Text) if text.get_visible())
    ticks = {
        label
        for axes in chart.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks() + axis.get_minor_ticks()
        for label in (tick.label1, tick.label2)
        if not _in_view(axis, tick)
    }
    return [text for text in seen if text.get_text().strip() and text not in ticks]


def _in_view(axis, tick) -> bool:
    low, high = sorted(axis.get_view_interval())
    shown = axis.axes.axison and axis.get_visible()
    return shown and low <= tick.get_loc() <= high


def _lines(chart) -> list:
    return [line for axes in chart.axes for line in axes.lines if line.get_visible()]


def _covered(line, box: Bbox, renderer) -> bool:
    """Return whether a bar lies between a line and a text that is inside the bar."""
    bars = (patch for patch in line.axes.patches if patch.zorder > line.zorder)
    boxes = (bar.get_window_extent(renderer) for bar in bars)
    return any(
        bar.x0 <= box.x0 and box.x1 <= bar.x1
        for bar in boxes
        if bar.y0 <= box.y0 and box.y1 <= bar.y1
    )


def _passes(line, box: Bbox) -> bool:
    """Return whether a line, or one of its marks, passes through a box in the axes."""
    area = line.axes.bbox
    box = Bbox.intersection(box.padded(-1), area)
    points = line.get_transform().transform(line.get_xydata())
    if box is None or not len(points):
        return False
    if line.get_linestyle() in ("None", "none", "", " "):
        return any(box.contains(*point) for point in points)
    shares = np.linspace(0, 1, 400)[:, None, None]
    on_line = points[:-1] + (points[1:] - points[:-1]) * shares
    low, high = (box.xmin, box.ymin), (box.xmax, box.ymax)
    return bool(((low <= on_line) & (on_line <= high)).all(axis=-1).any())
