"""Run many fused steps with batches from the host: launch by launch, or as a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.mnist.fused.step import FusedStep
from coursekit.runtime.arrays import DeviceArray, empty, to_device
from coursekit.runtime.backend import current
from coursekit.runtime.configuration import configure

FORMS = ("launches", "graph", "overlapped")


class Run:
    """Training steps over batches that are contiguous in the host's memory.

    On a GPU each step begins with a copy of its batch from page-locked memory. As
    "launches" the host issues every copy and kernel by itself. A "graph" holds all of
    them and is launched as a whole. In an "overlapped" graph the next batch is copied
    into the other buffer while this step computes, and its moments are computed there.
    On the simulator all forms run the steps one after the other.

    Parameters
    ----------
    fused : FusedStep
    images, labels : ndarray
        Bytes on the host, (pictures, side, side) and (pictures,). Their memory is read
        by each call.
    starts : sequence of int
        For each step, the first picture of its batch.
    form : str
        One of `FORMS`.
    """

    def __init__(
        self,
        fused: FusedStep,
        images: np.ndarray,
        labels: np.ndarray,
        starts: Sequence[int],
        *,
        form: str = "launches",
    ):
        if form not in FORMS:
            raise ArgumentError.explained(
                f"Run got form={form!r}.",
                f"It is one of {', '.join(FORMS)}.",
                'Take "graph" where there is a GPU.',
            )
        self.fused, self.images, self.labels = fused, images, labels
        self.starts, self.form = tuple(starts), form
        self.modules = fused.modules
        self._sides: list[tuple[DeviceArray, DeviceArray]] = []
        self._graph = None

    def __call__(self) -> None:
        """Take all steps, on the current stream."""
        if current().space != "gpu":
            self._on_the_simulator()
        elif self.form == "launches":
            import cupy

            self._queue(cupy.cuda.get_current_stream())
        else:
            if self._graph is None:
                self._graph = self._captured()
            self._graph.launch()

    # ------------------------------------------------------------ on the simulator

    def _on_the_simulator(self) -> None:
        count = self.fused.plan.batch
        for start in self.starts:
            images, labels = (
                to_device(array[start : start + count])
                for array in (self.images, self.labels)
            )
            self.fused.run(images, labels)

    # ------------------------------------------------------------ on a GPU

    @property
    def sides(self) -> list[tuple[DeviceArray, DeviceArray]]:
        """Two device buffers for batches: a copy fills one, a step reads the other."""
        if not self._sides:
            count, side = self.fused.plan.batch, self.fused.network.side
            self._sides = [
                (empty((count, side, side), np.uint8), empty(count, np.uint8))
                for _ in range(2)
            ]
        return self._sides

    def _copy(self, number: int, stream) -> None:
        """Queue the copy of the batch of a step."""
        from cupy.cuda import runtime

        start, count = self.starts[number], self.fused.plan.batch
        target = self.sides[number % 2]
        for to, array in zip(target, (self.images, self.labels), strict=True):
            part = array[start : start + count]
            runtime.memcpyAsync(
                to.address, part.ctypes.data, part.nbytes,
                runtime.memcpyHostToDevice, stream.ptr,
            )  # fmt: skip

    def _queue(self, stream) -> None:
        """Queue copies and steps in turn."""
        for number in range(len(self.starts)):
            self._copy(number, stream)
            self.fused.run(*self.sides[number % 2], stream=stream)

    def _queue_overlapped(self, stream, aside) -> None:
        """Queue steps; beside each, copy the next batch and compute its moments."""
        import cupy

        self._copy(0, stream)
        begun = self.fused.begin(self.sides[0][0], stream, 0)
        for number in range(len(self.starts)):
            ready, copied = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
            more, next_side = number + 1 < len(self.starts), (number + 1) % 2
            if more:
                ready.record(stream)
                aside.wait_event(ready)
                self._copy(number + 1, aside)
                self.fused.begin(self.sides[next_side][0], aside, next_side)
                copied.record(aside)
            side = number % 2
            self.fused.run(*self.sides[side], stream=stream, side=side, begun=begun)
            if more:
                stream.wait_event(copied)

    def _captured(self):
        """Capture all steps as a graph; modules are loaded before the capture."""
        import cupy

        from coursekit.runtime import gpu

        for launch in self.fused.launches():
            kernel = self.fused.kernels[launch.kernel]
            shape = launch.grid, launch.block
            configuration = configure(
                kernel.name, *shape, shared_bytes=launch.shared_bytes
            )
            gpu.backend().prepare(kernel, configuration)
        stream, aside = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        _ = self.sides  # reserved before the capture, which allows no allocation
        self.fused.early = True
        stream.begin_capture()
        if self.form == "overlapped":
            self._queue_overlapped(stream, aside)
        else:
            self._queue(stream)
        self.fused.early = False
        return stream.end_capture()
