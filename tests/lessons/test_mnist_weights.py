"""Weights are saved whole or not at all, in files that PyTorch reads and writes."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from handwriting import HANDS, STROKES, changed
from safetensors.numpy import save_file

import coursekit as ck
from coursekit.lessons import datasets
from coursekit.lessons.mnist import (
    FULL,
    SMALL,
    Network,
    Reader,
    Trainer,
    Training,
    full_run,
    initial_weights,
    load_weights,
    pytorch,
    save_weights,
    shipped,
    shipping,
    weights,
)

TINY = Network(side=9, channels=(3, 2), hidden=5, pooling="average")
TRAINING = Training(
    digits="12 of Drawn digits learnt, 4 others tested",
    accuracy=0.75,
    device="simulator",
    date="2026-11-21",
    batch=4,
    seed=3,
    rates=(0.1, 0.02),
    mean=0.125,
    deviation=0.25,
)
NAMES = [*TINY.learnt, *TINY.kept]
SHIPPED = [name for name in shipping.RECIPES if shipping.file(name).exists()]
REAL = Path(__file__).parents[3] / "shared" / "data" / "mnist"


def drawn(network=TINY, seed=3):
    """Return weights of which no two are equal."""
    random = np.random.default_rng(seed)
    return {
        name: random.uniform(0.25, 2, shape).astype(np.float32)
        for name, shape in (network.learnt | network.kept).items()
    }


def stored(**changes):
    """Return what a file of PyTorch's would hold, some of it changed or left out."""
    arrays = drawn() | changes
    return {name: array for name, array in arrays.items() if array is not None}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "weights.safetensors"


# ---------------------------------------------------------------- there and back


@pytest.mark.parametrize("name", NAMES)
def test_weight_comes_back_as_it_was(name, file):
    save_weights(file, TINY, drawn())
    found = load_weights(file).weights[name]
    np.testing.assert_array_equal(found, drawn()[name], strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_half_rounds_matrices_alone(name, file):
    save_weights(file, TINY, drawn(), half=True)
    exact = drawn()[name]
    wanted = exact.astype(np.float16) if exact.ndim > 1 else exact
    found = load_weights(file).weights[name]
    np.testing.assert_array_equal(found, wanted.astype(np.float32), strict=True)


@pytest.mark.parametrize("training", [None, TRAINING])
def test_network_and_training_come_back(training, file):
    save_weights(file, TINY, drawn(), training)
    found = load_weights(file)
    assert (found.network, found.training) == (TINY, training)


def test_training_is_told_in_a_sentence():
    assert str(TRAINING) == (
        "75.0% right: 12 of Drawn digits learnt, 4 others tested. 2 passes in batches "
        "of 4, rate 0.1, 0.02, seed 3; simulator, 2026-11-21."
    )


def test_same_weights_make_the_same_bytes(file):
    contents = {
        save_weights(file, TINY, drawn(), TRAINING).read_bytes() for _ in range(12)
    }
    assert len(contents) == 1


def test_trainer_of_saved_weights_gives_the_same_logits(simulated, file):
    digits = datasets.drawn_digits(5, size=9)
    scale = {"mean": TRAINING.mean, "deviation": TRAINING.deviation}
    trainer = Trainer(TINY, drawn(), 5, **scale)
    save_weights(file, TINY, trainer.weights_on_host(), TRAINING)
    found = load_weights(file).trainer(2).logits(digits.images)
    np.testing.assert_array_equal(found, trainer.logits(digits.images), strict=True)


def test_loaded_weights_are_no_view_of_the_file(file):
    save_weights(file, TINY, drawn())
    found = load_weights(file).weights["fc1.weight"]
    save_weights(file, TINY, drawn(seed=4))
    np.testing.assert_array_equal(found, drawn()["fc1.weight"])


# ---------------------------------------------------------------- PyTorch


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch, to compare with, is not here")


@pytest.mark.parametrize("half", [False, True])
def test_pytorchs_own_model_loads_the_file(half, file, torch):
    from safetensors.torch import load_file

    save_weights(file, TINY, drawn(), TRAINING, half=half)
    model = pytorch.module(TINY)
    model.load_state_dict(load_file(file))
    wanted = load_weights(file).weights
    state = {name: model.state_dict()[name].numpy() for name in wanted}
    assert all(np.array_equal(state[name], wanted[name]) for name in NAMES)


def test_file_has_the_names_and_shapes_of_pytorchs_state(file, torch):
    from safetensors.torch import load_file

    found = load_file(save_weights(file, TINY, drawn()))
    wanted = pytorch.module(TINY).state_dict()
    kinds = [{k: (v.shape, v.dtype) for k, v in d.items()} for d in (found, wanted)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("double", [False, True])
def test_file_of_pytorch_is_loaded(double, file, torch):
    from safetensors.torch import save_file as save_by_torch

    model = pytorch.module(TINY, drawn())
    save_by_torch((model.double() if double else model).state_dict(), file)
    found = load_weights(file, TINY).weights
    assert all(np.array_equal(found[name], drawn()[name]) for name in NAMES)


# ---------------------------------------------------------------- what is refused


def test_file_that_says_no_network_needs_one(file):
    save_file(stored(), file)
    with pytest.raises(ck.DataError, match="does not say of which network"):
        load_weights(file)


def test_file_of_another_network_than_asked_for_is_refused(file):
    save_weights(file, TINY, drawn())
    with pytest.raises(ck.DataError, match="those of Network.side=14.* asked for"):
        load_weights(file, SMALL)


@pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.1, 0.5, 0.999])
def test_file_that_is_cut_off_is_refused(share, file):
    content = save_weights(file, TINY, drawn()).read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ck.DataError, match="no whole safetensors file") as found:
        load_weights(file)
    assert found.value.cause and found.value.cure


