"""The instruments in a browser: they compute what Python does, by keyboard too."""

from __future__ import annotations

import random
import re

import pytest

import coursekit as ck

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_instruments import COUNTS, LINES, VECTORS, sgemm  # noqa: E402 (after the skip)
from test_widgets_browser import (  # noqa: E402
    focus_by_tab,
    opened,
    skip_without_axe,
    slider,
    status,
    tab,
    value,
    violations,
)

from coursekit.analysis.occupancy.result import Occupancy  # noqa: E402
from coursekit.analysis.occupancy.rules import Demand  # noqa: E402

__all__ = ["opened", "tab"]  # fixtures
SOFTMAX = ["m = max(x, axis=-1)", "e = exp(x - m)", "s = sum(e, axis=-1)", "p = e / s"]


def softmax(**more):
    return ck.fusion_counter(SOFTMAX, {"x": (8192, 8192)}, device="H200", **more)


def rooflines():
    points = {"counted": COUNTS, "timed": (100.0, 33.0), "left": (0.05, 0.01)}
    return ck.roofline_explorer(points, device="H200")


# Besides the widgets of test_widgets_browser.py, which are asked about there.
INSTRUMENTS = {
    "refused launch": lambda: ck.occupancy_explorer(255, 1024, device="H200"),
    "four lines": lambda: softmax(joined=[True, False, True]),
    "counted": rooflines,
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", INSTRUMENTS)
def test_axe_finds_nothing_to_complain_about(opened, name, theme):
    skip_without_axe()
    assert violations(opened(INSTRUMENTS[name](), theme)) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_page_of_a_report(tab, theme):
    skip_without_axe()
    tab.unroute_all()
    light = str(theme == "light").lower()
    ground, ink = ("#fff", "#000") if theme == "light" else ("#111", "#eee")
    tab.set_content(
        f'<!doctype html><html lang="en"><title>Report</title>'
        f'<body data-jp-theme-light="{light}" style="background:{ground};color:{ink};'
        f'font:13px sans-serif"><main>'
        f"<h1>Report</h1>{ck.report('first/matmul_naive')._repr_html_()}</main></body>"
    )
    assert violations(tab) == []


# ---------------------------------------------------------------- occupancy


def test_browser_and_python_compute_the_same_occupancy(opened):
    page, draw, devices = opened(sgemm()), random.Random(7), ck.devices()
    cases, told = [], []
    for name in devices:
        for _ in range(60):
            shared = draw.choice([0, 4096, devices[name].shared_bytes_per_block_optin])
            demand = Demand(
                draw.randint(1, 1024), draw.randint(1, 255), draw.randint(0, shared),
                draw.choice([0, 1, 16]), draw.choice([1024, 256]),
            )  # fmt: skip
            grid = draw.choice([0, draw.randint(1, 100_000)])
            names = ("threads", "registers", "shared_bytes", "barriers", "max_threads")
            state = {key: getattr(demand, key) for key in names}
            cases.append({"demand": state, "grid": grid, "name": name})
            found = Occupancy("", devices[name], demand, grid or None)
            rows = [list(row) for row in found.rows()]
            told.append([found.summary, list(found.advice), rows])
    same = (
        "cases => cases.map(({ demand, grid, name }) => { const found = "
        "module.describe({ demand, grid, sm: model.get('devices')[name] });"
        "return [found.summary, found.advice, found.rows]; })"
    )
    said = page.evaluate(same, cases)
    pairs = zip(cases, said, told, strict=True)
    assert [(case, a, b) for case, a, b in pairs if a != b][:1] == []


@pytest.mark.parametrize(
    ("name", "key", "trait", "after"),
    [
        ("registers per thread", "ArrowLeft", "registers", 121),
        ("shared bytes per block", "ArrowRight", "shared_bytes", 12_928),
        ("threads per block", "ArrowRight", "threads", 129),
    ],
)
def test_arrow_key_moves_the_slider(opened, name, key, trait, after):
    page = opened(sgemm())
    focus_by_tab(page, slider(page, name))
    page.keyboard.press(key)
    assert value(page, trait) == after


def test_another_gpu_is_chosen_by_the_keyboard(opened):
    page = opened(sgemm())
    focus_by_tab(page, page.get_by_role("combobox", name="GPU"))
    page.keyboard.press("ArrowDown")
    assert value(page, "device") == "RTX 4090"
    assert "of 48 warps" in status(page)


def test_fewer_registers_hold_the_block_that_the_advice_promised(opened):
    page = opened(sgemm())
    page.evaluate("model.set('registers', 96)")
    assert status(page).startswith("5 blocks per SM")


def test_binding_limit_is_told_in_words(opened):
    rows = opened(sgemm()).locator("tbody tr:visible").all_inner_texts()
    assert [row.split("\t")[0] for row in rows if row.endswith("yes")] == ["registers"]


def test_updates_keep_every_node(opened):
    page = opened(sgemm())
    nodes = "document.querySelectorAll('#widget *')"
    page.evaluate(f"window.before = [...{nodes}]")
    page.evaluate("model.set('device', 'H200'); model.set('threads', 1024)")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert page.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


# ---------------------------------------------------------------- fusion


def test_browser_and_python_count_the_same_bytes(opened):
    widget, told = softmax(), []
    page = opened(widget)
    cuts = [[bool(n & 1), bool(n & 2), bool(n & 4)] for n in range(8)]
    for joined in cuts:
        widget.joined = joined
        found = widget.result
        told.append(
            [found.launches, found.bytes_least, found.bytes_asked, found.summary]
        )
    said = page.evaluate(
        "cuts => cuts.map((joined) => { const state = { joined }; "
        "for (const name of ['lines', 'outputs', 'device', 'bandwidth_gbs']) "
        "state[name] = model.get(name); const found = module.countOf(state); "
        "return [found.launches, found.least, found.asked, module.summaryOf(state)]; "
        "})",
        cuts,
    )
    assert said == told


def test_neighbours_are_fused_by_the_keyboard(opened):
    page = opened(ck.fusion_counter(LINES, VECTORS))
    focus_by_tab(page, page.get_by_role("button", name="fuse, between u and y"))
    page.keyboard.press("Enter")
    assert value(page, "joined") == [False, True]


def test_fused_neighbours_are_cut_again(opened):
    page = opened(ck.fusion_counter(LINES, VECTORS, joined=[True, True]))
    page.get_by_role("button", name="cut here, between t and u").click()
    assert value(page, "joined") == [False, True]


def test_sum_of_all_is_not_fused_with_its_use_and_says_why(opened):
    page = opened(ck.fusion_counter(["s = sum(a)", "y = a / s"], VECTORS))
    page.get_by_role("button", name="fuse, between s and y").click()
    assert value(page, "joined") == [False]
    assert "every block has added its part" in status(page, 1)


def test_lines_of_a_kernel_are_told_in_words(opened):
    page = opened(softmax(joined=[True, False, True]))
    assert page.locator(".ck-kernel").all_inner_texts() == [
        "launch 1",
        "launch 1",
        "launch 2",
        "launch 2",
    ]


# ---------------------------------------------------------------- roofline


def test_browser_and_python_say_the_same_of_every_roof(opened):
    widget, told, cases = rooflines(), [], []
    page = opened(widget)
    for name, limits in widget.devices.items():
        for kind in limits["tflops"]:
            widget.device, widget.kind = name, kind
            cases.append([name, kind])
            told.append(widget.lines())
    said = page.evaluate(
        "cases => cases.map(([device, kind]) => module.linesOf({ device, kind, "
        "devices: model.get('devices'), points: model.get('points'), "
        "timed_on: model.get('timed_on') }))",
        cases,
    )
    assert said == told


def test_counted_kernel_lies_on_the_roof(opened):
    page = opened(ck.roofline_explorer({"counted": COUNTS}, device="H200"))
    numbers = r"[\d.]+"
    roof = page.locator(".ck-roof").get_attribute("d")
    x0, y0, x1, y1, _ = map(float, re.findall(numbers, roof))
    left, y, *_ = map(
        float, re.findall(numbers, page.locator(".ck-bound").get_attribute("d"))
    )
    # The circle's path begins 5 to the left of its middle.
    assert y == pytest.approx(y0 + (y1 - y0) * (left + 5 - x0) / (x1 - x0), abs=0.5)


def test_time_of_another_gpu_is_drawn_as_a_bound(opened):
    page = opened(rooflines())
    page.get_by_role("combobox", name="GPU").select_option("T4")
    kinds = page.locator(".ck-timed, .ck-bound").evaluate_all(
        "marks => marks.map((one) => one.getAttribute('class'))"
    )
    assert kinds == ["ck-bound"] * 3


def test_kernel_is_added_by_the_keyboard(opened):
    page = opened(rooflines())
    page.get_by_role("textbox", name="FLOP").fill("64")
    page.keyboard.press("Enter")
    assert value(page, "points")[-1] == ["mine", 8, None]
    assert status(page, 1) == "Added mine: 8 FLOP per byte."


@pytest.mark.parametrize("typed", ["", "0", "-1", "many"])
def test_kernel_without_bytes_is_refused(opened, typed):
    page = opened(rooflines())
    page.get_by_role("textbox", name="bytes").fill(typed)
    page.get_by_role("button", name="Add").click()
    assert len(value(page, "points")) == 3
    assert "numbers above 0" in status(page, 1)


def test_arithmetic_that_a_gpu_lacks_cannot_be_chosen(opened):
    page = opened(rooflines())
    page.evaluate("model.set('device', 'V100 SXM2 16GB')")
    options = page.locator("option:disabled").all_inner_texts()
    assert options == ["bf16 tensor", "tf32 tensor", "fp8 tensor"]


def test_change_of_gpu_falls_back_to_an_arithmetic_that_it_has(opened):
    page = opened(rooflines())
    page.evaluate("model.set('kind', 'fp8_tensor')")
    page.get_by_role("combobox", name="GPU").select_option("T4")
    assert value(page, "kind") == "fp32"
