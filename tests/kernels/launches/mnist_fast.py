"""How the tests launch each phase of the fused training step: a tiny network.

A phase gets what float64 makes of the phases before it, rounded to float32, and must
give what float64 makes of its own. Where a value decides which of four is the largest,
products are float32's, by three of TF32: errors below 2^-21 of the factors, and of up
to 300 sums of either sign. Else they are TF32's: two factors, each off by 2^-11.
The convolutions of the tuned step in float32 are launched so as well, with the full
network.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from fused_reference import (
    DEFINES,
    DEVIATION,
    MEAN,
    RATE,
    TINY,
    Phases,
    batch,
    packed,
    start,
)
from kernel_launches import Launch, blank, blocks, launches, ramp

from coursekit.lessons.mnist import FULL
from coursekit.lessons.mnist.fused.plan import PHASES, Plan, pixel_scale
from coursekit.lessons.mnist.fused.tuned import Float32Plan, TunedPlan

OFF = {1: 2.0**-9, 3: 2.0**-14}  # by PRECISION, of the largest value of an array
BEFORE = {
    "moments": (),
    "forward_convolutions": (),
    "forward_hidden": ("conv2",),
    "head": ("conv2",),
    "backward_hidden": ("conv2", "fc2", "fc1", "loss"),
    "backward_convolution": ("conv2", "fc2", "fc1", "loss", "norm2"),
    "update": ("conv2", "fc2", "fc1", "loss", "norm2", "conv1"),
}
MADE = {
    "moments": (),
    "forward_convolutions": ("p1", "where1", "c2", "m2", "where2"),
    "forward_hidden": ("part",),
    "head": ("dh",),
    "backward_hidden": ("dz2", "dw1"),
    "backward_convolution": ("dw2",),
    "update": (),
}
ADDED = {
    "forward_convolutions": ("conv2",),
    "head": ("fc2", "fc1", "loss"),
    "backward_hidden": ("norm2",),
    "backward_convolution": ("conv1",),
}
SEVERAL = {"N": 5, "sms": 2}  # pictures for each block
SHARED = {"N": 3, "sms": 8}  # two blocks for each picture
CUT = {"N": 2, "sms": 8, "side": 16}  # each with tiles of its own
EXACT = ("moments", "forward_convolutions", "update")


@functools.cache
def phases_of(N: int, sms: int, side: int = TINY.side) -> Phases:
    network = replace(TINY, side=side)
    images, labels = batch(network, N)
    plan = Plan(N, network, sms, forward_per_sm=1)
    weights = {name: w.astype(np.float64) for name, w in start(network).items()}
    return Phases(plan, images, labels, weights)


def launch_of(phase: str, N: int, sms: int, side: int = TINY.side) -> Launch:
    """Launch a phase with what float64 makes of those before it."""
    known, precision = phases_of(N, sms, side), 3 if phase in EXACT else 1
    defines = {**DEFINES, "NET_SIDE": side, "PRECISION": precision}
    return launch_with(known, phase, OFF[precision], defines)


def launch_with(known: Phases, phase: str, off: float, defines: dict) -> Launch:
    """Launch a phase of a plan; results are off by so much of an array's largest."""
    plan = known.plan
    one = next(
        each
        for each in plan.launches(*pixel_scale(MEAN, DEVIATION), RATE)
        if each.kernel == phase
    )
    given = {
        "images": known.images.ravel(),
        "labels": known.labels,
        "params": known.parameters.astype(np.float32) * (plan.layout.into >= 0),
        "sums": known.summed(*BEFORE[phase]).astype(np.int64),
        "patch0": known.patch(phase != "moments").astype(np.int64),
    }
    arguments, results, atol = [], {}, {}
    for position, argument in enumerate(one.arguments):
        wanted = None
        if argument in MADE[phase]:
            array = known.arrays[argument]
            wanted = array.astype(np.float64).ravel()
            nothing = blank(array.size)
            if array.dtype.kind == "u":
                nothing = np.full(array.size, np.iinfo(array.dtype).max, array.dtype)
            arguments.append(nothing)
        elif argument == "patch0" and phase == "moments":
            wanted = known.patch(True)
            arguments.append(given[argument])
        elif argument == "sums" and phase in ADDED:
            wanted = known.summed(*BEFORE[phase], *ADDED[phase])
            arguments.append(given["sums"])
        elif isinstance(argument, str) and argument not in given:
            array = known.arrays.get(argument, np.full(1, np.nan))
            kind = array.dtype if array.dtype.kind == "u" else np.float32
            arguments.append(array.astype(kind).ravel())
        else:
            arguments.append(given.get(argument, argument))
        if wanted is not None:
            results[position] = wanted
            atol[position] = allowed(argument, wanted, known, off)
    return Launch(
        phase, one.grid, 256, tuple(arguments), results, 0.0,
        shared_bytes=one.shared_bytes, atol=atol, defines=defines,
    )  # fmt: skip


