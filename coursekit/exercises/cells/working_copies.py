"""Copies of the notebooks in `work/`, made once, that a student may change at will.

`make lab` runs ``python -m coursekit.exercises.cells.working_copies``. A copy is
never overwritten; `python -m coursekit reset NOTEBOOK` makes a fresh one and keeps the
old. A copy has no outputs, so that a prediction is one, and none of the cells tagged
`claim`, which only assert what the prose says.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coursekit import paths
from coursekit.errors import LaunchError
from coursekit.exercises.cells import exports, set_up_first
from coursekit.exercises.set_aside import set_aside, write

ORIGINS = ".origins.json"
CLAIM = "claim"
# Links and images, in Markdown and HTML, that lead out of notebooks/, and links to what
# lies beside the notebooks and is not copied: the glossary.
_LINK = r"""(\]\(|\b(?:src|href)=["'])"""
_UPWARD = re.compile(rf"{_LINK}\.\./")
_BESIDE = re.compile(rf"{_LINK}(?=[\w-]+\.md\b)")


def originals() -> dict[str, Path]:
    """Return the course's notebooks by name: 05_first_kernels."""
    folder = paths.repository() / "notebooks"
    return {path.stem: path for path in sorted(folder.glob("*.ipynb"))}


def folder() -> Path:
    """Return the folder of the copies."""
    return paths.work() / "notebooks"


def update() -> list[str]:
    """Copy the notebooks that have no copy yet; return a line for each change.

    A copy whose original has changed since stays as it is, and is named. A folder that
    cannot be written is named too: the copies that are there can be read all the same.
    """
    known = _origins()
    origins, made, problem = dict(known), [], ""
    digests = {name: _digest(path) for name, path in originals().items()}
    try:
        for name, path in originals().items():
            copy = folder() / path.name
            if not copy.exists():
                _copy(path, copy)
                origins[name] = digests[name]
                made.append(name)
            origins.setdefault(name, digests[name])
        if origins != known:
            _write_origins(origins)
    except OSError as failure:
        problem = _unwritable(failure)
    copied = f"Copied into {folder()}: {', '.join(made)}." if made else ""
    changed = [
        f"{name} has changed since your copy was made; "
        f"`.venv/bin/python -m coursekit reset {name}` takes the new one and keeps "
        "yours."
        for name, digest in digests.items()
        if origins.get(name, digest) != digest
    ]
    return [line for line in (copied, problem, *changed) if line]


def _unwritable(failure: OSError) -> str:
    """Say that the folder of the copies cannot be written."""
    return (
        f"{folder()} cannot be written: {failure.strerror}.\n"
        "  The disk is full or read-only, or the folder belongs to another user.\n"
        "  JupyterLab opens all the same, but can save nothing there. Free some space "
        "or fix the permissions; `df -h .` and `ls -ld work` show them."
    )


def reset(name: str) -> list[str]:
    """Replace a copy by a fresh one; return lines that say what was done.

    Parameters
    ----------
    name : str
        05_first_kernels, with or without a folder and .ipynb.

    Raises
    ------
    LaunchError
        There is no such notebook.
    """
    stem, notebooks = Path(name).name.removesuffix(".ipynb"), originals()
    if stem not in notebooks:
        raise LaunchError.explained(
            f"There is no notebook {name!r}.",
            "The name is misspelt, or it is no notebook of the course.",
            f"There are: {', '.join(notebooks)}.",
        )
    path, lines = notebooks[stem], []
    copy = folder() / path.name
    if copy.exists():
        lines.append(f"Your copy is kept: {set_aside(copy)}")
    _copy(path, copy)
    _write_origins(_origins() | {stem: _digest(path)})
    return [*lines, f"Fresh copy: {copy}. Reload it where it is open."]


def _copy(path: Path, copy: Path) -> None:
    content = json.dumps(fresh(path, copy), indent=1, ensure_ascii=False)
    write(copy, content + "\n")


def fresh(path: Path, copy: Path) -> dict[str, Any]:
    """Return a notebook as a student gets it.

    Parameters
    ----------
    path : Path
        The course's own.
    copy : Path
        Where it is to be written: its links lead where the original's lead.
    """
    up = quote(Path(os.path.relpath(path.parent.parent, copy.parent)).as_posix())
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"] = _metadata()
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if CLAIM not in cell["metadata"].get("tags", ())
    ]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _relinked(cell["source"], up)
        else:
            cell |= {"outputs": [], "execution_count": None}
    return notebook


def _relinked(text: str | list[str], up: str) -> str:
    text = _UPWARD.sub(rf"\g<1>{up}/", "".join(text))
    return _BESIDE.sub(rf"\g<1>{up}/notebooks/", text)


@functools.cache
def _metadata() -> dict[str, Any]:
    """Return the metadata that JupyterLab gives a notebook when its kernel starts.

    With any other, a copy would count as changed as soon as it is opened.
    """
    from ipykernel import ipkernel, kernelspec  # the kernel; slow to import

    language = dict(ipkernel.IPythonKernel.language_info)
    spec = kernelspec.get_kernel_dict()
    named = {"display_name": spec["display_name"], "language": spec["language"]}
    return {
        "kernelspec": {**named, "name": kernelspec.KERNEL_NAME},
        "language_info": dict(sorted(language.items())),
    }


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _origins() -> dict[str, str]:
    """Return the hash that each original had when its copy was made, where known."""
    try:
        digests = json.loads((folder() / ORIGINS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return digests if isinstance(digests, dict) else {}


def _write_origins(origins: dict[str, str]) -> None:
    write(folder() / ORIGINS, json.dumps(origins, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Prepare what `make lab` opens, and say what has changed."""
    set_up_first.install()
    exports.install()
    sys.stdout.write("".join(f"{line}\n" for line in update()))


if __name__ == "__main__":
    main()
