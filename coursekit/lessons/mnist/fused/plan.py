"""The launches of the fused step for a batch: blocks, shared memory, arguments."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.mnist.fused.layout import CLASSES, HIDDEN, TAPS, Layout
from coursekit.lessons.mnist.network import FULL, Network

BLOCK, WARPS, ROWS = 256, 8, 64
MOMENTS = TAPS + TAPS * (TAPS + 1) // 2
PHASES = (
    "moments", "forward_convolutions", "forward_hidden", "head", "backward_hidden",
    "backward_convolution", "update",
)  # fmt: skip
PATCHES = ("patch0", "patch1")  # the second one is for the next batch


@dataclass(frozen=True)
class PhaseLaunch:
    """One launch of a step.

    Attributes
    ----------
    kernel : str
    grid : tuple of int
    shared_bytes : int
    arguments : tuple
        Names of arrays, and numbers.
    block : int
    early : bool
        Whether it may begin before the kernel in front of it has ended.
    """

    kernel: str
    grid: tuple[int, int]
    shared_bytes: int
    arguments: tuple
    block: int = BLOCK
    early: bool = False


@dataclass(frozen=True)
class Plan:
    """Numbers of blocks of each phase for a batch.

    Attributes
    ----------
    batch : int
        Pictures.
    network : Network
    sm_count : int
        Multiprocessors of the GPU.
    forward_per_sm : int
        Blocks of the forward convolutions that an SM holds.
    fc1_parts, dw1_parts : int
        Into how many parts the pooled pixels are cut for the hidden layer, and the
        pictures for the gradient of its weights; 0 chooses.
    roles : int
        2 where two blocks share the convolutions of a picture; 0 chooses.
    """

    batch: int
    network: Network = FULL
    sm_count: int = 132
    forward_per_sm: int = 2
    fc1_parts: int = 0
    dw1_parts: int = 0
    roles: int = 0

    part_blocks: ClassVar = (3, 4)  # blocks per SM for the parts of fc1 and of dw1
    folder: ClassVar = "mnist_fast"

    @classmethod
    def file(cls, phase: str) -> str:
        """Return the path of a phase's kernel in `kernels/`."""
        return f"{cls.folder}/{phase}.cu"

    @classmethod
    def arch(cls, phase: str) -> str | None:
        """Return the architecture that a phase's kernel needs; None for the default."""
        return None

    def __post_init__(self):
        if self.batch < 2:
            raise ArgumentError.explained(
                f"A fused step of {self.batch} pictures.",
                "The statistics of a batch need two at least.",
                "Take a larger batch.",
            )
        fc1, dw1 = (blocks * self.sm_count for blocks in self.part_blocks)
        pixels = self.pooled_pixels
        chosen = {
            "fc1_parts": max(1, min(pixels, fc1 // self.rows)),
            "dw1_parts": max(1, min(self.rows, dw1 // pixels)),
            "roles": 2 if 2 * self.batch <= self.sm_count else 1,
        }
        for name, value in chosen.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @property
    def rows(self) -> int:
        """Tiles of 64 pictures."""
        return -(-self.batch // ROWS)

    @property
    def pooled_pixels(self) -> int:
        """Pixels of the second pooling."""
        return self.network.sides[2] ** 2

    @property
    def moments_blocks(self) -> int:
        """Blocks of the moments: two per SM, at most one per picture."""
        return min(self.batch, 2 * self.sm_count)

    @property
    def forward_blocks(self) -> int:
        """Blocks of the forward convolutions: as many as the SMs hold at once."""
        return min(self.batch, self.forward_per_sm * self.sm_count)

    @property
    def backward_blocks(self) -> int:
        """Blocks of the backward convolution: one per SM in each role."""
        return min(self.batch, self.sm_count)

    @property
    def head_blocks(self) -> int:
        """Blocks of the head: a warp per picture, at most one block per SM."""
        return min(-(-self.batch // WARPS), self.sm_count)

    @property
    def update_blocks(self) -> int:
        """Blocks of the update: one for sums, then one per 256 or 1024 weights."""
        sizes = self.layout.sizes
        return 1 + sizes["exact"] // 256 + sizes["fc1"] // 1024

    @functools.cached_property
    def layout(self) -> Layout:
        """The layout of the weights."""
        return Layout(self.network)

    @property
    def sums(self) -> int:
        """The number of sums over the batch that atomics compute."""
        first, second = self.network.channels
        return (
            4 * second + first * (TAPS + 1)
            + CLASSES * (HIDDEN + 1) + HIDDEN + 1
        )  # fmt: skip

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[int, str]]:
        """The length and type of each device array except the batch."""
        n, (first, second) = self.batch, self.network.channels
        middle, small = self.network.sides[1] ** 2, self.pooled_pixels
        sizes = self.layout.sizes
        floats = {
            "params": self.layout.parameters,
            "p1": n * middle * first, "c2": n * middle * second,
            "m2": n * small * second, "dz2": n * small * second,
            "part": self.fc1_parts * n * HIDDEN, "dh": n * HIDDEN,
            "dw1": self.dw1_parts * sizes["fc1"],
            "dw2": self.backward_blocks * sizes["exact"], "loss": 1,
        }  # fmt: skip
        arrays = {name: (size, "float32") for name, size in floats.items()}
        bytes_ = {"where1": floats["p1"], "where2": floats["m2"]}
        arrays |= {name: (size, "uint8") for name, size in bytes_.items()}
        arrays |= dict.fromkeys(PATCHES, (MOMENTS, "int64"))
        return arrays | {"sums": (self.sums, "int64"), "barrier": (2, "uint32")}

    @functools.cached_property
    def shared_bytes(self) -> dict[str, int]:
        """Dynamic shared memory of each phase: the sizeof of its struct in C++."""
        side, middle, _ = self.network.sides
        first, second = self.network.channels
        picture = (side + 2) * (side + 4)
        padded = (middle + 2) * (middle + 1) + 1
        chunk, wide = second * HIDDEN, self.layout.sizes["exact"]
        patches = 8 * TAPS * (TAPS + 1)
        forward = wide + padded * (first + 4) + picture + 3 * first + 3 * second
        p2 = ROWS * (second + 8) + 4 * second
        dp1 = max(middle**2 * first, BLOCK * (TAPS + 1))
        back = wide + padded * (second + 8) + (padded + 7) * (first + 8) + dp1
        of_update = patches + 8 * first * (TAPS + 2)
        return {
            "moments": 4 * (picture + WARPS * MOMENTS),
            "forward_convolutions": _whole(4 * forward, 8) + patches,
            "forward_hidden": 4 * (chunk + p2),
            "head": 4 * (2 * CLASSES * HIDDEN + HIDDEN + CLASSES + 1),
            "backward_hidden": 4 * (chunk + p2 + ROWS * (HIDDEN + 8)),
            "backward_convolution": 4 * (back + picture + 4 * second),
            "update": max(4 * 64 * 16, of_update),
        }

    def launches(
        self, scale: float, shift: float, rate: float, side: int = 0
    ) -> list[PhaseLaunch]:
        """Return the launches of a step, in order.

        Parameters
        ----------
        scale, shift : float
            A pixel is scale * byte + shift.
        rate : float
        side : int
            Which array holds the sums over patches, 0 or 1.
        """
        n, patch = self.batch, PATCHES[side]
        seen = ("images", n, scale, shift)
        state, normalised = ("params", "sums"), ("params", patch, "sums")
        of_p1, of_c2 = ("p1", "where1"), ("c2", "m2", "where2")
        grids = {
            "moments": (self.moments_blocks, 1),
            "forward_convolutions": (self.forward_blocks, self.roles),
            "forward_hidden": (self.rows, self.fc1_parts),
            "head": (self.head_blocks, 1),
            "backward_hidden": (self.pooled_pixels, self.dw1_parts),
            "backward_convolution": (self.backward_blocks, self.roles),
            "update": (self.update_blocks, 1),
        }
        arguments = {
            "moments": (*seen, patch),
            "forward_convolutions": (*seen, *normalised, *of_p1, *of_c2),
            "forward_hidden": ("m2", n, *state, "part"),
            "head": ("part", self.fc1_parts, n, "labels", "params", "dh", "sums"),
            "backward_hidden": ("m2", "dh", n, *state, "dz2", "dw1"),
            "backward_convolution": (
                *seen, *state, "c2", "dz2", "where2", *of_p1, "dw2"
            ),
            "update": (
                *normalised, n, "dw1", self.dw1_parts, "dw2", self.backward_blocks,
                rate, "loss",
            ),
        }  # fmt: skip
        return [
            PhaseLaunch(phase, grids[phase], self.shared_bytes[phase], arguments[phase])
            for phase in PHASES
        ]

    def persistent(self, scale: float, shift: float, rate: float) -> PhaseLaunch:
        """Return the launch of the whole step as one kernel, a block an SM."""
        arrays = (
            "images", "labels", "params", PATCHES[0], "sums", "p1", "where1", "c2",
            "m2", "where2", "part", "dh", "dz2", "dw1", "dw2", "loss", "barrier",
        )  # fmt: skip
        blocks = (self.moments_blocks, self.forward_blocks, self.head_blocks,
                  self.backward_blocks)  # fmt: skip
        parts = (self.fc1_parts, self.dw1_parts, self.roles)
        most = max(self.shared_bytes.values())
        arguments = (*arrays, self.batch, scale, shift, rate, *blocks, *parts)
        return PhaseLaunch("persistent_step", (self.sm_count, 1), most, arguments)


def _whole(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def pixel_scale(mean: float, deviation: float) -> tuple[np.float32, np.float32]:
    """Return (scale, shift), which turn a byte into a normalised float."""
    return np.float32(1 / (255 * deviation)), np.float32(-mean / deviation)
