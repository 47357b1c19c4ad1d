"""The README's pictures: their words are what the records say today."""

import importlib.util
from pathlib import Path

import pytest

from coursekit.benchmarking.records import records

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "assets" / "readme_pictures.py"
LARGEST_BYTES = 150_000


@pytest.fixture(scope="module")
def pictures():
    """Return the script that draws them, as a module."""
    spec = importlib.util.spec_from_file_location("readme_pictures", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = ("matmul_ladder.png", "mnist_step.png")


def test_the_script_draws_these(pictures):
    assert tuple(pictures.PICTURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_readme_says_of_a_picture_what_the_records_say(pictures, name):
    """Run assets/readme_pictures.py and put its lines into the README, if not."""
    chart = pictures.PICTURES[name]()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = chart is not None and pictures.markdown(name, chart) in text
    assert shown == (f"(assets/{name})" in text) == (chart is not None)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_the_readme_is_small(name):
    place = ROOT / "assets" / name
    assert not place.exists() or place.stat().st_size < LARGEST_BYTES


def test_readme_says_the_ratio_of_bursts_to_cublas():
    rows = records.load("matmul/cublas").rows
    ratio = next(r.ratio for r in rows if (r.case, r.size) == ("tuned", 4096))
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"the last step is {ratio:.2f} times as fast" in text
