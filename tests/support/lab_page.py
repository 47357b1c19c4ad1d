"""A notebook in the page of a JupyterLab: open it, run it, move its widgets.

What is done with a widget is done as a reader does it, with the mouse and with keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from lab_server import ROOT

from coursekit.exercises.cells import working_copies

PATIENCE_MS = 60_000
RUN_MS = 600_000
ANSWER_MS = 3_000
OPEN = """async ([path, isRead]) => {
  const { kernels } = jupyterapp.serviceManager;
  if (isRead) window.spare ??= await kernels.startNew({ name: "python3" });
  const kernel = isRead ? spare.model : undefined;
  const panel = await jupyterapp.commands.execute("docmanager:open", { path, kernel });
  await panel.context.ready;
  await panel.revealed;
  await panel.sessionContext.ready;
  window.panel = panel;
}"""
HAS_KERNEL = "panel.sessionContext.session?.kernel?.status === 'idle'"
CLOSE = """async () => {
  panel.context.model.dirty = false;
  await panel.sessionContext.shutdown();
  await panel.close();
}"""
# Its session gets another path: who opens the notebook next gets a kernel of its own.
CLOSE_READ = """async () => {
  panel.context.model.dirty = false;
  await panel.sessionContext.session.setPath(`closed/${Date.now()}`);
  await panel.close();
}"""
# What waits for the deck is given up in time; a page that is asked here is not.
PRESENT = """() => {
  panel.content.activeCellIndex = 0;
  jupyterapp.commands.execute("coursekit:present");
}"""
LEAVE = "() => document.querySelector('.ck-deck')?.deck?.leave()"
RUN = """() => {
  window.ran = undefined;
  jupyterapp.commands.execute("notebook:run-all-cells").then(
    () => { window.ran = true; });
}"""
OUTPUTS = """() => panel.content.widgets
  .filter(({ model }) => model.type === "code")
  .map(({ model }) => [model.id, model.outputs.toJSON()])"""
REVEAL = """(id) => {
  const { content } = panel;
  const at = content.widgets.findIndex(({ model }) => model.id === id);
  content.activeCellIndex = at;
  content.widgets[at].node.scrollIntoView();
  content.widgets[at].outputArea.node.setAttribute("data-output-of", id);
}"""
STATE = """() => [panel.content.activeCellIndex, panel.content.widgets.length,
  jupyterapp.shell.currentWidget === panel,
  document.querySelector("dialog") === null]"""
LOOK = """(node) => node.innerHTML + JSON.stringify(
  [...node.querySelectorAll("input, select, textarea")].map(
    ({ value, checked }) => [value, checked]))"""
CONTROLS = "input, select, button, textarea, summary, [tabindex='0']"
KEYS = {
    "range": ("ArrowRight", "ArrowLeft"),
    "radio": ("Space", "ArrowDown"),
    "checkbox": ("Space",),
    "button": ("Enter",),
    "summary": ("Enter",),
    "submit": ("Enter",),
    "select-one": ("ArrowDown", "ArrowUp"),
    "text": ("7",),
    "search": ("7",),
    "textarea": ("7",),
    "number": ("ArrowUp", "7"),
}
FIELDS = ("text", "search", "textarea")


def students_copies(folder: Path) -> Path:
    """Put copies, as `make lab` makes them, beside what they link to."""
    (folder / "work" / "notebooks").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if not (entry.name.startswith(".") or (folder / entry.name).exists()):
            (folder / entry.name).symlink_to(entry)
    for path in (folder / "notebooks").glob("*.ipynb"):
        copy = folder / "work" / "notebooks" / path.name
        copy.write_text(json.dumps(working_copies.fresh(path, copy)), encoding="utf-8")
    return folder


def open_lab(page, address: str) -> None:
    """Open a JupyterLab without a document."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}lab?reset")
    page.wait_for_function("window.jupyterapp")
    page.evaluate("() => jupyterapp.restored.then(() => null)")


def open_notebook(page, path: str) -> None:
    """Open a notebook in the JupyterLab of the page, and wait for its kernel."""
    page.evaluate(OPEN, [path, False])
    page.wait_for_function(HAS_KERNEL)


def read_notebook(page, path: str) -> None:
    """Open a notebook that is not run: all of them share one kernel."""
    page.evaluate(OPEN, [path, True])
    page.wait_for_function(HAS_KERNEL)


def present(page) -> None:
    """Present the notebook that is open, and wait for the first page of the deck."""
    page.evaluate(PRESENT)
    page.wait_for_selector(".ck-deck-bar")
    page.wait_for_function("document.querySelector('.ck-deck').deck.pages.length")


def run_all(page) -> dict[str, list[dict]]:
    """Run all cells of the notebook; return the outputs by the ids of cells."""
    page.evaluate(RUN)
    page.wait_for_function("window.ran", timeout=RUN_MS)
    return dict(page.evaluate(OUTPUTS))


def widget_of(page, cell: str):
    """Scroll to the widget that a cell shows; return where it is."""
    page.evaluate(REVEAL, cell)
    widget = page.locator(f"[data-output-of='{cell}'] .ck-widget").first
    widget.wait_for()
    widget.scroll_into_view_if_needed()
    return widget


def controls(widget) -> Iterator:
    """Return the controls that a reader sees and can use, as they are at each time."""
    found = widget.locator(CONTROLS)
    for position in range(found.count()):
        control = found.nth(position)
        if control.is_visible() and control.is_enabled():
            yield control


def kind(control) -> str:
    """Return the type of an input, `button`, or the name of the element."""
    return control.evaluate("node => node.type || node.tagName.toLowerCase()")


def changes(page, widget, act) -> bool:
    """Tell whether the widget looks different after something was done."""
    before = widget.evaluate(LOOK)
    act()
    return differs(page, widget, before)


def differs(page, widget, before: str) -> bool:
    """Wait for another look, also for one that the kernel has to answer for."""
    from playwright.sync_api import TimeoutError as TooLong

    handle = widget.element_handle()
    try:
        page.wait_for_function(
            f"([node, before]) => ({LOOK})(node) !== before",
            arg=[handle, before],
            polling=50,  # ms; at each frame, it would take the look of a large widget
            timeout=ANSWER_MS,
        )
    except TooLong:
        return False
    return True


def answers_the_mouse(page, widget) -> bool:
    """Tell whether a click on one of its controls changes the widget.

    A field for text is only made ready for keys by it.
    """
    for control in controls(widget):
        control.scroll_into_view_if_needed()
        control.hover()
        if kind(control) in FIELDS:
            control.click()
            return control.evaluate("node => node === document.activeElement")
        for click in clicks(control):
            if changes(page, widget, click):
                return True
    return False


def clicks(control) -> list:
    """Return the clicks to try: on a slider towards both ends."""
    if kind(control) != "range":
        return [control.click]
    box = control.bounding_box()
    right, left = (
        {"x": box["width"] * part, "y": box["height"] / 2} for part in (0.8, 0.2)
    )
    return [
        lambda: control.click(position=right),
        lambda: control.click(position=left),
    ]


def answers_keys(page, widget) -> bool:
    """Tell whether a key changes the widget, and leaves the notebook alone."""
    answered = False
    for control in controls(widget):
        for key in KEYS.get(kind(control), ("ArrowRight", "ArrowDown", "Enter")):
            control.focus()
            before = page.evaluate(STATE)
            answered = changes(page, widget, lambda k=key: page.keyboard.press(k))
            assert page.evaluate(STATE) == before, key
            if answered:
                return True
    return answered
