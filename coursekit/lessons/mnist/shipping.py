"""The weights that the course ships: their training and their files."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.hardware import device
from coursekit.lessons.datasets import Dataset, mnist
from coursekit.lessons.mnist.initial import initial_weights
from coursekit.lessons.mnist.network import FULL, SMALL, Network
from coursekit.lessons.mnist.trainer import Trainer
from coursekit.lessons.mnist.weights import Training, as_stored, save_weights

LEARNT_FROM = 8000  # of MNIST's 10,000 test pictures, the number to train on


@dataclass(frozen=True)
class Recipe:
    """How a network is trained; `rates` has one learning rate per pass.

    With `half` its matrices are stored as float16.
    """

    network: Network
    batch: int
    rates: tuple[float, ...]
    half: bool = False
    seed: int = 0


RECIPES = {
    "small": Recipe(SMALL, 40, (0.1,) * 8 + (0.02,) * 4 + (0.005,) * 2),
    "full": Recipe(FULL, 64, (0.1,) * 6 + (0.02,) * 2 + (0.005,) * 2, half=True),
}


def shipped(name: str | None = None) -> Path:
    """Return the path of weights that the course ships.

    Parameters
    ----------
    name : str, optional
        "small" or "full"; else the latter where it is there.

    Raises
    ------
    ArgumentError
        There are no such weights.
    """
    if name is None:
        name = "full" if file("full").exists() else "small"
    if name not in RECIPES or not file(name).exists():
        raise ArgumentError.explained(
            f"The course ships no weights {name!r}.",
            "The full network's are there once they are trained on a GPU.",
            'Take shipped("small"), or train the network.',
        )
    return file(name)


def file(name: str) -> Path:
    """Return the path of the weights with this name."""
    return paths.repository() / "assets" / "mnist" / f"{name}.safetensors"


def parted(network: Network, folder: Path | None = None) -> tuple[Dataset, Dataset]:
    """Return the digits to train on and to test on, scaled to a network's side."""
    digits = mnist("test", folder=folder)
    if network.side < digits.images.shape[1]:
        digits = digits.halved()
    return digits.part(0, LEARNT_FROM), digits.part(LEARNT_FROM, len(digits))


def told(learnt: Dataset, unseen: Dataset) -> str:
    """Describe the training and the test digits in a sentence."""
    return f"{len(learnt):,} of {learnt.name} learnt, {len(unseen):,} others tested"


def where() -> str:
    """Name the GPU of this machine, or the simulator."""
    gpu = device()
    return "simulator" if gpu.simulated else gpu.name


def train(recipe: Recipe, learnt: Dataset) -> Trainer:
    """Train a network with our own kernels on this machine."""
    pixels = learnt.images / 255
    trainer = Trainer(
        recipe.network,
        initial_weights(recipe.network, recipe.seed),
        recipe.batch,
        mean=float(pixels.mean()),
        deviation=float(pixels.std()),
    )
    for number, rate in enumerate(recipe.rates):
        trainer.rate = rate
        for images, labels in learnt.batches(recipe.batch, recipe.seed + number):
            trainer.step(images, labels)
    return trainer


def keep(
    place: Path, recipe: Recipe, trainer: Trainer, learnt: Dataset, unseen: Dataset
) -> Training:
    """Save the weights of a trainer, with their accuracy after rounding.

    Parameters
    ----------
    place : Path
    recipe : Recipe
        The recipe by which it was trained.
    trainer : Trainer
    learnt, unseen : Dataset

    Returns
    -------
    Training
    """
    weights = as_stored(trainer.weights_on_host(), half=recipe.half)
    scale = {"mean": trainer.mean, "deviation": trainer.deviation}
    tested = Trainer(recipe.network, weights, recipe.batch, **scale)
    training = Training(
        digits=told(learnt, unseen),
        accuracy=float((tested.predict(unseen.images) == unseen.labels).mean()),
        device=where(),
        date=datetime.date.today().isoformat(),
        batch=recipe.batch,
        seed=recipe.seed,
        rates=recipe.rates,
        **scale,
    )
    save_weights(place, recipe.network, weights, training, half=recipe.half)
    return training


def ship(
    name: str = "small", folder: Path | None = None, place: Path | None = None
) -> Training:
    """Train weights on real digits, on GPU or simulator, and put them into assets/.

    Parameters
    ----------
    name : str
        "small": a minute or two on the simulator. Or "full", alone, without the
        comparison with PyTorch that `full_run.record` makes.
    folder : Path, optional
        Where MNIST's test files lie; the data folder by default.
    place : Path, optional
        The file to write.
    """
    recipe = RECIPES[name]
    parts = parted(recipe.network, folder)
    return keep(place or file(name), recipe, train(recipe, parts[0]), *parts)
