"""What nbconvert exports once `make lab` has prepared the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import nbformat
import pytest

from coursekit.exercises.cells import exports


@pytest.mark.parametrize("kind", ["html", "slides"])
def test_claims_are_left_out_of_an_export(tmp_path, kind):
    exports.install(str(tmp_path))
    cells = [
        nbformat.v4.new_code_cell("stays = 1"),
        nbformat.v4.new_code_cell("is_claimed = 1", metadata={"tags": ["claim"]}),
    ]
    path = tmp_path / "small.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    command = [sys.executable, "-m", "nbconvert", "--to", kind, "--stdout", path]
    environment = os.environ | {
        "JUPYTER_CONFIG_PATH": str(tmp_path / "etc" / "jupyter")
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "stays" in done.stdout
    assert "is_claimed" not in done.stdout


def test_settings_of_nbconvert_that_are_there_stay(tmp_path):
    place = tmp_path / "etc" / "jupyter" / "jupyter_nbconvert_config.json"
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    exports.install(str(tmp_path))
    assert json.loads(place.read_text()) == {}