@pytest.mark.parametrize("content", [b"PK\x03\x04" + bytes(200), b"{}", bytes(99)])
def test_file_of_another_kind_is_refused(content, file):
    file.write_bytes(content)
    with pytest.raises(ck.DataError, match="no whole safetensors file"):
        load_weights(file)


def test_file_that_is_not_there_is_refused(file):
    with pytest.raises(ck.DataError, match="cannot be read: No such file"):
        load_weights(file)


def test_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "w.safetensors")
    with pytest.raises(ck.DataError, match="it is no regular file"):
        load_weights(tmp_path / "w.safetensors", TINY)


def test_folder_is_refused(tmp_path):
    with pytest.raises(ck.DataError, match="cannot be read: Is a directory"):
        load_weights(tmp_path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fc2.bias": None}, "has nothing as fc2.bias"),
        ({"fc3.bias": np.ones(3)}, r"shape \(3,\) as fc3.bias, .* needs nothing"),
        ({"bn1.running_mean": None}, "has nothing as bn1.running_mean"),
        ({"fc1.bias": np.ones(4)}, r"F64 of shape \(4,\) as fc1.bias, where"),
        ({"fc1.bias": np.ones((5, 1))}, r"needs floats of shape \(5,\)"),
        ({"fc1.bias": np.ones(5, int)}, r"I64 of shape \(5,\) as fc1.bias"),
        ({"fc1.bias": np.full(5, np.nan)}, "fc1.bias that are not finite"),
        ({"fc1.bias": np.full(5, 1e300)}, "fc1.bias that are not finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused(changes, words, file):
    save_file(stored(**changes), file)
    with pytest.raises(ck.DataError, match=words):
        load_weights(file, TINY)


def about(**changes):
    network = dataclasses.asdict(TINY) | changes
    return json.dumps({"network": network, "training": None})


def trained(**changes):
    training = dataclasses.asdict(TRAINING) | changes
    return json.dumps({"network": dataclasses.asdict(TINY), "training": training})


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 100_000,
        "[]",
        "null",
        '{"network": {}, "training": null}',
        '{"network": {"channels": 3}, "training": null}',
        about(side=2),
        about(pooling="none"),
        about(layers=3),
        about()[:-5] + '{"digits": 1}}',
        trained(deviation=0.0),
        trained(mean="0.1"),
        trained(mean=float("nan")),
        trained(accuracy="98 %"),
        about(epsilon=-1),
        about(epsilon=None),
        about(epsilon="<b>"),
        about(momentum=float("nan")),
        about(momentum=2.0),
        about(side="28"),
        about(side=28.5),
        about(hidden=True),
        about(pooling=None),
        about(channels=["3", 2]),
        trained(device=None),
        trained(digits=["a"]),
        trained(date="\x1b[2J"),
        trained(batch=0),
        trained(batch="8"),
        trained(seed=-1),
        trained(rates=["0.1"]),
        trained(rates=[float("inf")]),
        trained(accuracy=True),
    ],
)
def test_damaged_words_about_the_network_are_refused(text, file):
    save_file(stored(), file, metadata={weights.KEY: text})
    with pytest.raises(ck.DataError, match="says something of its network"):
        load_weights(file, TINY)


