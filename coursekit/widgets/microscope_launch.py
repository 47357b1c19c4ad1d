"""The launch that the microscope shows, and the same launch of an edited kernel."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coursekit.analysis.counting import count
from coursekit.analysis.tracing import Trace, trace
from coursekit.errors import ArgumentError, KernelError
from coursekit.lessons import barrier_places
from coursekit.runtime.configuration import Shape
from coursekit.runtime.launching import Kernel
from coursekit.simt import Counters

Look = tuple[Trace, Counters | None]


@dataclass(frozen=True)
class Launch:
    """A kernel with the arguments of its launch, and the warp to trace."""

    kernel: Kernel
    grid: Shape
    block: Shape
    args: Sequence[Any]
    block_index: Shape = 0
    warp: int = 0
    shared_bytes: int = 0

    def look(self) -> Look:
        """Trace the warp and count the launch; counts are None if counting fails."""
        launch = self.kernel, self.grid, self.block, self.args
        steps = trace(
            *launch, self.block_index, self.warp, shared_bytes=self.shared_bytes
        )
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # what the kernel prints
                return steps, count(*launch, self.shared_bytes)
        except KernelError as error:
            failure = steps.error or error.with_traceback(None)
            return replace(steps, error=failure), None

    @property
    def text(self) -> str:
        """The definition of the kernel, or the whole source if it is not found."""
        before, text, after = self._parts()
        return text

    def edited(self, text: str) -> Launch:
        """Return the launch with another definition of the kernel.

        Raises
        ------
        CompileError, LaunchError
            If the text does not compile, or defines no kernel of this name.
        """
        before, _, after = self._parts()
        module = self.kernel.module.edited("\n".join([*before, text, *after]))
        return replace(self, kernel=module[self.kernel.name])

    def _parts(self) -> tuple[list[str], str, list[str]]:
        """Return the lines before the definition, its text, and the lines after."""
        source = self.kernel.module.source
        try:
            kernel = barrier_places.places(source, self.kernel.name)
        except ArgumentError:
            return [], source, []
        rows = source.split("\n")
        text = "\n".join(rows[kernel.first - 1 : kernel.last])
        return rows[: kernel.first - 1], text, rows[kernel.last :]
