"""How near the fused step stays to float64, and how long each of its phases takes.

`python -m coursekit.recording.mnist_race` writes `assets/mnist/fused_race.json`, on a
GPU with PyTorch. Three starts and orders of digits are taken for each batch: after many
steps rounding has grown by chance as much as by size.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import coursekit as ck
from coursekit import paths
from coursekit.errors import DeviceError
from coursekit.hardware import device
from coursekit.mnist import FULL
from coursekit.mnist.fused.layout import PRECISIONS, Layout
from coursekit.mnist.fused.step import TUNED, FusedStep
from coursekit.recording import mnist_peers, mnist_steps
from coursekit.recording.mnist_peers import DEVIATION, MEAN, PLAIN, RATE

DRAWS = 3
BATCHES = (64, 256, 1024)  # of distances
STEPS = 100
LAUNCHES = 40  # of a phase, in a graph


@dataclass(frozen=True)
class Distance:
    """How far from float64 a training ends, for one draw.

    Attributes
    ----------
    precision : str
    batch, draw, steps : int
    ours, pytorch : float
        Distance of the weights, relative to how far those of float64 have gone.
    our_loss, pytorch_loss : float
        Largest distance of a step's loss.
    """

    precision: str
    batch: int
    draw: int
    steps: int
    ours: float
    pytorch: float
    our_loss: float
    pytorch_loss: float


@dataclass(frozen=True)
class Phase:
    """Time of one phase, launched over and over.

    Attributes
    ----------
    precision, name : str
    batch : int
    time_us : float
    """

    precision: str
    batch: int
    name: str
    time_us: float


@dataclass(frozen=True)
class Race:
    """What was found on one GPU on one day."""

    device: str
    date: str
    rate: float
    distances: list[Distance] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)


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
            "Run python -m coursekit.recording.mnist_race on a machine with one.",
        )
    today = datetime.date.today().isoformat()
    race = Race(here.name, today, RATE)
    for precision in PRECISIONS:
        for batch in BATCHES:
            race.distances.extend(distances(precision, batch))
        for batch in mnist_steps.BATCHES:
            race.phases.extend(phases(precision, batch))
    return race


# ---------------------------------------------------------------- distances


def distances(precision: str, batch: int) -> list[Distance]:
    """Train in float64, with PyTorch and with ours, for each draw."""
    found = []
    for draw in range(DRAWS):
        images, labels, start, _, _ = mnist_steps.batches(batch)
        given = images, labels, start, batch
        exact, losses = _by_pytorch(given, "float64")
        with mnist_peers.products_in(precision):
            theirs, their_losses = _by_pytorch(given, "float32")
        ours, our_losses = _by_ours(given, precision)
        first = Layout(FULL).named(ck.to_host(start))
        far = [mnist_peers.distance(w, exact, first) for w in (ours, theirs)]
        off = [np.abs(x - losses).max() for x in (our_losses, their_losses)]
        found.append(Distance(precision, batch, draw, STEPS, *far, *map(float, off)))
    return found


def _starts(batch: int) -> tuple[int, ...]:
    return tuple(step * batch % mnist_steps.POOL for step in range(STEPS))


def _by_pytorch(given: tuple, kind: str):
    import torch

    images, labels, start, batch = given
    step = mnist_peers.Step(PLAIN, getattr(torch, kind))
    step.load(torch.as_tensor(ck.to_host(start), device="cuda"))
    whole, losses = step.loss, []

    def watched(*pictures):
        loss = whole(*pictures)
        losses.append(float(loss.detach()))
        return loss

    step.loss = watched
    mnist_peers.Batches(step, images, labels, batch, _starts(batch))()
    row = torch.cat([weight.reshape(-1).double() for weight in step.weights])
    return Layout(FULL).named(row.cpu().numpy()), np.array(losses)


def _by_ours(given: tuple, precision: str):
    images, labels, start, batch = given
    fused = _fused(precision, batch)
    fused.load(start)
    pictures, losses = images.reshape(-1, FULL.side, FULL.side), []
    for first in _starts(batch):
        part = slice(first, first + batch)
        fused.run(ck.to_device(pictures[part]), ck.to_device(labels[part]))
        losses.append(fused.loss)
    return fused.weights, np.array(losses)


def _fused(precision: str, batch: int) -> FusedStep:
    options = {"rate": RATE, "mean": MEAN, "deviation": DEVIATION}
    return FusedStep(FULL, batch, precision=precision, form=TUNED, **options)


# ---------------------------------------------------------------- phases


def phases(precision: str, batch: int) -> list[Phase]:
    """Time each phase in a graph of its own; what the arrays hold is nonsense then."""
    import cupy

    fused = _fused(precision, batch)
    images, labels, start, _, _ = mnist_steps.batches(batch)
    fused.load(start)
    given = {**fused.arrays, "images": ck.to_device(images[: 784 * batch]),
             "labels": ck.to_device(labels[:batch])}  # fmt: skip
    for launch in fused.launches():
        fused.launch(launch, given)
    found = []
    for launch in fused.launches():
        stream = cupy.cuda.Stream(non_blocking=True)
        stream.begin_capture()
        for _ in range(LAUNCHES):
            fused.launch(launch, given, stream)
        graph = stream.end_capture()
        times = [_graph_ms(graph, stream) for _ in range(6)][1:]
        took_us = 1e3 * float(np.median(times)) / LAUNCHES
        found.append(Phase(precision, batch, launch.kernel, took_us))
    return found


def _graph_ms(graph, stream) -> float:
    import cupy

    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    first.record(stream)
    graph.launch(stream)
    last.record(stream)
    last.synchronize()
    return cupy.cuda.get_elapsed_time(first, last)


# ---------------------------------------------------------------- the file


def file() -> Path:
    """Return where the record lies."""
    return paths.repository() / "assets" / "mnist" / "fused_race.json"


def recorded(place: Path | None = None) -> Race | None:
    """Return what was recorded on a GPU, or None as long as nothing is."""
    place = place or file()
    if not place.exists():
        return None
    content = json.loads(place.read_text(encoding="utf-8"))
    content["distances"] = [Distance(**row) for row in content["distances"]]
    content["phases"] = [Phase(**row) for row in content["phases"]]
    return Race(**content)


def write(race: Race, place: Path | None = None) -> Path:
    """Write a record, a row a line."""
    place = place or file()
    place.parent.mkdir(parents=True, exist_ok=True)
    content = asdict(race)
    rows = {name: content.pop(name) for name in ("distances", "phases")}
    parts = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in content.items()]
    for name, each in rows.items():
        lines = ",\n".join(f"  {json.dumps(_rounded(row))}" for row in each)
        parts.append(f" {json.dumps(name)}: [\n{lines}\n ]")
    unfinished = place.with_suffix(f".{os.getpid()}")
    unfinished.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    os.replace(unfinished, place)
    return place


def _rounded(row: dict) -> dict:
    """Keep the digits that a measurement has."""
    return {k: float(f"{v:.4g}") if type(v) is float else v for k, v in row.items()}


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.stdout.write(f"{write(measured(), target)}\n")
