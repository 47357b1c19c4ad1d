"""The compiled view in a browser: listings linked by mouse and by keyboard."""

from __future__ import annotations

import pytest

import coursekit as ck

pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
from test_compiled import SCALE  # noqa: E402 (after the skip)
from test_widgets_browser import (  # noqa: E402
    focus_by_tab,
    opened,
    settle,
    skip_without_axe,
    status,
    tab,
    value,
    violations,
)

__all__ = ["opened", "tab"]  # fixtures


@pytest.fixture(scope="module")
def widget():
    return ck.show_compiled(ck.compile(SCALE).scale)


@pytest.fixture
def page(opened, widget):
    return opened(widget)


def listing(page, name):
    return page.get_by_role("listbox", name=name, exact=True)


def lit(page, name):
    """Return the labels of the rows that are lit up in a listing."""
    rows = listing(page, name).locator(".ck-lit")
    return [rows.nth(n).get_attribute("aria-label") for n in range(rows.count())]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_chosen_line(opened, widget, theme):
    skip_without_axe()
    page = opened(widget, theme)
    page.evaluate("model.set('line', 5)")
    assert violations(page) == []


def test_pointing_at_a_source_line_lights_up_its_ptx(page):
    page.get_by_role("option", name="line 5:").hover()
    assert any(label.startswith("mul.f32") for label in lit(page, "PTX"))


def test_leaving_the_listing_puts_the_light_out(page):
    page.get_by_role("option", name="line 5:").hover()
    page.mouse.move(1, 1)
    assert lit(page, "PTX") == []


def test_pointing_at_ptx_lights_up_its_source_line(page):
    page.get_by_role("option", name="setp.ge.s32").hover()
    (label,) = lit(page, "Source lines")
    assert label.startswith("line 4: if (i < n)")


def test_arrow_keys_choose_a_line(page):
    focus_by_tab(page, listing(page, "Source lines"))
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    assert value(page, "line") == 5
    assert "Line 5 became" in status(page)
    assert "mul.f32" in " ".join(lit(page, "PTX"))


def test_a_chosen_line_stays_when_the_mouse_leaves(page):
    page.get_by_role("option", name="line 5:").click()
    page.mouse.move(1, 1)
    assert lit(page, "PTX") != []


def test_arrow_keys_in_ptx_go_from_instruction_to_instruction(page):
    focus_by_tab(page, listing(page, "PTX"))
    page.keyboard.press("End")
    active = listing(page, "PTX").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-label").startswith("ret;")


def test_an_instruction_says_its_line_and_its_live_registers(page):
    label = page.get_by_role("option", name="mul.f32").get_attribute("aria-label")
    assert label.endswith("from line 5, 4 live registers")


def test_a_line_without_code_says_so(page):
    page.get_by_role("option", name="line 2:").click()
    assert status(page) == "Line 2 has no instruction of its own."


def test_an_edit_is_compiled_by_the_notebook(opened):
    page = opened(ck.show_compiled(ck.compile(SCALE).scale), linked=True)
    page.get_by_text("Edit the kernel, and compile it again").click()
    box = page.get_by_role("textbox", name="CUDA C++ of the kernel")
    box.fill(SCALE.replace("a * x[i]", "a + x[i]"))
    page.get_by_role("button", name="Compile", exact=True).click()
    settle(page)
    page.get_by_role("option", name="add.f32").wait_for()
    assert "Done" in status(page, 1)


def test_without_machine_code_the_reason_stands_in_its_place(opened, monkeypatch):
    from coursekit.toolchain import sass

    monkeypatch.setattr(sass, "find_disassembler", lambda: None)
    kernel = ck.compile(SCALE.replace("scale", "bare")).bare
    page = opened(ck.show_compiled(kernel))
    assert "there is no disassembler" in page.locator(".ck-why").inner_text()
