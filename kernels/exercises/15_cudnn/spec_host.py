"""Pieces of chapter 15 in Python: strides, a graph, and the choice of a plan."""

from typing import NamedTuple

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant

HALF_ROUNDING = 2.0**-11


def wrong(what, cause, cure):
    """Return the error of a wrong answer."""
    return CheckFailed.explained(what, cause, cure)


# ---------------------------------------------------------------- 15.b


def four_numbers(found):
    """Return the strides that a function returned, as a list."""
    if found is None:
        raise wrong(
            "strides returns None.",
            "A function without return returns None, also if it prints.",
            "Write return in front of the four numbers.",
        )
    numbers = [] if np.ndim(found) != 1 else list(found)
    if len(numbers) != 4:
        raise wrong(
            f"strides returns {found!r}.",
            "An image has four axes, and a stride for each.",
            "Return four numbers: the strides of n, c, h and w, in this order.",
        )
    return numbers


def of_images(strides, show):
    """Compare strides with those of NumPy."""
    for n, c, h, w in ((2, 3, 4, 5), (1, 8, 2, 7), (3, 2, 6, 4)):
        held = np.zeros((n, h, w, c), np.int8).transpose(0, 3, 1, 2)
        found = four_numbers(strides(n, c, h, w))
        if found == sorted(held.strides, reverse=True):
            raise wrong(
                f"For n = {n}, c = {c}, h = {h}, w = {w} the stride of c is "
                f"{found[1]}, and should be {held.strides[1]}.",
                "The four numbers are right, and stand in the order of memory.",
                "Return them in the order n, c, h, w. Which of them is that of c?",
            )
        for axis, at, due in zip("nchw", found, held.strides, strict=True):
            if at != due:
                raise wrong(
                    f"For n = {n}, c = {c}, h = {h}, w = {w} the stride of {axis} is "
                    f"{at}, and should be {due}.",
                    "Memory has all channels of a pixel, then those of the next pixel "
                    "in the row, then the next row, then the next image.",
                    f"How many elements further is the next value along {axis}?",
                )


# ---------------------------------------------------------------- 15.c


def made_of(layer, seed=1):
    """Return the graph that `layer` makes, memory, its result, and what is due."""
    import coursekit as ck

    rng = np.random.default_rng(seed)
    n, c, h, w, k = 2, 8, 5, 6, 16
    arrays = {
        "x": rng.standard_normal((n, h, w, c)).astype(np.float16),
        "w": (rng.standard_normal((k, 3, 3, c)) / 8).astype(np.float16),
        "bias": rng.standard_normal((1, 1, 1, k)).astype(np.float16),
    }
    graph, pack = ck.cudnn.pygraph(), {}
    for name, array in arrays.items():
        dim = tuple(np.moveaxis(array, 3, 1).shape)
        stride = ck.cudnn.channels_last(dim)
        pack[graph.tensor(dim=dim, stride=stride, name=name)] = array
    y = layer(graph, *pack)
    return graph, pack, y, _exact(**arrays)


def _exact(x, w, bias):
    """Return the layer in float64, channels last."""
    x, w, bias = (a.astype(np.float64) for a in (x, w, bias))
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, cols = x.shape[1:3]
    y = sum(
        wide[:, r : r + rows, s : s + cols] @ w[:, r, s].T
        for r in range(3)
        for s in range(3)
    )
    return np.maximum(y + bias, 0)


def is_a_layer(layer, show):
    """Compare what the graph computes with the layer."""
    import coursekit as ck

    graph, pack, y, due = made_of(layer)
    if not isinstance(y, ck.cudnn.Tensor):
        raise wrong(
            f"layer returns a {type(y).__name__}.",
            "A graph gives a tensor for each result.",
            "Return the tensor behind ReLU.",
        )
    if y.is_virtual:
        raise wrong(
            f"{y.name} is virtual.",
            "A result has no memory until the graph is told that it is an output.",
            "Return y.set_output(True).",
        )
    out = np.zeros(due.shape, np.float16)
    others = [t for t in _outputs(graph) if t is not y]
    spare = {t: np.zeros(t.dim, np.float16) for t in others}
    with ck.simulator():
        graph.execute(pack | spare | {y: out})
    off = np.abs(out - due)
    if not (off <= HALF_ROUNDING * (2 + due)).all():
        all_are_used(graph, y)
        names = " + ".join(node.name for node in graph.nodes)
        raise wrong(
            f"{names}: a result is off by {off.max():.3g}.",
            "The layer adds a bias per channel, then takes 0 for what is negative.",
            "graph.bias takes a tensor and a bias; graph.relu takes a tensor.",
        )


