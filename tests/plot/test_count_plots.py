"""Pictures of counts: what they say in words, what they refuse, how they draw."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image

import coursekit as ck
from coursekit import plot
from coursekit.simt.memory.counters import Counters


def counters(requests: int, sectors: int, **changes) -> Counters:
    values = {"global_load_requests": requests, "global_load_sectors": sectors}
    return Counters(values, **changes)


@pytest.fixture
def lines():
    counts = {2: counters(4, 32), 1: counters(4, 16), 4: counters(4, 32)}
    return plot.counters(
        counts,
        "global_load_sectors",
        title="Strides cost sectors.",
        along="stride, in floats",
        limits={"at most": 64},
    )


@pytest.fixture
def bars():
    counts = {"two": [counters(4, 32), counters(4, 16)], "one": counters(5, 20)}
    fields = ["global_load_requests", "global_load_sectors"]
    return plot.counters(counts, fields, title="Two or one", along="kernels")


def refused(**changes) -> str:
    good = {"counts": {1: counters(1, 4)}, "fields": "global_load_sectors"}
    good |= {"title": "t", "along": "x"}
    with pytest.raises(ck.ArgumentError) as caught:
        plot.counters(**(good | changes))
    return str(caught.value)


def test_chart_is_a_figure(lines):
    assert isinstance(lines, Figure)


def test_chart_stays_out_of_pyplot():
    code = "import sys, coursekit.plot; print('matplotlib.pyplot' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert answer.stdout == "False\n"


def test_alt_text_says_everything_once(lines):
    assert lines.alt == (
        "Strides cost sectors. global load sectors by stride, in floats: 16 at 1, "
        "32 from 2 to 4. Dashed line at 64: at most. Counted on the simulator."
    )


def test_alt_text_names_each_bar(bars):
    assert "global load sectors by kernels: 48 for two, 20 for one." in bars.alt


def test_several_counts_of_an_entry_are_added_up(bars):
    assert list(bars.rows) == [("two", 8, 48), ("one", 5, 20)]


def test_terminal_shows_a_table(bars):
    assert repr(bars).splitlines()[1:] == [
        "kernels  global load requests  global load sectors",
        "    two                     8                   48",
        "    one                     5                   20",
    ]


def test_notebook_shows_a_picture_with_alt_text(lines):
    html = lines._repr_mimebundle_()["text/html"]
    assert re.search(r'<img class="ck-chart" alt="Strides cost sectors\. [^"]+"', html)


def test_picture_in_the_notebook_is_sharp(lines):
    data = re.search(r"base64,([^\"]+)", lines._repr_mimebundle_()["text/html"])[1]
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    size = tuple(map(int, 160 * lines.get_size_inches()))  # the legend's row is extra
    assert (picture.format, picture.size) == ("WEBP", size)


def test_picture_is_the_same_every_time(lines):
    assert lines._repr_mimebundle_() == lines._repr_mimebundle_()


def test_notebook_has_the_table_too(lines):
    html = lines._repr_mimebundle_()["text/html"]
    assert "<details>" in html
    assert "<td>4</td><td>32</td>" in html


def test_html_escapes_what_it_shows():
    chart = plot.counters(
        {"f<float>": counters(1, 4)}, "global_load_sectors", title='a < "b"', along="k"
    )
    html = chart._repr_mimebundle_()["text/html"]
    assert "f&lt;float&gt;" in html
    assert 'alt="a &lt; &quot;b&quot;.' in html


def test_axes_carry_names_and_units(lines):
    axes = lines.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "stride, in floats",
        "global load sectors",
    )


def test_limit_is_drawn_and_named(lines):
    names = [text.get_text() for text in lines.axes[0].get_legend().get_texts()]
    assert names == ["global load sectors", "at most"]


def test_line_runs_in_the_order_of_its_keys(lines):
    assert list(lines.axes[0].lines[0].get_xdata()) == [1, 2, 4]


def test_bars_differ_in_more_than_colour(bars):
    hatches = {bar.get_hatch() for group in bars.axes[0].containers for bar in group}
    assert len(hatches) == 2


@pytest.mark.parametrize(
    ("found", "note"),
    [
        pytest.param(counters(1, 4), "counted on the simulator", id="simulated"),
        pytest.param(counters(1, 4, source="ncu"), "Nsight Compute", id="measured"),
        pytest.param(
            counters(1, 4, labels={"global_load_sectors": "ptx"}),
            "counted on the simulator, of PTX, not of machine code",
            id="of PTX",
        ),
    ],
)
def test_corner_says_where_the_counts_are_from(found, note):
    chart = plot.counters({1: found}, "global_load_sectors", title="t", along="x")
    assert chart.get_supxlabel() == note


@pytest.mark.parametrize("counts", [{}, {"none": []}], ids=["no entry", "empty entry"])
def test_nothing_to_draw_is_refused(counts):
    assert "Give at least one count" in refused(counts=counts)


def test_more_counters_than_colours_are_refused():
    assert "1 to 6 counters" in refused(fields=["blocks"] * 7)


def test_unknown_counter_is_refused():
    assert "no counter 'sectors' for 1" in refused(fields="sectors")


def test_what_is_no_count_is_refused():
    assert "of the type int" in refused(counts={1: 3})


def test_sum_of_ratios_is_refused():
    two = {"both": [counters(1, 4), counters(1, 8)]}
    assert "ratio" in refused(counts=two, fields="sectors_per_request")


def test_style_of_others_is_left_alone(lines):
    import matplotlib

    assert matplotlib.rcParams["axes.spines.right"]


def test_plot_of_counts_names_the_simulated_gpu():
    counts = {1: counters(4, 16, device="NVIDIA H200")}
    chart = plot.counters(counts, "global_load_sectors", title="t", along="x")
    assert chart.alt.endswith("Counted on the simulated H200.")


def test_plot_of_measured_counts_names_the_gpu_and_the_day():
    counts = {1: counters(4, 16, source="ncu", device="NVIDIA H200")}
    chart = plot.counters(counts, "global_load_sectors", title="t", along="x")
    assert re.search(r"Nsight Compute on NVIDIA H200, \d{4}-\d\d-\d\d\.$", chart.alt)


def test_counts_know_the_gpu_that_was_simulated():
    kernel = ck.compile("__global__ void one(int* x) { *x = 1; }").one
    with ck.simulator(device="A100 SXM4 40GB"):
        found = ck.count(kernel, 1, 1, (ck.empty(1, "int32"),))
    assert found.device == ck.device("A100 SXM4 40GB").name


def test_no_module_of_the_charts_takes_the_name_of_a_function():
    modules = {path.stem for path in Path(plot.__file__).parent.glob("*.py")}
    assert modules & set(plot.__all__) == set()
