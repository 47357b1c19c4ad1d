"""The Kernel Microscope and the scheduler in a browser, by keyboard and by mouse."""

from __future__ import annotations

import pytest

import coursekit as ck

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_microscope import COALESCED, largest  # noqa: E402 (after the skip)
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
from traced_kernels import row_sums, shift_left  # noqa: E402

__all__ = ["opened", "tab"]  # fixtures


def many_lines():
    """A kernel that is longer than the list of lines is high."""
    lines = [f"    a[threadIdx.x + {32 * n}] = {n};" for n in range(60)]
    body = "\n".join(["__global__ void f(int *a)", "{", *lines, "}"])
    return ck.compile(body).f, 1, 32, (ck.empty(32 * 60, "int32"),)


@pytest.fixture(scope="module")
def widgets():
    """Each widget once; the page works on a copy of its state."""
    first = ck.microscope(*row_sums())
    shared = ck.microscope(*row_sums(), heat="bank conflicts")
    launch, grid, block, (out, values, n, stride) = row_sums()
    failing = ck.microscope(launch, grid, block, (out, values[:33], n, stride))
    return {
        "one": first,
        "shared": shared,
        "both": ck.microscope(*row_sums(COALESCED), before=first),
        "part": ck.microscope(*row_sums(), 1),
        "predict": ck.microscope(*row_sums(), predict=True),
        "failing": failing,
        "largest": ck.microscope(*largest()),
        "long": ck.microscope(*many_lines()),
        "game": ck.scheduler(*shift_left()),
        "two": ck.scheduler(*shift_left(), players=2),
    }


@pytest.fixture
def page(opened, widgets, request):
    """Open the widget that the test names with `shows`."""
    return opened(widgets[request.node.get_closest_marker("parametrize").args[1][0]])


def shows(name):
    """Mark a test with the widget that it looks at."""
    return pytest.mark.parametrize("shown", [name])


def source(page):
    return page.get_by_role("listbox", name="Source lines")


def row(page, line):
    return page.get_by_role("option", name=f"line {line}:")


def amount(page, line):
    return row(page, line).locator(".ck-amount").inner_text()


def how(page):
    return page.locator(".ck-how").inner_text().splitlines()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["shared", "both", "failing", "largest"])
def test_axe_finds_nothing_in_a_microscope(opened, widgets, name, theme):
    skip_without_axe()
    assert violations(opened(widgets[name], theme)) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_game_with_races(opened, widgets, theme):
    skip_without_axe()
    page = opened(widgets["game"], theme)
    page.evaluate("model.set('played', [0, 0, 1, 1, 2])")
    page.evaluate("model.set('barriers', [6])")
    assert violations(page) == []


# ---------------------------------------------------------------- lines and steps


@shows("one")
def test_line_shows_its_counts(page, shown):
    assert amount(page, 8) == "448"


@shows("one")
def test_heat_is_chosen_by_keyboard(page, shown):
    focus_by_tab(page, page.get_by_role("combobox", name="heat"))
    page.keyboard.press("ArrowDown")
    assert (value(page, "heat"), amount(page, 9)) == ("shared wavefronts", "64")


@shows("one")
def test_arrow_keys_go_from_line_to_line(page, shown):
    focus_by_tab(page, source(page))
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    chosen = page.locator(".ck-row[aria-selected='true']").get_attribute("aria-label")
    assert chosen.startswith("line 9: tile[threadIdx.x][0] = s;")


@shows("one")
def test_chosen_line_shows_its_access(page, shown):
    row(page, 9).click()
    assert "32 lanes write tile: 32 wavefronts; at best 1." in status(page)


@shows("one")
def test_arrow_key_moves_the_step(page, shown):
    before = value(page, "step")
    focus_by_tab(page, slider(page, "step"))
    page.keyboard.press("ArrowRight")
    assert value(page, "step") == before + 1


@shows("one")
def test_page_keys_go_to_the_next_line(page, shown):
    focus_by_tab(page, slider(page, "step"))
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    assert "line 5:" in status(page)


@shows("one")
def test_next_access_goes_to_the_next_access(page, shown):
    focus_by_tab(page, page.get_by_role("button", name="Next access"))
    page.keyboard.press("Enter")
    assert how(page)[0].endswith("+ 1]")


@shows("one")
def test_focus_stays_on_the_step_slider(page, shown):
    focus_by_tab(page, slider(page, "step"))
    page.evaluate("window.before = document.activeElement")
    for key in ("ArrowRight", "PageUp", "Home", "End"):
        page.keyboard.press(key)
    assert page.evaluate("before.isConnected && before === document.activeElement")


