"""Chip explorer and residency in a browser: by mouse, by keyboard, as Python says."""

from __future__ import annotations

import random

import pytest

import coursekit as ck

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_widgets_browser import (  # noqa: E402 (after the skip)
    focus_by_tab,
    opened,
    skip_without_axe,
    slider,
    status,
    tab,
    value,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures

# ---------------------------------------------------------------- residency


def sgemm():
    return ck.residency(
        {"registers": 122, "shared_bytes": 12_800}, 128, device="RTX 3070"
    )


@pytest.fixture
def sm(opened):
    return opened(sgemm())


def parts(page):
    """Return the numbers of the blocks that the bar of registers shows."""
    shown = page.locator("svg > g").nth(2).locator("g:visible text")
    return [int(text) for text in shown.all_text_contents() if text]


def test_browser_and_python_say_the_same_of_each_step(opened):
    page, draw = opened(sgemm()), random.Random(3)
    cases, said = [], []
    for name in ck.devices():
        for _ in range(20):
            launch = {
                "registers": draw.randint(1, 255),
                "shared_bytes": draw.choice([0, 5000, 40_000]),
            }
            threads = draw.randint(1, 1024)
            widget = ck.residency(launch, threads, device=name)
            step = draw.randint(0, widget.last)
            names = ("threads", "registers", "shared_bytes", "barriers", "max_threads")
            demand = {key: getattr(widget, key) for key in names}
            cases.append({"demand": demand, "name": name, "step": step})
            resources = [[r.title, r.most, r.each] for r in widget.resources()]
            said.append(
                [widget.last, widget.residents(step), widget.told(step), resources]
            )
    same = (
        "cases => cases.map(({ demand, name, step }) => { const now = module.stateAt("
        "{ demand, sm: model.get('devices')[name] }, step); return [now.last, "
        "now.residents, now.told, now.resources.map((r) => [r.title, r.most, r.each])];"
        " })"
    )
    found = page.evaluate(same, cases)
    pairs = zip(cases, found, said, strict=True)
    assert [(case, a, b) for case, a, b in pairs if a != b][:1] == []


def test_next_moves_one_block_in(sm):
    sm.get_by_role("button", name="Next").click()
    assert (value(sm, "step"), parts(sm)) == (1, [0])


def test_next_by_keyboard_fills_the_sm(sm):
    focus_by_tab(sm, sm.get_by_role("button", name="Next"))
    for _ in range(4):
        sm.keyboard.press("Enter")
    assert status(sm).endswith("there are too few registers.")


def test_next_stops_at_the_last_step(sm):
    sm.evaluate("model.set('step', 12)")
    sm.get_by_role("button", name="Next").click()
    assert value(sm, "step") == 12


def test_ended_block_is_replaced(sm):
    sm.evaluate("model.set('step', 6)")
    assert parts(sm) == [4, 5, 2, 3]


def test_arrow_key_moves_the_steps(sm):
    focus_by_tab(sm, slider(sm, "blocks that have moved in"))
    sm.keyboard.press("ArrowRight")
    assert value(sm, "step") == 1


def test_play_goes_on_by_itself_and_can_be_paused(sm):
    sm.get_by_role("button", name="Play").click()
    sm.wait_for_function("model.get('step') >= 2")
    sm.get_by_role("button", name="Pause").click()
    assert sm.get_by_role("button", name="Play").count() == 1


def test_fewer_registers_leave_room_for_more_blocks(sm):
    sm.evaluate("model.set('step', 12)")
    sm.evaluate("model.set('registers', 64)")
    assert (
        len(parts(sm))
        == ck.occupancy(
            {"registers": 64, "shared_bytes": 12_800}, 128, device="RTX 3070"
        ).blocks
    )


def test_picture_says_how_much_is_used(sm):
    sm.evaluate("model.set('step', 4)")
    label = sm.locator("svg").get_attribute("aria-label")
    assert "warp slots: 16 of 48 used." in label


def test_updates_of_the_sm_keep_every_node(sm):
    nodes = "document.querySelectorAll('#widget *')"
    sm.evaluate(f"window.before = [...{nodes}]")
    sm.evaluate("model.set('step', 7); model.set('device', 'H200')")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert sm.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_full_sm(opened, theme):
    skip_without_axe()
    page = opened(sgemm(), theme)
    page.evaluate("model.set('step', 9)")
    assert violations(page) == []


# ---------------------------------------------------------------- chip explorer


def chips(**more):
    return ck.chip_explorer("H200", "RTX 4090", **more)


def shown(page):
    """Return the texts of the rows, without bars."""
    rows = page.locator("tbody tr").all()
    return [tuple(row.locator("th, td").all_inner_texts()) for row in rows]


@pytest.mark.parametrize("view", ["whole board", "one SM"])
def test_browser_and_python_show_the_same_rows(opened, view):
    widget = chips(view=view)
    found = [tuple(text.strip() for text in row) for row in shown(opened(widget))]
    assert found == list(widget.rows())


@pytest.mark.parametrize("name", list(ck.devices()))
def test_every_board_shows_the_rows_of_python(opened, name):
    widget = ck.chip_explorer(name, "T4", view="one SM")
    found = [tuple(text.strip() for text in row) for row in shown(opened(widget))]
    assert found == list(widget.rows())


def test_view_is_changed_by_the_mouse(opened):
    page = opened(chips())
    page.get_by_label("one SM").check()
    assert (value(page, "view"), status(page)) == (
        "one SM",
        "H200 beside RTX 4090, one SM.",
    )


def test_view_is_changed_by_the_keyboard(opened):
    page = opened(chips())
    focus_by_tab(page, page.get_by_label("whole board"))
    page.keyboard.press("ArrowDown")
    assert value(page, "view") == "one SM"


def test_board_is_chosen_by_the_keyboard(opened):
    page = opened(chips())
    focus_by_tab(page, page.get_by_role("combobox", name="right board"))
    page.keyboard.press("ArrowDown")
    assert value(page, "right") == "L4"


def test_updates_of_the_boards_keep_every_node(opened):
    page = opened(chips())
    nodes = "document.querySelectorAll('#widget *')"
    page.evaluate(f"window.before = [...{nodes}]")
    page.evaluate("model.set('left', 'T4'); model.set('view', 'one SM')")
    same = "before.length === now.length && before.every((one, i) => one === now[i])"
    assert page.evaluate(f"(() => {{ const now = [...{nodes}]; return {same}; }})()")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_one_sm(opened, theme):
    skip_without_axe()
    assert violations(opened(chips(view="one SM"), theme)) == []