def test_words_about_the_network_are_what_the_tests_damage(file):
    save_file(stored(), file, metadata={weights.KEY: about()})
    assert load_weights(file).network == TINY


def test_weights_of_another_network_are_not_saved(file):
    with pytest.raises(ck.ArgumentError, match="where the network needs"):
        save_weights(file, SMALL, drawn())


@pytest.mark.parametrize(("value", "half"), [(np.nan, False), (1e6, True)])
def test_weights_that_are_not_finite_are_not_saved(value, half, file):
    broken = drawn()
    broken["fc1.weight"][2, 3] = value
    with pytest.raises(ck.ArgumentError, match="fc1.weight has values .* not finite"):
        save_weights(file, TINY, broken, half=half)
    assert not file.exists()


def test_save_that_fails_leaves_the_old_file_alone(file, monkeypatch):
    before = save_weights(file, TINY, drawn()).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ck.DataError, match="cannot be written: No space left"):
        save_weights(file, TINY, drawn(seed=4))
    assert {p.name: p.read_bytes() for p in file.parent.iterdir()} == {
        file.name: before
    }


def test_folder_that_cannot_be_is_refused(file):
    save_weights(file, TINY, drawn())
    with pytest.raises(ck.DataError, match="cannot be written"):
        save_weights(file / "more.safetensors", TINY, drawn())


# ---------------------------------------------------------------- reading a drawing


def test_reader_of_a_smaller_network_takes_means_of_four(simulated):
    trainer = Trainer(SMALL, drawn(SMALL), 1)
    digits = datasets.drawn_digits(1)
    found = Reader(trainer)(digits.images[0])
    np.testing.assert_array_equal(found, trainer.logits(digits.halved().images)[0])


def test_reader_refuses_a_network_of_another_side(simulated):
    with pytest.raises(ck.ArgumentError, match="sees 9 x 9 .* cannot read"):
        Reader(Trainer(TINY, drawn(), 1))


# ---------------------------------------------------------------- what is shipped


def test_small_weights_are_shipped():
    assert "small" in SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_are_those_of_their_recipe(name):
    recipe, found = shipping.RECIPES[name], load_weights(shipped(name))
    asked = (recipe.network, recipe.batch, recipe.seed, recipe.rates)
    known = found.training
    assert (found.network, known.batch, known.seed, known.rates) == asked


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_file_has_less_than_a_megabyte(name):
    assert shipped(name).stat().st_size < 1_000_000


@functools.cache
def reading(name):
    return Reader(load_weights(shipped(name)).trainer())


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_read_nine_of_ten_drawn_digits(name, hand, simulated):
    drawings = [changed(STROKES[digit], **HANDS[hand]) for digit in range(10)]
    found = [reading(name)(datasets.scanned(each)).argmax() for each in drawings]
    assert np.sum(np.equal(found, range(10))) >= 9


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_weights_are_as_good_as_they_say(name, torch):
    if not REAL.exists():
        pytest.skip("the real digits of MNIST's test files are not here")
    found = load_weights(shipped(name))
    _, unseen = shipping.parted(found.network, REAL)
    model = pytorch.module(found.network, found.weights).eval()
    known = found.training
    pixels = torch.from_numpy((unseen.images / 255).astype(np.float32))[:, None]
    with torch.no_grad():
        logits = model((pixels - known.mean) / known.deviation).numpy()
    right = (logits.argmax(axis=1) == unseen.labels).mean()
    # PyTorch adds in another order: a digit or two may be decided otherwise.
    assert right == pytest.approx(known.accuracy, abs=2.5 / len(unseen))