@shows("largest")
def test_2000_steps_can_be_gone_through(page, shown):
    focus_by_tab(page, slider(page, "step"))
    page.keyboard.press("End")
    assert status(page).startswith("Step 2000 of 2000")


def is_in_sight(page, kind):
    """Tell whether a line of a kind lies inside the list as it is scrolled now."""
    return page.evaluate(
        """kind => {
          const list = document.querySelector('.ck-source').getBoundingClientRect();
          const row = document.querySelector(kind).getBoundingClientRect();
          return row.top >= list.top && row.bottom <= list.bottom;
        }""",
        kind,
    )


@shows("long")
def test_line_of_the_step_comes_into_sight(page, shown):
    focus_by_tab(page, slider(page, "step"))
    for key in ("End", "Home"):
        page.keyboard.press(key)
        assert is_in_sight(page, ".ck-here")


@shows("long")
def test_line_chosen_by_keyboard_comes_into_sight(page, shown):
    focus_by_tab(page, source(page))
    page.keyboard.press("End")
    assert is_in_sight(page, ".ck-line")


@shows("long")
def test_list_stays_where_the_reader_scrolled_it(page, shown):
    page.locator(".ck-source").evaluate("list => { list.scrollTop = 300; }")
    page.evaluate("model.set('lane', 7)")
    assert page.locator(".ck-source").evaluate("list => list.scrollTop") == 300


@shows("failing")
def test_error_of_the_kernel_is_shown(page, shown):
    assert "reads a[2112]" in page.locator(".ck-error").inner_text()


# ---------------------------------------------------------------- lanes


@shows("one")
def test_lanes_are_joined_to_their_sectors(page, shown):
    assert page.locator(".ck-lanes .ck-box:visible").count() == 32
    assert page.locator(".ck-arrow:not([display])").count() == 32


@shows("shared")
def test_bank_conflict_is_told_below_its_bank(page, shown):
    boxes = page.locator(".ck-lanes .ck-conflict:visible")
    assert boxes.locator("text").all_text_contents() == ["0", "32"]


@shows("part")
def test_inactive_lanes_have_no_arrow(page, shown):
    row(page, 11).click()
    assert page.locator(".ck-arrow:not([display])").count() == 8


@shows("part")
def test_branch_tells_how_the_warp_parts(page, shown):
    step = page.evaluate("Object.keys(JSON.parse(model.get('views')[0]).jumps)[0]")
    page.evaluate(f"model.set('step', {step})")
    assert "The warp parts: 24 lanes of 32 jump." in status(page)


@shows("one")
def test_click_on_a_lane_expands_its_arithmetic(page, shown):
    page.locator(".ck-lane").nth(5).click()
    assert how(page) == [
        "a[stride * (blockIdx.x * blockDim.x + threadIdx.x)]",
        "= a[64 * (0 * 32 + 5)]",
        "= a[5, 0]: byte 1280, sector 40 of a",
    ]


@shows("one")
def test_lane_is_chosen_by_keyboard(page, shown):
    focus_by_tab(page, slider(page, "lane"))
    page.keyboard.press("End")
    assert how(page)[1] == "= a[64 * (0 * 32 + 31)]"


@shows("one")
def test_lane_slider_says_the_arithmetic(page, shown):
    said = slider(page, "lane").get_attribute("aria-valuetext")
    assert "stride * (blockIdx.x * blockDim.x + threadIdx.x)" in said


@shows("one")
def test_registers_of_the_lane_are_listed(page, shown):
    page.locator(".ck-lane").nth(3).click()
    first = page.locator(".ck-registers tbody tr").first.locator("td").all_inner_texts()
    assert first == ["%f12", "192", "0, 64, 128, 192, ..., 1984"]


# ---------------------------------------------------------------- predictions


@shows("predict")
def test_counts_are_hidden_until_revealed(page, shown):
    assert amount(page, 8) == "?"
    assert page.locator(".ck-arrow:not([display])").count() == 0
    assert "448" not in page.locator("#widget").inner_text()


@shows("predict")
def test_prediction_is_painted_by_keyboard(page, shown):
    focus_by_tab(page, source(page))
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert value(page, "predicted") == {"8": 4}


@shows("predict")
def test_prediction_is_painted_by_mouse(page, shown):
    row(page, 8).locator(".ck-bar").click(position={"x": 36, "y": 7})
    assert 15 <= value(page, "predicted")["8"] <= 17


@shows("predict")
def test_reveal_judges_the_predictions(page, shown):
    page.evaluate("model.set('predicted', {8: 4, 9: 32})")
    page.get_by_role("button", name="Reveal").click()
    assert "1 of 2 predictions right." in page.locator(".ck-advice").inner_text()
    assert amount(page, 8) == "448 (32 each, not 4)"


