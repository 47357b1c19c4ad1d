"""Weights in safetensors files, which PyTorch reads and writes too."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from coursekit import paths
from coursekit.errors import ArgumentError, CourseError, DataError
from coursekit.lessons.mnist.buffers import require_weights
from coursekit.lessons.mnist.network import Network, is_number, is_whole
from coursekit.lessons.mnist.trainer import Trainer

KEY = "coursekit"  # of the file's one metadata text
COUNTED = ("bn1.num_batches_tracked", "bn2.num_batches_tracked")  # PyTorch's, unused
FLOATS = ("F16", "F32", "F64")


@dataclass(frozen=True)
class Training:
    """The training of weights, and their accuracy.

    Attributes
    ----------
    digits : str
        The training and test data, in words.
    accuracy : float
        The share of the latter that was right, 0 to 1.
    device, date : str
        Where and when.
    batch, seed : int
        Pictures of a step, and what the start and the orders were drawn from.
    rates : tuple of float
        The rate of each pass.
    mean, deviation : float
        Mean and deviation of the pixels divided by 255; the weights are useless without
        them.
    """

    digits: str
    accuracy: float
    device: str
    date: str
    batch: int
    seed: int
    rates: tuple[float, ...]
    mean: float
    deviation: float

    def __post_init__(self):
        self._check_types()
        fits = math.isfinite(self.mean) and 0 < self.deviation < math.inf
        if not fits or not 0 <= self.accuracy <= 1:
            raise ArgumentError.explained(
                f"mean={self.mean}, deviation={self.deviation}, "
                f"accuracy={self.accuracy}.",
                "Pixels are divided by the deviation; accuracy is a share.",
                "Take the mean and the deviation of the pixels / 255 learnt from.",
            )

    def _check_types(self) -> None:
        """Refuse fields of another type than their annotation's, and odd texts."""
        texts = (self.digits, self.device, self.date)
        numbers = (self.accuracy, self.mean, self.deviation, *self.rates)
        fits = (
            all(isinstance(text, str) and text.isprintable() for text in texts)
            and all(map(is_number, numbers))
            and all(map(is_whole, (self.batch, self.seed)))
            and self.batch > 0 <= self.seed
            and all(0 <= rate < math.inf for rate in self.rates)
        )
        if not fits:
            raise ArgumentError.explained(
                f"{asdict(self)} is no description of a training.",
                "digits, device and date are texts of one line, batch and seed whole "
                "numbers, and the others numbers that are not negative.",
                "Give each field a value of its type.",
            )

    def __str__(self) -> str:
        rates = ", ".join(f"{rate:g}" for rate in dict.fromkeys(self.rates))
        return (
            f"{self.accuracy:.1%} right: {self.digits}. {len(self.rates)} passes in "
            f"batches of {self.batch}, rate {rates}, seed {self.seed}; "
            f"{self.device}, {self.date}."
        )


@dataclass(frozen=True, eq=False)
class SavedWeights:
    """The contents of a file of weights.

    Attributes
    ----------
    network : Network
    weights : dict of str to ndarray
        float32, by the names of PyTorch's state_dict.
    training : Training or None
        None where the file says nothing about it.
    """

    network: Network
    weights: dict[str, np.ndarray]
    training: Training | None = None

    def trainer(self, batch: int = 1, **more: Any) -> Trainer:
        """Return a trainer with these weights; `more` is for `Trainer`."""
        training = self.training
        scale = (
            {"mean": training.mean, "deviation": training.deviation} if training else {}
        )
        return Trainer(self.network, self.weights, batch, **(scale | more))

    def __repr__(self) -> str:
        told = self.training or "Nothing is known of its training."
        return f"{self.network}, {self.network.parameters:,} numbers learnt. {told}"


def save_weights(
    file: str | Path,
    network: Network,
    weights: dict[str, np.ndarray],
    training: Training | None = None,
    *,
    half: bool = False,
) -> Path:
    """Write weights into a file; an older file is replaced in one step.

    Parameters
    ----------
    file : str or Path
        Commonly ends in .safetensors. PyTorch reads it with
        `safetensors.torch.load_file`, for the module of
        `coursekit.lessons.mnist.pytorch`.
    network : Network
    weights : dict of str to ndarray
        As of `Trainer.weights_on_host`.
    training : Training, optional
        A description of their training.
    half : bool
        Store matrices and filters as float16, in half the bytes.

    Returns
    -------
    Path

    Raises
    ------
    ArgumentError
        The weights are not those of the network, or not all of them finite.
    DataError
        The file cannot be written.
    """
    require_weights(network, weights, 1)
    stored = as_stored(weights, half=half)
    stored |= {name: np.zeros((), dtype=np.int64) for name in COUNTED}
    about = {"network": asdict(network), "training": training and asdict(training)}
    # One text, because safetensors writes several in a varying order.
    return _write(Path(file), save(stored, metadata={KEY: json.dumps(about)}))


