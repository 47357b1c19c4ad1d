"""Chooses between compiled code and the interpreter, which give the same results.

Compiling takes a tenth of a second and more, so a launch that may be short is tried in
the interpreter first. After a moment the blocks that are done tell how long all of them
will take; if compiling is quicker, memory is put back and the launch starts again in
compiled code. Instructions are counted for that, not seconds, so that a launch takes
the same way on every machine, however busy it is. A launch that is checked for races
takes longer in the interpreter; compiled code that does not find every access ordered
leaves all of the launch to the interpreter.
"""

from __future__ import annotations

from coursekit.simt.compiled import engine, racing
from coursekit.simt.run.limits import OutOfTime

# Warp instructions that the interpreter may execute for all launches of one kernel
# together, at about 3 us each, and about 5 us where it looks for races. Code takes that
# long to compile: a quarter of a second and more, the more instructions the kernel has.
TRIALS_WORK, RACE_TRIAL_WORK = 80_000, 60_000
# For each instruction of the kernel; LLVM takes less for one that it does not optimize.
WORK_EACH, WORK_EACH_PLAIN = 1_000, 200
LAUNCH_WORK = 50  # what else a launch costs
# Bytes of the arrays of which a trial is worth a copy: those it writes.
TRIAL_BYTES = 4 << 20


def run(launch) -> tuple[str, str]:
    """Run all blocks of a launch; return the engine that ran them, and a note.

    Raises
    ------
    KernelError, UnsupportedError
        As the interpreter does.
    """
    blocks = launch.block_numbers()
    note = engine.obstacle(launch)
    unsure = (
        note is None
        and launch.configuration.engine == "auto"
        and not engine.at_hand(launch)
    )
    if unsure and _tried_often(launch, blocks):
        return "interpreter", ""
    done = 0
    if note is None:
        try:
            done, note = engine.run(launch, blocks, launch.configuration.engine)
        except OutOfTime as late:
            _say_where(launch, blocks[late.position])
    if done == len(blocks):
        return "compiled", ""
    launch.interpret(blocks[done:])
    return ("both" if done else "interpreter"), f"interpreted: {note}"


def observe(launch) -> tuple[str, str]:
    """Run all blocks of a launch that is checked for races, as `run` does."""
    blocks = launch.block_numbers()
    note = engine.obstacle(launch)
    compiled = None if note else racing.compiled_for(launch)
    unsure = (
        compiled
        and launch.configuration.engine == "auto"
        and not compiled.at_hand("fast")
    )
    if unsure:
        launch.watch()
        if _tried(launch, blocks, _worth(launch, RACE_TRIAL_WORK)):
            return "interpreter", ""
        launch.configuration.observer.forget()
    if compiled:
        try:
            note = racing.check(compiled, launch, blocks)
            launch.start_clock()
        except OutOfTime:
            note = "too long for compiled code"
    if not note:
        return "compiled", ""
    launch.watch()
    launch.interpret(blocks)
    return "interpreter", f"interpreted: {note}"


def _say_where(launch, block: int) -> None:
    """Raise the time-out error of a block, with the thread and the line.

    The interpreter runs the block for a moment, to name a thread and a line.

    Raises
    ------
    DeadlockError
    """
    launch.start_again()
    launch.interpret([block])
    raise engine.too_long(launch)


def _tried_often(launch, blocks) -> bool:
    """Whether the interpreter ran the launch within this kernel's total allowance.

    A kernel that is launched again and again gets compiled, however short a launch is.
    """
    compiled = engine.of_launch(launch)
    left = _worth(launch, TRIALS_WORK) - compiled.interpreted
    try:
        return left > 0 and _tried(launch, blocks, left)
    finally:
        compiled.interpreted += launch.work + LAUNCH_WORK


def _worth(launch, least: int) -> int:
    """Return how many warp instructions take as long as compiling the kernel."""
    each = WORK_EACH if engine.is_optimized(launch.code) else WORK_EACH_PLAIN
    return max(least, each * len(launch.code.function.instructions))


def _tried(launch, blocks, work: int) -> bool:
    """Whether the interpreter ran the launch to its end within its trial."""
    return TRIAL_BYTES >= 0 and launch.try_to_interpret(blocks, work, TRIAL_BYTES)
