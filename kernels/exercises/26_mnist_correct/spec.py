"""Exercises of chapter 26: a filter backwards, batch normalisation, a softer loss."""

import numpy as np

from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import Exercise, Mutant, blank, covering, shuffled

SMOOTHING = 0.25
ROWS = ((1, 10), (31, 3), (33, 10), (65, 7))


def signal(n, generator):
    """Return what the kernel of 26.1 takes."""
    w = np.array([0.5, -1, 2, 0.25, -3], np.float32)
    return {"dy": shuffled(n, generator), "w": w, "dx": blank(n), "n": n}


def filtered_back(v):
    """Return dx: each dy[k] goes to the five x that it was made of."""
    dx = np.zeros(v.n + 4)
    for r, weight in enumerate(v.w):
        dx[r : r + v.n] += weight * v.dy
    return dx[2 : v.n + 2]


def channels(size, generator):
    """Return what the kernel of 26.2 takes; u is no normalised x."""
    C, m = size
    dy, u = (shuffled(size, generator) for _ in range(2))
    sums = {"dgamma": (dy * u).sum(axis=1), "dbeta": dy.sum(axis=1)}
    scale = shuffled(C, generator) + 9
    given = {"dy": dy, "u": u, **sums, "scale": scale}
    return given | {"dx": blank(size), "C": C, "m": m}


def normalised_back(v):
    """Return dx by the formula of the chapter."""
    dgamma, dbeta, scale = (a[:, None] for a in (v.dgamma, v.dbeta, v.scale))
    return scale * (v.dy - dbeta / v.m - v.u * dgamma / v.m)


def normalised_terms(v):
    """Return the sum of the absolute values of the three terms."""
    dgamma, dbeta, scale = (a[:, None] for a in (v.dgamma, v.dbeta, v.scale))
    return scale * (v.dy + dbeta / v.m + v.u * dgamma / v.m)


def batch(size, generator):
    """Return what the kernel of 26.3 takes."""
    N, O = size  # noqa: E741
    logits = shuffled(size, generator) / np.float32(N * O / 16)
    labels = generator.integers(0, O, N).astype(np.int32)
    out = blank(size)
    return {
        "logits": logits, "labels": labels, "dlogits": out, "N": N, "O": O,
        "smoothing": SMOOTHING,
    }  # fmt: skip


def smoothed_back(v):
    """Return (p - wanted) / N."""
    e = np.exp(v.logits - v.logits.max(axis=1, keepdims=True))
    hot = np.arange(v.O) == np.asarray(v.labels)[:, None]
    wanted = (1 - v.smoothing) * hot + v.smoothing / v.O
    return (e / e.sum(axis=1, keepdims=True) - wanted) / v.N


def by_rows(threads):
    """Launch a thread for each row."""
    return lambda size: covering(threads)(size[0])


def by_elements(threads):
    """Launch a thread for each element of a matrix, in one dimension."""
    return lambda size: covering(threads)(size[0] * size[1])


