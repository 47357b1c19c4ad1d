"""Memory of the modelled GPU, separate from the host's."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from coursekit.runtime.arrays import DeviceArray

UNINITIALISED = 0xCB


class Waits(Protocol):
    """The interface that memory needs of its GPU: waiting for all work."""

    def synchronize(self) -> None:
        """Wait for all work."""


class Memory:
    """A range of bytes of the model; reading it from the host waits for the GPU."""

    space = "model"

    def __init__(self, gpu: Waits, address: int, nbytes: int):
        self._gpu, self.address, self.nbytes = gpu, address, nbytes
        self.values = np.full(nbytes, UNINITIALISED, np.uint8)

    def read(self, offset: int, nbytes: int) -> np.ndarray:
        """Copy bytes to the host, when all work is done."""
        self._gpu.synchronize()
        return self.values[offset : offset + nbytes].copy()

    def write(self, offset: int, data: np.ndarray) -> None:
        """Copy bytes from the host, when all work is done."""
        self._gpu.synchronize()
        self.values[offset : offset + data.size] = data


def values(array: DeviceArray) -> np.ndarray:
    """Return a NumPy view of an array of the model."""
    begin = array._offset
    bytes_ = array._buffer.values[begin : begin + array.nbytes]
    return bytes_.view(array.dtype).reshape(array.shape)
