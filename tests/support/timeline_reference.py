"""A second timeline, tick by tick, with rules written down independently.

A program is a list of actions; all times are whole microseconds:

    ("copy_in" | "copy_out", stream, us, pinned)    ("kernel", stream, us, eighths)
    ("record", stream, event)   ("wait", stream, event)
    ("sync", stream or None)    ("host", us)

The stream "default" is the legacy default stream.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import coursekit as ck

STREAMS = ("a", "b", "c", "default")
BYTES_PER_US = 1000  # at 1 GB/s


@dataclass(eq=False)
class Job:
    kind: str
    us: int
    eighths: int
    keeps_host: bool
    before: set  # jobs that must have ended
    submitted: int | None = None
    ready: int | None = None
    start: int | None = None

    def ended(self, now: int) -> bool:
        return self.start is not None and self.start + self.us <= now

    def runs(self, now: int) -> bool:
        return self.start is not None and self.start <= now < self.start + self.us


def random_program(seed: int, length: int = 14) -> list[tuple]:
    """Draw a program; all kinds of actions occur."""
    draw = random.Random(seed)
    program = []
    for _ in range(length):
        kind = draw.choices(
            ("copy_in", "copy_out", "kernel", "record", "wait", "sync", "host"),
            (5, 5, 6, 3, 3, 1, 1),
        )[0]
        stream = draw.choices(STREAMS, (4, 4, 4, 1))[0]
        us = draw.randint(1, 9)
        program.append({
            "copy_in": (kind, stream, us, draw.random() < 0.8),
            "copy_out": (kind, stream, us, draw.random() < 0.8),
            "kernel": (kind, stream, us, draw.choice((2, 4, 5, 8))),
            "record": (kind, stream, draw.choice("xy")),
            "wait": (kind, stream, draw.choice("xy")),
            "sync": (kind, draw.choice((stream, None))),
            "host": (kind, us),
        }[kind])  # fmt: skip
    return program


def enqueue(program: list[tuple], launch_us: int, copy_engines: int) -> ck.Timeline:
    """Issue a program to the model."""
    line = ck.Timeline(1, 1, launch_us, copy_engines=copy_engines)
    events = {name: line.event(name) for name in "xy"}
    for kind, *rest in program:
        where = line.stream(rest[0]) if rest[0] in STREAMS else line
        if kind in ("copy_in", "copy_out"):
            getattr(where, kind)(BYTES_PER_US * rest[1], pinned=rest[2])
        elif kind == "kernel":
            where.kernel(rest[1], share=rest[2] / 8)
        elif kind in ("record", "wait"):
            getattr(where, kind)(events[rest[1]])
        elif kind == "sync":
            where.synchronize()
        else:
            line.host(rest[0])
    return line


def starts(program: list[tuple], launch_us: int, copy_engines: int) -> list[int]:
    """Work out when each copy and kernel starts, one microsecond after the other."""
    script = _script(program)
    jobs = [step for step in script if isinstance(step, Job)]
    now, free_at, awaited, paid = 0, 0, set(), None
    while script or not all(job.ended(now) for job in jobs):
        while script and free_at <= now and all(job.ended(now) for job in awaited):
            step = script[0]
            if isinstance(step, Job) and paid is not step:
                paid, free_at = step, now + launch_us
                continue
            script.pop(0)
            if isinstance(step, Job):
                step.submitted = now
                awaited = {step} if step.keeps_host else set()
            elif isinstance(step, int):
                free_at = now + step
            else:
                awaited = step
            _start_what_can(jobs, now, copy_engines)
        _start_what_can(jobs, now, copy_engines)
        now += 1
    return [job.start for job in jobs]


def _script(program):
    """Resolve streams and events: jobs, waits of the host (sets), its work (ints)."""
    tails = {stream: set() for stream in STREAMS}
    events = {"x": set(), "y": set()}
    script = []
    for kind, *rest in program:
        stream = rest[0]
        if kind == "host":
            script.append(rest[0])
            continue
        everything = set().union(*tails.values())
        all_of = stream in (None, "default")
        before = everything if all_of else set(tails[stream])
        if kind == "sync":
            script.append(before)
            continue
        if kind == "record":
            events[rest[1]] = set(before)
        elif kind == "wait":
            before = before | events[rest[1]]
        else:
            eighths = rest[2] if kind == "kernel" else 8
            job = Job(kind, rest[1], eighths, rest[2] is False, before)
            script.append(job)
            before = {job}
        for name in STREAMS if stream == "default" else (stream,):
            tails[name] = set(before)
    return script


def _start_what_can(jobs: list[Job], now: int, copy_engines: int) -> None:
    for job in jobs:
        could = job.submitted is not None and all(one.ended(now) for one in job.before)
        if could and job.ready is None:
            job.ready = now
    lanes = [["copy_in"], ["copy_out"]]
    for lane in lanes if copy_engines == 2 else [sum(lanes, [])]:
        mine = [job for job in jobs if job.kind in lane]
        waiting = [job for job in mine if job.start is None]
        idle = not any(job.runs(now) for job in mine)
        if idle and waiting and waiting[0].ready is not None:
            waiting[0].start = now
    kernels = [job for job in jobs if job.kind == "kernel"]
    waiting = [job for job in kernels if job.start is None and job.ready is not None]
    for job in sorted(waiting, key=lambda each: (each.ready, jobs.index(each))):
        if sum(each.eighths for each in kernels if each.runs(now)) + job.eighths > 8:
            break
        job.start = now
