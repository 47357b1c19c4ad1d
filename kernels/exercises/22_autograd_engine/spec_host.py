"""Pieces of chapter 22 in Python: an order, differences, and checkpoints."""

import numpy as np

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant


class Node:
    """A node of a graph; parents are what it was computed from."""

    def __init__(self, name, parents=()):
        self.name, self.parents = name, parents

    def __repr__(self):
        return self.name


def chain():
    """Return y, computed from h, computed from x."""
    x = Node("x")
    return Node("y", (Node("h", (x,)),))


def diamond():
    """Return y, computed from two nodes that come from the same x."""
    x = Node("x")
    return Node("y", (Node("left", (x,)), Node("right", (x,))))


def late():
    """Return y, whose first parent is needed by its second one, too."""
    a, x = Node("a"), Node("x")
    h = Node("h", (a, x))
    return Node("y", (a, h, Node("k", (h, h))))


def nodes_of(result):
    """Return the set of all nodes below a result."""
    found = {result}
    for parent in result.parents:
        found |= nodes_of(parent)
    return found


def judged(ordered, result):
    """Demand each node once, and after its parents."""
    found = list(ordered(result))
    place = {node: number for number, node in enumerate(found)}
    names = ", ".join(map(str, found))
    for node in sorted(nodes_of(result), key=str):
        count = found.count(node)
        if count != 1:
            raise CheckFailed.explained(
                f"The order is {names}: {node} is in it {count} times.",
                "Each node has to be in it once. What is used twice is visited "
                "twice, and what nobody visits is missing.",
                "Visit every parent, and leave at once where a node was seen before.",
            )
    for node in sorted(nodes_of(result), key=str):
        for parent in node.parents:
            if place[parent] > place[node]:
                raise CheckFailed.explained(
                    f"The order is {names}: {node} comes before {parent}, which it "
                    "was computed from.",
                    "A node was appended before its parents were visited.",
                    "Visit the parents first, then append.",
                )


def of_chain(ordered, show):
    """Order a chain."""
    judged(ordered, chain())


def of_shared(ordered, show):
    """Order graphs in which nodes are used more than once."""
    judged(ordered, diamond())
    judged(ordered, late())


# ---------------------------------------------------------------- 22.c

CUBE_AT = np.array([0.5, -1.5, 2.0])
WEIGHTS = np.array([1.0, -2.0, 0.5])


def compared(numeric_gradient, f, wanted, what):
    """Compare a gradient by differences with the true one."""
    at = CUBE_AT.copy()
    found = numeric_gradient(f, at, H)
    if not np.array_equal(at, CUBE_AT):
        raise CheckFailed.explained(
            f"x was {CUBE_AT} before the call, and is {at} after it.",
            "x is the caller's array. A change of it moves every later point as well.",
            "Move a copy: down = x.copy(), and then down[i].",
        )
    for i, (have, want) in enumerate(zip(found, wanted, strict=True)):
        if not np.isclose(have, want, rtol=1e-5, atol=1e-5):
            raise CheckFailed.explained(
                f"gradient[{i}] of {what} is {have:.7g}, and {want:.7g} is right.",
                *(TIMES_H if np.isclose(have, want * H * H) else POINTS),
            )


H = 1e-3
POINTS = (
    "The two points lie on both sides of x, equally far from it, and only x[i] moves. "
    "The change of f is divided by the distance between them.",
    "Write down the two points at which you call f, and their distance.",
)
TIMES_H = (
    "The change of f is multiplied by h: a / 2 * h is (a / 2) * h.",
    "Put the distance into brackets.",
)


def of_line(numeric_gradient, show):
    """Differentiate a weighted sum."""
    compared(numeric_gradient, lambda x: float(WEIGHTS @ x), WEIGHTS, "a sum")


def of_cubes(numeric_gradient, show):
    """Differentiate something curved."""
    f = lambda x: float(WEIGHTS @ x**3 + x[0] * x[1])  # noqa: E731
    wanted = 3 * WEIGHTS * CUBE_AT**2 + np.array([CUBE_AT[1], CUBE_AT[0], 0])
    compared(numeric_gradient, f, wanted, "a sum of cubes")


# ---------------------------------------------------------------- 22.2


class Step:
    """A step of a chain: x * x / 2 + shift."""

    def __init__(self, shift):
        self.shift = shift

    def forward(self, x):
        """Return the result of the step."""
        return x * x / 2 + self.shift

    def back(self, x, dy):
        """Return dx of dy."""
        return dy * x


class Kept(dict):
    """A dict that knows how many values it held at most."""

    most = 0

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.most = max(self.most, len(self))


STEPS = [Step(shift) for shift in (0.5, -0.25, 1, 0.75, -1, 0.5, 0.25, -0.5, 1, 0.5)]
CASES = ((4, 2), (9, 3), (10, 4), (10, 10), (1, 1))