def as_stored(weights: dict[str, np.ndarray], *, half: bool) -> dict[str, np.ndarray]:
    """Return weights in the types that a file has them in.

    Raises
    ------
    ArgumentError
        Some are not finite, or become infinite as float16.
    """
    stored = {}
    for name, array in weights.items():
        kind = np.float16 if half and np.ndim(array) > 1 else np.float32
        with np.errstate(over="ignore"):
            stored[name] = np.array(array, kind, order="C")
        if not np.isfinite(stored[name]).all():
            raise ArgumentError.explained(
                f"{name} has values that are not finite as {kind.__name__}.",
                "A training with too high a rate ends so.",
                "Train anew with a lower rate, or save without half=True.",
            )
    return stored


def _write(file: Path, content: bytes) -> Path:
    try:
        return paths.write_whole(file, content)
    except OSError as error:
        raise DataError.explained(
            f"{file} cannot be written: {error.strerror}.",
            "What was there before is unchanged.",
            "Choose a folder that is yours and has room.",
        ) from error


def load_weights(file: str | Path, network: Network | None = None) -> SavedWeights:
    """Read weights that `save_weights` or PyTorch has written.

    Parameters
    ----------
    file : str or Path
    network : Network, optional
        Whose weights they must be; needed where the file does not say it, as one
        that `safetensors.torch.save_file` has written.

    Returns
    -------
    SavedWeights

    Raises
    ------
    DataError
        The file is missing or damaged, or holds something else.
    """
    file = Path(file)
    try:
        paths.check_regular(file)
        # Opened first by Python, whose errors say why a file cannot be opened.
        with open(file, "rb"), safe_open(file, framework="numpy") as opened:
            texts = opened.metadata() or {}
            kinds = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
            kinds = {k: (s.get_dtype(), tuple(s.get_shape())) for k, s in kinds.items()}
            named, training = _about(file, texts)
            agreed = _agreed(file, named, network)
            _require(file, agreed, kinds)
            names = agreed.learnt | agreed.kept
            with np.errstate(over="ignore"):  # infinite values are refused below
                arrays = {n: opened.get_tensor(n).astype(np.float32) for n in names}
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from error
    except SafetensorError as error:
        raise _unreadable(file, f"it is no whole safetensors file ({error})") from error
    _require_finite(file, arrays)
    return SavedWeights(agreed, arrays, training)


def _unreadable(file: Path, why: str) -> CourseError:
    return DataError.explained(
        f"{file} cannot be read: {why}.",
        "The path is wrong, a copy broke off, or the file is of another kind.",
        "Check the path, copy the file again, or save the weights again.",
    )


def _about(file: Path, texts: dict[str, str]):
    """Return a file's network and training; None for what it does not name."""
    if KEY not in texts:
        return None, None
    try:
        about = json.loads(texts[KEY])
        network = about["network"]
        network["channels"] = tuple(network["channels"])
        training = about["training"]
        if training:
            training = Training(**training | {"rates": tuple(training["rates"])})
        return Network(**network), training
    except (ValueError, KeyError, TypeError, RecursionError, CourseError) as error:
        raise DataError.explained(
            f"{file} says something of its network that cannot be read: {error!r}.",
            "Another version of the course has written it, or it was edited.",
            "Save the weights again with this version.",
        ) from error


def _agreed(file: Path, named: Network | None, asked: Network | None) -> Network:
    if named is None and asked is None:
        raise DataError.explained(
            f"{file} does not say of which network its weights are.",
            "PyTorch wrote it, or another program.",
            "Say it: load_weights(file, network=FULL), for example.",
        )
    if named is not None and asked is not None and named != asked:
        raise DataError.explained(
            f"{file} has the weights of {named}, and those of {asked} were asked for.",
            "It is another file than you think, or the network has changed since.",
            "Leave `network` out to take the one that the file names.",
        )
    return named or asked


def _require(file: Path, network: Network, kinds: dict[str, tuple]) -> None:
    """Refuse names, shapes and types that the network does not have."""
    shapes = network.learnt | network.kept
    for name in sorted(shapes.keys() | kinds.keys() - set(COUNTED)):
        kind, shape = kinds.get(name, ("nothing", None))
        if shape != shapes.get(name) or kind not in FLOATS:
            stored = f"{kind} of shape {shape}" if shape is not None else kind
            needs = f"floats of shape {shapes[name]}" if name in shapes else "nothing"
            raise DataError.explained(
                f"{file} has {stored} as {name}, where {network} needs {needs}.",
                f"The weights are another network's, or none of {', '.join(FLOATS)}.",
                "Load them into the network that they were saved from, as float32.",
            )


def _require_finite(file: Path, arrays: dict[str, np.ndarray]) -> None:
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise DataError.explained(
                f"{file} has values in {name} that are not finite in float32.",
                "The training diverged before the weights were saved.",
                "Take other weights, or train anew with a lower rate.",
            )
