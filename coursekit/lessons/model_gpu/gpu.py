"""A model of a GPU that follows seven rules and serves as its own stopwatch."""

from __future__ import annotations

import functools
import math
import operator
import random
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coursekit import hardware
from coursekit.errors import DeviceError
from coursekit.lessons.model_gpu.kernel import ModelKernel
from coursekit.lessons.model_gpu.memory import Memory
from coursekit.runtime.arguments.operands import Operand, as_bytes
from coursekit.runtime.arrays import DeviceArray

MEMORY_GBS, L2_GBS, L2_BYTES = 10, 40, 2**20
CALL_MS, START_MS = 0.005, 0.002
HEATING_MS = 4.0  # of work, until the GPU is nearly as warm as it gets
INTERRUPTED = 0.04  # share of kernels that noise interrupts
ALIGNMENT = 256


@dataclass
class Work:
    """Queued work: the time at which it ends, and its effect then."""

    end: float
    effect: Callable[[], None] | None


class ModelGpu:
    """A small GPU that follows seven rules, for the lesson on timing.

    It serves as the stopwatch of `benchmarking.on` too. No time of it is a time of
    hardware; the method is what carries over.

    1. A launch costs the host 5 us and returns; a stream works in order.
    2. A kernel takes 2 us, and its bytes: 10 GB/s from memory.
    3. What the L2 cache of 1 MiB still holds is read at 40 GB/s. It holds whole
       arrays, the latest ones used.
    4. A lazy kernel is compiled in the first launch for each shape: 40 ms of the
       host. Others are compiled when they are made.
    5. With `heat`, kernels get longer by that share as the GPU warms up with work;
       a rest cools it down.
    6. With `noise`, each kernel takes longer by chance, and one in 25 is interrupted
       and takes up to four times as long.
    7. Values arrive when a kernel ends; reading them from the host waits for that.

    Parameters
    ----------
    noise, heat : float
        Shares of a kernel's time; 0.02 is a usual noise.
    seed : int
        The seed of the noise in rule 6.

    Attributes
    ----------
    device : DeviceProperties
    allocated_bytes, peak_bytes : int
        Memory of arrays that are there now, and the most that there was.

    Examples
    --------
    >>> gpu = ModelGpu()
    >>> x = gpu.array(np.zeros(50_000, np.float32))
    >>> clear = gpu.kernel("clear", lambda x: x.fill(0), writes=(0,))
    >>> begin, _, end = gpu.mark(), clear(x), gpu.mark()
    >>> gpu.wait(end)
    >>> round(1e3 * gpu.elapsed_ms(begin, end))
    27
    """

    def __init__(self, *, noise: float = 0.0, heat: float = 0.0, seed: int = 0):
        self.device = model_device()
        self.allocated_bytes = self.peak_bytes = 0
        self._noise, self._heat, self._chance = noise, heat, random.Random(seed)
        self._now, self._ends, self._worked = 0.0, {0: 0.0}, 0.0
        self._queue: list[Work] = []
        self._cached: dict[int, int] = {}
        self._next = ALIGNMENT

    def __repr__(self) -> str:
        return (
            f"ModelGpu at {self._now:.3f} ms: {MEMORY_GBS} GB/s from memory, "
            f"{L2_GBS} from {L2_BYTES // 2**20} MiB of L2"
        )

    # ------------------------------------------------ arrays and kernels

    def empty(self, shape: Any, dtype: Any = np.float32) -> DeviceArray:
        """Reserve memory without initialising it."""
        shape = tuple(np.atleast_1d(shape).tolist())
        dtype = np.dtype(dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        memory = Memory(self, self._next, nbytes)
        self._next += ALIGNMENT * max(1, -(-nbytes // ALIGNMENT))
        self._count(nbytes)
        weakref.finalize(memory, self._count, -nbytes)
        return DeviceArray(memory, 0, shape, dtype)

    def array(self, values: Any) -> DeviceArray:
        """Copy values into the memory of the model."""
        values = np.ascontiguousarray(values)
        array = self.empty(values.shape, values.dtype)
        array._buffer.write(0, as_bytes(values))
        return array

    def kernel(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        writes: tuple[int, ...] = (),
        updates: tuple[int, ...] = (),
        lazy: bool = False,
        slow: float = 1.0,
    ) -> ModelKernel:
        """Make a kernel from a NumPy function that changes some of its arrays in place.

        Parameters
        ----------
        writes, updates : tuple of int
            Positions of the arrays that it only writes, and that it reads and writes.
        lazy : bool
            Compile in the first launch for each shape.
        slow : float
            Factor on the time of its bytes.
        """
        facts = {"writes": writes, "updates": updates, "lazy": lazy, "slow": slow}
        return ModelKernel(self, name, function, **facts)

    def launch(self, kernel: ModelKernel, arrays: tuple, stream: int = 0) -> None:
        """Queue a kernel."""
        self.spend(CALL_MS)
        milliseconds = START_MS + kernel.slow * self._transfer(kernel.traffic(arrays))
        milliseconds *= self._luck()
        self._worked += milliseconds
        self._add(milliseconds, functools.partial(kernel.run, arrays), stream)

    # ------------------------------------------------ what a benchmark asks for

    def clock(self) -> float:
        """Time of the host, in seconds."""
        return self._now * 1e-3

    def spend(self, milliseconds: float) -> None:
        """Let the host compute for some milliseconds."""
        self._until(self._now + milliseconds)

    def synchronize(self) -> None:
        """Let the host wait for all work, on every stream."""
        self._until(max(self._ends.values()))

    def rest(self, seconds: float) -> None:
        """Leave the GPU idle for some seconds after all of its work; it cools down."""
        self.synchronize()
        self.spend(1e3 * seconds)
        self._worked = 0.0

    def mark(self, stream: int = 0) -> float:
        """Record an event on a stream."""
        return max(self._ends.get(stream, 0.0), self._now)

    def reached(self, event: float) -> bool:
        """Tell whether the stream has reached an event."""
        self.spend(0.1)
        return self._now >= event

    def wait(self, event: float) -> None:
        """Let the host wait for an event."""
        self._until(event)

    def elapsed_ms(self, first: float, last: float) -> float:
        """Return the time between two events, which must both have been reached.

        Raises
        ------
        DeviceError
            One of them is still to come.
        """
        if max(first, last) > self._now:
            raise DeviceError.explained(
                "The GPU has not come to this event yet: cudaErrorNotReady.",
                "The host is ahead of the work that it has queued.",
                "Wait first: gpu.wait(event), or gpu.synchronize().",
            )
        return last - first

    def flush(self) -> None:
        """Queue work that fills the L2 cache with other data."""
        self._cached.clear()
        self._add(2 * L2_BYTES / MEMORY_GBS * 1e-6, None)

    def hold(self, milliseconds: float) -> None:
        """Queue work that keeps the stream busy for some milliseconds."""
        self._add(milliseconds, None)

    def copy(self, source: Operand, target: Operand) -> None:
        """Copy all bytes of an array to one of the same size."""
        target.write(source.read())

    def fill(self, array: Operand, byte: int) -> None:
        """Set all bytes of an array."""
        array.write(np.full(array.nbytes, byte, np.uint8))

    def changed_bytes(self, array: Operand, reference: Operand | int) -> int:
        """Return the number of bytes that differ, in words of four where possible."""
        constant = isinstance(reference, int)
        mine = array.read()
        theirs = (
            np.full(array.nbytes, reference, np.uint8) if constant else reference.read()
        )
        word = np.uint32 if array.nbytes % 4 == 0 else np.uint8
        differ = np.count_nonzero(mine.view(word) != theirs.view(word))
        return int(differ) * np.dtype(word).itemsize

    def touched(self, array: Operand, byte: int) -> bool:
        """Tell, without waiting, whether an array holds other bytes."""
        ends, self._ends = self._ends, {0: 0.0}
        try:
            return bool((array.read() != byte).any())
        finally:
            self._ends = ends

    def persisting_l2_bytes(self) -> int:
        """The bytes of L2 that are set aside: the model has none."""
        return 0

    # ------------------------------------------------ the rules

    def _transfer(self, traffic: list[tuple[int, int, bool]]) -> float:
        """Return the time of a transfer in ms, and update the contents of L2."""
        nanoseconds = 0.0
        for address, nbytes, is_read in traffic:
            hit = is_read and address in self._cached
            nanoseconds += nbytes / (L2_GBS if hit else MEMORY_GBS)
            self._cached.pop(address, None)
            self._cached[address] = nbytes
        while sum(self._cached.values()) > L2_BYTES:
            self._cached.pop(next(iter(self._cached)))
        return nanoseconds * 1e-6

    def _luck(self) -> float:
        """Return the factor on a kernel's time that warming up and noise give."""
        factor = 1 + self._heat * (1 - math.exp(-self._worked / HEATING_MS))
        if self._noise:
            factor *= 1 + self._noise * abs(self._chance.gauss(0, 1))
            if self._chance.random() < INTERRUPTED:
                factor *= 1 + 3 * self._chance.random()
        return factor

    def _add(self, milliseconds: float, effect: Any, stream: int = 0) -> None:
        begin = max(self._ends.get(stream, 0.0), self._now)
        self._ends[stream] = begin + milliseconds
        self._queue.append(Work(begin + milliseconds, effect))

    def _until(self, time: float) -> None:
        self._now = max(self._now, time)
        due = [work for work in self._queue if work.end <= self._now]
        self._queue = [work for work in self._queue if work.end > self._now]
        for work in sorted(due, key=operator.attrgetter("end")):
            if work.effect:
                work.effect()

    def _count(self, nbytes: int) -> None:
        self.allocated_bytes += nbytes
        self.peak_bytes = max(self.peak_bytes, self.allocated_bytes)


@functools.cache
def model_device():
    """Describe the model with the properties that a benchmark reads."""
    bits, gbps = 128, MEMORY_GBS * 8 / 128
    return replace(
        hardware.device("H200"),
        name="model GPU",
        driver_name="model GPU",
        memory_bus_bits=bits,
        memory_rate_gbps=gbps,
        l2_bytes=L2_BYTES,
        pcie_generation=None,
    )
