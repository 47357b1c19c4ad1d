"""Your turn in chapter 26: from bytes to floats, and back through a ReLU."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import Exercise, Mutant, blank, shuffled

MEAN, DEVIATION = np.float32(0.125), np.float32(0.25)


def pictures(n, generator):
    """Return what the kernel of 26.a takes; no two bytes in a row are equal."""
    return {
        "pixels": (37 * np.arange(n) % 256).astype(np.uint8),
        "x": blank(n),
        "n": n,
        "mean": MEAN,
        "deviation": DEVIATION,
    }


def of_both_signs(n, generator):
    """Return what the kernel of 26.b takes; one x is 0."""
    x = generator.permutation(n).astype(np.float32) - n // 2
    return {"dy": 1 - shuffled(n, generator), "x": x, "dx": blank(n), "n": n}


EXERCISES = (
    Exercise(
        id="26.a",
        name="normalise",
        title="Bytes become floats on the device",
        kernel="normalise",
        inputs=pictures,
        outputs=("x",),
        reference=lambda v: (v.pixels / 255 - v.mean) / v.deviation,
        # A quotient, a difference and a quotient; the difference of numbers up to 1
        # is rounded by 2^-24 and divided by a quarter.
        roundings=4,
        magnitude=lambda v: (v.pixels / 255 + v.mean) / v.deviation,
        hints=(
            "In C++ the quotient of two whole numbers is a whole number: 200 / 255 is "
            "0. What is 200 / 255.0f?",
            "x[i] = (pixels[i] / 255.0f - mean) / deviation;",
        ),
        starter=(CheckFailed, "never written"),
        mutants={
            "whole_numbers": Mutant(
                mistake="Both operands of the quotient are whole numbers.",
                edits=[("255.0f", "255")],
                fails=(CheckFailed, "wrong"),
            ),
            "of_256": Mutant(
                mistake="The largest byte is taken to be 256.",
                edits=[("255.0f", "256.0f")],
                fails=(CheckFailed, "wrong"),
            ),
            "brackets": Mutant(
                mistake="Only the mean is divided by the deviation.",
                edits=[("(pixels[i] / 255.0f - mean)", "pixels[i] / 255.0f - mean")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="26.b",
        name="relu",
        title="Back through a ReLU",
        kernel="relu_dx",
        inputs=of_both_signs,
        outputs=("dx",),
        reference=lambda v: np.where(v.x > 0, v.dy, 0),
        hints=(
            "Where x is negative, y is 0 however x changes a little. What is the "
            "gradient there?",
            "dx[i] = x[i] > 0 ? dy[i] : 0;",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "by_dy": Mutant(
                mistake="The sign of the gradient decides, and not that of x.",
                edits=[("x[i] > 0 ?", "dy[i] > 0 ?")],
                fails=(CheckFailed, "wrong"),
            ),
            "zero_passes": Mutant(
                mistake="A gradient passes where x is 0.",
                edits=[("x[i] > 0", "x[i] >= 0")],
                fails=(CheckFailed, "wrong"),
            ),
            "times_x": Mutant(
                mistake="The gradient is multiplied by x, whose slope is 1.",
                edits=[("? dy[i]", "? dy[i] * x[i]")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
