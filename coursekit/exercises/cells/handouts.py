"""Slides as files: each notebook becomes one HTML page that needs no network."""

from __future__ import annotations

import argparse
import base64
import json
import mimetypes
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises.cells.exports import SETTINGS

# The modules of the deck that a handout needs, each after those that it uses.
DECK = ("slides", "sizes", "pages", "paged", "keys", "bar", "handout")
_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|class|function|async)", re.MULTILINE)
_OUTSIDE = re.compile(r"<script[^>]*\bsrc=[^>]*></script>|<link[^>]*\bhref=[^>]*>")
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)  # answers and solutions
_PICTURE = re.compile(r"""(!\[[^\]]*\]\(|<img\b[^>]*\bsrc=["'])([^)"':]+)([)"'])""")
_STYLES = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL)
_BODY = re.compile(r"<main>(.*)</main>", re.DOTALL)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
<style>
{deck}
</style>
</head>
<body data-jp-theme-light="true">
<div class="ck-deck ck-handout">
<div class="jp-Notebook" tabindex="-1">{cells}</div>
</div>
<script>
(() => {{
{script}
showHandout({described});
}})();
</script>
</body>
</html>
"""


def export(notebook: Path, folder: Path) -> Path:
    """Write the slides of a notebook, with its stored outputs, as one HTML file.

    Parameters
    ----------
    notebook : Path
    folder : Path
        Where the file goes; made if it is missing.

    Returns
    -------
    Path
        Of the file, named as the notebook.

    Raises
    ------
    ArgumentError
        There is no such notebook.
    """
    import nbformat
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    if not notebook.is_file():
        raise ArgumentError.explained(
            f"There is no notebook {notebook}.",
            "A chapter's file is named by number and topic.",
            "Name a chapter, such as 09 or 10a, or the path of a notebook.",
        )
    whole = nbformat.read(notebook, as_version=4)
    whole.cells = [cell for cell in whole.cells if _is_shown(cell)]
    for cell in whole.cells:
        if cell.cell_type == "markdown":
            cell.source = _embedded(_FOLDED.sub("", cell.source), notebook.parent)
    html, _ = HTMLExporter(config=Config(SETTINGS)).from_notebook_node(whole)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{notebook.stem}.html"
    file.write_text(_page(html, whole), encoding="utf-8")
    return file


def _is_shown(cell: Any) -> bool:
    """Tell whether a cell is on the slides, as slides.js does in the browser."""
    kind = cell.metadata.get("slideshow", {}).get("slide_type")
    tags = cell.metadata.get("tags", ())
    if kind == "notes" or {"claim", "solution-hidden"} & set(tags):
        return False
    return kind != "skip" or any(tag.startswith("exercise-") for tag in tags)


def _embedded(text: str, folder: Path) -> str:
    """Put the pictures that a text names into the text itself."""

    def data(match: re.Match[str]) -> str:
        picture = folder / match[2]
        if not picture.is_file():
            return match[0]
        kind = mimetypes.guess_type(picture.name)[0]
        content = base64.b64encode(picture.read_bytes()).decode()
        return f"{match[1]}data:{kind};base64,{content}{match[3]}"

    return _PICTURE.sub(data, text)


def _page(html: str, notebook: Any) -> str:
    described = [
        {
            "type": cell.cell_type,
            "metadata": {k: v for k, v in cell.metadata.items() if k != "notes"},
            "source": cell.source,
        }
        for cell in notebook.cells
    ]
    found = _BODY.search(html)
    styles = "\n".join(_STYLES.findall(html))
    static = _extension()
    modules = [(static / f"{name}.js").read_text(encoding="utf-8") for name in DECK]
    return PAGE.format(
        title=notebook.cells[0].source.split("\n")[0].lstrip("# "),
        styles=_OUTSIDE.sub("", styles),
        deck=(static / "deck.css").read_text(encoding="utf-8"),
        cells=_OUTSIDE.sub("", found[1] if found else ""),
        script="".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in modules),
        described=json.dumps(described).replace("</", "<\\/"),
    )


def _extension() -> Path:
    return paths.repository() / "notebooks/lab_extensions/coursekit-deck/static"


def find(chapter: str) -> list[Path]:
    """Return the notebooks of a chapter, such as "09" or "10", or the one of a path."""
    if chapter.endswith(".ipynb"):
        return [Path(chapter)]
    folder = paths.repository() / "notebooks"
    return sorted(folder.glob(f"{chapter}*.ipynb")) or [folder / f"{chapter}.ipynb"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``python -m coursekit export-slides``."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit export-slides",
        description="Write chapters as slides that open in any browser, offline.",
    )
    parser.add_argument(
        "chapters", nargs="*", default=[""], metavar="CHAPTER",
        help="09, 10a, or the path of a notebook; all of them without one",
    )  # fmt: skip
    parser.add_argument(
        "--to", type=Path, default=Path("slides"), metavar="FOLDER",
        help="where the files go (default: slides)",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    for chapter in chosen.chapters:
        for notebook in find(chapter):
            sys.stdout.write(f"{export(notebook, chosen.to)}\n")
    return 0
