"""One launch of a student's kernel on one problem, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.exercises import judging
from coursekit.exercises.exercise import Exercise
from coursekit.exercises.inputs import Size
from coursekit.runtime.arrays import to_device, to_host
from coursekit.runtime.configuration import configure
from coursekit.runtime.simulator import simulator

TIMEOUT_S = 5.0
WIDE = {"f": np.float64, "i": np.int64, "u": np.int64}


@dataclass(frozen=True)
class Problem:
    """The arguments of a launch and the results that it must give.

    Attributes
    ----------
    given : dict of str to object
        Arguments in the kernel's order; outputs hold their sentinel.
    expected : dict of str to ndarray
    allowed : dict of str to ndarray
        Error that is tolerated, element by element.
    sentinels : dict of str to scalar
        Sentinels of the outputs that do not accumulate.
    """

    given: dict[str, Any]
    expected: dict[str, np.ndarray]
    allowed: dict[str, np.ndarray]
    sentinels: dict[str, np.generic]

    @classmethod
    def of(cls, exercise: Exercise, size: Size, salt: int | None = None) -> Problem:
        """Build the problem of a size; the same size always gives the same data.

        With a `salt` it has other data, those of a student's variant.
        """
        extents = size if isinstance(size, tuple) else (size,)
        seed = [int(exercise.chapter), exercise.number, *extents]
        seed += [] if salt is None else [salt]
        given = dict(exercise.inputs(size, np.random.default_rng(seed)))
        values = SimpleNamespace(**_wide_values(given))
        expected = _expected(exercise, values, given)
        roundings = exercise.roundings
        count = roundings(size) if callable(roundings) else roundings
        magnitude = exercise.magnitude(values) if exercise.magnitude else None
        allowed, sentinels = {}, {}
        for name, array in expected.items():
            dtype = given[name].dtype
            allowed[name] = judging.tolerance(array, dtype, count, magnitude)
            if name not in exercise.accumulates:
                sentinels[name] = judging.sentinel(array, dtype)
                given[name] = np.full_like(given[name], sentinels[name])
        return cls(given, expected, allowed, sentinels)

    def wide(self) -> dict[str, Any]:
        """Return the arguments as a reference takes them: in float64 and int64."""
        return _wide_values(self.given)


def _each_array(move, arguments: dict[str, Any]) -> dict[str, Any]:
    """Apply `move` to the arrays among the arguments."""
    return {
        name: move(value) if hasattr(value, "dtype") and value.shape else value
        for name, value in arguments.items()
    }


def _wide_values(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _wide(value) for name, value in given.items()}


def _wide(value):
    if not isinstance(value, np.ndarray):
        return value
    return value.astype(WIDE.get(value.dtype.kind, value.dtype))


def _expected(exercise: Exercise, values, given) -> dict[str, np.ndarray]:
    with np.errstate(all="ignore"):
        result = exercise.reference(values)
    if not isinstance(result, dict):
        result = {exercise.outputs[0]: result}
    arrays = {name: np.asarray(result[name]) for name in exercise.outputs}
    for name, array in arrays.items():
        if array.shape != given[name].shape:
            raise ArgumentError.explained(
                f"{exercise.label}: the reference gives {name} the shape "
                f"{array.shape}, the inputs {given[name].shape}.",
                cure="Correct the spec.",
            )
    return arrays


@dataclass(frozen=True)
class Trial:
    """One launch: its size, its shape, the order of the warps.

    Attributes
    ----------
    grid, block : tuple of int
        (x, y, z).
    order : str or int
        As `ck.simulator` takes it.
    salt : int or None
        What the data of a student's variant are drawn from.
    """

    exercise: Exercise
    size: Size
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    order: str | int = "forward"
    salt: int | None = None

    @classmethod
    def of(
        cls, exercise: Exercise, size: Size, launch, order="forward", *, salt=None
    ) -> Trial:
        """Work out the launch shape of a size."""
        grid, block, *shared = launch(size)
        shape = configure(exercise.kernel, grid, block, shared_bytes=sum(shared))
        grid, block, dynamic = shape.grid, shape.block, shape.shared_bytes
        return cls(exercise, size, grid, block, dynamic, order, salt)

    def __str__(self) -> str:
        grid, block = shape(self.grid), shape(self.block)
        return f"size {written(self.size)}, grid {grid}, block {block}"

    def run(self, kernel, timeout_s: float = TIMEOUT_S, **held) -> Outcome:
        """Launch on the simulator; arrays named in `held` are filled with one value.

        Raises
        ------
        CourseError
            The launch or the kernel failed; a note says in which trial.
        """
        problem = Problem.of(self.exercise, self.size, self.salt)
        for name, value in held.items():
            problem.given[name] = np.full_like(problem.given[name], value)
        with simulator(order=self.order, timeout_s=timeout_s):
            # Inputs are copied to the device too: a kernel that casts const away may
            # have changed them.
            placed = _each_array(to_device, problem.given)
            kernel.launch(
                self.grid,
                self.block,
                *placed.values(),
                shared_bytes=self.shared_bytes,
            )
            after = _each_array(to_host, placed)
        return Outcome(self, problem, after)


def written(size: Size) -> str:
    """Write a size: 33, or 17 x 33."""
    return " x ".join(map(str, size)) if isinstance(size, tuple) else str(size)


def shape(extent: tuple[int, int, int]) -> str:
    """Write a grid or a block without the axes that it does not use.

    >>> shape((2, 1, 1)), shape((1, 2, 1))
    ('2', '1 x 2')
    """
    used = max([axis for axis in range(3) if extent[axis] > 1], default=0) + 1
    return written(extent[:used])


@dataclass(frozen=True)
class Outcome:
    """The arguments of a launch after it has run."""

    trial: Trial
    problem: Problem
    after: dict[str, Any]

    def judged(self) -> list[judging.Judged]:
        """Compare each output with the expected values."""
        return [self._judge(name) for name in self.problem.expected]

    def _judge(self, name: str) -> judging.Judged:
        expected, got = self.problem.expected[name], self.after[name]
        bad = judging.wrong(expected, got, self.problem.allowed[name])
        untouched = np.zeros(bad.shape, bool)
        if name in self.problem.sentinels:
            untouched = judging.same_bits(got, self.problem.sentinels[name]) & bad
        in_hex = name in self.trial.exercise.in_hex
        return judging.Judged(name, expected, got, bad, untouched, in_hex)

    def changed(self) -> tuple[str, tuple[int, ...]] | None:
        """Return the first input that the kernel has changed, and where; else None."""
        for name, before in self.problem.given.items():
            if name in self.problem.expected or not isinstance(before, np.ndarray):
                continue
            differs = before.view(np.uint8) != self.after[name].view(np.uint8)
            if differs.any():
                place = int(np.flatnonzero(differs)[0]) // before.dtype.itemsize
                index = np.unravel_index(place, before.shape)
                return name, tuple(int(i) for i in index)
        return None
