"""The fused training step is PyTorch's, in seven kernels and in one."""

from __future__ import annotations

import copy
import functools

import fused_launches  # noqa: F401 (registers its launches)
import numpy as np
import pytest
from fused_reference import DEVIATION, MEAN, RATE, TINY, batch, start
from kernel_launches import PLANS

import coursekit as ck
from coursekit import errors
from coursekit.mnist import FULL, Network, reference, reference_step
from coursekit.mnist.fused import FusedTrainer, Plan, counting, layout, running
from coursekit.mnist.fused.plan import PHASES
from coursekit.mnist.fused.step import FORMS, FusedStep
from coursekit.mnist.fused.tuned import TunedLayout, TunedPlan
from coursekit.recording import mnist_race, mnist_steps

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
    plan = PLANS[f"mnist_fast/{phase}.cu"]
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


def test_without_a_gpu_no_race_is_run():
    with ck.simulator(), pytest.raises(errors.DeviceError, match="no GPU here"):
        mnist_race.measured()


def test_all_steps_of_a_race_see_whole_batches():
    for size in mnist_steps.BATCHES:
        assert max(mnist_steps.starts(size)) < mnist_steps.POOL


def test_kernels_of_the_race_are_found_for_their_hash():
    case = mnist_steps.cases("tf32", mnist_steps.ONE)[mnist_steps.REFERENCE]
    from coursekit.recording.case_sources import modules

    assert len(modules(case)) == len(PHASES) + 1
