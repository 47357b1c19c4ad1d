"""Time several cases at one size: warmed up, interleaved, and from a cold L2 cache."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator, Mapping

from coursekit.benchmarking import refusals
from coursekit.benchmarking.ceilings import TOLERANCE, Ceiling
from coursekit.benchmarking.inputs import POISON
from coursekit.benchmarking.results import Row
from coursekit.benchmarking.stopwatch import Stopwatch
from coursekit.benchmarking.timed_cases import OwnClock, Repeated, WallClock
from coursekit.benchmarking.verification import Trial
from coursekit.runtime import launching
from coursekit.toolchain import building

BUDGET_S = 1.0  # for all cases of a size
ROUNDS = (5, 50)  # at least, at most
WARM_CALLS, WARM_S, SLOW_S = (3, 50), 0.05, 0.5
PROBES = 3
MOST_PROBES = 30  # before a case is refused: a device can be slow to answer for a while
LATE_MS, LATE_SHARE = 0.02, 0.02  # an idle device answers in a fraction of this
HOLD_MS, LONGEST_HOLD_MS = 3.0, 50.0
SPARE_MS = 0.5  # a library queues slower after a pause than in the calls of a warm-up


def measure(
    watch: Stopwatch,
    cases: Mapping[str, Callable],
    trial: Trial,
    limits: Callable[[str], Ceiling],
) -> list[Row]:
    """Verify the cases, warm them up, time them, and verify them again.

    `limits` returns the ceiling for what the bytes pass, as `Ceiling.through` has it.

    Raises
    ------
    CheckFailed
        A result is wrong, or the times would say something else than they seem to.
    """
    size = trial.size
    _check_l2(watch, "before the first case")
    for name, case in cases.items():
        with _watched(name, size):
            trial.explore(name, case)
            trial.check(name, case)
    limit = limits(trial.through)
    trial.check_bytes(limit.bytes_moved.get(size))
    host_ms, seconds = {}, {}
    for name, case in cases.items():
        with _watched(name, size), launching.deferred():
            host_ms[name], took = _warm_up(watch, case, trial)
            seconds[name] = _calls(case) * took + getattr(case, "idle_s", 0.0)
            if not isinstance(case, WallClock):
                _check_streams(watch, name, case, trial, host_ms[name])
        _check_l2(watch, f"after {name!r}")
    rounds = _rounds(sum(seconds.values()))
    samples = _samples(watch, cases, trial, host_ms, rounds)
    rows = _rows(samples, size)
    for row in rows:
        if limit.bound_ms(size) > TOLERANCE * row.median_ms:
            raise refusals.too_fast(row.case, size, row.median_ms, limit)
    trial.draw()
    for name, case in cases.items():
        trial.check(name, case, after=True)
    return rows


@contextlib.contextmanager
def _watched(name: str, size: int) -> Iterator[None]:
    """Raise CheckFailed if a case compiles a kernel while it is timed."""

    def refuse(source: str) -> None:
        raise refusals.compiles(name, size, source)

    with building.watched(refuse):
        yield


def _check_l2(watch: Stopwatch, where: str) -> None:
    if nbytes := watch.persisting_l2_bytes():
        raise refusals.persisting_l2(nbytes, where)


def _warm_up(watch: Stopwatch, case: Callable, trial: Trial) -> tuple[float, float]:
    """Call a case until the clock rate and the caches have settled.

    Returns
    -------
    float, float
        Time that the host spends in a call, in ms, and that all of it takes, in s.
    """
    hosts, wholes, begin = [], [], watch.clock()
    while len(wholes) < WARM_CALLS[1]:
        start = watch.clock()
        case(*trial.live.values)
        hosts.append(watch.clock() - start)
        watch.synchronize()
        wholes.append(watch.clock() - start)
        enough = watch.clock() - begin > WARM_S and len(wholes) >= WARM_CALLS[0]
        if enough or wholes[-1] > SLOW_S:
            break
    return 1e3 * statistics.median(hosts), statistics.median(wholes)


def _check_streams(
    watch: Stopwatch, name: str, case: Callable, trial: Trial, host_ms: float
) -> None:
    """Raise CheckFailed if a case works in a stream that its events do not enclose."""
    trial.poison()
    watch.hold(min(HOLD_MS + 2 * host_ms, LONGEST_HOLD_MS))
    held = watch.mark()
    case(*trial.live.values)
    arrays = [trial.live.arrays[position] for position in trial.outputs]
    while not watch.reached(held):
        touched = any(watch.touched(array, POISON) for array in arrays)
        if touched and not watch.reached(held):
            watch.synchronize()
            raise refusals.side_stream(name, trial.size)
    watch.synchronize()
    trial.load()
    late = [_late_ms(watch, case, trial) for _ in range(PROBES)]
    while _least_excess_ms(late) > 0:
        if len(late) == MOST_PROBES:
            raise refusals.not_joined(name, trial.size, min(lag for lag, _ in late))
        late.append(_late_ms(watch, case, trial))


def _least_excess_ms(late: list[tuple[float, float]]) -> float:
    """Return by how much the shortest lag exceeds what an idle device needs."""
    allowed = LATE_MS + LATE_SHARE * min(elapsed for _, elapsed in late)
    return min(lag for lag, _ in late) - allowed


def _late_ms(watch: Stopwatch, case: Callable, trial: Trial) -> tuple[float, float]:
    """Return how long the device is busy after the current stream ends, and before."""
    watch.synchronize()
    first = watch.mark()
    case(*trial.live.values)
    last = watch.mark()
    watch.wait(last)
    ended = watch.clock()
    watch.synchronize()
    return 1e3 * (watch.clock() - ended), watch.elapsed_ms(first, last)


def _rounds(seconds: float) -> int:
    return round(min(max(BUDGET_S / max(seconds, 1e-6), ROUNDS[0]), ROUNDS[1]))


def _samples(
    watch: Stopwatch, cases: Mapping[str, Callable], trial: Trial, host_ms, rounds: int
) -> dict[str, list[float]]:
    """Time the cases in turns A B B A, so that a drift affects all alike."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    with launching.deferred():
        for number in range(rounds):
            for name in names if number % 2 == 0 else reversed(names):
                with _watched(name, trial.size):
                    took = _sample(watch, cases[name], trial, host_ms[name])
                samples[name].append(took)
    return samples


