"""A chain of operations that the reader cuts into kernels, with bytes and launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import traitlets

from coursekit.lessons.fusion import fusion
from coursekit.lessons.fusion.chain import Operation, outputs
from coursekit.lessons.fusion.model import blocked, read_bytes, write_bytes
from coursekit.lessons.fusion.result import Fusion
from coursekit.widgets.base import CourseWidget


def fusion_counter(
    chain: str | Sequence[str],
    shapes: Mapping[str, Any],
    *,
    dtypes: Any = "float32",
    device: Any = None,
    joined: Sequence[bool] | None = None,
) -> FusionCounter:
    """Decide which operations of a chain share a kernel, and see the bytes.

    Parameters
    ----------
    chain, shapes, dtypes, device
        As for ``ck.fusion``.
    joined : sequence of bool, optional
        For each pair of neighbours whether they begin in one kernel; none do.

    Returns
    -------
    FusionCounter
        A widget; stored, it is a table.

    Examples
    --------
    ``ck.fusion_counter(["t = b * c", "u = a + t"], {"a": n, "b": n, "c": n})``
    """
    start = fusion(chain, shapes, dtypes=dtypes, device=device)
    again = {"chain": chain, "shapes": shapes, "dtypes": dtypes, "device": start.device}
    return FusionCounter(start, again, joined)


class FusionCounter(CourseWidget, files="fusion"):
    """A chain whose neighbouring operations the reader fuses or separates.

    Attributes
    ----------
    joined : list of bool
        For each pair of neighbouring lines, whether one kernel computes both.
    result : Fusion
        The result of `ck.fusion` for the present choices.
    """

    lines = traitlets.List().tag(sync=True)
    joined = traitlets.List(traitlets.Bool()).tag(sync=True)
    outputs = traitlets.List(traitlets.Unicode()).tag(sync=True)
    refused = traitlets.List().tag(sync=True)
    device = traitlets.Unicode().tag(sync=True)
    bandwidth_gbs = traitlets.Float().tag(sync=True)

    def __init__(self, start: Fusion, again: dict, joined=None) -> None:
        operations = start.operations
        self._again, self._names = again, [op.name for op in operations]
        apart = [False] * (len(operations) - 1)
        super().__init__(
            lines=[_line(operation) for operation in operations],
            joined=apart if joined is None else list(joined),
            outputs=sorted(outputs(operations)),
            refused=_refused(operations),
            device=start.device.name,
            bandwidth_gbs=start.device.memory_bandwidth_gbs,
        )
        _ = self.result  # raises if no kernel can compute a group

    @traitlets.validate("joined")
    def _one_for_each_pair(self, proposal: dict) -> list[bool]:
        if len(proposal["value"]) != len(self._names) - 1:
            raise traitlets.TraitError("joined has a value for each pair of neighbours")
        return proposal["value"]

    @property
    def result(self) -> Fusion:
        return fusion(**self._again, fuse=self.groups)

    @property
    def groups(self) -> list[list[str]]:
        """The names of the results of each kernel."""
        kernels = [[self._names[0]]]
        for (_, name), joined in zip(pairwise(self._names), self.joined, strict=True):
            if joined:
                kernels[-1].append(name)
            else:
                kernels.append([name])
        return kernels

    def __repr__(self) -> str:
        return repr(self.result)

    def alt_text(self) -> str:
        return self.result.summary

    def static_html(self) -> str:
        return self.result._repr_html_()


def _line(operation: Operation) -> dict[str, Any]:
    return {
        "text": operation.text,
        "name": operation.name,
        "reads": [
            {
                "name": tensor.name,
                "least": tensor.nbytes,
                "asked": read_bytes(tensor, operation.extent),
            }
            for tensor in operation.reads
        ],
        "least": operation.result.nbytes,
        "asked": write_bytes(operation),
    }


def _refused(operations: Sequence[Operation]) -> list[list[Any]]:
    """Return pairs of lines that one kernel cannot compute, each with the reason."""
    pairs = []
    for first, operation in enumerate(operations):
        for second in range(first + 1, len(operations)):
            if blocked((operation, operations[second])):
                pairs.append([first, second, _why(operation, operations[second])])
    return pairs


def _why(reduction: Operation, reader: Operation) -> str:
    return (
        f"{reduction.name} is complete only when every block has added its part, so "
        f"{reader.name} needs a launch of its own."
    )
