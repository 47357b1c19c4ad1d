"""GPUs and their limits, from the driver of this machine or from data sheets."""

from __future__ import annotations

import contextvars
import difflib
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from coursekit.errors import CourseError, DeviceError
from coursekit.hardware.architectures import SM_LIMITS, SmLimits, sm_limits
from coursekit.hardware.datasheets import BOARDS
from coursekit.hardware.properties import DeviceProperties as DeviceProperties

DEFAULT_DEVICE = "H200"
# The simulator sets it where a simulation is entered and left.
simulated_device: contextvars.ContextVar[DeviceProperties | None] = (
    contextvars.ContextVar("simulated_device", default=None)
)

# CUDA 13, which this course compiles with, runs on nothing older.
OLDEST_CAPABILITY = (7, 5)
OLDEST_DRIVER_CUDA = 13000


class DeviceTable(Mapping[str, DeviceProperties]):
    """A mapping from names to the GPUs of the data sheets, in order of appearance."""

    def __init__(self, entries: Mapping[str, DeviceProperties]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> DeviceProperties:
        """Look up an exact name; `device` forgives more."""
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Count the GPUs."""
        return len(self._entries)

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (
                entry.name,
                ".".join(map(str, entry.compute_capability)),
                str(entry.sm_count),
                f"{entry.boost_clock_mhz:.0f}",
                f"{entry.fp32_tflops:.1f}",
                f"{entry.memory_bytes / 2**30:.4g} {entry.memory_type}",
                f"{entry.memory_bandwidth_gbs:.0f}",
                f"{entry.l2_bytes / 2**20:g}",
                f"{entry.shared_bytes_per_sm // 1024}",
            )
            for entry in self.values()
        ]

    def __repr__(self) -> str:
        """Align the columns."""
        rows = [_TABLE_HEADINGS, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(w) for cell, w in zip(row, widths, strict=True)
            ).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{text}</th>" for text in _TABLE_HEADINGS)
        body = "".join(
            f"<tr><th scope='row'>{name}</th>"
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self._cells()
        )
        return (
            "<table><caption>GPUs, from their data sheets</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


_TABLE_HEADINGS = (
    "GPU",
    "capability",
    "SMs",
    "MHz",
    "FP32 TFLOP/s",
    "memory GiB",
    "GB/s",
    "L2 MiB",
    "shared KiB/SM",
)


def _from_datasheet(board: Mapping[str, Any]) -> DeviceProperties:
    limits = SM_LIMITS[board["compute_capability"]]
    shared = {item.name: getattr(limits, item.name) for item in fields(SmLimits)}
    return DeviceProperties(**{**shared, **board})


_TABLE = DeviceTable({board["name"]: _from_datasheet(board) for board in BOARDS})


def devices() -> DeviceTable:
    """List the GPUs that can be simulated, with their data-sheet figures.

    Examples
    --------
    >>> list(devices())[:3]
    ['V100 SXM2 16GB', 'V100 SXM2 32GB', 'T4']
    """
    return _TABLE


def device(name: str | DeviceProperties | None = None) -> DeviceProperties:
    """Describe a GPU.

    Parameters
    ----------
    name : str or DeviceProperties, optional
        A GPU of `devices`, in any case, with or without the maker's name; part of
        it is enough when only one GPU fits. Without a name: inside
        `ck.simulator` the device simulated there, else the GPU of this
        machine, else (and under COURSEKIT_BACKEND=simulator) a simulated H200.

    Raises
    ------
    DeviceError
        No GPU of the table has this name, or several do.

    Examples
    --------
    >>> round(device("A100 SXM4 40GB").fp32_tflops, 1)
    19.5
    >>> device("rtx 4090").memory_bandwidth_gbs
    1008.0
    """
    if isinstance(name, DeviceProperties):
        return name
    if name is not None and not isinstance(name, str):
        raise _unknown(str(name))
    if name is not None:
        return _find(name)
    if simulated := current_simulated_device():
        return simulated
    if os.environ.get("COURSEKIT_BACKEND") == "simulator":
        return _TABLE[DEFAULT_DEVICE]
    return present_gpu() or _TABLE[DEFAULT_DEVICE]


def current_simulated_device() -> DeviceProperties | None:
    """Return the device of the enclosing `ck.simulator`, None outside of one."""
    return simulated_device.get()


def _words(name: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", name.lower())
    return [word for word in words if word not in ("nvidia", "geforce", "tesla")]


def _fits(asked: list[str], offered: list[str]) -> bool:
    """Return whether each word asked for is a word of the name, or begins one.

    An L40 is not an L40S, nor an H20 an H200: model numbers are whole or wrong.
    """
    model = next(word for word in offered if any(map(str.isdigit, word)))
    return all(
        any(
            word == other or (other != model and other.startswith(word))
            for other in offered
        )
        for word in asked
    )


def _find(name: str) -> DeviceProperties:
    asked = _words(name)
    squeezed = "".join(asked)
    for entry in _TABLE.values():
        spellings = (entry.name, entry.driver_name)
        if squeezed in ("".join(_words(spelling)) for spelling in spellings):
            return entry
    fitting = [entry for entry in _TABLE if asked and _fits(asked, _words(entry))]
    if len(fitting) == 1:
        return _TABLE[fitting[0]]
    raise _several(name, fitting) if fitting else _unknown(name)


def _several(name: str, candidates: list[str]) -> CourseError:
    return DeviceError.explained(
        f"Several GPUs are called {name!r}: {', '.join(candidates)}.",
        "They differ in memory or clocks, so one has to be chosen.",
        f"Write for example ck.device({candidates[0]!r}).",
    )


def _unknown(name: str) -> CourseError:
    plain = {" ".join(_words(entry)): entry for entry in _TABLE}
    near = difflib.get_close_matches(" ".join(_words(name)), plain, n=3, cutoff=0.5)
    meant = [plain[key] for key in near] or list(_TABLE)
    return DeviceError.explained(
        f"No GPU of the table is called {name!r}.",
        f"{'Near it' if near else 'It has'}: {', '.join(meant)}.",
        "ck.devices() lists them all.",
    )


def read_gpu(
    attribute: Callable[[str], int], driver_name: str, memory_bytes: int
) -> DeviceProperties:
    """Describe a GPU by what its driver answers.

    Attributes are asked for one by one: the structure `cudaDeviceProp` lost its
    clocks in CUDA 13. What no attribute gives (tensor peaks, links, power) comes
    from the table when it holds the same GPU, and is None otherwise.

    Parameters
    ----------
    attribute : callable
        Takes the name of a CUdevice_attribute without its prefix, for example
        ``"MULTIPROCESSOR_COUNT"``, and returns its value.
    driver_name : str
        What cuDeviceGetName answers.
    memory_bytes : int
        What cuDeviceTotalMem answers.
    """
    capability = _capability(attribute)
    read: dict[str, Any] = {
        "name": driver_name,
        "driver_name": driver_name,
        "simulated": False,
        "compute_capability": capability,
        "memory_bytes": memory_bytes,
        "boost_clock_mhz": attribute("CLOCK_RATE") / 1e3,  # the driver says kHz
        **{name: attribute(key) for name, key in _ATTRIBUTES.items()},
    }
    board = _same_gpu(driver_name, read["sm_count"])
    if board is not None:
        sources = {**board.other_sources, **dict.fromkeys(read, _THE_DRIVER)}
        return replace(board, **read, other_sources=sources)
    # HBM and GDDR carry two bits a pin in a period of the clock that is reported.
    read["memory_rate_gbps"] = 2e-6 * attribute("MEMORY_CLOCK_RATE")
    limits = sm_limits(capability)
    rest = {
        item.name: getattr(limits, item.name)
        for item in fields(SmLimits)
        if item.name not in read
    }
    return DeviceProperties(**rest, **read, source=_THE_DRIVER)


_THE_DRIVER = "the driver of this GPU"

_ATTRIBUTES = {
    "sm_count": "MULTIPROCESSOR_COUNT",
    "memory_bus_bits": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2_bytes": "L2_CACHE_SIZE",
    "max_threads_per_sm": "MAX_THREADS_PER_MULTIPROCESSOR",
    "max_blocks_per_sm": "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "max_threads_per_block": "MAX_THREADS_PER_BLOCK",
    "shared_bytes_per_sm": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "shared_bytes_per_block": "MAX_SHARED_MEMORY_PER_BLOCK",
    "shared_reserved_bytes_per_block": "RESERVED_SHARED_MEMORY_PER_BLOCK",
    "registers_per_sm": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "registers_per_block": "MAX_REGISTERS_PER_BLOCK",
    "warp_size": "WARP_SIZE",
}


def _same_gpu(driver_name: str, sm_count: int) -> DeviceProperties | None:
    """Return the same board of the table, or None.

    A slice of a board (MIG) has fewer SMs, and so does not match.
    """
    for entry in _TABLE.values():
        if entry.driver_name == driver_name and entry.sm_count == sm_count:
            return entry
    return None


@functools.cache
def present_gpu() -> DeviceProperties | None:
    """Return the properties of GPU 0; None unless CUDA 13 can use it.

    The driver is asked once in a process: its some twenty answers take a millisecond.
    """
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    try:
        return _first_gpu(driver)
    except (RuntimeError, OSError):  # no driver library in this machine
        return None


def _first_gpu(driver: Any) -> DeviceProperties | None:
    """Read the properties of GPU 0 through `cuda.bindings.driver`, or a stand-in."""
    if driver.cuInit(0)[0]:
        return None
    if _answer(driver.cuDriverGetVersion()) < OLDEST_DRIVER_CUDA:
        return None
    if _answer(driver.cuDeviceGetCount()) == 0:
        return None
    handle = _answer(driver.cuDeviceGet(0))

    def attribute(name: str) -> int:
        key = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        value: int = _answer(driver.cuDeviceGetAttribute(key, handle))
        return value

    if _capability(attribute) < OLDEST_CAPABILITY:
        return None
    name = _answer(driver.cuDeviceGetName(256, handle)).split(b"\0")[0].decode()
    return read_gpu(attribute, name, _answer(driver.cuDeviceTotalMem(handle)))


def _capability(attribute: Callable[[str], int]) -> tuple[int, int]:
    return (
        attribute("COMPUTE_CAPABILITY_MAJOR"),
        attribute("COMPUTE_CAPABILITY_MINOR"),
    )


def _answer(reply: tuple[Any, Any]) -> Any:
    """Return the value of a driver call's (status, value), or raise its status."""
    status, value = reply
    if status:
        raise DeviceError.explained(
            f"The GPU's driver answered {status!s}.",
            "Often the GPU is lost, or another process holds it exclusively.",
            "Run `python -m coursekit doctor`.",
        )
    return value
