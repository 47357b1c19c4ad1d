"""The errors of measurements that a benchmark does not report, a function each."""

from __future__ import annotations

from coursekit.benchmarking.ceilings import TOLERANCE, Ceiling, in_units
from coursekit.errors import ArgumentError, CheckFailed, CourseError


def wrong_result(case: str, size: int, when: str, reason: str) -> CourseError:
    """Build the error for a result that `verify` does not accept."""
    return CheckFailed.explained(
        f"{case!r} gives a wrong result at size {size:,}, {when}: {reason}",
        "A wrong result has no speed. The outputs were filled with a pattern before, "
        "so a place that the case leaves out shows.",
        "Run the case once by itself and compare, or use ck.memcheck.",
    )


def replay(case: str, size: int, reason: str) -> CourseError:
    """Build the error for results that were kept from an earlier call."""
    return CheckFailed.explained(
        f"{case!r} is right at size {size:,} for the inputs that it was timed with, "
        f"and wrong for fresh ones in the same arrays: {reason}",
        "It replays what an earlier call computed (a cached result, or a graph that "
        "holds copies of the inputs), or it keeps something between calls.",
        "Compute from the arguments in every call.",
    )


def not_rewritten(case: str, size: int) -> CourseError:
    """Build the error for a second call that leaves its outputs as they are."""
    return CheckFailed.explained(
        f"{case!r} leaves its outputs alone at size {size:,} when it is called again: "
        "they still hold the pattern that they were filled with.",
        "It replays: it knows the inputs from an earlier call and does no work.",
        "Compute from the arguments in every call.",
    )


def nothing_written(case: str, size: int) -> CourseError:
    """Build the error for a call that changes none of its arguments."""
    return CheckFailed.explained(
        f"{case!r} changes none of its arrays at size {size:,}.",
        "It returns without doing the work, or writes into an array of its own.",
        "Write the result into an array that setup returns, "
        "for example with torch.mm(a, b, out=c).",
    )


def same_inputs(size: int) -> CourseError:
    """Build the error for a setup that gives the same data every time."""
    return CheckFailed.explained(
        f"setup({size}) returns the same data twice.",
        "A result that was kept from one call would then pass for a computation.",
        "Draw from a generator made outside of setup: rng = np.random.default_rng(1), "
        "and in setup rng.standard_normal(n, dtype=np.float32).",
    )


def side_stream(case: str, size: int) -> CourseError:
    """Build the error for work that does not wait for the current stream."""
    return CheckFailed.explained(
        f"{case!r} writes its result at size {size:,} while the current stream is "
        "held back.",
        "Its work runs on a side stream, beside the events that should time it.",
        "Launch on the current stream, or let the side stream first wait for an event "
        "of the current one: side.wait_event(event).",
    )


def not_joined(case: str, size: int, late_ms: float) -> CourseError:
    """Build the error for work that goes on after the case's last event."""
    return CheckFailed.explained(
        f"{case!r} leaves the GPU busy for {in_units(late_ms)} at size {size:,} after "
        "the current stream has ended.",
        "A synchronisation is missing: a side stream is not joined.",
        "Let the current stream wait for an event of the side stream before the case "
        "returns, or time the case by wall_clock(case).",
    )


def compiles(case: str, size: int, source: str) -> CourseError:
    """Build the error for a case that compiles while it runs."""
    return CheckFailed.explained(
        f"{case!r} compiles {source} in its call at size {size:,}.",
        "The first call would be timed with the compiler's time, and every call with "
        "that of looking it up.",
        "Compile before, outside of the case: kernel = ck.compile(...)['name'].",
    )


def persisting_l2(nbytes: int, where: str) -> CourseError:
    """Build the error for a part of L2 that outlasts a flush."""
    return CheckFailed.explained(
        f"{nbytes:,} bytes of the L2 cache are set aside to persist, {where}.",
        "What lies there outlasts the flush between two calls, so that a case would "
        "find its inputs in the cache.",
        "Set cudaLimitPersistingL2CacheSize to 0, and the stream's access policy "
        "window back, before a benchmark.",
    )


def too_fast(case: str, size: int, median_ms: float, limit: Ceiling) -> CourseError:
    """Build the error for a time below the limit of the device."""
    share = limit.bound_ms(size) / max(median_ms, 1e-9)
    return CheckFailed.explained(
        f"{case!r} takes {in_units(median_ms)} at size {size:,}, {share:.0%} of what "
        f"is possible: {limit.sentence(size)}.",
        f"Above {TOLERANCE:.0%} it is no speed but an error: bytes or operations are "
        "counted twice, work is left out, or the data fits the L2 cache.",
        "Check bytes_moved and flops, and take data several times as large as L2.",
    )


def too_few_bytes(size: int, claimed: int, written: int) -> CourseError:
    """Build the error for fewer bytes than the results have."""
    return CheckFailed.explained(
        f"bytes_moved({size}) is {claimed:,}, but the cases write {written:,} bytes.",
        "Elements are counted instead of bytes, or an array is left out.",
        "Count each input once and each output once, times the bytes of an element.",
    )


def too_many_bytes(size: int, claimed: int, held: int) -> CourseError:
    """Build the error for more bytes than the arguments have."""
    return CheckFailed.explained(
        f"bytes_moved({size}) is {claimed:,}, but what setup returns must move at most "
        f"{held:,} bytes: each input once, each output once.",
        "An array is counted twice, or the traffic of one kernel instead of what the "
        "problem asks for.",
        "Count each array once (twice if it is read and written), and return from "
        "setup all that the cases read.",
    )


def bad_setup(size: int, what: str) -> CourseError:
    """Build the error for arguments that a benchmark cannot handle."""
    return ArgumentError.explained(
        f"setup({size}) {what}.",
        "A benchmark poisons, copies and compares the arrays that a case works on.",
        "Return a tuple with the arguments of the cases, whole arrays among them, of "
        "the same shapes each time.",
    )
