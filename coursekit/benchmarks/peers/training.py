"""What all forms of the training step of digits share, and how the forms differ."""

from __future__ import annotations

from dataclasses import dataclass

RATE, MEAN, DEVIATION = 0.01, 0.1307, 0.3081  # of learning; of the pixels


@dataclass(frozen=True)
class Form:
    """How PyTorch runs a step.

    Attributes
    ----------
    channels_last, fused_sgd : bool
        Layout of pictures and weights; one kernel for the whole update.
    mode : str
        Of torch.compile, empty without it.
    graph : bool
        Whether a CUDA graph holds the steps.
    overlapped : bool
        Whether the next batch is copied beside a step.
    library : bool
        Whether the step is put together out of cuDNN and cuBLASLt, without PyTorch's
        layers.
    """

    channels_last: bool = False
    fused_sgd: bool = False
    mode: str = ""
    graph: bool = False
    overlapped: bool = False
    library: bool = False
