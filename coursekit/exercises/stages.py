"""The stages of a check; each raises an error at the first defect."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, cast

from coursekit.analysis.checking import synccheck
from coursekit.analysis.counting import count
from coursekit.errors import CheckFailed, CourseError, DeadlockError, OutOfBoundsError
from coursekit.exercises import complaints, diagnosis, guards, picture
from coursekit.exercises.catalogue import Entry
from coursekit.exercises.exercise import Exercise, Limit
from coursekit.exercises.inputs import Size
from coursekit.exercises.tables import Table
from coursekit.exercises.trial import TIMEOUT_S, Outcome, Problem, Trial, written
from coursekit.runtime.simulator import simulator
from coursekit.simt import Counters
from coursekit.toolchain.cubin import Resources

ORDERS = ("reverse", 1, 2, 3)
# What the compiler reports of a kernel; `barriers` is counted.
REPORTED = {item.name for item in fields(Resources)} - {"barriers"}


@dataclass
class Bench:
    """A kernel or function under test, and the tables that its stages made."""

    entry: Entry
    answer: Any
    tables: list[Table]
    remarks: list[str] = field(default_factory=list)

    @property
    def exercise(self) -> Exercise:
        """The exercise, where it is one in CUDA C++."""
        return cast(Exercise, self.entry.exercise)


@dataclass(frozen=True)
class Stage:
    """A stage's title, its function, and its kind.

    The function raises where the answer fails. The kind names the stage in tables of
    points: "sizes".
    """

    name: str
    run: Callable[[Bench], None]
    kind: str


def stages(entry: Entry) -> tuple[Stage, ...]:
    """Return the stages of an exercise, in order."""
    exercise = cast(Exercise, entry.exercise)
    sizes = ", ".join(map(written, exercise.sizes))
    shapes = f"{len(exercise.launches)} launch shapes each"
    in_order = [
        Stage(
            "compiles, with the parameters of the starter",
            check_signature,
            "compiles",
        ),
        Stage(
            f"a small problem, size {written(exercise.small)}",
            check_picture,
            "small problem",
        ),
        Stage(f"sizes {sizes}, {shapes}", check_sizes, "sizes"),
        Stage("no races, every value set, barriers for all", check_threads, "threads"),
        Stage(f"{len(ORDERS)} other orders of the warps", check_orders, "orders"),
    ]
    if exercise.waits:
        held = ", ".join(f"{wait.name} is {wait.value}" for wait in exercise.waits)
        in_order.append(Stage(f"waits while {held}", check_waits, "waits"))
    if exercise.longest_warp is not None:
        most = f"at most {exercise.longest_warp} instructions per warp"
        in_order.append(
            Stage(f"work for every thread: {most}", check_longest_warp, "balance")
        )
    if exercise.limits:
        counters = ", ".join(limit.counter for limit in exercise.limits)
        in_order.append(Stage(f"efficient: {counters}", check_limits, "limits"))
    for name, look in exercise.compiled:
        in_order.append(Stage(name, _look(look), "compiled"))
    return tuple(in_order)


def _look(look: Callable[[Any], None]) -> Callable[[Bench], None]:
    """Return a stage's function that gives the kernel to `look`."""
    return lambda bench: look(bench.answer)


def check_signature(bench: Bench) -> None:
    """Compare the parameter types with the starter's, const aside."""
    from coursekit.runtime import compiler

    exercise = bench.exercise
    starter = compiler.compile(bench.entry.starter, defines=exercise.defines)
    original = starter[exercise.kernel]
    if _types(original) != _types(bench.answer):
        raise CheckFailed.explained(
            f"The kernel is {bench.answer.signature}, but the exercise launches "
            f"{original.signature}.",
            "A parameter was added, removed, reordered or given another type.",
            "Put the parameters back as they were in the starter: "
            f'ck.reset("{bench.entry.id}") shows it.',
        )


def _types(kernel) -> list[str]:
    return [
        str(parameter.type).replace("const", "").strip()
        for parameter in kernel.parameters
    ]


def check_picture(bench: Bench) -> None:
    """Run the small problem and draw it."""
    exercise = bench.exercise
    trial = Trial.of(exercise, exercise.small, exercise.launches[0])
    with _context(bench, trial):
        outcome = trial.run(bench.answer)
    bench.tables += picture.tables(outcome)
    complaints.require_values(bench.answer, outcome, complaints.small)
    _require_inputs(outcome)


def check_sizes(bench: Bench) -> None:
    """Run every size with every launch shape."""
    exercise = bench.exercise
    for size in exercise.sizes:
        for launch in exercise.launches:
            require_right(bench, Trial.of(exercise, size, launch))


