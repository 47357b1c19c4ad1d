"""The network of the final project: layers, weights, a reference, and its training.

`Network` says how large it is; `initial_weights` starts it as PyTorch would;
`reference` has each layer in NumPy; `Trainer` trains it with the kernels of
`kernels/mnist/`, on a GPU or on the simulator; `save_weights` and `load_weights` keep
what it has learnt, `shipped` is what the course brings, and a `Reader` reads a drawing.
`FusedTrainer` trains with the seven kernels of `kernels/mnist_fast/`; a `Plan` says
what they launch for a batch, `counting` what they move and compute. `pytorch` builds
the same network in PyTorch, `viewing` draws a training, `full_run` is a recorded one.
"""

import importlib
from typing import Any

from coursekit.lessons.mnist.initial import initial_weights, normal
from coursekit.lessons.mnist.network import FULL, SMALL, Network
from coursekit.lessons.mnist.reading import Reader
from coursekit.lessons.mnist.shipping import shipped
from coursekit.lessons.mnist.trainer import Trainer
from coursekit.lessons.mnist.weights import (
    SavedWeights,
    Training,
    load_weights,
    save_weights,
)

_MODULES = {
    "counting": "coursekit.lessons.mnist.fused.counting",
    "full_run": "coursekit.lessons.mnist.full_run",
    "pytorch": "coursekit.lessons.mnist.pytorch",
    "reference": "coursekit.lessons.mnist.reference",
    "viewing": "coursekit.lessons.mnist.viewing",
}
_LATER = {
    "Float32Plan": "coursekit.lessons.mnist.fused.tuned",
    "FusedTrainer": "coursekit.lessons.mnist.fused.trainer",
    "Plan": "coursekit.lessons.mnist.fused.plan",
    "TunedPlan": "coursekit.lessons.mnist.fused.tuned",
    "to_tf32": "coursekit.lessons.mnist.fused.layout",
}
BATCHES = (64, 256, 1024, 4096)  # pictures in a step, of the recorded races
__all__ = [
    "BATCHES",
    "FULL",
    "SMALL",
    "Network",
    "Reader",
    "SavedWeights",
    "Trainer",
    "Training",
    "initial_weights",
    "load_weights",
    "normal",
    "save_weights",
    "shipped",
    *_LATER,
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    """Find the parts that are not always needed, when they are first asked for."""
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