def all_are_used(graph, y):
    """Demand that each result goes on into an operation, or is returned."""
    used = {id(t) for node in graph.nodes for t in node.inputs.values()} | {id(y)}
    for node in graph.nodes:
        if not any(id(t) in used for t in node.outputs.values()):
            raise wrong(
                f"The result of {node.name} is not used.",
                "An operation leaves its inputs as they are, and returns the next "
                "tensor.",
                f"Keep what graph.{node.name} returns: the next operation takes it, "
                "or layer returns it.",
            )
    if [node.name for node in graph.nodes[-2:]] == ["relu", "bias"]:
        raise wrong(
            "The bias comes behind ReLU.",
            "A negative bias makes results negative again.",
            "The layer is relu(x * w + bias): which one is computed first?",
        )


def _outputs(graph):
    graph.validate()
    return graph.outputs()


def has_one_output(layer, show):
    """Demand that nothing but the result is stored."""
    graph, _, y, _ = made_of(layer)
    spare = [t.name for t in _outputs(graph) if t is not y]
    if spare:
        raise wrong(
            f"{spare[0]} is an output, too.",
            "It is written to memory, which costs as much as the result itself.",
            "Call set_output(True) of the last tensor alone.",
        )


# ---------------------------------------------------------------- 15.d


class Plan(NamedTuple):
    """A plan as a library proposes it."""

    name: str
    ms: float
    workspace_bytes: int = 0
    notes: tuple[str, ...] = ()


LOOSE = ("TENSOR_CORE", "NONDETERMINISTIC")
PLANS = (
    Plan("plan 0", 0.30, 1 << 20, ("TENSOR_CORE",)),
    Plan("plan 1", 0.20, 64 << 20, ("TENSOR_CORE",)),
    Plan("plan 2", 0.25, 0, LOOSE),
    Plan("plan 3", 0.40, 0),
)


def chosen(choose, limit, deterministic, due, advice):
    """Demand a choice."""
    found = choose(PLANS, limit, deterministic)
    if not isinstance(found, Plan | None):
        raise wrong(
            f"choose returns {found!r}.",
            "The caller needs the plan itself, to run it.",
            "Return one of the plans.",
        )
    if found is not due:
        name = getattr(found, "name", found)
        raise wrong(
            f"With {limit >> 20} MiB of workspace and deterministic = {deterministic} "
            f"the choice is {name}, and should be {due and due.name}.",
            *advice,
        )


def of_all(choose):
    """Return the advice for a wrong choice among plans that may all run."""
    if choose(PLANS, 128 << 20, False) is None:
        return (
            "All plans fit here, and none is returned: each one was left out, or "
            "the function ends without return.",
            "Look at the condition that leaves plans out, and at the last line.",
        )
    return (
        "All plans fit here, and the one with the least ms is due.",
        "Does the loop look at every plan before the function returns?",
    )


def within_memory(choose, show):
    """Demand plans that find room."""
    advice = (
        "A plan that needs more workspace than there is cannot run.",
        "Compare plan.workspace_bytes with workspace_bytes, and go on.",
    )
    chosen(choose, 128 << 20, False, PLANS[1], of_all(choose))
    just = "The plan needs just as much workspace as there is: it can run.", advice[1]
    chosen(choose, 64 << 20, False, PLANS[1], just)
    noteless = [plan._replace(notes=()) for plan in PLANS]
    if choose(noteless, 1 << 20, False) is noteless[0]:
        advice = (
            "Plans 0, 2 and 3 may run, and plan 2 is the fastest of them. Plan 1 "
            "needs too much workspace, and the loop ended there.",
            "break ends the loop; continue goes on with the next plan.",
        )
    elif choose(PLANS, 1 << 20, False) is PLANS[0]:
        advice = (
            "A faster plan was left out, though its workspace fits. It has the note "
            "NONDETERMINISTIC, which matters only if deterministic is True.",
            "Look at the notes only where deterministic is asked for.",
        )
    chosen(choose, 1 << 20, False, PLANS[2], advice)


