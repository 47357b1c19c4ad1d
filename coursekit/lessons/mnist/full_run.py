"""Train our kernels and PyTorch on the same digits, from the same weights."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from coursekit import paths
from coursekit.errors import DeviceError
from coursekit.hardware import device
from coursekit.lessons.datasets import Dataset
from coursekit.lessons.mnist import shipping
from coursekit.lessons.mnist.initial import initial_weights
from coursekit.lessons.mnist.network import FULL, Network
from coursekit.lessons.mnist.trainer import Trainer

GOAL, CLOSE = 0.985, 0.003


@dataclass(frozen=True)
class FullRun:
    """The accuracy on unseen digits after each pass over the training data.

    Attributes
    ----------
    device, date : str
        Where and when.
    digits : str
        The training and test data, in words.
    batch, seed : int
    rates : tuple of float
        The rate of each pass.
    ours, pytorch : tuple of float
        The share that was right, after each pass.
    """

    device: str
    date: str
    digits: str
    batch: int
    rates: tuple[float, ...]
    seed: int
    ours: tuple[float, ...]
    pytorch: tuple[float, ...]

    def __str__(self) -> str:
        lines = [f"{self.digits}. {self.device}, {self.date}.", "pass   ours  PyTorch"]
        for number, pair in enumerate(zip(self.ours, self.pytorch, strict=True), 1):
            lines.append(f"{number:4} {pair[0]:6.2%}  {pair[1]:6.2%}")
        return "\n".join(lines)


def compare(
    learnt: Dataset,
    unseen: Dataset,
    *,
    network: Network = FULL,
    batch: int = 64,
    rates: Sequence[float] = (0.1,) * 5,
    seed: int = 0,
    keep: Callable[[Trainer], object] | None = None,
) -> FullRun:
    """Train with our kernels and with PyTorch: same weights, same order of pictures.

    Parameters
    ----------
    learnt, unseen : Dataset
        The training data and the test data.
    network : Network
    batch : int
    rates : sequence of float
        One for each pass.
    seed : int
    keep : callable, optional
        Called with the trainer at the end.

    Returns
    -------
    FullRun
    """
    pixels = learnt.images / 255
    scale = {"mean": float(pixels.mean()), "deviation": float(pixels.std())}
    weights = initial_weights(network, seed)
    trainer = Trainer(network, weights, batch, **scale)
    peer = _Peer(network, weights, **scale)
    accuracies: dict[str, list[float]] = {"ours": [], "pytorch": []}
    for number, rate in enumerate(rates):
        trainer.rate = rate
        for images, labels in learnt.batches(batch, seed + number):
            trainer.step(images, labels)
            peer.step(images, labels, rate)
        for name, learner in (("ours", trainer), ("pytorch", peer)):
            right = learner.predict(unseen.images) == unseen.labels
            accuracies[name].append(float(right.mean()))
    if keep is not None:
        keep(trainer)
    today, digits = datetime.date.today().isoformat(), shipping.told(learnt, unseen)
    shares = {name: tuple(values) for name, values in accuracies.items()}
    return FullRun(shipping.where(), today, digits, batch, tuple(rates), seed, **shares)


class _Peer:
    """PyTorch's training, on a GPU if there is one."""

    def __init__(self, network, weights, mean: float, deviation: float):
        import torch

        from coursekit.lessons.mnist import pytorch

        self.torch, self.mean, self.deviation = torch, mean, deviation
        self.place = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = pytorch.module(network, weights).to(self.place)
        self.optimiser = torch.optim.SGD(self.model.parameters())

    def _pictures(self, images: np.ndarray):
        pixels = self.torch.from_numpy(images[:, None].copy()).to(self.place)
        return (pixels.float() / 255 - self.mean) / self.deviation

    def step(self, images: np.ndarray, labels: np.ndarray, rate: float) -> None:
        self.model.train()
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.zero_grad()
        answers = self.torch.from_numpy(labels.astype(np.int64)).to(self.place)
        logits = self.model(self._pictures(images))
        self.torch.nn.functional.cross_entropy(logits, answers).backward()
        self.optimiser.step()

    def predict(self, images: np.ndarray) -> np.ndarray:
        self.model.eval()
        with self.torch.no_grad():
            return self.model(self._pictures(images)).argmax(dim=1).cpu().numpy()


def file() -> Path:
    """Return the path of the record."""
    return paths.repository() / "assets" / "mnist" / "full_run.json"


def recorded(place: Path | None = None) -> FullRun | None:
    """Return the record of a run on a GPU, or None if there is none."""
    place = place or file()
    if not place.exists():
        return None
    content = json.loads(place.read_text(encoding="utf-8"))
    lists = {name: tuple(content[name]) for name in ("ours", "pytorch", "rates")}
    return FullRun(**(content | lists))


def record(folder: Path | None = None, place: Path | None = None) -> FullRun:
    """Train the full network on real digits on this GPU; keep result and weights.

    Parameters
    ----------
    folder : Path, optional
        Where MNIST's test files lie; the data folder by default.
    place : Path, optional
        The record to write; the weights come beside it, as full.safetensors.

    Raises
    ------
    DeviceError
        There is no GPU.
    DataError
        The digits are neither there nor to be had.
    """
    if device().simulated:
        raise DeviceError.explained(
            "There is no GPU here to train the full network on.",
            "A record says what one did; on the simulator it would take hours.",
            "Run python -m coursekit.lessons.mnist on a machine with an NVIDIA GPU.",
        )
    recipe, place = shipping.RECIPES["full"], place or file()
    parts = shipping.parted(recipe.network, folder)
    weights = place.with_name(shipping.file("full").name)
    result = compare(
        *parts,
        network=recipe.network,
        batch=recipe.batch,
        rates=recipe.rates,
        seed=recipe.seed,
        keep=lambda trainer: shipping.keep(weights, recipe, trainer, *parts),
    )
    text = json.dumps(asdict(result), indent=1) + "\n"
    paths.write_whole(place, text.encode())
    return result
