"""The stopwatch of a real GPU: CuPy's events and memory, and kernels of the course."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from coursekit.benchmarking.instruments import BLOCK, grid, instruments
from coursekit.runtime import gpu, launching
from coursekit.runtime.arguments.operands import Operand, as_bytes
from coursekit.runtime.arrays import DeviceArray, empty, to_device, to_host

_PERSISTING_LIMIT = "CU_LIMIT_PERSISTING_L2_CACHE_SIZE"
_WINDOW = "CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW"
SAMPLE_BYTES = 4096


class GpuStopwatch:
    """Times work on the first GPU of this machine; see `Stopwatch`."""

    def __init__(self):
        self.gpu = gpu.backend()
        self.cupy = self.gpu.cupy
        self.device = self.gpu.device
        self.kernels = instruments()
        self._spare: DeviceArray | None = None
        self._found = to_device(np.zeros(1, np.uint64))
        self._sink = to_device(np.zeros(1, np.uint32))
        self._aside = self.cupy.cuda.Stream(non_blocking=True)
        self._usually_aside = self._set_aside()
        self._answer = self.cupy.cuda.alloc_pinned_memory(8)
        # The first launches load the kernels, which must not happen in a measurement.
        for queue in (self.flush, lambda: self.hold(0.01)):
            queue()
        self.changed_bytes(_device_operand(self._found), 0)
        self.touched(_device_operand(self._found), 0)
        self.synchronize()

    def clock(self) -> float:
        """Time of the host, in seconds."""
        return time.perf_counter()

    def synchronize(self) -> None:
        """Wait for all work of the device, on every stream."""
        with self.gpu.errors("a case"):
            self.cupy.cuda.runtime.deviceSynchronize()

    def rest(self, seconds: float) -> None:
        """Leave the device idle for so long, after all of its work."""
        self.synchronize()
        time.sleep(seconds)

    def flush(self) -> None:
        """Queue work that fills the L2 cache with other data, all of it clean."""
        if self._spare is None:
            self._spare = empty(2 * self.device.l2_bytes // 4, np.uint32)
        self._release_persisting()
        words = self._spare.nbytes // 16
        with launching.deferred():
            self.kernels["flush"][grid(words), BLOCK](
                self._spare.address, words, self._sink
            )

    def hold(self, milliseconds: float) -> None:
        """Queue work that keeps the current stream busy for so long."""
        with launching.deferred():
            self.kernels["hold"][1, 1](round(1e6 * milliseconds))

    def mark(self) -> Any:
        """Queue an event on the current stream and return it."""
        event = self.cupy.cuda.Event()
        event.record()
        return event

    def reached(self, event: Any) -> bool:
        """Tell whether the stream has come to an event."""
        return event.done

    def wait(self, event: Any) -> None:
        """Wait until the stream comes to an event."""
        with self.gpu.errors("a case"):
            event.synchronize()

    def elapsed_ms(self, first: Any, last: Any) -> float:
        """Time between two events, in ms."""
        return self.cupy.cuda.get_elapsed_time(first, last)

    def copy(self, source: Operand, target: Operand) -> None:
        """Copy all bytes of an array to one of the same size."""
        if target.space == "host":
            target.write(source.read())
            return
        self.cupy.cuda.runtime.memcpy(
            target.address,
            source.address,
            source.nbytes,
            self.cupy.cuda.runtime.memcpyDeviceToDevice,
        )

    def fill(self, array: Operand, byte: int) -> None:
        """Set all bytes of an array."""
        if array.space == "host":
            array.write(np.full(array.nbytes, byte, np.uint8))
        else:
            self.cupy.cuda.runtime.memset(array.address, byte, array.nbytes)

    def changed_bytes(self, array: Operand, other: Operand | int) -> int:
        """Bytes, in words of four, that differ from another array or from a byte."""
        if array.space == "host":
            theirs = other if isinstance(other, int) else other.read()
            return int(np.count_nonzero(array.read() != theirs))
        words = array.nbytes // 4
        _device_operand(self._found).write(as_bytes(np.zeros(1, np.uint64)))
        if words and isinstance(other, int):
            self.kernels["count_touched"][grid(words), BLOCK](
                array.address, _pattern(other), words, self._found
            )
        elif words:
            self.kernels["count_different"][grid(words), BLOCK](
                array.address, other.address, words, self._found
            )
        return 4 * int(to_host(self._found)[0]) + self._changed_tail(array, other)

    def _changed_tail(self, array: Operand, other: Operand | int) -> int:
        """Compare the bytes behind the last whole word."""
        rest = array.nbytes % 4
        if not rest:
            return 0
        mine = gpu.copy_to_host(array.address + array.nbytes - rest, rest)
        theirs = other
        if not isinstance(other, int):
            theirs = gpu.copy_to_host(other.address + other.nbytes - rest, rest)
        return int(np.count_nonzero(mine != theirs))

    def touched(self, array: Operand, byte: int) -> bool:
        """Tell, on a stream of its own, whether the ends and the middle of an array
        hold other bytes.
        """
        if array.space == "host":
            return bool((array.read()[:SAMPLE_BYTES] != byte).any())
        length = min(array.nbytes, SAMPLE_BYTES) // 4
        last = array.nbytes // 4 - length
        return any(
            self._sample_differs(array.address + 4 * word, length, byte)
            for word in {0, last // 2, last}
            if length
        )

    def _sample_differs(self, address: int, words: int, byte: int) -> bool:
        runtime, stream = self.cupy.cuda.runtime, self._aside.ptr
        runtime.memsetAsync(self._found.address, 0, 8, stream)
        self.kernels["count_touched"][grid(words), BLOCK, 0, self._aside](
            address, _pattern(byte), words, self._found
        )
        runtime.memcpyAsync(
            self._answer.ptr,
            self._found.address,
            8,
            runtime.memcpyDeviceToHost,
            stream,
        )
        self._aside.synchronize()
        return bool(np.frombuffer(self._answer, np.uint64, 1)[0])

    def persisting_l2_bytes(self) -> int:
        """Bytes of L2 that are set aside, or that a window of the stream covers.

        A driver sets some aside by itself, 11.25 MiB on an H200. Nothing persists
        there until somebody asks for it, so that this share does not count.
        """
        from cuda.bindings import driver

        set_aside = self._set_aside()
        if set_aside == self._usually_aside:
            set_aside = 0
        stream = driver.CUstream(self.cupy.cuda.get_current_stream().ptr)
        window = getattr(driver.CUstreamAttrID, _WINDOW)
        status, value = driver.cuStreamGetAttribute(stream, window)
        covered = 0 if int(status) else int(value.accessPolicyWindow.num_bytes)
        return max(set_aside, covered)

    def _set_aside(self) -> int:
        from cuda.bindings import driver

        limit = getattr(driver.CUlimit, _PERSISTING_LIMIT)
        status, nbytes = driver.cuCtxGetLimit(limit)
        return 0 if int(status) else int(nbytes)  # not every GPU can set some aside

    def _release_persisting(self) -> None:
        """Make lines that an instruction marked as persisting ordinary again."""
        from cuda.bindings import driver

        driver.cuCtxResetPersistingL2Cache()


def _pattern(byte: int) -> int:
    return int.from_bytes(bytes([byte]) * 4, "little")


def _device_operand(array: DeviceArray) -> Operand:
    from coursekit.runtime.arguments import operands

    return operands.describe(array)
