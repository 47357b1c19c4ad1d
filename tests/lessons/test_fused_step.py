"""The fused training step is PyTorch's, in seven kernels and in one."""

from __future__ import annotations

import contextlib
import copy
import functools

import numpy as np
import pytest
from fused_reference import DEVIATION, MEAN, RATE, TINY, batch, start
from kernel_launches import plans

import coursekit as ck
from coursekit import errors
from coursekit.benchmarks import mnist, mnist_race
from coursekit.lessons.mnist import FULL, Network, reference, reference_step
from coursekit.lessons.mnist.fused import FusedTrainer, Plan, counting, layout, running
from coursekit.lessons.mnist.fused.plan import PHASES
from coursekit.lessons.mnist.fused.step import FORMS, FusedStep, _of
from coursekit.lessons.mnist.fused.tuned import Float32Plan, TunedLayout, TunedPlan

COUNT = 3
OPTIONS = {"rate": RATE, "mean": MEAN, "deviation": DEVIATION}
UNIT = {"tf32": 2.0**-11, "fp32": 2.0**-24}


def exact_steps(count: int) -> list[reference_step.Step]:
    """Return steps in float64 from the same start, on another batch each."""
    weights = {name: w.astype(np.float64) for name, w in start(TINY).items()}
    found = []
    for number in range(count):
        images, labels = batch(TINY, COUNT, number)
        pictures = reference.normalise(images, MEAN, DEVIATION)[:, None]
        step = reference_step.step(TINY, weights, pictures, labels, RATE)
        found.append(step)
        weights = step.weights
    return found


STEPS = {"tf32": 2, "fp32": 1}


@functools.cache
def trained(precision: str):
    """Return the weights after our steps, and the loss of the last one."""
    with ck.simulator():
        ours = FusedTrainer(TINY, start(TINY), COUNT, precision=precision, **OPTIONS)
        for number in range(STEPS[precision]):
            ours.step(*batch(TINY, COUNT, number))
        return ours.weights_on_host(), ours.loss()


def allowed(name: str, before, after, precision: str) -> float:
    """Say how far an array of weights may be from float64's.

    Storing it rounds four times at most. The change is made of sums of n products of
    either sign: they err by about sqrt(n) roundings of a product, and grow by sqrt(n)
    themselves; several layers of them make 200.
    """
    stored = 2.0**-24 * np.linalg.norm(after[name])
    change = np.linalg.norm(after[name] - before[name])
    return 4 * stored + 200 * UNIT[precision] * change


@pytest.mark.parametrize("precision", STEPS)
@pytest.mark.parametrize("name", TINY.learnt | TINY.kept)
def test_weights_are_those_of_float64(name, precision):
    wanted = exact_steps(STEPS[precision])[-1].weights
    found, _ = trained(precision)
    far = np.linalg.norm(found[name] - wanted[name])
    assert far <= allowed(name, start(TINY), wanted, precision)


@pytest.mark.parametrize(("precision", "off"), [("tf32", 1e-3), ("fp32", 1e-6)])
def test_loss_is_that_of_float64(precision, off):
    _, loss = trained(precision)
    wanted = exact_steps(STEPS[precision])[-1].losses.mean()
    assert loss == pytest.approx(wanted, rel=off)


def test_a_smaller_batch_is_learnt_from_in_the_room_of_a_larger_one():
    """Sums are whole numbers, and parts those of the larger batch: the same bits."""
    images, labels = batch(TINY, 2, 7)
    found = []
    with ck.simulator():
        for room in (2, COUNT):
            ours = FusedTrainer(TINY, start(TINY), room, **OPTIONS)
            ours.step(images, labels)
            found.append(ours.weights_on_host())
    assert all(np.array_equal(found[0][k], found[1][k]) for k in found[0])


# ---------------------------------------------------------------- divergence


def losses_of(weights, *, rate=RATE) -> list[float]:
    """Return the losses of two of our steps."""
    found, options = [], {**OPTIONS, "rate": rate}
    with ck.simulator():
        ours = FusedTrainer(TINY, weights, COUNT, **options)
        for number in range(2):
            ours.step(*batch(TINY, COUNT, number))
            found.append(ours.loss())
    return found


