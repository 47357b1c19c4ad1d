"""Results of the race with PyTorch: distances from float64, and times of phases."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

FAR = 2  # times PyTorch's distance: what the rule of the race allows


@dataclass(frozen=True)
class Distance:
    """The distance of a training run from float64 after some steps, for one seed.

    Attributes
    ----------
    precision : str
    batch, draw, steps : int
    ours, pytorch : float
        Distance of the weights, relative to how far those of float64 have gone.
    our_loss, pytorch_loss : float
        Largest distance of a step's loss.
    control, control_loss : float, optional
        Both for PyTorch's step in another form.
    """

    precision: str
    batch: int
    draw: int
    steps: int
    ours: float
    pytorch: float
    our_loss: float
    pytorch_loss: float
    control: float | None = None
    control_loss: float | None = None

    @property
    def ratios(self) -> dict[str, tuple[float, float]]:
        """Distances of weights and of losses over PyTorch's, ours and the control's."""
        ratios = {"ours": (self.ours / self.pytorch, self.our_loss / self.pytorch_loss)}
        if self.control is not None:
            of_losses = self.control_loss / self.pytorch_loss
            ratios["control"] = self.control / self.pytorch, of_losses
        return ratios


@dataclass(frozen=True)
class Summary:
    """Ratios of distances to PyTorch's after some steps, of all draws of a batch.

    Attributes
    ----------
    precision : str
    batch : int
    of : str
        "ours", or "control": PyTorch's step in another form.
    draws : int
    mean, largest : float
        Geometric mean of the weights' ratios, and the largest.
    within : int
        In how many draws the ratio is at most 2.
    loss_mean, loss_largest, loss_within
        The same of losses.
    steps : int
        After how many of them.
    """

    precision: str
    batch: int
    of: str
    draws: int
    mean: float
    largest: float
    within: int
    loss_mean: float
    loss_largest: float
    loss_within: int
    steps: int = 100


@dataclass(frozen=True)
class Phase:
    """The time of one phase, launched repeatedly.

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
    """The results of the race on one GPU."""

    device: str
    date: str
    rate: float
    distances: list[Distance] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)


def summaries(distances: list[Distance]) -> list[Summary]:
    """Sum up the ratios of each precision, batch and number of steps, of all draws."""
    ratios: dict[tuple, list] = {}
    for row in distances:
        for of, pair in row.ratios.items():
            kind = row.precision, row.batch, of
            ratios.setdefault((row.steps, kind), []).append(pair)
    return [
        Summary(*kind, len(pairs), *_told([w for w, _ in pairs]),
                *_told([loss for _, loss in pairs]), steps)
        for (steps, kind), pairs in ratios.items()
    ]  # fmt: skip


def _told(ratios: list[float]) -> tuple[float, float, int]:
    mean = float(np.exp(np.log(ratios).mean()))
    return mean, max(ratios), sum(ratio <= FAR for ratio in ratios)
