"""What axe-core complains about in a page."""

from __future__ import annotations

import pytest

AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What keeps the rules is not returned: it is far more than what breaks them.
RUN = """async ([within, options]) => {
  const { violations } = await axe.run(within ?? document, options);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}"""


def skip_without_axe() -> None:
    pytest.importorskip(
        "axe_playwright_python",
        reason="axe-playwright-python is missing; conda-forge does not have it",
    )


def violations(page, within: str | None = None) -> list[tuple[str, list[str]]]:
    """Return which rules a page breaks and where, or the part that a selector finds."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": AXE_RULES, "resultTypes": ["violations"]}
    page.evaluate(Axe().axe_script)
    return [(name, html) for name, html in page.evaluate(RUN, [within, options])]