def allowed(name: str, wanted: np.ndarray, known: Phases, off_most: float):
    """Say how far a result may be off; sums of each kind by their own size."""
    if name.startswith("where"):
        return 0.0
    if name != "sums":
        return off_most * np.abs(wanted).max()
    off, at = np.zeros(wanted.size), 0
    for part in ("conv2", "norm2", "conv1", "fc2", "fc1", "loss"):
        piece = slice(at, at + known.sums[part].size)
        off[piece] = off_most * np.abs(wanted[piece]).max()
        at = piece.stop
    return off


@launches("mnist_fast/moments.cu", [SEVERAL])
def moments(N: int, sms: int) -> Launch:
    return launch_of("moments", N, sms)


@launches("mnist_fast/forward_convolutions.cu", [SEVERAL, CUT])
def forward_convolutions(N: int, sms: int, side: int = TINY.side) -> Launch:
    return launch_of("forward_convolutions", N, sms, side)


@launches("mnist_fast/forward_hidden.cu", [SEVERAL])
def forward_hidden(N: int, sms: int) -> Launch:
    return launch_of("forward_hidden", N, sms)


@launches("mnist_fast/head.cu", [SEVERAL])
def head(N: int, sms: int) -> Launch:
    return launch_of("head", N, sms)


@launches("mnist_fast/backward_hidden.cu", [SEVERAL])
def backward_hidden(N: int, sms: int) -> Launch:
    return launch_of("backward_hidden", N, sms)


@launches("mnist_fast/backward_convolution.cu", [SEVERAL, SHARED])
def backward_convolution(N: int, sms: int, side: int = TINY.side) -> Launch:
    return launch_of("backward_convolution", N, sms, side)


@launches("mnist_fast/update.cu", [SEVERAL])
def update(N: int, sms: int) -> Launch:
    known, launch = phases_of(N, sms), launch_of("update", N, sms)
    # A gradient of 0 leaves the biases of both convolutions where they are.
    after = {
        name: known.weights[name] if name in ("conv1.bias", "conv2.bias") else array
        for name, array in known.after.weights.items()
    }
    wanted = packed(known.plan.layout, after)
    loss = np.array([known.after.losses.mean()])
    last = len(launch.arguments) - 1
    nothing = np.zeros(54), np.zeros(known.plan.sums)
    results = {0: wanted, 1: nothing[0], 2: nothing[1], last: loss}
    change = np.abs(wanted - known.parameters).max()
    atol = {0: OFF[3] * change, last: OFF[3]}
    return Launch(
        "update", launch.grid, 256, launch.arguments, results, 0.0,
        shared_bytes=launch.shared_bytes, defines=DEFINES, atol=atol,
    )  # fmt: skip


@launches("mnist_fast/persistent.cu", [{"N": 2, "sms": 2}])
def persistent(N: int, sms: int) -> Launch:
    known = phases_of(N, sms)
    plan = known.plan
    one = plan.persistent(*pixel_scale(MEAN, DEVIATION), RATE)
    whole = update(N, sms)
    given = {
        "images": known.images.ravel(), "labels": known.labels,
        "params": known.parameters.astype(np.float32),
    }  # fmt: skip
    for name, (size, kind) in plan.arrays.items():
        nothing = np.zeros(size, kind)
        if kind == "float32":
            nothing = blank(size)
        given.setdefault(name, nothing)
    arguments = tuple(given.get(a, a) for a in one.arguments)
    wanted = {**known.arrays, "params": whole.results[0], "patch0": whole.results[1],
              "sums": whole.results[2],
              "loss": whole.results[len(whole.arguments) - 1],
              "barrier": np.array([0, 6])}  # fmt: skip
    results, atol = {}, {}
    for position, name in enumerate(one.arguments):
        if name in wanted:
            results[position] = wanted[name].astype(np.float64).ravel()
            atol[position] = allowed(name, results[position], known, OFF[1])
    atol[one.arguments.index("params")] = OFF[1] * whole.atol[0] / OFF[3]
    return Launch(
        "persistent_step", one.grid, 256, arguments, results, 0.0,
        shared_bytes=one.shared_bytes, cooperative=True,
        defines={**DEFINES, "PRECISION": 1}, atol=atol,
    )  # fmt: skip


@launches("mnist_fast/gather.cu", [{"n": 1}, {"n": 1000}])
def gather(n: int) -> Launch:
    x, first, last = ramp(n), n // 3, n // 2
    places = np.random.default_rng(1).permutation(n).astype(np.int32)
    places[n // 5 :: 9] = -1
    wanted = np.where(places < 0, 0, x[places]).astype(np.float64)
    exact = wanted[first:last].astype(np.float32).view(np.uint32)
    rounded = (exact + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    wanted[first:last] = rounded.view(np.float32)
    arguments = (x, places, blank(n), n, first, last)
    return Launch("gather", blocks(n, 256), 256, arguments, {2: wanted})


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
