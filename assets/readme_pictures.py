"""Draw the README's matmul_ladder.png and mnist_step.png from the recorded times.

    .venv/bin/python assets/readme_pictures.py

It prints a line of Markdown for each, whose words a test (test_readme_pictures.py)
compares with the README: a new record asks for new pictures and new words.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from coursekit import benchmarks, plot
from coursekit.benchmarking.records import records
from coursekit.benchmarking.records.records import Record
from coursekit.plot.chart import few_colours

FOLDER = Path(__file__).parent
DOTS_PER_INCH = 160
SIZE = 4096  # of the matrices
STEPS = ("mnist/step_tf32", "mnist/autotuned_tf32")
OURS, COPIES_FIRST = "tuned, graph, copies overlapped", "tuned, graph"


def matmul_ladder() -> plot.Chart | None:
    """Draw what each step of the ladder makes."""
    if records.load("matmul/ladder") is None:
        return None
    title = f"Matrix product in float32, {SIZE:,} x {SIZE:,}: each step of chapter 17"
    ladder = benchmarks.benchmark("matmul/ladder")
    return plot.ladder(ladder, title=title, size=SIZE)


def mnist_step() -> plot.Chart | None:
    """Draw how much faster our training step is than PyTorch's, over batches."""
    found = [record for key in STEPS if (record := records.load(key))]
    if not found or found[0].key != STEPS[0]:
        return None
    batches = sorted({row.size for row in found[0].rows})
    days = " and ".join(dict.fromkeys(record.date for record in found))
    ways = {
        "PyTorch, eager": (OURS, lambda case: case == "PyTorch eager"),
        "PyTorch, the step as a CUDA graph": (
            OURS,
            lambda case: case == "PyTorch graph",
        ),
        "PyTorch, its fastest form": (OURS, lambda case: case.startswith("PyTorch")),
        "the same, both without overlapped copies": (
            COPIES_FIRST,
            lambda case: case.startswith("PyTorch") and "overlapped" not in case,
        ),
    }
    chart = plot.curves(
        batches,
        {name: [faster(found, *way, n) for n in batches] for name, way in ways.items()},
        title="A training step on digits (TF32): our speed relative to PyTorch",
        along="pictures a step (batch)",
        of="our speed relative to it (times)",
        limits={"as fast as ours": 1},
        note=f"recorded on {found[0].device}, {days}",
    )
    return chart


def faster(
    found: list[Record], ours: str, theirs: Callable[[str], bool], batch: int
) -> float:
    """Return our speed relative to the fastest of some cases, pair by pair."""
    rows = [row for record in found for row in record.rows if row.size == batch]
    ratio = {row.case: row.ratio for row in rows}
    return ratio[ours] / max(ratio[case] for case in ratio if theirs(case))


PICTURES = {"matmul_ladder.png": matmul_ladder, "mnist_step.png": mnist_step}


def markdown(name: str, chart: plot.Chart) -> str:
    """Return the line of the README that shows a picture."""
    return f"![{chart.alt}](assets/{name})"


def save(chart: plot.Chart, place: Path) -> None:
    """Write a picture with few colours."""
    drawn = io.BytesIO()
    chart.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    image = few_colours(Image.open(drawn))
    image.save(place, optimize=True)


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        chart = draw()
        if chart is None:
            sys.stdout.write(f"{name}: nothing is recorded yet\n")
            continue
        save(chart, FOLDER / name)
        sys.stdout.write(f"{markdown(name, chart)}\n")
