"""Blocks that move into one SM until something is used up, step by step."""

from __future__ import annotations

from typing import Any

import traitlets

from coursekit.analysis.occupancy import occupancy
from coursekit.analysis.occupancy.rules import NAMES
from coursekit.widgets import residency_picture
from coursekit.widgets.occupancy import OccupancyExplorer, within_sliders
from coursekit.widgets.residency_picture import Resource

AFTER = 8  # steps that are shown once the SM is full


def residency(
    kernel: Any = 32, block: Any = 256, shared_bytes: int = 0, device: Any = None
) -> Residency:
    """Watch blocks move into an SM until one does not fit.

    Parameters
    ----------
    kernel, block, shared_bytes, device
        As for ``ck.occupancy``, whose number of blocks the SM holds at the end.

    Returns
    -------
    Residency
        A widget; stored, it is the picture of the full SM.

    Examples
    --------
    ``ck.residency(64, 256, device="H200")``
    """
    start = occupancy(kernel, block, shared_bytes, device)
    return Residency(within_sliders("residency", start))


class Residency(OccupancyExplorer, files="residency"):
    """An SM that fills with blocks, then replaces those that have ended.

    Attributes
    ----------
    step : int
        Blocks that have moved in; beyond `result.blocks`, each takes the place of one
        that has ended.
    """

    step = traitlets.Int(0, min=0).tag(sync=True)

    @property
    def last(self) -> int:
        """The last step that is shown; 0 where no block fits."""
        return self.result.blocks + AFTER if self.result.blocks else 0

    def resources(self) -> list[Resource]:
        """List what blocks share in an SM, in the order of the picture."""
        result = self.result
        sm = result.device
        return [
            Resource("block slots", sm.max_blocks_per_sm, 1),
            Resource("warp slots", sm.max_warps_per_sm, result.warps_per_block),
            Resource("registers", sm.registers_per_sm, result.registers_per_block),
            Resource(
                "shared KiB",
                sm.shared_bytes_per_sm,
                result.shared_bytes_per_block,
                1024,
            ),
        ]

    def residents(self, step: int) -> list[int]:
        """Return the number of the block in each place, after a step."""
        places = min(step, self.result.blocks)
        count = self.result.blocks
        return [place + (step - 1 - place) // count * count for place in range(places)]

    def told(self, step: int) -> str:
        """Say what has happened in a step."""
        result = self.result
        if not result.blocks:
            return result.summary
        if step == 0:
            return "The SM is empty."
        if step > result.blocks:
            ended = step - 1 - result.blocks
            return f"Block {ended} has ended, and block {step - 1} takes its place."
        held = f"Block {step - 1} moves in: the SM holds {step}."
        if step < result.blocks:
            return held
        bound = " and ".join(NAMES[name] for name in result.bound_by)
        return f"{held} It is full: for one more, there are too few {bound}."

    def __repr__(self) -> str:
        return f"Residency: {self.result.title}\n  {self.result.summary}"

    def alt_text(self) -> str:
        parts = [self.result.title + ".", self.told(self.result.blocks)]
        for one in self.resources():
            used = self.result.blocks * one.each
            parts.append(
                f"{one.title}: {used / one.unit:g} of {one.most / one.unit:g} used."
            )
        return " ".join(parts)

    def static_svg(self) -> str:
        full = self.result.blocks
        title = f"One SM of the {self.device}"
        texts = (title, self.told(full))
        return residency_picture.svg(self.resources(), self.residents(full), texts)

    def static_html(self) -> str:
        return super(OccupancyExplorer, self).static_html()