@shows("predict")
def test_reveal_passes_without_predictions(page, shown):
    page.get_by_role("button", name="Reveal").click()
    assert amount(page, 8) == "448"


@shows("one")
def test_counts_can_be_hidden_again(page, shown):
    page.get_by_role("button", name="Hide the counts and predict").click()
    assert "0 of 3 predicted" in page.locator(".ck-advice").inner_text()


# ---------------------------------------------------------------- before and after


@shows("both")
def test_versions_are_compared_on_one_scale(page, shown):
    assert amount(page, 8) == "56 (was 448)"
    widths = (
        row(page, 8)
        .locator(".ck-bar span")
        .evaluate_all("spans => spans.map((span) => parseFloat(span.style.width))")
    )
    assert (widths[0], widths[2]) == (12.5, 100)


@shows("both")
def test_total_is_compared(page, shown):
    said = page.locator(".ck-totals").inner_text()
    assert said.endswith("before 453, after 61; 7.43 times fewer.")


@shows("both")
def test_keyboard_changes_the_version(page, shown):
    focus_by_tab(page, page.get_by_role("combobox", name="version"))
    page.keyboard.press("ArrowUp")
    assert amount(page, 8) == "448 (then 56)"


@pytest.fixture(scope="module")
def halted():
    """Return a microscope whose later version leaves the array."""
    launch, grid, block, (out, values, n, stride) = row_sums()
    before = ck.microscope(*row_sums())
    args = (out, values[:33], n, stride)
    return ck.microscope(launch, grid, block, args, before=before)


def test_warp_that_failed_is_not_compared_with_a_whole_launch(opened, halted):
    page = opened(halted)
    said = page.locator(".ck-totals").inner_text()
    assert said == "global sectors (this warp): 228"  # 7 turns of 32, and 4 stored
    assert amount(page, 8) == "224"


# ---------------------------------------------------------------- edited


def unfold(page):
    focus_by_tab(page, page.locator(".ck-edit summary"))
    page.keyboard.press("Enter")
    return page.get_by_role("textbox", name="CUDA C++ of the kernel")


def told(page):
    return page.locator(".ck-edit [role=status]").inner_text()


@shows("one")
def test_kernel_is_edited_and_sent_by_keyboard(page, shown):
    focus_by_tab(page, slider(page, "lane"))
    text = unfold(page)
    focus_by_tab(page, text)
    page.keyboard.press("Control+Home")
    page.keyboard.type("// ")
    focus_by_tab(page, page.get_by_role("button", name="Compile and compare"))
    page.keyboard.press("Enter")
    sent = value(page, "edited")
    assert sent["text"].startswith("// __global__ void row_sums(")
    assert told(page).startswith("Compiling and counting")


@shows("one")
def test_first_text_comes_back(page, shown):
    focus_by_tab(page, slider(page, "lane"))
    text = unfold(page)
    text.fill("nothing")
    page.get_by_role("button", name="First text again").click()
    assert text.input_value() == value(page, "text")


@shows("one")
def test_text_that_does_not_compile_is_told(page, shown):
    focus_by_tab(page, slider(page, "lane"))
    unfold(page)
    page.get_by_role("button", name="Compile and compare").click()
    page.evaluate("model.set('answered', {turn: 1, trouble: 'line 8: no b'})")
    assert page.locator(".ck-trouble").inner_text() == "line 8: no b"
    assert told(page) == "It does not run; the pictures are as they were."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_editor(opened, widgets, theme):
    skip_without_axe()
    page = opened(widgets["one"], theme)
    page.locator(".ck-edit summary").click()
    page.evaluate("model.set('answered', {turn: 1, trouble: 'line 8: no b'})")
    assert violations(page) == []


@shows("one")
def test_new_views_are_drawn_and_the_focus_stays(page, widgets, shown):
    focus_by_tab(page, slider(page, "lane"))
    unfold(page)
    send = page.get_by_role("button", name="Compile and compare")
    focus_by_tab(page, send)
    page.keyboard.press("Enter")
    both = widgets["both"]
    state = {"labels": both.labels, "version": 1, "views": both.views}
    for name, found in state.items():
        page.evaluate("([name, found]) => model.set(name, found)", [name, found])
    page.evaluate("model.set('answered', {turn: 1, trouble: ''})")
    assert amount(page, 8) == "56 (was 448)"
    assert told(page).startswith("Done")
    assert send.evaluate("node => node === document.activeElement")


