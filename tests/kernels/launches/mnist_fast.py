"""How the tests launch each phase of the fused training step: a tiny network.

A phase gets what float64 makes of the phases before it, rounded to float32, and must
give what float64 makes of its own. Where a value decides which of four is the largest,
products are float32's, by three of TF32: errors below 2^-21 of the factors, and of up
to 300 sums of either sign. Else they are TF32's: two factors, each off by 2^-11.
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

from coursekit.lessons.mnist.fused.plan import Plan, pixel_scale

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
