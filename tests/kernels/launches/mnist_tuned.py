"""How the tests launch each phase of the tuned training step: the full network.

The phases whose products are TF32's get small numbers, and nothing is said of what must
come out. The convolutions in float32 get, and must give, what float64 makes of each
phase, as in launches/mnist_fast.py.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from fused_reference import DEVIATION, MEAN, RATE, Phases, batch, start
from kernel_launches import Launch, launches

from coursekit.lessons.mnist import FULL
from coursekit.lessons.mnist.fused.plan import PHASES, Plan, pixel_scale
from coursekit.lessons.mnist.fused.tuned import Float32Plan, TunedPlan
from launches.mnist_fast import launch_with


@functools.cache
def phases_of_full() -> Phases:
    images, labels = batch(FULL, 2)
    weights = {name: w.astype(np.float64) for name, w in start(FULL).items()}
    return Phases(Plan(2, FULL, 1, forward_per_sm=1), images, labels, weights)


def tuned(phase: str):
    """Return what launches a tuned phase, of the full network."""

    def launch(N: int = 2, sms: int = 132, first: int = 0) -> Launch:
        """Take sums of two pictures, else small numbers; the first blocks, or all."""
        plan, known = TunedPlan(N, sm_count=sms), phases_of_full()
        shape = pixel_scale(MEAN, DEVIATION)
        one = {each.kernel: each for each in plan.launches(*shape, RATE)}[phase]
        random, row = np.random.default_rng(7), plan.layout.row(start(FULL))
        given = {
            name: random.normal(0, 0.1, size).astype(kind)
            if kind == "float32"
            else random.integers(0, 4, size).astype(kind)
            for name, (size, kind) in plan.arrays.items()
        }
        given |= {
            "images": np.resize(known.images, N * 784),
            "labels": np.resize(known.labels, N),
            "params": np.where(plan.layout.into < 0, 0, row[plan.layout.into]),
            "sums": known.summed(*known.sums).astype(np.int64),
            "patch0": known.patch(phase != "moments").astype(np.int64),
        }  # fmt: skip
        return Launch(
            phase, first or one.grid, one.block,
            tuple(given.get(a, a) for a in one.arguments),
            shared_bytes=one.shared_bytes,
        )  # fmt: skip

    return launch


# A launch takes the simulator up to ten seconds: test_fused_step.py runs whole steps of
# them, on a GPU, and test_mutations.py those that take less than one.
for name in PHASES:
    launches(f"mnist_tuned/{name}.cu", [])(tuned(name))


# ---------------------------------------------------------------- tuned, in float32

# Of the largest value of an array: four times what a product errs of itself at most.
# Errors are of either sign, and grow with the number of products as their sum does.
OFF_TUNED = 2.0**-19
CLOSED = 8  # the bit that says so of a relu


@functools.cache
def phases_of_float32(N: int, sms: int) -> Phases:
    """Return what the phases of the full network make, as the float32 step has it."""
    images, labels = batch(FULL, N)
    weights = {name: w.astype(np.float64) for name, w in start(FULL).items()}
    plan = Float32Plan(N, FULL, sms)
    known = Phases(plan, images, labels, weights)
    known.arrays["where1"] = words_of(known.arrays["where1"], known.arrays["p1"])
    return known


def words_of(where: np.ndarray, p1: np.ndarray) -> np.ndarray:
    """Put four bits of each channel, 16 half + 4 t + i, into word t of its pixel."""
    codes = (where | np.where(p1 > 0, 0, CLOSED)).astype(np.uint32)
    of_pixel = codes.reshape(-1, 2, 4, 4).transpose(0, 2, 1, 3).reshape(-1, 8)
    return (of_pixel << np.arange(0, 32, 4, dtype=np.uint32)).sum(1, dtype=np.uint32)


def in_float32(phase: str, N: int, sms: int) -> Launch:
    known = phases_of_float32(N, sms)
    return launch_with(known, phase, OFF_TUNED, {"PRECISION": 3})


# Three pictures for two blocks; two blocks for each picture.
@launches(
    "mnist_tuned/forward_convolutions_float32.cu",
    [{"N": 3, "sms": 2}, {"N": 2, "sms": 4}],
)
def forward_convolutions_float32(N: int, sms: int) -> Launch:
    return in_float32("forward_convolutions", N, sms)


# Three pictures for two blocks that go by data, and for two that go by weights.
@launches("mnist_tuned/backward_convolution_float32.cu", [{"N": 3, "sms": 4}])
def backward_convolution_float32(N: int, sms: int, role: str = "") -> Launch:
    launch = in_float32("backward_convolution", N, sms)
    if not role:
        return launch
    *arguments, _ = launch.arguments  # one block of a role takes all pictures
    data_blocks = int(role == "data")
    return replace(launch, grid=1, arguments=(*arguments, data_blocks), results={})