@shows("one")
def test_focus_in_the_old_views_goes_to_the_new_source(page, widgets, shown):
    focus_by_tab(page, slider(page, "step"))
    later = list(reversed(widgets["both"].views))[:1]
    page.evaluate("views => model.set('views', views)", later)
    assert source(page).evaluate("node => node === document.activeElement")


# ---------------------------------------------------------------- the scheduler


def card(page, warp):
    return page.get_by_role("button", name=f"Warp {warp}")


def task(page):
    return page.locator(".ck-task").inner_text()


@shows("game")
def test_card_tells_what_its_warp_does_next(page, shown):
    assert "writes tile[32] to [63], line 5" in card(page, 1).inner_text()


@shows("game")
def test_cards_are_played_by_keyboard(page, shown):
    focus_by_tab(page, card(page, 0))
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    assert value(page, "played") == [0, 2]


@shows("game")
def test_race_is_drawn_and_told_once_both_sides_have_run(page, shown):
    for warp in (0, 0, 1):
        card(page, warp).click()
    assert page.locator(".ck-arc:visible").count() == 1
    assert status(page).startswith(
        "Race on tile[32]: warp 0 reads it on line 7, warp 1 writes it on line 5."
    )


@shows("game")
def test_order_without_harm_still_shows_its_race(page, shown):
    for warp in (1, 0, 0):
        card(page, warp).click()
    assert "this time warp 1 came first" in status(page)


@shows("game")
def test_warp_that_has_run_cannot_be_played(page, shown):
    for _ in range(2):
        card(page, 0).click()
    page.keyboard.press("0")
    card(page, 0).click(force=True)
    assert value(page, "played") == [0, 0]


@shows("game")
def test_play_can_be_taken_back(page, shown):
    card(page, 0).click()
    page.get_by_role("button", name="Take back").click()
    assert value(page, "played") == []


@shows("game")
def test_verdict_of_the_notebook_is_shown(page, shown):
    order = [0, 0, 1, 1, 2, 2, 3, 3]
    page.evaluate(f"model.set('played', {order})")
    page.evaluate(f"model.set('verdict', {{played: {order}, wrong: 'out[31] is 0'}})")
    assert page.locator(".ck-verdict").inner_text() == "You broke it: out[31] is 0."


@shows("game")
def test_barrier_is_placed_by_keyboard(page, shown):
    first = page.get_by_role("button", name="barrier before line 4")
    focus_by_tab(page, first)
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert value(page, "barriers") == [6]


@shows("game")
def test_barrier_is_dragged_in_and_out(page, shown):
    place = page.get_by_role("button", name="barrier before line 6")
    tray = page.locator(".ck-tray")
    tray.drag_to(place)
    placed = value(page, "barriers")
    place.drag_to(tray)
    assert (placed, value(page, "barriers")) == ([6], [])


@shows("game")
def test_barrier_starts_the_play_again(page, shown):
    card(page, 0).click()
    page.get_by_role("button", name="barrier before line 6").click()
    assert value(page, "played") == []


def test_warps_wait_at_a_barrier(opened):
    game = ck.scheduler(*shift_left())
    game.barriers = [6]
    page = opened(game)
    card(page, 0).click()
    assert "waits at a barrier for warps 1, 2 and 3" in card(page, 0).inner_text()


def test_outcome_of_all_orders_is_told(opened):
    game = ck.scheduler(*shift_left())
    game.barriers = [6]
    game.trials = 1
    page = opened(game)
    said = page.locator("#widget").inner_text()
    assert "Right in all 576 orders, with 1 barrier. Your best: 1." in said


def test_wrong_order_can_be_replayed(opened):
    game = ck.scheduler(*shift_left())
    game.trials = 1
    page = opened(game)
    page.get_by_role("button", name="Play the wrong order").click()
    assert value(page, "played") == game.outcome["order"]


@shows("two")
def test_one_writes_then_one_schedules(page, shown):
    assert task(page).startswith("Writer:")
    page.get_by_role("button", name="Hand over").click()
    assert task(page) == "Scheduler: make the result wrong. Try 1 of 3."


@shows("two")
def test_focus_goes_to_the_cards_with_the_hand_over(page, shown):
    focus_by_tab(page, page.get_by_role("button", name="Hand over"))
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    assert value(page, "played") == [1]


@shows("two")
def test_broken_kernel_is_a_point_for_the_scheduler(page, shown):
    page.get_by_role("button", name="Hand over").click()
    order = [0, 0, 1, 1, 2, 2, 3, 3]
    page.evaluate(f"model.set('played', {order})")
    page.evaluate(f"model.set('verdict', {{played: {order}, wrong: 'x'}})")
    page.evaluate("model.set('best', 9)")
    said = page.locator(".ck-points").inner_text()
    assert said == "Points: writer 0, scheduler 1."
