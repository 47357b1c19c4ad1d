"""What the tuned kernels launch, where they differ from the readable ones."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import ClassVar

import numpy as np

from coursekit.lessons.mnist.fused.layout import CLASSES, HIDDEN, TAPS, Layout, place
from coursekit.lessons.mnist.fused.plan import MOMENTS, ROWS, WARPS, PhaseLaunch, Plan

# Kernels that may begin early: each waits itself before it reads what others made.
EARLY = {
    "forward_hidden", "head", "backward_hidden", "backward_convolution", "update",
}  # fmt: skip
PICTURE, PADDED = 30 * 34, 243  # floats of a padded picture; pixels of p1 on chip
CONVOLUTIONS = ("forward_convolutions", "backward_convolution")
EIGHT = 8  # channels of which a word of where1 tells


class TunedLayout(Layout):
    """Where the tuned kernels have weights, and what float32 loses of each."""

    @functools.cached_property
    def sizes(self) -> dict[str, int]:
        """Floats of each part; the last is as long as all others, and aligned."""
        found = super().sizes
        total = sum(found.values())
        return found | {"padding": -total % 4, "rest": total}

    @functools.cached_property
    def into(self) -> np.ndarray:
        """For each float its place in the row, -1 where it begins as 0."""
        places = super().into
        places[self.starts["padding"] :] = -1
        return places

    def _conv2_places(self, *, turned: bool) -> np.ndarray:
        first, second = self.network.channels
        k, c, r, s = np.indices((second, first, 3, 3))
        tap = 3 * r + s
        if turned:
            return place(tap * second + k, c, first, paired=False)
        # a lane's columns of two tiles are four channels in a row
        column = k // 16 * 16 + k // 2 % 2 * 8 + k % 16 // 4 * 2 + k % 2
        return place(tap * first + c, column, second, paired=False)


class TunedPlan(Plan):
    """How many blocks each tuned phase of a batch has; for the full network."""

    part_blocks: ClassVar = (2, 2)
    folder: ClassVar = "mnist_tuned"

    @functools.cached_property
    def layout(self) -> Layout:
        """Where the weights lie."""
        return TunedLayout(self.network)

    @property
    def head_blocks(self) -> int:
        """A block a picture where there are SMs for that, else a warp a picture."""
        return self.batch if self.batch <= self.sm_count else super().head_blocks

    @property
    def update_blocks(self) -> int:
        """Eight for small things, then one for 64 or 1024 weights."""
        sizes = self.layout.sizes
        return 8 + sizes["exact"] // 64 + sizes["fc1"] // 1024

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[int, str]]:
        """Elements and types of all arrays; where1 has eight channels in a word."""
        found = dict(super().arrays)
        return found | {"where1": (found["p1"][0] // EIGHT, "uint32")}

    @functools.cached_property
    def shared_bytes(self) -> dict[str, int]:
        """Dynamic shared memory of each phase: the sizeof of its struct in C++."""
        first, second = self.network.channels
        chunk, wide = second * HIDDEN, self.layout.sizes["exact"]
        p1, p2 = PADDED * (first + 4), ROWS * (second + 8)
        forward = wide + p1 + PICTURE + (TAPS + 2) * first + 3 * second
        back = wide + 258 * (second + 4) + p1 + 196 * (first + 8) + 2 * PICTURE
        sums = 4 * first * (TAPS + 1)
        return {
            "moments": 4 * (PICTURE + WARPS * MOMENTS),
            "forward_convolutions": 4 * forward + 8 * TAPS * (TAPS + 1),
            "forward_hidden": 4 * (chunk + p2 + 2 * second),
            "head": 4 * (2 * CLASSES * HIDDEN + 9 * HIDDEN + CLASSES + 2),
            "backward_hidden": 4 * (
                chunk + 2 * p2 + ROWS * (HIDDEN + 8) + 4 * second
            ),
            "backward_convolution": 4 * (back + 2 * 784 + 4 * second + sums),
            "update": 4 * 64 * 16,
        }  # fmt: skip

    def launches(
        self, scale: float, shift: float, rate: float, side: int = 0
    ) -> list[PhaseLaunch]:
        """Return the launches of a step, in order; see `Plan`."""
        return [
            replace(launch, early=launch.kernel in EARLY)
            for launch in super().launches(scale, shift, rate, side)
        ]


class Float32Plan(TunedPlan):
    """The same in float32, whose convolutions are kernels of their own."""

    @classmethod
    def file(cls, phase: str) -> str:
        """Return the path of a phase's kernel in `kernels/`."""
        return super().file(f"{phase}_float32" if phase in CONVOLUTIONS else phase)

    @classmethod
    def arch(cls, phase: str) -> str | None:
        """Return what its kernel must be compiled for: warpgroups are of sm_90a."""
        return "sm_90a" if phase in CONVOLUTIONS else None

    @property
    def data_blocks(self) -> int:
        """Blocks of the backward convolution that go by data: they take longer.

        Of 132 these are 72, the fastest that was tried on an H200.
        """
        return min(self.batch, max(1, self.sm_count * 6 // 11))

    @property
    def backward_blocks(self) -> int:
        """Those that go by weights, each with a part of their gradient."""
        return min(self.batch, max(1, self.sm_count - self.data_blocks))

    @property
    def forward_blocks(self) -> int:
        """One an SM: there is no room for two."""
        return min(self.batch, self.sm_count)

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[int, str]]:
        """Elements and types of all arrays; a smaller batch may have more parts."""
        found = dict(super().arrays)
        parts = max(self.backward_blocks, min(self.batch, self.sm_count // 2))
        return found | {"dw2": (parts * self.layout.sizes["exact"], "float32")}

    @functools.cached_property
    def shared_bytes(self) -> dict[str, int]:
        """Dynamic shared memory of each phase: the sizeof of its struct in C++."""
        first, second = self.network.channels
        wide = self.layout.sizes["exact"]
        patches = 8 * TAPS * (TAPS + 1)
        forward = 2 * (wide + 258 * first) + PICTURE + (TAPS + 2) * first + 3 * second
        by_data = 2 * wide + 258 * (second + 4) + PICTURE + 4 * second
        where1 = 196 * first // EIGHT
        return super().shared_bytes | {
            "forward_convolutions": 4 * forward + patches,
            "backward_convolution": 4 * (by_data + where1),
        }

    def launches(
        self, scale: float, shift: float, rate: float, side: int = 0
    ) -> list[PhaseLaunch]:
        """Return the launches of a step, in order; see `Plan`."""
        return [
            replace(
                launch,
                grid=(self.data_blocks + self.backward_blocks, 1),
                arguments=(*launch.arguments, self.data_blocks),
            )
            if launch.kernel == "backward_convolution"
            else launch
            for launch in super().launches(scale, shift, rate, side)
        ]