def check_threads(bench: Bench) -> None:
    """Run the checkers on the largest size, with every launch shape.

    A note, such as a barrier that some threads do not reach because they have exited,
    becomes a remark: the result is right all the same.
    """
    exercise, noted = bench.exercise, set[int | None]()
    for launch in exercise.launches:
        trial = Trial.of(exercise, exercise.largest, launch)
        for checker in diagnosis.CHECKERS:
            with _context(bench, trial):
                found = diagnosis.findings(checker, bench.answer, trial, TIMEOUT_S)
                for finding in found:  # an error, or a warning where there is none
                    raise finding.error
                for note in found.notes if checker is synccheck else ():
                    if note.line not in noted:
                        noted.add(note.line)
                        bench.remarks.append(note.message)


def check_orders(bench: Bench) -> None:
    """Run the largest size with the warps in other orders."""
    exercise = bench.exercise
    for launch in exercise.launches:
        for order in ORDERS:
            trial = Trial.of(exercise, exercise.largest, launch, order)
            require_right(bench, trial)


def require_right(bench: Bench, trial: Trial) -> None:
    """Launch the kernel once, and compare what it leaves with the reference.

    Raises
    ------
    CourseError
        The launch failed, or a value is wrong.
    """
    with _quiet(), _context(bench, trial):
        outcome = trial.run(bench.answer)
    complaints.require_values(bench.answer, outcome, complaints.values)
    _require_inputs(outcome)


def _require_inputs(outcome: Outcome) -> None:
    changed = outcome.changed()
    if changed is not None:
        raise complaints.changed(outcome, *changed)


def check_waits(bench: Bench) -> None:
    """Launch the small problem with values that the kernel must wait for."""
    exercise = bench.exercise
    trial = Trial.of(exercise, exercise.small, exercise.launches[0])
    for wait in exercise.waits:
        with _quiet(), _context(bench, trial), contextlib.suppress(DeadlockError):
            trial.run(bench.answer, **{wait.name: wait.value})
            raise CheckFailed.explained(
                f"{wait.name} was {wait.value} before the launch, and the kernel has "
                "ended.",
                wait.why,
                "Nobody changes it here, so the right kernel waits for ever.",
            )


def check_longest_warp(bench: Bench) -> None:
    """Count the instructions of the longest warp, with every launch shape."""
    exercise = bench.exercise
    for launch in exercise.launches:
        trial = Trial.of(exercise, exercise.largest, launch)
        amount = _counters(bench, trial).longest_warp_instructions
        if exercise.longest_warp is not None and amount > exercise.longest_warp:
            raise CheckFailed.explained(
                f"{trial}: one warp executes {amount} instructions, and at most "
                f"{exercise.longest_warp} are allowed.",
                "The results are right, but one thread does the work of many, one "
                "element after another.",
                "Give each thread an element of its own: its index comes from "
                "threadIdx, blockIdx and blockDim.",
            )


def check_limits(bench: Bench) -> None:
    """Count what the first launch shape does, on the sizes of the limits."""
    exercise = bench.exercise
    counted: dict[Size, Counters] = {}
    for limit in exercise.limits:
        trial = Trial.of(exercise, limit.size, exercise.launches[0])
        if limit.counter in REPORTED:
            _require_resource(bench, limit)
            continue
        if limit.size not in counted:
            counted[limit.size] = _counters(bench, trial)
        amount = getattr(counted[limit.size], limit.counter)
        if amount > limit.most:
            raise CheckFailed.explained(
                f"{trial}: {limit.counter} is {amount}, at most {limit.most} will do.",
                limit.why,
                "The results are right. Find what the kernel does more often than "
                "it has to.",
            )


def _require_resource(bench: Bench, limit: Limit) -> None:
    """Compare what the compiler reports of the kernel with its bound."""
    resources = bench.answer.module.resources[bench.answer.name]
    amount = getattr(resources, limit.counter)
    if amount > limit.most:
        raise CheckFailed.explained(
            f"The compiler reports {limit.counter} = {amount}, at most {limit.most} "
            "will do.",
            limit.why,
            "The results are right. Find which values must be kept at the same time.",
        )


def _counters(bench: Bench, trial: Trial) -> Counters:
    """Count what a launch does."""
    arguments = tuple(Problem.of(trial.exercise, trial.size).given.values())
    shape = trial.grid, trial.block, arguments, trial.shared_bytes
    with _quiet(), _context(bench, trial), simulator():
        return count(bench.answer, *shape)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Discard what kernels print: the stage of the small problem has shown it."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


@contextlib.contextmanager
def _context(bench: Bench, trial: Trial) -> Iterator[None]:
    """Explain an error by the student's text, and note the launch where it occurred."""
    try:
        yield
    except CourseError as error:
        if isinstance(error, OutOfBoundsError):
            guards.explain(error, bench.answer, trial)
        error.add_note(complaints.seen(trial) + ".")
        raise
