"""Colours of the widgets, in the light theme and in the dark one.

A widget stands on a ground of its own, so that every text is readable whatever the
theme around it. The contrasts are tested; nothing is told by colour alone.
"""

from __future__ import annotations

from coursekit.display.listing import GROUND, TEXT, Shade

GROUNDS = {
    "panel": GROUND["panel"],
    "block0": Shade("#cfe4f5", "#0b3d61"),
    "block1": Shade("#ffddc2", "#5c2c05"),
    "block2": Shade("#c8ecdd", "#0b4634"),
    "block3": Shade("#f4d9ea", "#54284a"),
    "block4": Shade("#faeab5", "#4a3b05"),
    "block5": Shade("#dfe3e8", "#39424d"),
}
INKS = {
    "ink": TEXT["plain"],
    "quiet": TEXT["comment"],
    "right": Shade("#0a5c26", "#7ee2a0"),
    "wrong": TEXT["keyword"],
}
# The parts of a kernel's source, as in a listing.
CODE = {
    f"code-{kind}": TEXT[kind]
    for kind in ("comment", "directive", "keyword", "literal", "type")
}
# Borders and marks have a contrast of at least 3 to 1 against the panel.
LINES = {
    "line": Shade("#7d8792", "#7d8792"),
    "accent": Shade("#0550ae", "#8ecaff"),
    "heat": Shade("#bc4c00", "#f0883e"),
}
BLOCKS = 6
_DARK = (
    'body[data-jp-theme-light="false"] .ck-widget',
    ".vscode-dark .ck-widget",
    ".vscode-high-contrast:not(.vscode-high-contrast-light) .ck-widget",
)
_BARE = "body:not([data-jp-theme-light]):not([data-vscode-theme-kind]) .ck-widget"


def variables() -> str:
    """Return the style sheet that defines `--ck-NAME` for each colour."""
    dark = _declarations("dark")
    return (
        f".ck-widget {{ color-scheme: light; {_declarations('light')} }}\n"
        f"{', '.join(_DARK)} {{ color-scheme: dark; {dark} }}\n"
        f"@media (prefers-color-scheme: dark) {{ "
        f"{_BARE} {{ color-scheme: dark; {dark} }} }}\n"
    )


def _declarations(theme: str) -> str:
    colours = GROUNDS | INKS | CODE | LINES
    return " ".join(f"--ck-{k}: {getattr(v, theme)};" for k, v in colours.items())
