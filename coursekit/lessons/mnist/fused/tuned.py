"""Launches of the tuned kernels, where they differ from the readable ones."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import ClassVar

import numpy as np

from coursekit.lessons.mnist.fused.layout import CLASSES, HIDDEN, TAPS, Layout, place
from coursekit.lessons.mnist.fused.plan import MOMENTS, ROWS, WARPS, PhaseLaunch, Plan

# Kernels that may begin early: each waits before it reads another kernel's results.
EARLY = {
    "forward_hidden", "head", "backward_hidden", "backward_convolution", "update",
}  # fmt: skip
PICTURE, PADDED = 30 * 34, 243  # floats of a padded picture; pixels of p1 on chip
CONVOLUTIONS = ("forward_convolutions", "backward_convolution")
EIGHT = 8  # channels in a word of where1


class TunedLayout(Layout):
    """The layout of the tuned kernels: weights, and the rest that TF32 rounds off."""

    @functools.cached_property
    def sizes(self) -> dict[str, int]:
        """Floats of each part; the last part is as long as all others, and aligned."""
        sizes = super().sizes
        total = sum(sizes.values())
        return sizes | {"padding": -total % 4, "rest": total}

    @functools.cached_property
    def into(self) -> np.ndarray:
        """For each float of the array its index in the row, -1 where it starts as 0."""
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
    """Numbers of blocks of each tuned phase; for the full network."""

    part_blocks: ClassVar = (2, 2)
    folder: ClassVar = "mnist_tuned"

    @functools.cached_property
    def layout(self) -> Layout:
        """The layout of the weights."""
        return TunedLayout(self.network)

    @property
    def head_blocks(self) -> int:
        """Blocks of the head: one per picture if there are SMs, else a warp each."""
        return self.batch if self.batch <= self.sm_count else super().head_blocks

    @property
    def update_blocks(self) -> int:
        """Blocks of the update: eight for sums, then one per 64 or 1024 weights."""
        sizes = self.layout.sizes
        return 8 + sizes["exact"] // 64 + sizes["fc1"] // 1024

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[int, str]]:
        """Length and type of each array; where1 packs eight channels into a word."""
        arrays = dict(super().arrays)
        return arrays | {"where1": (arrays["p1"][0] // EIGHT, "uint32")}

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
    """The plan for float32, which has other convolution kernels."""

    @classmethod
    def file(cls, phase: str) -> str:
        """Return the path of a phase's kernel in `kernels/`."""
        return super().file(f"{phase}_float32" if phase in CONVOLUTIONS else phase)

    @classmethod
    def arch(cls, phase: str) -> str | None:
        """Return the architecture that a phase's kernel needs: wgmma needs sm_90a."""
        return "sm_90a" if phase in CONVOLUTIONS else None

    @property
    def data_blocks(self) -> int:
        """Backward blocks that compute gradients of the data, which take longer.

        They are 72 of 132 blocks, the fastest split that was tried on an H200.
        """
        return min(self.batch, max(1, self.sm_count * 6 // 11))

    @property
    def backward_blocks(self) -> int:
        """Backward blocks for the weights; each computes a part of their gradient."""
        return min(self.batch, max(1, self.sm_count - self.data_blocks))

    @property
    def forward_blocks(self) -> int:
        """Blocks of the forward convolutions: an SM has room for one."""
        return min(self.batch, self.sm_count)

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[int, str]]:
        """The length and type of each array; a smaller batch may have more parts."""
        arrays = dict(super().arrays)
        parts = max(self.backward_blocks, min(self.batch, self.sm_count // 2))
        return arrays | {"dw2": (parts * self.layout.sizes["exact"], "float32")}

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
