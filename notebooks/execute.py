"""Run the notebooks in place without a GPU and store them in one canonical form.

    python notebooks/execute.py [--format] [NOTEBOOK ...]

`--format` brings the file into the canonical form without running it. The form:
ids that tell section and position, the known metadata and no other, no widget
state, claims folded away and off the slides, the source of questions folded away, and
a hash of the code that made the outputs, so that a test sees outputs gone stale.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent
CELL_KEYS = {"alt", "jupyter", "minutes", "notes", "slideshow", "tags"}
QUESTIONS = ("guess", "quiz")
CLAIM = "claim"
KERNELSPEC = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_TIMEOUT_S = 120


def is_section(cell: NotebookNode) -> bool:
    """Tell whether a cell opens a section: Markdown that starts with `## `."""
    return cell.cell_type == "markdown" and cell.source.startswith("## ")


def is_only_asserts(cell: NotebookNode) -> bool:
    """Tell whether a code cell consists of assert statements."""
    if cell.cell_type != "code" or "assert" not in cell.source:
        return False
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic
        return False
    return bool(body) and all(isinstance(step, ast.Assert) for step in body)


def is_claim(cell: NotebookNode) -> bool:
    """Tell whether a cell is tagged as one that only asserts a claim."""
    return CLAIM in cell.metadata.get("tags", [])


def asks(cell: NotebookNode) -> bool:
    """Tell whether a code cell calls `ck.guess` or `ck.quiz`, which hold answers."""
    return cell.cell_type == "code" and _asks(cell.source)


@functools.lru_cache(maxsize=4096)
def _asks(source: str) -> bool:
    if not any(name in source for name in QUESTIONS):
        return False
    try:
        steps = ast.walk(ast.parse(source))
    except SyntaxError:  # a magic
        return False
    calls = (step.func for step in steps if isinstance(step, ast.Call))
    return any(ast.unparse(call).removeprefix("ck.") in QUESTIONS for call in calls)


def asked_ids(notebook: NotebookNode, kind: str) -> list[str]:
    """Return the ids that a notebook asks by `ck.guess` or `ck.quiz`, in order."""
    sources = [cell.source for cell in notebook.cells if asks(cell)]
    return re.findall(rf"\b{kind}\(\"(\d\d\.\w+)\"\)", "\n".join(sources))


def code_hash(notebook: NotebookNode) -> str:
    """Return the SHA-256 of the notebook's code cells, in order."""
    digest = hashlib.sha256()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            digest.update(cell.source.encode() + b"\0")
    return digest.hexdigest()


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Bring a notebook into the canonical form, in place, and return it."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    kept = notebook.metadata.get("coursekit")
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    if kept:
        notebook.metadata["coursekit"] = kept
    section, position = 0, 0
    for cell in notebook.cells:
        if is_section(cell):
            section, position = section + 1, 0
        cell["id"] = f"s{section:02}-{position:02}"
        position += 1
        normalise_cell(cell)
    return notebook


def normalise_cell(cell: NotebookNode) -> None:
    """Keep the known metadata; fold source away; make the outputs repeatable."""
    cell.source = "\n".join(line.rstrip() for line in cell.source.split("\n")).strip()
    cell.metadata = nbformat.from_dict(
        {key: value for key, value in cell.metadata.items() if key in CELL_KEYS}
    )
    if is_only_asserts(cell) or is_claim(cell):
        cell.metadata["jupyter"] = {"source_hidden": True}
        cell.metadata["slideshow"] = {"slide_type": "skip"}
    if asks(cell):
        cell.metadata["jupyter"] = {"source_hidden": True}
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if WIDGET_VIEW in data and len(data.keys() - {"text/plain"}) > 1:
            del data[WIDGET_VIEW]  # its model exists in the kernel that made it only
        if output.output_type == "execute_result":
            output.execution_count = cell.execution_count
    if cell.cell_type == "code":
        own = cell.source.startswith("ck.progress(")  # each reader has another
        cell.outputs = [] if own else merged_streams(cell.outputs)


def merged_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream, which arrive cut by timing."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else None
        is_stream = output.output_type == "stream" and last is not None
        if is_stream and last.get("name") == output.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def to_text(notebook: NotebookNode) -> str:
    """Return the file's text for a notebook."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run all cells in a fresh kernel without a GPU; raise when one fails."""
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    with tempfile.TemporaryDirectory(prefix="coursekit-notebooks-") as folder_name:
        client.execute(env=kernel_environment(folder_name))
    notebook.metadata["coursekit"] = {"executed_sha256": code_hash(notebook)}
    return notebook


def kernel_environment(folder: str) -> dict[str, str]:
    """Return variables that hide the GPU and keep caches and state in `folder`."""
    own = {
        name: os.path.join(folder, name.lower())
        for name in (
            "COURSEKIT_CACHE",
            "COURSEKIT_DATA",
            "COURSEKIT_STATE",
            "COURSEKIT_WORK",
        )
    }
    hidden = {
        "CUDA_VISIBLE_DEVICES": "-1",
        "COURSEKIT_STRICT": "0",
        "COURSEKIT_PROGRESS": "0",
    }
    return os.environ | own | hidden | {"IPYTHONDIR": os.path.join(folder, "ipython")}


def main(arguments: list[str] | None = None) -> int:
    """Run or format the named notebooks, all of them when none is named."""
    parser = argparse.ArgumentParser(description="Run the notebooks in place.")
    parser.add_argument("--format", action="store_true", help="do not run them")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    for path in options.notebooks or sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if not options.format:
            execute(notebook, path.resolve().parent)
        path.write_text(to_text(normalise(notebook)), encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
