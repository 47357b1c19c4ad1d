"""How near the fused step stays to float64, and how long each of its phases takes.

`python -m coursekit.benchmarks.mnist_race` writes `assets/mnist/fused_race.json`, on a
GPU with PyTorch. Several starts and orders of digits are drawn for each batch, and the
number of a draw is its seed. Where a rounding decides which of four values is the
largest, two trainings part: after one step in a few draws, after many in most. What
chance does is seen in a control: the same ratio for another form of PyTorch's own
step. Every draw is kept, and the ratios of a batch are summed up by their geometric
mean.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

import coursekit as ck
from coursekit import paths
from coursekit.benchmarking.ceilings import ceiling
from coursekit.benchmarking.records.records import Record, load
from coursekit.benchmarking.results import Benchmark
from coursekit.benchmarks import mnist
from coursekit.benchmarks.peers import mnist_peers
from coursekit.benchmarks.peers.mnist_peers import PLAIN
from coursekit.benchmarks.peers.training import DEVIATION, MEAN, RATE, Form
from coursekit.benchmarks.race_results import Distance, Phase, Race, Summary, summaries
from coursekit.errors import DeviceError
from coursekit.hardware import device
from coursekit.lessons.mnist import BATCHES, FULL
from coursekit.lessons.mnist.fused.layout import PRECISIONS, Layout
from coursekit.lessons.mnist.fused.plan import PATCHES
from coursekit.lessons.mnist.fused.step import TUNED, FusedStep

DRAWS = {"tf32": {64: 4, 256: 4, 1024: 2}, "fp32": {64: 16, 256: 12, 1024: 8}}
CONTROL = Form(channels_last=True, fused_sgd=True)
STEPS = (1, 10, 100)  # of a training, after which distances are taken
LAUNCHES = 40  # of a phase, in a graph


def measured() -> Race:
    """Measure all of it on this GPU.

    Raises
    ------
    DeviceError
        There is none.
    """
    here = device()
    if here.simulated:
        raise DeviceError.explained(
            "There is no GPU here to run the race on.",
            "It compares with PyTorch on a GPU, in TF32 and float32.",
            "Run python -m coursekit.benchmarks.mnist_race on a machine with one.",
        )
    today = datetime.date.today().isoformat()
    race = Race(here.name, today, RATE)
    for batch in DRAWS["fp32"]:
        race.distances.extend(distances(batch))
    for precision in PRECISIONS:
        for batch in mnist.BATCHES:
            race.phases.extend(phases(precision, batch))
    race.summaries.extend(summaries(race.distances))
    return race


# ---------------------------------------------------------------- distances


def distances(batch: int) -> list[Distance]:
    """Train in float64, with PyTorch twice and with ours, for each draw."""
    measured_distances = []
    for draw in range(max(of_batch[batch] for of_batch in DRAWS.values())):
        images, labels, start, _, _ = mnist.batches(batch, seed=draw)
        given = images, labels, start, batch
        exact = _by_pytorch(given, PLAIN, "float64")
        for precision in PRECISIONS:
            if draw < DRAWS[precision][batch]:
                far = _apart(given, exact, precision)
                measured_distances.extend(
                    Distance(precision, batch, draw, steps, **far[steps])
                    for steps in STEPS
                )
    return measured_distances


def _apart(given: tuple, exact: dict, precision: str) -> dict[int, dict[str, float]]:
    """How far weights and losses of each training are from the exact ones."""
    with mnist_peers.products_in(precision):
        trained = {"pytorch": _by_pytorch(given, PLAIN)}
        trained["control"] = _by_pytorch(given, CONTROL)
    trained["ours"] = _by_ours(given, precision)
    first, apart = Layout(FULL).named(ck.to_host(given[2])), {}
    for steps in STEPS:
        right, right_losses = exact[steps]
        far = apart[steps] = {}
        for name, after in trained.items():
            weights, losses = after[steps]
            loss = "our_loss" if name == "ours" else f"{name}_loss"
            far[name] = mnist_peers.distance(weights, right, first)
            far[loss] = float(np.abs(losses - right_losses).max())
    return apart


def _by_pytorch(given: tuple, form: Form, kind: str = "float32") -> dict[int, tuple]:
    """Weights and losses after some steps, each time in a training of its own."""
    by_steps = {}
    for steps in STEPS:
        losses, starts = [], mnist.starts(given[3], steps)
        weights = mnist_peers.trained(form, (*given, starts), kind, losses)
        by_steps[steps] = weights, np.array(losses)
    return by_steps


def _by_ours(given: tuple, precision: str) -> dict[int, tuple]:
    """The same of our step, out of one training."""
    images, labels, start, batch = given
    fused = _fused(precision, batch)
    fused.load(start)
    pictures, losses, by_steps = images.reshape(-1, FULL.side, FULL.side), [], {}
    for first in mnist.starts(batch, max(STEPS)):
        part = slice(first, first + batch)
        fused.run(ck.to_device(pictures[part]), ck.to_device(labels[part]))
        losses.append(fused.loss)
        if len(losses) in STEPS:
            by_steps[len(losses)] = fused.weights, np.array(losses)
    return by_steps


def _fused(precision: str, batch: int) -> FusedStep:
    options = {"rate": RATE, "mean": MEAN, "deviation": DEVIATION}
    return FusedStep(FULL, batch, precision=precision, form=TUNED, **options)


# ---------------------------------------------------------------- phases


def phases(precision: str, batch: int) -> list[Phase]:
    """Time each phase in a graph of its own, on what those before it made.

    Its own sums grow from launch to launch, which no value that it reads depends on.
    """
    import cupy

    fused = _fused(precision, batch)
    images, labels, start, _, _ = mnist.batches(batch)
    fused.load(start)
    given = {**fused.arrays, "images": ck.to_device(images[: 784 * batch]),
             "labels": ck.to_device(labels[:batch])}  # fmt: skip
    sums = [cupy.asarray(fused.arrays[name]) for name in (*PATCHES, "sums")]
    timed = []
    for number, launch in enumerate(fused.launches()):
        for array in sums:
            array.fill(0)
        for before in fused.launches()[: number + 1]:
            fused.launch(before, given)
        stream = cupy.cuda.Stream(non_blocking=True)
        stream.begin_capture()
        for _ in range(LAUNCHES):
            fused.launch(launch, given, stream)
        graph = stream.end_capture()
        times = [_graph_ms(graph, stream) for _ in range(6)][1:]
        took_us = 1e3 * float(np.median(times)) / LAUNCHES
        timed.append(Phase(precision, batch, launch.kernel, took_us))
    return timed


def _graph_ms(graph, stream) -> float:
    import cupy

    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record(stream)
    graph.launch(stream)
    last.record(stream)
    last.synchronize()
    return cupy.cuda.get_elapsed_time(first, last)


# ---------------------------------------------------------------- times of steps


def times(precision: str) -> list[Record]:
    """Return the records of a training step: the race, and PyTorch autotuned.

    Parameters
    ----------
    precision : str
        "tf32" or "fp32".
    """
    keys = (f"mnist/{name}_{precision}" for name in ("step", "autotuned"))
    return [found for key in keys if (found := load(key))]


def fastest(
    precision: str, groups: Mapping[str, Callable[[str], bool]]
) -> Benchmark | None:
    """Return the fastest case of each group at each batch; None without a record.

    Parameters
    ----------
    precision : str
        "tf32" or "fp32".
    groups : mapping of str to callable
        Name of a group, and whether a case, named by a str, belongs to it.

    Examples
    --------
    ``fastest("tf32", {"PyTorch": lambda case: case.startswith("PyTorch")})``
    """
    known = times(precision)
    if not known:
        return None
    # A case that both records have is taken from the first.
    rows = {(r.case, r.size): r for each in reversed(known) for r in each.rows}
    best = []
    for name, belongs in groups.items():
        for batch in BATCHES:
            own = [r for r in rows.values() if r.size == batch and belongs(r.case)]
            best.append(replace(max(own, key=lambda row: row.ratio), case=name))
    days = " and ".join(dict.fromkeys(each.date for each in known))
    taken = "recorded", known[0].device, days, ceiling(ck.device(), BATCHES)
    return Benchmark(tuple(groups), BATCHES, tuple(best), *taken)


# ---------------------------------------------------------------- the file

ROWS = {"distances": Distance, "summaries": Summary, "phases": Phase}


def file() -> Path:
    """Return where the record lies."""
    return paths.repository() / "assets" / "mnist" / "fused_race.json"


def recorded(place: Path | None = None) -> Race | None:
    """Return what was recorded on a GPU, or None as long as nothing is."""
    place = place or file()
    if not place.exists():
        return None
    content = json.loads(place.read_text(encoding="utf-8"))
    for row in content["distances"]:
        row.pop("ratios", None)
    for name, kind in ROWS.items():
        content[name] = [kind(**row) for row in content.get(name, ())]
    return Race(**content)


def write(race: Race, place: Path | None = None) -> Path:
    """Write a record, a row a line."""
    place = place or file()
    content = asdict(race)
    rows = {name: content.pop(name) for name in ROWS}
    for row, far in zip(rows["distances"], race.distances, strict=True):
        row["ratios"] = {of: list(pair) for of, pair in far.ratios.items()}
    parts = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in content.items()]
    for name, each in rows.items():
        lines = ",\n".join(f"  {json.dumps(_rounded(row))}" for row in each)
        parts.append(f" {json.dumps(name)}: [\n{lines}\n ]")
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    return paths.write_whole(place, text.encode())


def _rounded(value):
    """Keep the digits that a measurement has."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.4g}") if type(value) is float else value


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.stdout.write(f"{write(measured(), target)}\n")
