"""The operations that a benchmark needs from a GPU: clock, events, memory."""

from __future__ import annotations

from typing import Any, Protocol

from coursekit.hardware.properties import DeviceProperties
from coursekit.runtime.arguments.operands import Operand


class Stopwatch(Protocol):
    """A device that can be timed: a GPU, the model GPU, or a stand-in of the tests.

    Attributes
    ----------
    device : DeviceProperties
    """

    device: DeviceProperties

    def clock(self) -> float:
        """Time of the host, in seconds."""

    def synchronize(self) -> None:
        """Wait for all work of the device, on every stream."""

    def rest(self, seconds: float) -> None:
        """Leave the device idle for so long, after all of its work."""

    def flush(self) -> None:
        """Queue work that fills the L2 cache with other data."""

    def hold(self, milliseconds: float) -> None:
        """Queue work that keeps the current stream busy for so long."""

    def mark(self) -> Any:
        """Queue an event on the current stream and return it."""

    def reached(self, event: Any) -> bool:
        """Tell whether the stream has come to an event."""

    def wait(self, event: Any) -> None:
        """Wait until the stream comes to an event."""

    def elapsed_ms(self, first: Any, last: Any) -> float:
        """Time between two events, in ms."""

    def copy(self, source: Operand, target: Operand) -> None:
        """Copy all bytes of an array to one of the same size."""

    def fill(self, array: Operand, byte: int) -> None:
        """Set all bytes of an array."""

    def changed_bytes(self, array: Operand, other: Operand | int) -> int:
        """Bytes, in words of four, that differ from another array or from a byte."""

    def touched(self, array: Operand, byte: int) -> bool:
        """Tell, without waiting for the current stream, whether a sample of an array
        holds other bytes.
        """

    def persisting_l2_bytes(self) -> int:
        """Bytes of L2 that are set aside, or that a window of the stream covers."""