EXERCISES = (
    Exercise(
        id="26.1",
        name="backwards",
        title="A filter, backwards",
        stars=1,
        kernel="filter_dx",
        inputs=signal,
        outputs=("dx",),
        reference=filtered_back,
        roundings=9,
        magnitude=lambda v: 7 * np.abs(v.dy).max(initial=0),
        hints=(
            "Which y have x[i] in them? Write down y[3] and y[4] in full, and look for "
            "x[3].",
            "x[i] is in y[k] with the weight w[r] where k + r - 2 = i.",
            "Solve for k: int k = i - r + 2; and nothing else changes.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "one_off": Mutant(
                mistake="The filter looks the other way, from one place too far.",
                edits=[("int k = i - r + 2;", "int k = i - r + 3;")],
                fails=(CheckFailed, "wrong"),
            ),
            "both_turned": Mutant(
                mistake="Places and weights are both turned, which turns nothing.",
                edits=[("sum += w[r] * dy[k];", "sum += w[4 - r] * dy[k];")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="The neighbours of the ends are read as well.",
                edits=[("if (0 <= k && k < n)", "if (k < n)")],
                fails=(OutOfBoundsError, "reads dy[-"),
            ),
            "stops_early": Mutant(
                mistake="The last value of dy is left out.",
                edits=[("if (0 <= k && k < n)", "if (0 <= k && k < n - 1)")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="26.2",
        name="batchnorm",
        title="Batch normalisation, backwards",
        stars=2,
        kernel="normalised_dx",
        inputs=channels,
        outputs=("dx",),
        sizes=((1, 1), (3, 31), (2, 33), (5, 257)),
        launches=(by_elements(256), by_elements(64)),
        reference=normalised_back,
        roundings=8 + 257,  # those of a sum too, which a kernel may make itself
        magnitude=normalised_terms,
        owner=None,
        hints=(
            "x moves y in three ways: directly, by moving the mean, and by moving the "
            "deviation. The starter has the first.",
            "The mean takes the average of dy away, the deviation what of dy points "
            "along u. dbeta and dgamma are those sums, not yet divided.",
            "dx[at] = scale[c] * (dy[at] - dbeta[c] / m - u[at] * dgamma[c] / m);",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_mean": Mutant(
                mistake="The mean is taken for a constant.",
                edits=[
                    (
                        "float through_mean = dbeta[c] / m;\n"
                        "    float through_deviation = u[at] * dgamma[c] / m;\n"
                        "    dx[at] = scale[c] * (dy[at] - through_mean "
                        "- through_deviation);",
                        "dx[at] = scale[c] * (dy[at] - u[at] * dgamma[c] / m);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_deviation": Mutant(
                mistake="The deviation is taken for a constant.",
                edits=[
                    (
                        "float through_mean = dbeta[c] / m;\n"
                        "    float through_deviation = u[at] * dgamma[c] / m;\n"
                        "    dx[at] = scale[c] * (dy[at] - through_mean "
                        "- through_deviation);",
                        "dx[at] = scale[c] * (dy[at] - dbeta[c] / m);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "added": Mutant(
                mistake="What goes through mean and deviation is added.",
                edits=[
                    (
                        "float through_mean = dbeta[c] / m;\n"
                        "    float through_deviation = u[at] * dgamma[c] / m;\n"
                        "    dx[at] = scale[c] * (dy[at] - through_mean "
                        "- through_deviation);",
                        "dx[at] = scale[c] * (dy[at] + dbeta[c] / m + u[at] "
                        "* dgamma[c] / m);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "not_divided": Mutant(
                mistake="The sums are not divided by the number of values.",
                edits=[
                    (
                        "float through_mean = dbeta[c] / m;\n"
                        "    float through_deviation = u[at] * dgamma[c] / m;\n"
                        "    dx[at] = scale[c] * (dy[at] - through_mean "
                        "- through_deviation);",
                        "dx[at] = scale[c] * (dy[at] - dbeta[c] - u[at] * dgamma[c]);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "by_place": Mutant(
                mistake="Channels are taken for places.",
                edits=[
                    (
                        "float through_mean = dbeta[c] / m;\n"
                        "    float through_deviation = u[at] * dgamma[c] / m;\n"
                        "    dx[at] = scale[c] * (dy[at] - through_mean "
                        "- through_deviation);",
                        "c = at % C;\n"
                        "    dx[at] = scale[c]\n"
                        "        * (dy[at] - dbeta[c] / m - u[at] * dgamma[c] / m);",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="26.3",
        name="smoothing",
        title="A softer loss",
        stars=2,
        kernel="smoothed_dx",
        inputs=batch,
        outputs=("dlogits",),
        sizes=ROWS,
        launches=(by_rows(256), by_rows(64)),
        reference=smoothed_back,
        roundings=32,
        magnitude=lambda v: np.float64(1) / v.N,
        owner=None,
        hints=(
            "The gradient is what the network says minus what it should say. Smoothing "
            "changes the second only.",
            "Of each label, the share `smoothing` is spread evenly over all O classes, "
            "the label's own among them.",
            "float wanted = smoothing / O; and where o == labels[n], 1 - smoothing "
            "more.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "not_a_mean": Mutant(
                mistake="The gradient is that of the sum of the losses, not of their "
                "mean.",
                edits=[("(p - wanted) / N", "p - wanted")],
                fails=(CheckFailed, "wrong"),
            ),
            "only_the_label": Mutant(
                mistake="The other classes are wanted not at all.",
                edits=[
                    (
                        "float wanted = smoothing / O;\n"
                        "        if (o == labels[n])\n"
                        "            wanted += 1 - smoothing;",
                        "float wanted = o == labels[n] ? 1 - smoothing : 0;",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "label_too_small": Mutant(
                mistake="The label is denied its own share of what is spread.",
                edits=[
                    (
                        "float wanted = smoothing / O;\n"
                        "        if (o == labels[n])\n"
                        "            wanted += 1 - smoothing;",
                        "float wanted = o == labels[n] ? 1 - smoothing "
                        ": smoothing / O;",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "whole_numbers": Mutant(
                mistake="The share is computed as a whole number.",
                edits=[("smoothing / O", "int(smoothing) / O")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
