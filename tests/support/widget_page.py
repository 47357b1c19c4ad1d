"""A page that runs a widget's ES module without Jupyter, in a headless Chromium.

The module is the very text that a notebook gets. Behind it stands a model that holds
the widget's state and calls back on changes, as Jupyter's does. Requests never leave
the browser: the files of the page are answered from here, and where the page is linked
to the widget, so is what the view sends: the widget changes as in a kernel.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADDRESS = "http://widget.test/"
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Widget</title>
<link rel="icon" href="data:,">
<style>{style} body {{ background: {ground}; }}</style>
<body data-jp-theme-light="{light}"><main><h1 style="display:none">Widget</h1>
<div id="widget"></div></main>
<script type="module">
import * as module from "./widget.js";
const state = {state}, followers = {{}};
window.heard = [];      // keys that reach the page, as they would reach JupyterLab
window.saved = 0;
window.module = module;
window.model = {{
  get: (name) => state[name],
  set(name, value) {{
    if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
    state[name] = value;
    for (const call of [...(followers["change:" + name] ?? [])]) call();
  }},
  save_changes() {{
    window.saved += 1;
    if ({linked}) tell(JSON.stringify(state));
  }},
  on(event, call) {{ (followers[event] ??= []).push(call); }},
  off(event, call) {{
    followers[event] = (followers[event] ?? []).filter((one) => one !== call);
  }},
}};
window.pending = 0;
async function tell(body) {{
  window.pending += 1;
  const answer = await fetch("./kernel", {{ method: "POST", body }});
  for (const [name, value] of Object.entries(await answer.json()))
    window.model.set(name, value);
  window.pending -= 1;
}}
document.addEventListener("keydown", (event) => window.heard.push(event.key));
const el = document.getElementById("widget");
window.end = module.default.render({{ model: window.model, el }});
window.ready = true;
</script></body></html>"""


@functools.cache
def browser_path() -> str | None:
    """Return the path of a Chromium on this machine, or None."""
    found = filter(None, map(shutil.which, NAMES))
    return next(found, None) or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def state_of(widget) -> dict:
    """Return the widget's own traits that its view sees."""
    hidden = ("_", "layout", "tabbable", "tooltip")
    return {
        name: value
        for name, value in widget.get_state().items()
        if not name.startswith(hidden)
    }


def page_of(widget, theme: str, linked: bool) -> str:
    """Return the HTML of a page that shows one widget."""
    return PAGE.format(
        style=widget._css,
        ground={"light": "#ffffff", "dark": "#111111"}[theme],
        light=json.dumps(theme == "light"),
        state=json.dumps(state_of(widget)).replace("<", "\\u003c"),  # in a <script>
        linked=json.dumps(linked),
    )


def changed(widget, body: str) -> str:
    """Give the widget what the view has sent; return its state then, as JSON."""
    before = state_of(widget)
    sent = {k: v for k, v in json.loads(body).items() if v != before[k]}
    widget.set_state(sent)
    return json.dumps(state_of(widget))


def open_widget(page, widget, theme: str = "light", *, linked: bool = False):
    """Show a widget in a page that may have shown others; return the page.

    A linked page sends the widget what its view changes, and shows what it answers.
    """
    files = {
        "": ("text/html", page_of(widget, theme, linked)),
        "widget.js": ("text/javascript", str(widget._esm)),
    }

    def answer(route):
        name = route.request.url.removeprefix(ADDRESS)
        if name == "kernel":
            body = changed(widget, route.request.post_data)
            return route.fulfill(content_type="application/json", body=body)
        kind, body = files[name]
        route.fulfill(content_type=f"{kind}; charset=utf-8", body=body)

    page.unroute_all()
    page.route("**/*", answer)
    page.set_default_timeout(60_000)
    page.mouse.move(1, 799)
    page.goto(ADDRESS)
    page.wait_for_function("window.ready")
    return page
