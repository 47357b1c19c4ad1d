"""Exercises of chapter 27: moments of patches, pooling first, whole numbers."""

import numpy as np

from coursekit.errors import CheckFailed, DataRaceError, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Limit,
    Mutant,
    blank,
    covering,
    shuffled,
)

UNIT = 2.0**32
GAINS = (0.5, -0.25, 0.75, -1.0)
TILE = (4, 8, 8)


def patches_of(pictures):
    """Return the 3 x 3 patches of pictures with a border of zeros, (patches, 9)."""
    framed = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(framed, (3, 3), (1, 2))
    return windows.reshape(-1, 9)


def one_filter(statistics, show):
    """Ask about one filter that adds up two pixels, which go together."""
    covariance = np.eye(9)
    covariance[0, 1] = covariance[1, 0] = 0.5
    w = np.zeros((1, 9))
    w[0, :2] = 1
    _compare("w = 1 1 0 ... 0", statistics, (np.full(9, 0.25), covariance, w, [2.0]))


def real_patches(statistics, show):
    """Ask about the patches of pictures, whose neighbours are alike."""
    generator = np.random.default_rng(27)
    pictures = generator.random((5, 12, 12)).cumsum(axis=1).cumsum(axis=2) / 40
    patches = patches_of(pictures)
    w, b = generator.normal(size=(8, 9)), generator.normal(size=8)
    covariance = np.cov(patches.T, bias=True)
    given = patches.mean(axis=0), covariance, w, b
    y = patches @ w.T + b
    _compare("720 patches, 8 channels", statistics, given, (y.mean(0), y.var(0)))


def _compare(what, statistics, given, wanted=None):
    mean, covariance, w, b = (np.array(each, np.float64) for each in given)
    if wanted is None:
        wanted = [w[0] @ mean + b[0]], [w[0] @ covariance @ w[0]]
    found = statistics(mean, covariance, w, b)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise CheckFailed.explained(
            f"statistics returns {type(found).__name__}, not two arrays.",
            "The means of the channels, and their variances.",
            "End with return means, variances.",
        )
    for name, got, right in zip(("means", "variances"), found, wanted, strict=True):
        got, right = np.asarray(got, np.float64), np.asarray(right)
        if got.shape != right.shape:
            raise CheckFailed.explained(
                f"{what}: the {name} have the shape {got.shape}, not {right.shape}.",
                "Each channel has one.",
                "Sum over both pixels of a pair, and keep the channels apart.",
            )
        if not np.allclose(got, right, rtol=1e-9, atol=1e-12):
            k = int(np.abs(got - right).argmax())
            raise CheckFailed.explained(
                f"{what}: of the {name}, number {k} is {got[k]:.4g}, and it is "
                f"{right[k]:.4g} when y is computed.",
                "A sum varies by its terms, and by how they go together; what is the "
                "same for all does not vary.",
                "Write w . patch out for two pixels, and its square.",
            )


