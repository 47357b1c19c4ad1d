"""A ledger of device memory: which allocations were freed, and which leaked."""

from __future__ import annotations

import numpy as np

from coursekit.errors import DeviceError

ALIGNMENT = 256


class MemoryLedger:
    """A stand-in for a GPU's memory that records every allocation.

    Parameters
    ----------
    fails_at : int, optional
        The copy that fails, counted from 1, as copies do on a bad day.

    Attributes
    ----------
    out : dict of int to int
        Addresses that are handed out now, with their bytes.
    most : int
        The largest number of allocations at one time.

    Examples
    --------
    >>> gpu = MemoryLedger()
    >>> gpu.free(gpu.malloc(4000))
    >>> address = gpu.malloc(400)
    >>> gpu
    MemoryLedger: 2 handed out, 1 given back; still out 400 bytes
    """

    def __init__(self, *, fails_at: int | None = None):
        self.out: dict[int, int] = {}
        self.most = 0
        self._next, self._given_back = ALIGNMENT, set()
        self._values: dict[int, np.ndarray] = {}
        self._copies, self._fails_at = 0, fails_at

    def __repr__(self) -> str:
        back, out = len(self._given_back), sum(self.out.values())
        return (
            f"MemoryLedger: {back + len(self.out)} handed out, {back} given back; "
            f"still out {out:,} bytes"
        )

    def malloc(self, nbytes: int) -> int:
        """Allocate memory, and return its address."""
        address = self._next
        self._next += ALIGNMENT * max(1, -(-nbytes // ALIGNMENT))
        self.out[address] = nbytes
        self.most = max(self.most, len(self.out))
        return address

    def copy_in(self, address: int, array: np.ndarray) -> None:
        """Copy an array to the device; raises RuntimeError where the copy fails."""
        self._require(address, "copied to")
        self._copies += 1
        if self._copies == self._fails_at:
            raise RuntimeError("cudaErrorLaunchFailure")
        self._values[address] = np.array(array)

    def total(self, address: int) -> float:
        """Return the sum of an array that was copied to the device."""
        self._require(address, "summed")
        return float(self._values[address].sum())

    def free(self, address: int) -> None:
        """Free an allocation."""
        self._require(address, "freed")
        del self.out[address]
        self._given_back.add(address)

    def _require(self, address: int, what: str) -> None:
        if address in self.out:
            return
        freed_before = address in self._given_back
        raise DeviceError.explained(
            f"Device memory is {what} that "
            f"{'was given back before' if freed_before else 'was never handed out'}.",
            "Two ways through the program give the same memory back, or something "
            "goes on using it.",
            "Follow one address from malloc on: exactly one free, and nothing after.",
        )
