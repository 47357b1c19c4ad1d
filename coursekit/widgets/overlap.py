"""Overlap: the reader spreads copies and kernels over the streams of a model."""

from __future__ import annotations

import json

import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons.timeline import Schedule, Timeline
from coursekit.widgets import overlap_picture
from coursekit.widgets.base import CourseWidget

STREAMS, MOST_CHUNKS = 4, 8
DEPTH, BREADTH = "chunk by chunk", "stage by stage"
STAGES = ("in", "kernel", "out")


def overlap(
    line: Timeline | None = None,
    *,
    nbytes: int = 8_000_000,
    kernel_us: float = 160,
    chunks: int = 4,
) -> Overlap:
    """Let the reader spread the chunks of a job over streams.

    The job copies `nbytes` in, works on them for `kernel_us`, and copies as many out,
    in chunks. The reader moves operations between streams, changes the number of
    chunks, the kind of host memory and the order of issue, and sees what the engines of
    the model would do: a model, not a measurement.

    Parameters
    ----------
    line : Timeline, optional
        Whose rates and engines to use; by default those that were recorded.
    nbytes : int
        Copied in, and as many out.
    kernel_us : float
        Duration of all kernels together.
    chunks : int
        1 to 8, to begin with; all of them in one stream.

    Returns
    -------
    Overlap
        A widget; stored, it is a picture.

    Examples
    --------
    ``ck.overlap(ck.Timeline(h2d_gbps=50, d2h_gbps=50, launch_us=2))``
    """
    if not isinstance(line, Timeline | None):
        raise ArgumentError.explained(
            f"overlap got {type(line).__name__}, which is no timeline.",
            "Its first argument says how fast copies are, and how many run at once.",
            "Write for example ck.overlap(ck.Timeline()), or leave it out.",
        )
    if not 1 <= chunks <= MOST_CHUNKS:
        raise ArgumentError.explained(
            f"overlap got chunks={chunks}.",
            cure=f"Give a number from 1 to {MOST_CHUNKS}.",
        )
    return Overlap(line or Timeline(), nbytes, kernel_us, chunks)


class Overlap(CourseWidget, files="overlap"):
    """A job in chunks, whose operations the reader moves between streams.

    Attributes
    ----------
    chunks : int
    pinned : bool
        Whether the host memory is pinned.
    order : str
        "chunk by chunk" or "stage by stage": how the host issues.
    events : bool
        Whether events order the operations of a chunk that is spread over streams.
    placed : list of int
        The stream of each operation, three for each chunk: copy in, kernel, copy out.
    plan : dict
        The model's schedule, as data for the view.
    """

    chunks = traitlets.Int(4, min=1, max=MOST_CHUNKS).tag(sync=True)
    pinned = traitlets.Bool(True).tag(sync=True)
    order = traitlets.Enum((DEPTH, BREADTH), DEPTH).tag(sync=True)
    events = traitlets.Bool(True).tag(sync=True)
    placed = traitlets.List(traitlets.Int(min=0, max=STREAMS - 1)).tag(sync=True)
    plan = traitlets.Dict().tag(sync=True)

    def __init__(self, line: Timeline, nbytes: int, kernel_us: float, chunks: int):
        self._line, self._nbytes, self._kernel_us = line, nbytes, kernel_us
        super().__init__(chunks=chunks, placed=[0] * 3 * chunks)
        self._replan()

    def schedule(self) -> Schedule:
        """Return the model's schedule for the present choices."""
        line = self._line.again()
        done: dict[int, tuple] = {}
        for chunk, stage in self._issued():
            stream = line.stream(f"stream {self._stream(chunk, stage)}")
            before = done.get(chunk)
            if self.events and before is not None and before[0] is not stream:
                stream.wait(before[1])
            self._issue(stream, chunk, stage)
            done[chunk] = stream, stream.record()
        return line.run()

    def _issue(self, stream, chunk: int, stage: int) -> None:
        name, buffer = f"{STAGES[stage]} {chunk}", f"part {chunk}"
        nbytes = self._nbytes / self.chunks
        if stage == 1:
            us = self._kernel_us / self.chunks
            stream.kernel(us, name, reads=buffer, writes=buffer)
        else:
            copy = stream.copy_out if stage else stream.copy_in
            copy(nbytes, name, pinned=self.pinned, buffer=buffer)

    def _issued(self) -> list[tuple[int, int]]:
        """Return the chunk and stage of each operation, in the order of issue."""
        pairs = [(chunk, stage) for chunk in range(self.chunks) for stage in range(3)]
        by_stage = self.order == BREADTH
        return sorted(pairs, key=lambda pair: pair[1]) if by_stage else pairs

    def _stream(self, chunk: int, stage: int) -> int:
        place = 3 * chunk + stage
        return self.placed[place] if place < len(self.placed) else 0

    @traitlets.observe("chunks", "pinned", "order", "events", "placed")
    def _replan(self, _change: object = None) -> None:
        if (
            len(self.placed) == 3 * self.chunks
        ):  # false between the changes of the two traits
            self.plan = overlap_picture.plan_of(self, self._key(), self.schedule())

    def _key(self) -> str:
        """Return the choices that the plan belongs to, as JavaScript writes them."""
        choices = [self.chunks, self.pinned, self.order, self.events, self.placed]
        return json.dumps(choices, separators=(",", ":"))

    def __repr__(self) -> str:
        return f"Overlap: {self.alt_text()}"

    def alt_text(self) -> str:
        return overlap_picture.words(self)

    def static_svg(self) -> str:
        return overlap_picture.svg(self)