def _sample(watch: Stopwatch, case: Callable, trial: Trial, host_ms: float) -> float:
    """Return the time of one call, in ms, from an L2 cache without the arguments.

    The stream is kept busy for as long as the host needs to queue the work, so that
    the events enclose the work of the GPU and not that of the host.
    """
    watch.flush()
    if isinstance(case, OwnClock):
        case(*trial.live.values)
        watch.synchronize()
        return case.elapsed_ms(*trial.live.values)
    if isinstance(case, WallClock):
        watch.synchronize()
        start = watch.clock()
        case(*trial.live.values)
        watch.synchronize()
        steps = case.steps(*trial.live.values) if case.steps else 1
        return 1e3 * (watch.clock() - start) / steps
    calls = _calls(case)
    if isinstance(case, Repeated) and case.idle_s:
        watch.rest(case.idle_s)
    watch.hold(min(SPARE_MS + 2 * calls * host_ms, LONGEST_HOLD_MS))
    first = watch.mark()
    for _ in range(calls):
        case(*trial.live.values)
    last = watch.mark()
    watch.wait(last)
    return watch.elapsed_ms(first, last) / calls


def _calls(case: Callable) -> int:
    """Return how many calls one time is the mean of."""
    return case.calls if isinstance(case, Repeated) else 1


def _rows(samples: Mapping[str, list[float]], size: int) -> list[Row]:
    """Return medians, interquartile ranges, and median ratios of neighbouring times."""
    baseline = next(iter(samples.values()))
    rows = []
    for name, times in samples.items():
        low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
        pairs = [
            base / max(own, 1e-9) for base, own in zip(baseline, times, strict=True)
        ]
        ratio = statistics.median(pairs)
        rows.append(Row(name, size, middle, high - low, len(times), ratio))
    return rows