def right(checkpointed, show):
    """Compare the gradient of chains with that of a plain walk."""
    for count, every in CASES:
        steps, x = STEPS[:count], 1.25
        inputs = [x]
        for step in steps:
            inputs.append(step.forward(inputs[-1]))
        wanted = float(np.prod(inputs[:-1]))
        found = checkpointed(steps, x, every, Kept())
        if not isinstance(found, float) or not np.isclose(found, wanted, rtol=1e-9):
            shown = f"{found:.6g}" if isinstance(found, float) else found
            raise CheckFailed.explained(
                f"With {count} steps and every = {every}, dy/dx is {shown}, and "
                f"{wanted:.6g} is right.",
                "A step went back with the input of another one, or not at all.",
                "step.back needs the value that went *into* that step.",
            )


def frugal(checkpointed, show):
    """Demand that values are dropped after use."""
    for count, every in CASES:
        kept = Kept()
        checkpointed(STEPS[:count], 1.25, every, kept)
        most = -(-count // every) + every - 1
        if kept.most > most or kept:
            raise CheckFailed.explained(
                f"With {count} steps and every = {every}, {kept.most} values were kept "
                f"at once, {len(kept)} at the end; {most} at once are enough, and 0 at "
                "the end.",
                "Values stay in kept after their step went back, or more than the "
                "inputs of one stretch were computed.",
                "kept.pop(place) returns a value and drops it.",
            )


EXERCISES = (
    HostExercise(
        id="22.b",
        name="order",
        title="Parents first",
        function="ordered",
        checks=(("a chain", of_chain), ("and nodes that are used twice", of_shared)),
        starter=(CheckFailed, "0 times"),
        hints=(
            "visit may call itself. What has to be done before a node is appended?",
            "For each parent that is not in order yet: visit it. Then append.",
        ),
        mutants={
            "visited_again": Mutant(
                mistake="A node that was seen before is visited again.",
                edits=[("if parent not in order:", "if parent:")],
                fails=(CheckFailed, "is in it 2 times"),
            ),
            "first_parent": Mutant(
                mistake="Only the first parent is visited.",
                edits=[("in node.parents:", "in node.parents[:1]:")],
                fails=(CheckFailed, "is in it 0 times"),
            ),
            "child_first": Mutant(
                mistake="A node is appended before its parents.",
                edits=[
                    (
                        "        for parent",
                        "        order.append(node)\n        for parent",
                    ),
                    (
                        "                visit(parent)\n        order.append(node)\n",
                        "                visit(parent)\n",
                    ),
                ],
                fails=(CheckFailed, "before"),
            ),
        },
    ),
    HostExercise(
        id="22.c",
        name="differences",
        title="A gradient by differences",
        function="numeric_gradient",
        checks=(("a weighted sum", of_line), ("and something curved", of_cubes)),
        starter=(CheckFailed, "of a sum of cubes"),
        hints=(
            "How far does f move when x[i] moves from one side to the other?",
            "The points are 2 * h apart: (f(up) - f(down)) / (2 * h).",
        ),
        mutants={
            "not_halved": Mutant(
                mistake="The difference is divided by h.",
                edits=[("(2 * h)", "h")],
                fails=(CheckFailed, "is 2, and 1 is right"),
            ),
            "precedence": Mutant(
                mistake="The quotient is multiplied by h.",
                edits=[("/ (2 * h)", "/ 2 * h")],
                fails=(CheckFailed, "is (a / 2) * h"),
            ),
            "x_moves": Mutant(
                mistake="The argument itself is changed.",
                edits=[("up = x.copy()", "up = x")],
                fails=(CheckFailed, "x was"),
            ),
            "one_sided": Mutant(
                mistake="The difference is taken on one side.",
                edits=[("(f(up) - f(down)) / (2 * h)", "(f(up) - f(x)) / h")],
                fails=(CheckFailed, "of a sum of cubes"),
            ),
            "all_move": Mutant(
                mistake="All inputs move at once.",
                edits=[("up[i] += h", "up += h"), ("down[i] -= h", "down -= h")],
                fails=(CheckFailed, "gradient[0] of a sum"),
            ),
        },
    ),
    HostExercise(
        id="22.2",
        name="checkpoints",
        title="Fewer values, more work",
        stars=2,
        function="checkpointed",
        checks=(("the gradient", right), ("and what is kept", frugal)),
        starter=(CheckFailed, "KeyError"),
        hints=(
            "kept[start] is the input of the first step of the stretch. Which other "
            "inputs do the steps of the stretch need?",
            "steps[place].forward(kept[place]) is the input of step place + 1. The "
            "last step of a stretch needs no forward.",
            "Then, from the last step to the first: dy = steps[place].back(kept.pop("
            "place), dy).",
        ),
        mutants={
            "nothing_dropped": Mutant(
                mistake="No value is dropped.",
                edits=[("kept.pop(place)", "kept[place]")],
                fails=(CheckFailed, "values were kept at once"),
            ),
            "forwards": Mutant(
                mistake="The stretch is walked forwards, and loses a value.",
                edits=[("kept.pop(place), dy", "kept.pop(start, 1.0), dy")],
                fails=(CheckFailed, "is right"),
            ),
            "one_more": Mutant(
                mistake="The input of the next stretch is computed, too.",
                edits=[("range(start, end - 1)", "range(start, end)")],
                fails=(CheckFailed, "values were kept at once"),
            ),
        },
    ),
)
