"""Every plot: readable on a light and on a dark page, and no text on a curve."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from contrast import contrast
from matplotlib.colors import to_hex
from PIL import Image
from plot_layout import cut_off, overlaps, texts

import coursekit as ck
from coursekit import benchmarks, plot
from coursekit.lessons.minimise import picture
from coursekit.lessons.minimise.trials import FAILS, Attempt
from coursekit.lessons.mnist import viewing
from coursekit.plot import chart as parts
from coursekit.simt.memory.counters import Counters

PAGES = {"light": "#ffffff", "dark": "#111111"}
TITLE = "A claim in one short sentence"


def counted(requests, sectors):
    values = {"global_load_requests": requests, "global_load_sectors": sectors}
    return Counters(values)


def counters_over_numbers():
    counts = {2: counted(4, 32), 1: counted(4, 16), 4: counted(4, 64)}
    return plot.counters(
        counts,
        ["global_load_requests", "global_load_sectors"],
        title=TITLE,
        along="stride (floats)",
        limits={"at most": 64, "at least": 16},
    )


def counters_over_names():
    counts = {"naive": counted(4, 60), "tiled": counted(4, 16)}
    return plot.counters(
        counts, "global_load_sectors", title=TITLE, along="kernel", limits={"most": 62}
    )


def curves():
    x = 4 ** np.arange(8)
    series = {f"p = {p:.0%}": 1 / (1 - p + p / x) for p in (0.5, 0.95, 0.99)}
    return plot.curves(
        x, series, title=TITLE, along="workers", of="speedup (times)", limits={"20": 20}
    )


def timeline():
    spans = [("copy", "in", 0, 4), ("SMs", "wait", 0, 4), ("SMs", "run", 4, 9)]
    limits = {"least time: 9 ms": 9}
    return plot.timeline(
        spans, title=TITLE, origin="computed", limits=limits, waits=("wait",)
    )


def roofline():
    points = {"naive": (0.25, 0.9), "tiled": (14.0, 40.0), "vector add": (1 / 12, 0.3)}
    return plot.roofline(points, title=TITLE, device="H200", origin="made up")


def memory_access():
    kernel = ck.compile("start/read_strided.cu").read_strided
    x = np.zeros(1024, np.float32)
    trace = ck.trace(kernel, 1, 32, (x, np.zeros(32, np.float32), 32, 2))
    return plot.memory_access(trace)


def learning():
    losses = {"ours": list(np.linspace(2.3, 0.2, 40)), "PyTorch's": [2.3] * 40}
    return viewing.learning(losses, title=TITLE, every=4, chance=2.3)


def minimised():
    cases = [Attempt({"n": n}, FAILS) for n in (800, 400, 200)]
    return picture.draw({"n": 800}, {"n": 200}, cases, "Three cases were run.")


def recorded(draw, key):
    return lambda: getattr(plot, draw)(benchmarks.benchmark(key), title=TITLE)


RECORDED = (
    ("ladder", "matmul/ladder"),
    ("ladder", "reduction/sum"),
    ("ladder", "warps/strides"),
    ("rates", "matmul/sizes"),
    ("rates", "moving/allocate"),
    ("rates", "synchronisation/heat"),
    ("speedup", "matmul/ladder"),
    ("speedup", "mnist/step_tf32"),
    ("speedup", "moving/on_device"),
    ("speedup", "reduction/sum"),
)
CHARTS = {
    "counters over numbers": counters_over_numbers,
    "counters over names": counters_over_names,
    "curves": curves,
    "timeline": timeline,
    "roofline": roofline,
    "memory access": memory_access,
    "learning": learning,
    "minimised": minimised,
} | {f"{draw} of {key}": recorded(draw, key) for draw, key in RECORDED}


@pytest.fixture(scope="module", params=CHARTS.values(), ids=CHARTS)
def chart(request):
    return request.param()


def brighter(colour: str) -> str:
    """Return a colour as the dark theme's filter shows it."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    shown = (min(255, round(parts.BRIGHTER * channel)) for channel in channels)
    return "#" + "".join(f"{channel:02x}" for channel in shown)


def test_no_text_lies_on_a_curve_or_on_another_text(chart):
    assert overlaps(chart) == []


def test_no_text_is_cut_off(chart):
    assert cut_off(chart) == []


def test_ground_is_transparent(chart):
    grounds = [chart.get_facecolor(), *(axes.get_facecolor() for axes in chart.axes)]
    assert [ground[3] for ground in grounds] == [0] * len(grounds)


def test_every_text_is_readable_on_both_pages(chart):
    inks = {to_hex(text.get_color()) for text in texts(chart)}
    free = inks - {parts.ON_PLATE, "#1f2328"}  # those stand on a fill of their own
    assert {ink for ink in free if contrast(ink, PAGES["light"]) < 4.5} == set()
    assert {
        ink for ink in free if contrast(brighter(ink), PAGES["dark"]) < 4.5
    } == set()


def test_axes_have_units_with_per(chart):
    named = " ".join(f"{axes.get_xlabel()} {axes.get_ylabel()}" for axes in chart.axes)
    assert not re.search(r"\w (a|an) (second|byte|launch|thread)\b", named)


def test_text_stays_legible_on_a_dark_page_without_style_sheets():
    """JupyterLab drops them from outputs of notebooks that nobody has run yet."""
    inks = (parts.INK, parts.FAINT, parts.LIMIT)
    assert min(contrast(ink, PAGES["dark"]) for ink in inks) > 3.5


def test_text_on_a_plate_is_readable():
    assert contrast(parts.ON_PLATE, parts.PLATE) > 4.5
    assert contrast(brighter(parts.ON_PLATE), brighter(parts.PLATE)) > 4.5


def test_picture_in_a_notebook_is_transparent():
    html = curves()._repr_mimebundle_()["text/html"]
    data = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1])
    corner = Image.open(io.BytesIO(data)).convert("RGBA").getpixel((2, 2))
    assert corner[3] == 0
    assert "background" not in html
