"""A kernel of the modelled GPU: NumPy computes, and rules give the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from coursekit.errors import ArgumentError
from coursekit.lessons.model_gpu.memory import values
from coursekit.runtime.arrays import DeviceArray
from coursekit.toolchain import building

COMPILE_MS = 40.0


class Device(Protocol):
    """The interface that a kernel needs of its GPU; `ModelGpu` implements it."""

    def spend(self, milliseconds: float) -> None:
        """Let the host compute for some milliseconds."""

    def launch(self, kernel: ModelKernel, arrays: tuple, stream: int = 0) -> None:
        """Queue a kernel."""


class ModelKernel:
    """A kernel of the model: a NumPy function with the duration that the rules give."""

    def __init__(self, gpu: Device, name: str, function: Callable, **facts):
        self.gpu, self.name, self._function = gpu, name, function
        self._writes = facts.pop("writes")
        self._updates, self._lazy = facts.pop("updates"), facts.pop("lazy")
        self._slow, self._ready = facts.pop("slow"), set()
        if not self._lazy:
            gpu.spend(COMPILE_MS)

    def __repr__(self) -> str:
        return f"ModelKernel {self.name}"

    def __call__(self, *arrays: DeviceArray, stream: int = 0) -> None:
        """Launch the kernel: the host spends 5 us and does not wait."""
        if not all(isinstance(array, DeviceArray) for array in arrays):
            raise ArgumentError.explained(
                f"{self.name} got an argument that lies on the host.",
                "A kernel of the model takes arrays of the model.",
                "Make them with gpu.array(values) or gpu.empty(n).",
            )
        self._compile(arrays)
        self.gpu.launch(self, arrays, stream)

    def _compile(self, arrays: tuple) -> None:
        shapes = tuple(array.shape for array in arrays)
        if self._lazy and shapes not in self._ready:
            building.announce(self.name)
            self._ready.add(shapes)
            self.gpu.spend(COMPILE_MS)

    def traffic(self, arrays: tuple) -> list[tuple[int, int, bool]]:
        """List (address, bytes, whether they are read) of all memory traffic."""
        passes = []
        for position, array in enumerate(arrays):
            written = position in self._writes or position in self._updates
            if position not in self._writes:
                passes.append((array.address, array.nbytes, True))
            if written:
                passes.append((array.address, array.nbytes, False))
        return passes

    def run(self, arrays: tuple) -> None:
        """Call the function with the arrays' present bytes."""
        self._function(*map(values, arrays))

    @property
    def slow(self) -> float:
        """The factor on the time of its bytes."""
        return self._slow
