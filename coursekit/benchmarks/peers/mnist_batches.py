"""Copy the batches of PyTorch's steps before each step, or overlapped with it."""

from __future__ import annotations

from collections.abc import Callable

from coursekit.lessons.mnist import FULL


class Batches:
    """Steps in a row, each with a copy of its batch out of page-locked memory.

    A copy stands in front of its step. Where copies overlap, the batch of the next
    step is copied while this one computes: on a stream of its own, into the other of
    two places. It begins when the step before this one has ended, the last that read
    there, and the next step begins when it is done.

    Parameters
    ----------
    step : callable
        Takes images and labels on the device; `step.place` names the device.
    images, labels : ndarray
        Bytes on the host.
    batch : int
    starts : sequence of int
        For each step, the first picture of its batch.
    overlapped : bool
    """

    def __init__(self, step, images, labels, batch: int, starts, *, overlapped=False):
        import torch

        self.step, self.starts, self.batch = step, starts, batch
        self.overlapped = overlapped
        pictures = images.reshape(-1, FULL.side, FULL.side)
        self.host = [torch.from_numpy(array) for array in (pictures, labels)]
        self.there = [
            [torch.empty_like(array[:batch], device=step.place) for array in self.host]
            for _ in range(1 + overlapped)
        ]

    def __call__(self) -> None:
        """Take all steps."""
        self.some(len(self.starts))

    def some(self, count: int) -> None:
        """Take the first steps."""
        if self.overlapped:
            self._beside(count)
            return
        for number in range(count):
            self.copy(number)
            self.step(*self.there[0])

    def copy(self, number: int) -> None:
        """Queue the copy of a step's batch, on the current stream."""
        part = slice(self.starts[number], self.starts[number] + self.batch)
        target = self.there[number % len(self.there)]
        for to, array in zip(target, self.host, strict=True):
            to.copy_(array[part], non_blocking=True)

    def _beside(self, count: int) -> None:
        from torch import cuda

        stream, aside = cuda.current_stream(), cuda.Stream()
        self.copy(0)
        for number in range(count):
            more = number + 1 < count
            if more:
                aside.wait_stream(stream)
                with cuda.stream(aside):
                    self.copy(number + 1)
            self.step(*self.there[number % 2])
            if more:
                stream.wait_stream(aside)


def captured(batches: Batches) -> Callable:
    """Return the launch of a graph of all steps.

    What a library compiles or chooses at the first steps is so before the graph.
    """
    import torch

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        batches.some(3)
    torch.cuda.current_stream().wait_stream(aside)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        batches()
    return graph.replay
