"""Run one program, watch it, stop it where it goes too far, and end all it started.

This file is a program of its own, which `sandbox.py` starts: it imports nothing of the
course. As the subreaper of what it starts, it stays the ancestor of every process, of
daemons too. It needs Linux. It is a guard against mistakes, not against malice.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
ADDR_NO_RANDOMIZE = 0x0040000
TICK_S, FOLDER_TICK_S, LONGEST_TICK_S = 0.01, 0.05, 0.05
SPARE_TASKS = 128  # above the limit, so that the watch sees more than are allowed
STACK_BYTES = 8 << 20  # what Linux gives a program
BOXES = 3  # the file descriptor on which a program shows its variables
PAGE, TICKS_PER_S = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
Task = dict[str, Any]
LIBC = ctypes.CDLL(None, use_errno=True)
# Users of this range have no files; the processes of one can be counted by Linux.
FIRST_USER, USERS = 61184, 4000


class Stopped(Exception):
    """The program went beyond a limit: its name, and how much it had."""


def main() -> None:
    """Run what the first argument describes, and write how it ended to stdout."""
    task = json.loads(sys.argv[1])
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _leave)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    user = _user(task)
    pipes = [os.pipe() for _ in range(3)]
    process = os.fork()
    if process == 0:
        _become(task, user, [write for _, write in pipes])
    for _, write in pipes:
        os.close(write)
    streams = Streams([read for read, _ in pipes], int(task["output_bytes"]))
    stopped, amount, status = "", 0.0, None
    try:
        status = _watched(task, process, streams)
    except Stopped as reason:
        stopped, amount = reason.args
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ended = _end_all(process)
    status = ended if status is None else status
    streams.drain()
    told = {"stopped": stopped, "amount": amount, "status": status}
    sys.stdout.write(json.dumps(told | streams.told()))


def _leave(*_: object) -> None:
    """End, and all that was started, when who waits for the program is gone."""
    raise SystemExit(1)


# ---------------------------------------------------------------- the child


def _user(task: Task) -> int | None:
    """Return a user without rights to run as, where this account is root.

    Linux limits the number of processes per user, and never root's.
    """
    if os.geteuid() != 0:
        return None
    user = FIRST_USER + os.getpid() % USERS
    try:
        for folder in task["own"]:
            os.chown(folder, user, user)
    except OSError:
        return None
    return user


def _become(task: Task, user: int | None, writes: list[int]) -> None:
    """Turn this process into the program; never return."""
    try:
        os.setsid()
        moved = [os.dup(write) for write in writes]
        for number, handle in zip((1, 2, BOXES), moved, strict=True):
            os.dup2(handle, number)
        os.closerange(BOXES + 1, 256)
        os.chdir(task["folder"])
        _limit(task, user)
        for number in (signal.SIGXFSZ, signal.SIGPIPE):  # Python ignores both
            signal.signal(number, signal.SIG_DFL)
        LIBC.personality(ADDR_NO_RANDOMIZE)  # the same addresses in every run
        if user is not None:
            _leave_root(user)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.execve(task["program"], task["command"], task["environment"])
    except BaseException as failure:
        os.write(2, f"cannot start: {failure}\n".encode())
    os._exit(127)


def _leave_root(user: int) -> None:
    with contextlib.suppress(OSError):
        os.setgroups([])
    with contextlib.suppress(OSError):
        os.setgid(user)
        os.setuid(user)


def _limit(task: Task, user: int | None) -> None:
    """Set the limits that Linux itself keeps, a little above those of the watch."""
    seconds = int(task["seconds"]) + 2
    # What watches may have a limit of its own on memory, which sanitizers exceed.
    free = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (free, free))
    limits = {
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: int(task["file_bytes"]),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_STACK: STACK_BYTES,  # make leaves its children without a limit
    }
    if user is not None:
        limits[resource.RLIMIT_NPROC] = int(task["tasks"]) + SPARE_TASKS
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    with contextlib.suppress(OSError):
        os.nice(5)  # so that the watch runs before what it watches


# ---------------------------------------------------------------- the watch


class Streams:
    """What the program writes: the first bytes are kept, the others are counted."""

    def __init__(self, handles: list[int], most: int) -> None:
        self.handles, self.most = handles, most
        self.kept = {handle: bytearray() for handle in handles}
        self.lost = dict.fromkeys(handles, 0)
        self.selector = selectors.DefaultSelector()
        for handle in handles:
            os.set_blocking(handle, False)
            self.selector.register(handle, selectors.EVENT_READ)

    def read(self, seconds: float) -> None:
        """Wait for output up to so many seconds, and take what is there."""
        if not self.selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self.selector.select(seconds):
            self._take(key.fd)

    def drain(self) -> None:
        """Take what is left, once all writers have ended."""
        for handle in [key.fd for key in self.selector.get_map().values()]:
            while self._take(handle):
                pass

    def _take(self, handle: int) -> bool:
        try:
            part = os.read(handle, 1 << 16)
        except BlockingIOError:
            return False
        if not part:
            self.selector.unregister(handle)
            return False
        room = self.most - len(self.kept[handle])
        self.kept[handle] += part[:room]
        self.lost[handle] += max(0, len(part) - room)
        return True

    def told(self) -> dict[str, object]:
        """Return stdout, stderr and boxes, with the bytes that were not kept."""
        names = ("stdout", "stderr", "boxes")
        texts = {
            name: base64.b64encode(self.kept[handle]).decode()
            for name, handle in zip(names, self.handles, strict=True)
        }
        return texts | {"lost": [self.lost[handle] for handle in self.handles]}


def _watched(task: Task, process: int, streams: Streams) -> int:
    """Wait for the program, and return its status; Stopped where it goes too far."""
    look = last_look = time.monotonic()
    waited = 0.0
    while True:
        streams.read(TICK_S)
        status = _reaped(process)
        if status is not None:
            _look_at_folder(task)
            return status
        now = time.monotonic()
        family = _family()
        # On a busy machine a program that computes is ready, and does not wait.
        if not any(_is_ready(one) for one in family):
            waited += min(now - look, LONGEST_TICK_S)
        look = now
        _look_at_processes(task, family, waited)
        if now - last_look > FOLDER_TICK_S:
            _look_at_folder(task)
            last_look = now


def _reaped(process: int) -> int | None:
    """Reap what has ended; return the status of the program if it is among that."""
    found = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if ended == 0:
            return found
        if ended == process:
            found = os.waitstatus_to_exitcode(status)


def _is_ready(process: int) -> bool:
    """Tell whether a thread of a process computes, or could if it had a processor."""
    with contextlib.suppress(OSError, IndexError):
        for thread in os.listdir(f"/proc/{process}/task"):
            line = _read(f"/proc/{process}/task/{thread}/stat")
            if line.rpartition(")")[2].split()[0] == "R":
                return True
    return False


def _look_at_processes(task: Task, family: list[int], waited: float) -> None:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, memory, tasks = ended.ru_utime + ended.ru_stime, 0, 0
    for one in family:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = _read(f"/proc/{one}/stat").rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICKS_PER_S
            tasks += int(fields[17])
            memory += int(fields[21]) * PAGE
    if tasks > task["tasks"]:
        raise Stopped("tasks", tasks)
    if memory > task["memory_bytes"]:
        raise Stopped("memory", memory)
    if seconds > task["seconds"]:
        raise Stopped("seconds", seconds)
    if waited > task["waiting_s"]:
        raise Stopped("waiting", waited)


def _look_at_folder(task: Task) -> None:
    size = 0
    for files, entry in enumerate(_entries(task["folder"]), 1):
        with contextlib.suppress(OSError):
            size += entry.stat(follow_symlinks=False).st_blocks * 512
        if files > task["files"]:
            raise Stopped("files", files)
    if size > task["file_bytes"]:
        raise Stopped("file_bytes", size)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _family() -> list[int]:
    """Return this process's descendants, the program and its daemons among them."""
    found, waiting = [], [os.getpid()]
    while waiting:
        one = waiting.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                with contextlib.suppress(OSError):
                    children = _read(f"/proc/{one}/task/{thread}/children").split()
                    waiting += map(int, children)
        found.append(one)
    return found[1:]


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _end_all(process: int) -> int | None:
    """End every descendant; return the status of the program if it ended by that."""
    status = None
    for _ in range(1000):
        # One call ends a whole group: none of it can start another meanwhile.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
        for one in _family():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)
        time.sleep(0.002)
        found = _reaped(process)
        status = found if status is None else status
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            break
    return status


if __name__ == "__main__":
    main()
