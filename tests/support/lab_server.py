"""A JupyterLab of its own, with copies of the notebooks, as `make lab` starts it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
SKIPPED = {"slide_type": "skip"}
# Metadata of a cell, and whether slides show it: in JupyterLab, and in handouts.
SHOWN = [
    ({}, True),
    ({"slideshow": {"slide_type": "subslide"}}, True),
    ({"slideshow": SKIPPED}, False),
    ({"slideshow": {"slide_type": "notes"}}, False),
    ({"tags": ["claim"]}, False),
    ({"tags": ["solution-hidden"]}, False),
    ({"tags": ["exercise-05.1"], "slideshow": SKIPPED}, True),
    ({"tags": ["nbval-check-output"]}, True),
]


def copies(folder: Path) -> Path:
    """Put copies of the notebooks, and what they show, into a folder."""
    (folder / "notebooks").mkdir()
    for file in (ROOT / "notebooks").glob("*.*"):
        if file.suffix in (".ipynb", ".md"):
            shutil.copy(file, folder / "notebooks")
    shutil.copytree(ROOT / "assets", folder / "assets", ignore=_no_pictures)
    return folder


def _no_pictures(folder: str, names: list[str]) -> list[str]:
    """Name what no notebook shows."""
    return [n for n in names if n in ("ptx", "sass", "records", "reports")]


@contextlib.contextmanager
def serving(folder: Path, home: Path, *, whole: bool = False) -> Iterator[str]:
    """Serve a folder; yield the address of JupyterLab there.

    The page has its application as `jupyterapp`. A whole notebook is in the page, also
    the cells that are out of sight; else JupyterLab leaves those out.
    """
    settings = _settings(home, whole)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--ServerApp.token=",
        "--ServerApp.password=",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.app_settings_dir={settings}",
        f"--LabApp.extra_labextensions_path={ROOT}/notebooks/lab_extensions",
        "--LabApp.expose_app_in_browser=True",
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONPATH": str(ROOT),
    }
    log = home / "log"
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    try:
        yield _address(home / "runtime", server, log)
    finally:
        server.terminate()
        server.wait(30)


def _settings(home: Path, whole: bool) -> Path:
    """Write the settings that `make lab` has, and perhaps one more; return where."""
    name = "lab_settings"
    folder = Path(shutil.copytree(ROOT / "notebooks" / name, home / name))
    file = folder / "overrides.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    if whole:
        settings["@jupyterlab/notebook-extension:tracker"] = {"windowingMode": "none"}
    file.write_text(json.dumps(settings), encoding="utf-8")
    return folder


def _address(runtime: Path, server: subprocess.Popen, log: Path) -> str:
    """Wait until the server answers; return its address."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(OSError, ValueError):
                url = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api/status", timeout=5).close()
                return url
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab does not answer.\n{log.read_text()[-2000:]}")