def losses_by_numpy(weights, *, rate=RATE, kind=np.float64) -> list[float]:
    """Return the losses of two steps of the reference."""
    found, weights = [], {name: w.astype(kind) for name, w in weights.items()}
    for number in range(2):
        images, labels = batch(TINY, COUNT, number)
        pictures = reference.normalise(images, MEAN, DEVIATION)[:, None].astype(kind)
        with np.errstate(all="ignore"):
            step = reference_step.step(TINY, weights, pictures, labels, kind(rate))
        found.append(step.losses.mean())
        weights = step.weights
    return found


def spoiled(name: str, value: float) -> dict[str, np.ndarray]:
    """Return weights of which one is no number."""
    weights = start(TINY)
    weights[name].flat[weights[name].size // 2] = value
    return weights


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", TINY.learnt)
def test_a_weight_that_is_no_number_makes_the_loss_nan(name, value):
    weights = spoiled(name, value)
    assert np.isnan(losses_by_numpy(weights)[-1])
    assert np.isnan(losses_of(weights)[-1])


def test_a_bias_of_minus_infinity_behind_a_relu_does_not():
    weights = spoiled("bn1.bias", -np.inf)
    wanted = losses_by_numpy(weights)
    assert losses_of(weights) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("rate", [1e20, np.inf])
def test_a_training_that_diverges_has_the_loss_nan(rate):
    assert np.isnan(losses_by_numpy(start(TINY), rate=rate, kind=np.float32)[-1])
    assert np.isnan(losses_of(start(TINY), rate=rate)[-1])


@pytest.mark.parametrize("at", [0, 40, 64, 130, 280, 300, 1600, 1706])
def test_a_spoiled_sum_makes_the_loss_nan_within_two_steps(at):
    """The sums of a channel, of dz2, of dz1, of fc2, of fc1's bias; the loss."""
    losses = []
    with ck.simulator():
        ours = FusedTrainer(TINY, start(TINY), COUNT, **OPTIONS)
        sums = np.zeros(ours.fused.plan.sums, np.int64)
        sums[at] = 1
        ours.fused.arrays["sums"] = ck.to_device(sums)
        for number in range(2):
            ours.step(*batch(TINY, COUNT, number))
            losses.append(ours.loss())
    assert np.isnan(losses).any()


MOST = {"mnist_fast": 256, "mnist_tuned": 1024}  # what is added at once
ADDING = """#include "{folder}/statistics.cuh"
extern "C" __global__ void add_up(Sum *sum, const double *values, int n,
                                  double *found)
{{
    if (threadIdx.x < n)
        add_to(sum, values[threadIdx.x], BACKWARD_UNIT);
    __syncthreads();  // all values are added
    if (threadIdx.x == 0)
        *found = total(sum, BACKWARD_UNIT);
}}
"""


def added_up(folder: str, values) -> float:
    """Return what a sum makes of values, each added by a thread."""
    values, found = np.array(values), np.zeros(1)
    with ck.simulator():
        kernel = ck.compile(ADDING.format(folder=folder))["add_up"]
        kernel[1, 1024](np.zeros(1, np.int64), values, values.size, found)
    return found[0]


@pytest.mark.parametrize("folder", MOST)
@pytest.mark.parametrize("spoiling", [np.nan, np.inf, -np.inf, 1024.0, -1024.0, 1e300])
def test_a_sum_is_nan_whatever_is_added_besides(folder, spoiling):
    for values in ([spoiling, 1.0], [1.0, spoiling], [spoiling, spoiling, -3.0]):
        assert np.isnan(added_up(folder, values))


@pytest.mark.parametrize(("folder", "most"), MOST.items())
def test_a_sum_holds_all_that_it_takes(folder, most):
    largest, count = np.nextafter(most, 0), 2**17 // most
    assert added_up(folder, [largest] * count) == pytest.approx(2.0**17)
    assert added_up(folder, [-largest] * count) == pytest.approx(-(2.0**17))
    assert np.isnan(added_up(folder, [float(most)]))
    assert added_up(folder, [0.1, -0.3, 2.0**-50]) == pytest.approx(-0.2, abs=2.0**-42)


@pytest.mark.parametrize(
    ("name", "value"),
    [("conv1.weight", np.nan), ("conv1.bias", np.inf), ("bn1.weight", np.nan),
     ("bn1.bias", np.nan)],
)  # fmt: skip
def test_the_tuned_update_notices_a_first_layer_that_is_no_number(name, value):
    assert np.isnan(tuned_loss(TunedLayout(FULL).starts[name] + 3, value))


def test_the_tuned_update_writes_a_loss_that_is_a_number():
    assert np.isfinite(tuned_loss(0, 0.0))


def tuned_loss(at: int, value: float) -> float:
    """Return the loss that the first block of the tuned update writes."""
    launch = plans()["mnist_tuned/update.cu"].launch(first=1)
    arguments = list(copy.deepcopy(launch.arguments))
    arguments[0][at] = value
    with ck.simulator():
        kernel = ck.compile("mnist_tuned/update.cu")["update"]
        kernel[1, 256, launch.shared_bytes](*arguments)
    return arguments[-1][0]


def test_the_tuned_head_passes_a_nan_on():
    launch = plans()["mnist_tuned/head.cu"].launch()
    arguments = list(copy.deepcopy(launch.arguments))
    arguments[0][5] = np.nan
    with ck.simulator():
        kernel = ck.compile("mnist_tuned/head.cu")["head"]
        kernel[launch.grid, 256, launch.shared_bytes](*arguments)
    assert arguments[-1][-1] % 2 == 1


@pytest.mark.gpu
@pytest.mark.parametrize("precision", layout.PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FULL.learnt)
def test_a_full_step_on_a_gpu_says_that_it_diverged(name, form, precision, gpu):
    weights = start(FULL)
    weights[name].flat[weights[name].size // 2] = np.nan
    ours = FusedTrainer(FULL, weights, 64, precision=precision, form=form, **OPTIONS)
    for number in range(2):
        ours.step(*batch(FULL, 64, number))
    assert np.isnan(ours.loss())


# ---------------------------------------------------------------- on a GPU


@pytest.mark.gpu
@pytest.mark.parametrize("precision", layout.PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
def test_full_steps_on_a_gpu_are_those_of_float64(form, precision, gpu):
    before = start(FULL)
    ours = FusedTrainer(FULL, before, 64, precision=precision, form=form, **OPTIONS)
    images, labels = batch(FULL, 64)
    ours.step(images, labels)
    pictures = reference.normalise(images, MEAN, DEVIATION)[:, None]
    exact = {name: w.astype(np.float64) for name, w in before.items()}
    wanted = reference_step.step(FULL, exact, pictures, labels, RATE).weights
    found = ours.weights_on_host()
    off = {n: np.linalg.norm(found[n] - wanted[n]) for n in wanted}
    limits = {n: allowed(n, exact, wanted, precision) for n in wanted}
    assert {n: far for n, far in off.items() if far > limits[n]} == {}


# ---------------------------------------------------------------- spoiled kernels

# Barriers, waits and bounds tests are taken out in test_mutations.py.
SPOILED = [
    ("moments", "own[pair++] += patch[a] * patch[b]", "own[pair++] += patch[a]"),
    ("forward_convolutions", "s.sign[k] = alpha < 0 ? -1 : 1;", "s.sign[k] = 1;"),
    ("forward_convolutions", "__shfl_xor_sync(ALL, give_top, 4)",
     "__shfl_xor_sync(ALL, give_top, 8)"),
    ("head", "h.x > 0 ? d.x : 0", "d.x"),
    ("backward_convolution", "(-gain * found.unit * dgamma / m)", "(0)"),
    ("backward_convolution", "((2 - tap / 3) * PITCH + 2 - tap % 3)",
     "(tap / 3 * PITCH + tap % 3)"),
    ("update", "- s.dgamma[k] * s.unit[k] * s.inner[k][a]", ""),
    ("update", "sums[i] = 0;", ";"),
]  # fmt: skip


@pytest.mark.parametrize(("phase", "old", "new"), SPOILED)
def test_a_spoiled_phase_is_noticed(phase, old, new):
    plan = plans()[f"mnist_fast/{phase}.cu"]
    launch = plan.launch(**plan.sizes[0])
    module = ck.compile(f"mnist_fast/{phase}.cu", defines=launch.defines)
    (text,) = [t for name, t in module.sources.items() if name.endswith(f"{phase}.cu")]
    assert old in text
    arguments = copy.deepcopy(launch.arguments)
    with ck.simulator():
        kernel = module.edited(text.replace(old, new))[phase]
        kernel[launch.grid, 256, launch.shared_bytes](*arguments)
    assert any(
        not (np.abs(arguments[n] - wanted) <= launch.atol.get(n, 0)).all()
        for n, wanted in launch.results.items()
    )


# ---------------------------------------------------------------- places, plans


@pytest.mark.parametrize(
    ("kind", "network"),
    [(layout.Layout, TINY), (layout.Layout, FULL), (TunedLayout, FULL)],
    ids=["tiny", "full", "tuned"],
)
def test_weights_come_back_as_they_were(kind, network):
    places, weights = kind(network), start(network)
    row = places.row(weights)
    again = places.named(row[places.into][places.out_of])
    assert all(np.array_equal(again[name], weights[name]) for name in weights)


def test_every_place_of_the_parameters_is_filled():
    places = layout.Layout(FULL)
    count = np.bincount(places.into, minlength=places.weights)
    assert count.min() == 1
    assert places.parameters == count.sum()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("network", [TINY, FULL], ids=["tiny", "full"])
def test_shared_memory_of_a_plan_is_that_of_the_structs(phase, network):
    """The compiler says no where the numbers differ."""
    structs = {
        "moments": "MomentsShared", "forward_convolutions": "ForwardShared",
        "forward_hidden": "HiddenShared", "head": "HeadShared",
        "backward_hidden": "HiddenBackShared", "update": "SmallShared",
        "backward_convolution": "ConvBackShared",
    }  # fmt: skip
    size = Plan(64, network).shared_bytes[phase]
    relation = "<=" if phase == "update" else "=="
    first, second = network.channels
    defines = {"NET_SIDE": network.side, "NET_C1": first, "NET_C2": second}
    source = f"""#include "mnist_fast/{phase}.cu"
    static_assert(sizeof({structs[phase]}) {relation} {size}, "the size of a struct");
    """
    assert ck.compile(source, defines=defines).kernels == (phase,)


def test_a_tuned_plan_has_room_for_what_its_kernels_need():
    """230,832 bytes a block are what an H200 has, less 1,616."""
    for count in (2, 64, 256, 4096):
        plan = TunedPlan(count)
        assert max(plan.shared_bytes.values()) <= 227 * 1024
        assert [one.kernel for one in plan.launches(1, 0, 0)] == list(PHASES)


@pytest.mark.parametrize("count", [2, 63, 64, 66, 67, 133, 4096])
def test_every_tile_of_pictures_has_a_block(count):
    plan = Plan(count)
    assert 64 * plan.rows >= count
    assert 1 <= plan.fc1_parts <= plan.pooled_pixels
    assert 1 <= plan.dw1_parts <= plan.rows


def test_a_smaller_plan_fits_in_the_arrays_of_a_larger_one():
    with ck.simulator():
        made = FusedStep(TINY, 130)
        for count in (2, 64, 65, 129):
            (part,) = {
                launch.arguments[1]
                for launch in made.launches(count)
                if launch.kernel == "head"
            }
            assert part * count * 128 <= made.arrays["part"].size


@pytest.mark.parametrize("sms", [1, 5, 22, 132])
@pytest.mark.parametrize("kind", [Plan, TunedPlan, Float32Plan])
def test_arrays_of_a_batch_have_room_for_any_smaller_one(kind, sms):
    room = kind(140, FULL, sms)
    plans = [_of(room, count) for count in range(2, 141)]
    most = {
        name: max(plan.arrays[name][0] for plan in plans) for name in room.arrays
    } | {"dw2": room.layout.sizes["exact"] * max(p.backward_blocks for p in plans)}
    assert {n: size for n, size in most.items() if size > room.arrays[n][0]} == {}


@pytest.mark.parametrize(
    "network",
    [
        Network(pooling="average"),
        Network(channels=(8, 64)),
        Network(hidden=64),
        Network(side=30),
    ],
)
def test_other_networks_are_refused(network):
    with pytest.raises(errors.ArgumentError, match="no kernels for Network"):
        layout.require_network(network)


def test_a_batch_of_one_picture_is_refused():
    with pytest.raises(errors.ArgumentError, match="step of 1 pictures"):
        Plan(1)


@pytest.mark.parametrize("wrong", [{"precision": "bf16"}, {"form": "graph"}])
def test_unknown_ways_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(errors.ArgumentError, match=f"{name}="):
        FusedStep(TINY, 2, **wrong)


# ---------------------------------------------------------------- runs


class Noted:
    """Stands for a fused step, and keeps what it is given."""

    modules = ()

    def __init__(self):
        self.plan, self.seen = Plan(2, TINY), []

    def run(self, images, labels) -> None:
        self.seen.append((ck.to_host(images).copy(), ck.to_host(labels).copy()))


@pytest.mark.parametrize("form", running.FORMS)
def test_a_run_takes_its_batches_one_after_the_other(form):
    images, labels = batch(TINY, 5)
    fused = Noted()
    with ck.simulator():
        running.Run(fused, images, labels, (0, 3, 1), form=form)()
    for (seen, named), first in zip(fused.seen, (0, 3, 1), strict=True):
        assert np.array_equal(seen, images[first : first + 2])
        assert np.array_equal(named, labels[first : first + 2])


def test_an_unknown_form_of_a_run_is_refused():
    with pytest.raises(errors.ArgumentError, match="form='fast'"):
        running.Run(None, None, None, (), form="fast")


# ---------------------------------------------------------------- counts


def test_tensor_operations_are_those_that_the_simulator_counts():
    """64 pictures fill the tiles of the hidden layer; others have some to spare."""
    fused, plan = FusedStep(TINY, 64, sm_count=1), Plan(64, TINY, 1)
    (work,) = (w for w in counting.by_phases(plan) if w.kernel == "forward_hidden")
    (launch,) = (one for one in fused.launches() if one.kernel == work.kernel)
    arguments = [fused.arrays.get(a, a) if isinstance(a, str) else a
                 for a in launch.arguments]  # fmt: skip
    counts = ck.count(
        fused.kernels[launch.kernel], launch.grid, 256, arguments,
        shared_bytes=launch.shared_bytes,
    )  # fmt: skip
    assert counts.tensor_flops == work.tensor_flops


def test_seven_kernels_have_six_barriers_between_them():
    rungs = {rung.name: rung for rung in counting.ladder(64)}
    assert rungs["seven kernels, tf32, in a graph"].barriers == 6
    assert rungs["one persistent kernel"].barriers == 6


def test_each_rung_moves_no_more_bytes_than_the_one_before():
    moved = [rung.bytes_moved for rung in counting.ladder(256)]
    assert moved == sorted(moved, reverse=True)


def test_float32_takes_three_products():
    exact, rounded = (counting.by_phases(Plan(64), n) for n in (3, 1))
    assert [w.tensor_flops for w in exact] == [3 * w.tensor_flops for w in rounded]


# ---------------------------------------------------------------- records


def test_a_race_is_read_as_it_was_written(tmp_path):
    far = mnist_race.Distance("tf32", 64, 0, 100, 0.01, 0.02, 1e-3, 2e-3)
    phase = mnist_race.Phase("tf32", 64, "head", 3.25)
    made = mnist_race.summaries([far])
    race = mnist_race.Race("NVIDIA H200", "2026-11-22", 0.01, [far], [phase], made)
    place = mnist_race.write(race, tmp_path / "race.json")
    assert mnist_race.recorded(place) == race
    assert '"ratios": {"ours": [0.5, 0.5]}' in place.read_text()


def test_ratios_of_a_race_are_summed_up_over_every_draw():
    fars = [
        mnist_race.Distance("fp32", 64, draw, 100, ours, 0.1, 1e-3, 1e-3, 0.2, 4e-3)
        for draw, ours in enumerate((0.1, 0.8, 0.1))
    ]
    ours, control = mnist_race.summaries(fars)
    told = ours.of, ours.draws, ours.mean, ours.largest, ours.within
    assert told == ("ours", 3, pytest.approx(2), pytest.approx(8), 2)
    told = control.of, control.mean, control.within, control.loss_within
    assert told == ("control", pytest.approx(2), 3, 0)


def test_distances_after_other_steps_are_summed_up_apart():
    fars = [
        mnist_race.Distance("fp32", 64, 0, steps, ours, 0.1, 1e-3, 1e-3)
        for steps, ours in ((1, 0.1), (10, 0.2), (100, 0.4))
    ]
    told = [(one.steps, one.mean) for one in mnist_race.summaries(fars)]
    assert told == [(1, 1), (10, pytest.approx(2)), (100, pytest.approx(4))]


def test_the_recorded_race_is_read():
    race = mnist_race.recorded()
    assert {row.steps for row in race.summaries} <= set(mnist_race.STEPS)
    assert {row.steps for row in race.distances} <= set(mnist_race.STEPS)


class Counted:
    """Stands for a training: weights and losses tell how many steps were taken."""

    def __init__(self, off: float):
        self.off, self.taken = off, 0

    def load(self, start) -> None:
        """Begin where all begin."""

    def run(self, images, labels) -> None:
        self.taken += 1

    @property
    def loss(self) -> float:
        return self.taken + self.off

    @property
    def weights(self) -> dict[str, np.ndarray]:
        return {n: np.full(s, self.loss, np.float32) for n, s in FULL.learnt.items()}


def test_distances_are_taken_after_each_number_of_steps(monkeypatch):
    """All go 1 a step; PyTorch's are off by 0.25 then, and ours by 0.5."""

    def trained(form, given, kind, losses):
        stand_in = Counted(0.0 if kind == "float64" else 0.25)
        for _ in given[-1]:
            stand_in.run(None, None)
            losses.append(stand_in.loss)
        return stand_in.weights

    monkeypatch.setattr(mnist_race.mnist_peers, "trained", trained)
    monkeypatch.setattr(
        mnist_race.mnist_peers, "products_in", lambda _: contextlib.nullcontext()
    )
    monkeypatch.setattr(mnist_race, "_fused", lambda *_: Counted(0.5))
    monkeypatch.setattr(mnist_race, "DRAWS", {"tf32": {64: 1}, "fp32": {64: 2}})
    monkeypatch.setattr(mnist_race.mnist, "batches", drawn)
    with ck.simulator():
        found = mnist_race.distances(64)
    assert [(far.draw, far.precision, far.steps) for far in found] == [
        (draw, precision, steps)
        for draw, precision in ((0, "tf32"), (0, "fp32"), (1, "fp32"))
        for steps in (1, 10, 100)
    ]
    assert [far.ours * far.steps for far in found] == pytest.approx([0.5] * 9)
    assert [far.control * far.steps for far in found] == pytest.approx([0.25] * 9)
    assert {(far.our_loss, far.pytorch_loss) for far in found} == {(0.5, 0.25)}


def drawn(batch: int, seed: int) -> tuple:
    """Stand in for digits: blank ones, and weights of 0."""
    images = np.zeros((mnist.POOL + batch) * 784, np.uint8)
    labels = np.zeros(mnist.POOL + batch, np.uint8)
    return images, labels, np.zeros(layout.Layout(FULL).weights), None, batch


def test_a_draw_of_the_race_is_the_same_for_the_same_seed(monkeypatch):
    monkeypatch.setattr(mnist, "pinned", lambda array: array)
    with ck.simulator():
        first, again, other = (mnist.batches(64, seed) for seed in (3, 3, 4))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(ck.to_host(first[2]), ck.to_host(again[2]))
    assert not np.array_equal(first[0], other[0])


def test_without_a_gpu_no_race_is_run():
    with ck.simulator(), pytest.raises(errors.DeviceError, match="no GPU here"):
        mnist_race.measured()


def test_all_steps_of_a_race_see_whole_batches():
    for size in mnist.BATCHES:
        assert max(mnist.starts(size)) < mnist.POOL


def test_kernels_of_the_race_are_found_for_their_hash():
    case = mnist.cases("tf32", mnist.ONE)[mnist.REFERENCE]
    from coursekit.benchmarking.records.case_sources import modules

    assert len(modules(case)) == len(PHASES) + 1