def test_full_weights_are_taken_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(shipping.paths, "repository", lambda: tmp_path)
    for name in ("small", "full"):
        place = save_weights(shipping.file(name), TINY, drawn())
        assert shipped() == place


def test_weights_that_are_not_shipped_are_refused():
    with pytest.raises(ck.ArgumentError, match="ships no weights 'huge'"):
        shipped("huge")


QUICK = shipping.Recipe(
    Network(side=14, channels=(2, 2), hidden=4), 16, (0.1, 0.05), half=True
)


@pytest.fixture(scope="module")
def few_digits():
    """Train on 32 drawn digits in place of 8,000 real ones, on the simulator."""
    with pytest.MonkeyPatch.context() as patch, ck.simulator():
        patch.setattr(shipping, "mnist", lambda *_, **__: datasets.drawn_digits(48))
        patch.setattr(shipping, "LEARNT_FROM", 32)
        patch.setattr(shipping, "RECIPES", {"small": QUICK, "full": QUICK})
        here = dataclasses.replace(ck.device(), simulated=False)
        patch.setattr(full_run, "device", lambda: here)
        yield


@pytest.fixture(scope="module")
def made(few_digits, tmp_path_factory):
    """Ship weights once; return what is told of them, and their file."""
    place = tmp_path_factory.mktemp("shipped") / "small.safetensors"
    return shipping.ship("small", place=place), place


class Spy:
    """Trains nothing, and remembers what it was asked to learn."""

    def __init__(self, *_, **__):
        self.rate, self.steps = None, []

    def step(self, images, labels, *rate):
        self.steps.append((*rate, self.rate, labels.tolist()))

    def predict(self, images):
        return np.zeros(len(images))


def asked(digits, recipe):
    """Return what a recipe asks of each step: its rate, and its labels."""
    return [
        (rate, labels.tolist())
        for number, rate in enumerate(recipe.rates)
        for _, labels in digits.batches(recipe.batch, recipe.seed + number)
    ]


SPIED = dataclasses.replace(QUICK, seed=5, rates=(0.1, 0.1, 0.05))


def test_recipe_is_followed(monkeypatch):
    digits = datasets.drawn_digits(48)
    monkeypatch.setattr(shipping, "Trainer", Spy)
    assert shipping.train(SPIED, digits).steps == asked(digits, SPIED)


def test_both_networks_of_the_full_run_learn_the_same(monkeypatch):
    digits, peer, ours = datasets.drawn_digits(48), Spy(), Spy()
    monkeypatch.setattr(full_run, "Trainer", lambda *_, **__: ours)
    monkeypatch.setattr(full_run, "_Peer", lambda *_, **__: peer)
    recipe = {"batch": SPIED.batch, "rates": SPIED.rates, "seed": SPIED.seed}
    full_run.compare(digits, digits, network=SPIED.network, **recipe)
    wanted = asked(digits, SPIED)
    assert ours.steps == wanted
    assert [(rate, labels) for rate, _, labels in peer.steps] == wanted


def test_shipping_saves_what_it_trains(made):
    told, place = made
    digits = "32 of Drawn digits learnt, 16 others tested"
    assert load_weights(place).training == told
    assert (told.digits, told.device, told.rates) == (digits, "simulator", QUICK.rates)


def test_accuracy_is_that_of_the_rounded_weights(made):
    told, place = made
    _, unseen = shipping.parted(QUICK.network)
    found = load_weights(place).trainer(16).predict(unseen.images)
    assert told.accuracy == (found == unseen.labels).mean()


def test_full_run_keeps_the_weights_beside_the_record(few_digits, tmp_path, torch):
    found = full_run.record(place=tmp_path / "full_run.json")
    known = load_weights(tmp_path / "full.safetensors").training
    assert full_run.recorded(tmp_path / "full_run.json") == found
    assert (known.digits, known.batch, len(known.rates)) == (found.digits, 16, 2)


def test_full_networks_file_would_fit(file):
    save_weights(file, FULL, initial_weights(FULL), TRAINING, half=True)
    assert file.stat().st_size < 860_000  # two bytes for each of 421,834 numbers