def channels(size, generator):
    """Return what the kernel of 27.2 takes: gains of both signs."""
    C, H, W = size
    y = shuffled((C, 2 * H, 2 * W), generator)
    y -= np.float32(y.size // 8)  # as many below zero as above
    gain = np.resize(np.array(GAINS, np.float32), C)
    shift = np.resize(np.array([1, 2, -3, 0.5], np.float32), C)
    out = blank(size)
    return {
        "y": y, "gain": gain, "shift": shift, "out": out, "C": C, "H": H, "W": W,
    }  # fmt: skip


def pooled_last(v):
    """Normalise, cut off, and pool, in the order of the network."""
    z = v.gain[:, None, None] * v.y + v.shift[:, None, None]
    fours = np.maximum(z, 0).reshape(v.C, v.H, 2, v.W, 2)
    return fours.max(axis=(2, 4))


def terms(v):
    """Return the largest of the values that are added."""
    return np.abs(v.gain).max() * np.abs(v.y).max() + np.abs(v.shift).max()


def by_elements(threads):
    """Launch a thread for each pooled value."""
    return lambda size: covering(threads)(size[0] * size[1] * size[2])


def signed(n, generator):
    """Return what the kernel of 27.3 takes: many floats have bits below 2^-32."""
    x = generator.normal(0, 2.0**-6, n).astype(np.float32)
    x[::7] *= 64  # from 0.5 on, the units of one do not fit into 32 bits
    return {"x": x, "sum": np.array([5 << 32], np.int64), "n": n}


def whole(v):
    """Round each to units of 2^-32, and add up whole numbers."""
    return v.sum + np.rint(v.x * UNIT).astype(np.int64).sum()


def trained(n, generator):
    """Return what the kernel of 27.4 takes, as in the third step of a training."""
    w, g, m = generator.normal(0, 0.5, (3, n)).astype(np.float32)
    v = generator.uniform(0.01, 1, n).astype(np.float32)
    return {
        "w": w, "g": g, "m": m, "v": v, "n": n, "rate": 0.25, "b1": 0.75, "b2": 0.875,
        "m_fix": 1 / (1 - 0.75**3), "v_fix": 1 / (1 - 0.875**3), "eps": 0.125,
        "decay": 0.5,
    }  # fmt: skip


def stepped(x):
    """Take a step of AdamW: the weights, and both means."""
    m = x.b1 * x.m + (1 - x.b1) * x.g
    v = x.b2 * x.v + (1 - x.b2) * x.g**2
    step = m * x.m_fix / (np.sqrt(v * x.v_fix) + x.eps)
    return {"w": x.w - x.rate * (step + x.decay * x.w), "m": m, "v": v}


EXERCISES = (
    HostExercise(
        id="27.1",
        name="statistics",
        title="Statistics of what was never computed",
        stars=1,
        function="statistics",
        checks=(
            ("two pixels that go together", one_filter),
            ("patches of pictures", real_patches),
        ),
        hints=(
            "The mean is right. For the variance, take a filter of two pixels, p and "
            "q, with the weights 1 and 1. What is the variance of p + q?",
            "var(p) + var(q) + 2 cov(p, q). So it is a sum over all pairs of pixels "
            "a and b: w[a] * w[b] * covariance[a, b].",
            "(w @ covariance * w).sum(axis=1)",
        ),
        starter=(CheckFailed, "variances, number 0 is 2, and it is 3"),
        mutants={
            "no_bias": Mutant(
                mistake="The bias moves every value, and so the mean.",
                edits=[("w @ mean + b", "w @ mean")],
                fails=(CheckFailed, "means, number 0"),
            ),
            "bias_squared": Mutant(
                mistake="The bias is taken for something that varies.",
                edits=[(".sum(axis=1)", ".sum(axis=1) + b**2")],
                fails=(CheckFailed, "variances, number 0"),
            ),
            "deviation": Mutant(
                mistake="It gives the standard deviation.",
                edits=[(".sum(axis=1)", ".sum(axis=1) ** 0.5")],
                fails=(CheckFailed, "variances, number 0"),
            ),
            "all_pairs": Mutant(
                mistake="It gives the covariances of all channels with each other.",
                edits=[("(w @ covariance * w).sum(axis=1)", "w @ covariance @ w.T")],
                fails=(CheckFailed, "the shape"),
            ),
            "once": Mutant(
                mistake="Pairs of different pixels are counted once, and there are "
                "two of each.",
                edits=[
                    (
                        "return w @ mean + b, (w @ covariance * w).sum(axis=1)",
                        "upper = covariance.copy()\n"
                        "    for a in range(9):\n"
                        "        upper[a, :a] = 0\n"
                        "    return w @ mean + b, (w @ upper * w).sum(axis=1)",
                    )
                ],
                fails=(CheckFailed, "variances, number 0"),
            ),
            "squares": Mutant(
                mistake="It takes the mean square for the variance.",
                edits=[
                    (
                        "return w @ mean + b, (w @ covariance * w).sum(axis=1)",
                        "means = w @ mean + b\n"
                        "    return means, (w @ covariance * w).sum(axis=1) + means**2",
                    )
                ],
                fails=(CheckFailed, "variances, number 0"),
            ),
        },
    ),
    Exercise(
        id="27.2",
        name="pool_first",
        title="Pool first, normalise one of four",
        stars=2,
        kernel="pooled",
        inputs=channels,
        outputs=("out",),
        sizes=((1, 1, 1), (3, 5, 7), (4, 7, 7), (2, 33, 3)),
        launches=(by_elements(256), by_elements(64)),
        reference=pooled_last,
        roundings=4,
        magnitude=terms,
        owner=None,
        hints=(
            "Which channels are wrong? Look at their gain.",
            "gain * y + shift rises with y where the gain is positive, and falls where "
            "it is negative. Of a falling line, which y gives the largest value?",
            "if (gain[c] < 0), best is the least of the four: fminf in place of fmaxf.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "always_least": Mutant(
                mistake="The least is taken from every channel.",
                edits=[
                    (
                        "float best = fmaxf(fmaxf(top[0], top[1]), fmaxf(low[0], "
                        "low[1]));\n"
                        "    if (gain[c] < 0)\n"
                        "        best = fminf(fminf(top[0], top[1]), fminf(low[0], "
                        "low[1]));",
                        "float best = fminf(fminf(top[0], top[1]), fminf(low[0], "
                        "low[1]));",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "by_shift": Mutant(
                mistake="The sign of the wrong number decides.",
                edits=[("if (gain[c] < 0)", "if (shift[c] < 0)")],
                fails=(CheckFailed, "wrong"),
            ),
            "cut_first": Mutant(
                mistake="ReLU comes before the normalisation.",
                edits=[
                    (
                        "fmaxf(gain[c] * best + shift[c], 0)",
                        "gain[c] * fmaxf(best, 0) + shift[c]",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "positive_gain": Mutant(
                mistake="The gain loses its sign.",
                edits=[("gain[c] *", "fabsf(gain[c]) *")],
                fails=(CheckFailed, "wrong"),
            ),
            "narrow": Mutant(
                mistake="The row below is looked for half a row too early.",
                edits=[("top + 2 * W;", "top + W;")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="Threads beyond the last value take part.",
                edits=[("    if (at >= C * H * W)\n        return;\n", "")],
                fails=(OutOfBoundsError, "reads"),
            ),
            "four_times": Mutant(
                mistake="All four are normalised, and then pooled.",
                edits=[
                    (
                        "float best = fmaxf(fmaxf(top[0], top[1]), fmaxf(low[0], "
                        "low[1]));\n"
                        "    if (gain[c] < 0)\n"
                        "        best = fminf(fminf(top[0], top[1]), fminf(low[0], "
                        "low[1]));\n"
                        "    out[at] = fmaxf(gain[c] * best + shift[c], 0);",
                        "float a = gain[c], b = shift[c];\n"
                        "    float above = fmaxf(a * top[0] + b, a * top[1] + b);\n"
                        "    float below = fmaxf(a * low[0] + b, a * low[1] + b);\n"
                        "    out[at] = fmaxf(fmaxf(above, below), 0);",
                    )
                ],
                fails=(CheckFailed, "flops_fp32 is"),
            ),
        },
        limits=(
            Limit(
                counter="flops_fp32",
                size=TILE,
                most=2 * 256,
                why="One of four is normalised, by one multiply-add; before, "
                "none is multiplied.",
            ),
        ),
    ),
    Exercise(
        id="27.3",
        name="whole_numbers",
        title="A sum that no order changes",
        stars=2,
        kernel="whole_sum",
        inputs=signed,
        outputs=("sum",),
        accumulates=("sum",),
        reference=whole,
        owner=None,
        hints=(
            "How many units of 2^-32 is x[i]? It may be a fraction of one: which whole "
            "number is nearest?",
            "2^32 is 4294967296.0, a double; and CUDA has a function that rounds a "
            "double to the nearest long long.",
            "long long whole = __double2ll_rn(x[i] * 4294967296.0);",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "cut_off": Mutant(
                mistake="What is below a unit is cut off, not rounded.",
                edits=[("__double2ll_rn", "__double2ll_rz")],
                fails=(CheckFailed, "wrong"),
            ),
            "half_a_unit": Mutant(
                mistake="The unit is twice as large.",
                edits=[("x[i] * 4294967296.0", "x[i] * 2147483648.0")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_sign": Mutant(
                mistake="Negative numbers do not fit into an unsigned one.",
                edits=[
                    (
                        "long long whole = __double2ll_rn",
                        "unsigned long long whole = __double2ull_rn",
                    ),
                    ("(unsigned long long)whole", "whole"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "floats": Mutant(
                mistake="Floats are added, and made whole in the end.",
                edits=[
                    (
                        "long long whole = __double2ll_rn(x[i] * 4294967296.0);\n"
                        "    atomicAdd((unsigned long long *)sum, "
                        "(unsigned long long)whole);",
                        "float before = (float)(*sum / 4294967296.0);\n"
                        "    *sum = __double2ll_rn((before + x[i]) * 4294967296.0);",
                    )
                ],
                fails=(DataRaceError, "this update is not atomic"),
            ),
            "not_atomic": Mutant(
                mistake="Reading, adding and writing are three things.",
                edits=[
                    (
                        "atomicAdd((unsigned long long *)sum, "
                        "(unsigned long long)whole)",
                        "*sum += whole",
                    )
                ],
                fails=(DataRaceError, "this update is not atomic"),
            ),
            "last_wins": Mutant(
                mistake="The last one to come takes the place of the sum.",
                edits=[("atomicAdd", "atomicExch")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="Threads beyond the last value take part.",
                edits=[("    if (i >= n)\n        return;\n", "")],
                fails=(OutOfBoundsError, "reads"),
            ),
            "narrow": Mutant(
                mistake="From 0.5 on, the units of one value do not fit into 32 bits.",
                edits=[("__double2ll_rn", "__double2int_rn")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="27.4",
        name="adamw",
        title="AdamW",
        stars=2,
        kernel="adamw",
        inputs=trained,
        outputs=("w", "m", "v"),
        accumulates=("w", "m", "v"),
        reference=stepped,
        roundings=12,
        magnitude=lambda x: 4,
        hints=(
            "Four lines: the mean m, the mean v, the step, the weight. Which of them "
            "use the new m and v?",
            "m[i] = b1 * m[i] + (1 - b1) * g[i], and v with the square of g. The "
            "step is m * m_fix, divided by sqrtf(v * v_fix) + eps.",
            "w[i] -= rate * (step + decay * w[i]); the decay is not in the means.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "decay_in_gradient": Mutant(
                mistake="The decay goes through the means: Adam, and not AdamW.",
                edits=[
                    (
                        "    m[i] =",
                        "    float slope = g[i] + decay * w[i];\n    m[i] =",
                    ),
                    ("(1 - b1) * g[i]", "(1 - b1) * slope"),
                    ("(1 - b2) * g[i] * g[i]", "(1 - b2) * slope * slope"),
                    ("(step + decay * w[i])", "step"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "biased": Mutant(
                mistake="The means are taken as they are, near 0 at the start.",
                edits=[("m[i] * m_fix", "m[i]"), ("v[i] * v_fix", "v[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "eps_in_root": Mutant(
                mistake="Epsilon is added below the root.",
                edits=[("v_fix) + eps)", "v_fix + eps))")],
                fails=(CheckFailed, "wrong"),
            ),
            "not_squared": Mutant(
                mistake="The second mean is of the gradient itself.",
                edits=[("(1 - b2) * g[i] * g[i]", "(1 - b2) * fabsf(g[i])")],
                fails=(CheckFailed, "wrong"),
            ),
            "decay_without_rate": Mutant(
                mistake="The decay is not scaled by the rate.",
                edits=[
                    ("rate * (step + decay * w[i])", "rate * step + decay * w[i]"),
                ],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="Threads beyond the last parameter take part.",
                edits=[("    if (i >= n)\n        return;\n", "")],
                fails=(OutOfBoundsError, "reads"),
            ),
        },
    ),
)