def the_same_each_time(choose, show):
    """Demand plans whose results repeat."""
    advice = (
        "A plan with the note NONDETERMINISTIC may add in another order each time.",
        'Look for "NONDETERMINISTIC" in plan.notes where deterministic is asked for.',
    )
    chosen(choose, 1 << 20, True, PLANS[0], advice)
    chosen(choose, 0, True, PLANS[3], advice)


# ---------------------------------------------------------------- all

EXERCISES = (
    HostExercise(
        id="15.b",
        name="strides",
        title="Strides of channels last",
        function="strides",
        checks=(("images of several sizes", of_images),),
        starter=(CheckFailed, "the stride of c"),
        hints=(
            "Two channels of a pixel are neighbours: the stride of c is 1.",
            "From a pixel to the next in its row it is c elements.",
            "return h * w * c, 1, w * c, c",
        ),
        mutants={
            "order_of_memory": Mutant(
                mistake="The strides stand in the order of memory.",
                edits=[("h * w * c, 1, w * c, c", "h * w * c, w * c, c, 1")],
                fails=(CheckFailed, "the stride of c"),
            ),
            "rows_without_channels": Mutant(
                mistake="A row is taken to have w elements.",
                edits=[("1, w * c, c", "1, w, c")],
                fails=(CheckFailed, "the stride of h"),
            ),
        },
    ),
    HostExercise(
        id="15.c",
        name="layer",
        title="A layer in one graph",
        function="layer",
        checks=(
            ("the results of the layer", is_a_layer),
            ("no memory for what is between", has_one_output),
        ),
        starter=(CheckFailed, "is virtual"),
        hints=(
            "graph.bias(y, bias) and graph.relu(y) return the next tensor.",
            "y = graph.relu(graph.bias(y, bias)), and then set_output(True).",
            "return y.set_output(True)",
        ),
        mutants={
            "no_relu": Mutant(
                mistake="Negative results stay.",
                edits=[("graph.relu(graph.bias(y, bias))", "graph.bias(y, bias)")],
                fails=(CheckFailed, "off by"),
            ),
            "stored_between": Mutant(
                mistake="The convolution is stored, too.",
                edits=[("padding=(1, 1))", "padding=(1, 1)).set_output(True)")],
                fails=(CheckFailed, "is an output, too"),
            ),
            "not_an_output": Mutant(
                mistake="No tensor is an output.",
                edits=[("y.set_output(True)", "y")],
                fails=(CheckFailed, "is virtual"),
            ),
        },
    ),
    HostExercise(
        id="15.d",
        name="choose",
        title="A plan that may run",
        function="choose",
        checks=(
            ("finds room for its workspace", within_memory),
            ("is the same each time, if asked for", the_same_each_time),
        ),
        starter=(CheckFailed, "the choice is plan 1"),
        hints=(
            "continue goes on with the next plan.",
            "A plan is left out if its workspace is larger than workspace_bytes.",
            'if deterministic and "NONDETERMINISTIC" in plan.notes: continue',
        ),
        mutants={
            "any_order": Mutant(
                mistake="The note is not looked at.",
                edits=[('deterministic and "NONDETERMINISTIC" in plan.notes', "False")],
                fails=(CheckFailed, "deterministic = True"),
            ),
            "always_strict": Mutant(
                mistake="Plans with the note are left out, asked for or not.",
                edits=[("deterministic and ", "")],
                fails=(CheckFailed, "deterministic = False"),
            ),
            "less_than": Mutant(
                mistake="A plan that needs all of the workspace is left out.",
                edits=[("plan.workspace_bytes > ", "plan.workspace_bytes >= ")],
                fails=(CheckFailed, "should be plan 1"),
            ),
        },
    ),
)
