"""The memory that this machine, or the container, still has for large arrays.

Linux grants more memory than there is, and ends a process that then uses it. Large
arrays are therefore compared first with what is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LARGE = 64 << 20  # bytes; a smaller array is not worth a look
_ROOT = Path("/")
# Folder of the controller, then the files with the limit and with what is used.
_CONTROLLERS = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current"),
    "memory": (
        "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
    ),
}  # fmt: skip


def require(nbytes: int) -> None:
    """Refuse an array that would take nine tenths of the free memory, or more.

    Raises
    ------
    MemoryError
    """
    if nbytes < LARGE:
        return
    free = free_bytes()
    if free is not None and nbytes > free - free // 10:
        raise MemoryError(f"{nbytes:,} bytes asked for, {free:,} are free")


def free_bytes(root: Path = _ROOT) -> int | None:
    """Return the bytes that are free; None where the system does not tell.

    `root` is where the folders proc and sys are.
    """
    return min([*_of_machine(root), *_of_groups(root)], default=None)


def _of_machine(root: Path) -> Iterator[int]:
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            yield int(rest.split()[0]) * 1024


def _of_groups(root: Path) -> Iterator[int]:
    """Yield what each control group that has a limit has left, from the inner out."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        known = _CONTROLLERS.get(controllers)
        if known is None:
            continue
        top, limit_file, used_file = root / known[0], *known[1:]
        inner = top / name.lstrip("/")
        for folder in (inner, *inner.parents):
            limit, used = _text(folder / limit_file), _text(folder / used_file)
            if limit.strip().isdigit() and used.strip().isdigit():
                yield max(int(limit) - int(used) + _reclaimable(folder), 0)
            if folder == top:
                break


def _reclaimable(folder: Path) -> int:
    """Return the bytes of cached files, which the system gives up when it must."""
    for line in _text(folder / "memory.stat").splitlines():
        name, _, number = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(number)
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
