"""The tuned matrix product as a case: its sizes, and how it is launched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import coursekit as ck
from coursekit.benchmarks import drawn, pieces
from coursekit.errors import ArgumentError

FOURS = 4  # K and N are multiples of it where a kernel moves 16 bytes at a time
# Step 11 orders its products so that their numbers lie in both banks of registers.
AS_WRITTEN = ("--ptxas-options=-O1",)  # the assembler may not mix them


def check_fours(name: str, N: int, K: int) -> None:
    """Refuse shapes whose rows are no multiples of 16 bytes.

    Raises
    ------
    ArgumentError
        N or K is no multiple of 4.
    """
    if N % FOURS or K % FOURS:
        raise ArgumentError.explained(
            f"{name} got N = {N} and K = {K}.",
            "It moves four numbers of a row at a time, and rows begin where the ones "
            "before them end.",
            "Take multiples of 4, or fill the rows up with zeros.",
        )


class Maps:
    """Tensor maps, cached per array, box and swizzle."""

    def __init__(self):
        self._made: dict[tuple, object] = {}

    def __call__(self, array, box: tuple[int, ...], swizzle: int | None = None):
        """Return the map of an array at its present address."""
        key = array.address, array.shape, box, swizzle
        if key not in self._made:
            if len(self._made) > 64:
                self._made.clear()
            self._made[key] = ck.tensor_map(array, box, swizzle)
        return self._made[key]


@dataclass(frozen=True)
class Tiling:
    """Sizes of step 11.

    Attributes
    ----------
    down, across : int
        Warps of a team; each has 64 x 64 numbers of C.
    teams : int
        Teams, which share the k of a tile.
    depth, stages : int
        k of a tile, and tiles in the ring.
    group : int
        Rows of tiles that share columns of B in the L2 cache.
    """

    down: int = 2
    across: int = 4
    teams: int = 1
    depth: int = 32
    stages: int = 4
    group: int = 8

    @property
    def tile(self) -> tuple[int, int, int]:
        """Rows and columns of a tile of C, and the depth in k of a step."""
        return 64 * self.down, 64 * self.across, self.depth

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * self.down * self.across * self.teams

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: the ring, and the sums of all teams but one."""
        rows, cols, depth = self.tile
        ring = self.stages * depth * (rows + cols)
        return 4 * (ring + (self.teams - 1) * rows * cols)

    def module(self) -> ck.Module:
        """Compile step 11 for these sizes."""
        names = "down", "across", "teams", "depth", "stages"
        sizes = {name.upper(): getattr(self, name) for name in names}
        return ck.compile("matmul/step_11_tuned.cu", defines=sizes, options=AS_WRITTEN)


SMALL = Tiling(down=1, across=2, teams=4)


def tiling_of(M: int, N: int, sm_count: int) -> Tiling:
    """Return the sizes that are best for a shape: small tiles give work to more SMs."""
    rows, cols, _ = Tiling().tile
    tiles = -(-M // rows) * -(-N // cols)
    return SMALL if 2 * tiles < sm_count else Tiling()


WHOLE = 1 << 30  # no part has so many steps: no tile is cut


def steps_per_block(n: int, blocks: int, *, cut: bool) -> int:
    """Return the steps along k of the block of step 11 that has the most to do.

    Parameters
    ----------
    n : int
        The matrices are n x n.
    blocks : int
        How many blocks run at once: one per SM.
    cut : bool
        Whether the last tiles are cut along k and their parts shared out.

    Examples
    --------
    >>> steps_per_block(1536, 132, cut=False), steps_per_block(1536, 132, cut=True)
    (48, 27)
    """
    tile = tiling_of(n, n, blocks).tile
    least = pieces.LEAST if cut else WHOLE
    table = pieces.plan((n, n, n), tile, blocks, least=least).pieces
    return int(table["steps"].sum(axis=0).max())


def tuned_case(tiling: Tiling | None = None, least: int = pieces.LEAST) -> Callable:
    """Return step 11 as a case.

    Parameters
    ----------
    tiling : Tiling, optional
        By default the sizes that are best for a shape.
    least : int
        Steps of the shortest part that a tile may be cut into.
    """
    if tiling is None:
        large, small = tuned_case(Tiling(), least), tuned_case(SMALL, least)

        def chosen(A, B, C, M, N, K):
            best = tiling_of(M, N, ck.device().sm_count)
            (small if best == SMALL else large)(A, B, C, M, N, K)

        return chosen

    kernel, maps, scratch = tiling.module().matmul_tuned, Maps(), drawn.zeros()
    rows, cols, depth = tiling.tile
    planned = Plans(tiling, least)

    def product(A, B, C, M, N, K):
        check_fours(kernel.name, N, K)
        table, slots = planned(M, N, K)
        sums = scratch("sums", (slots, rows, cols))
        counters = scratch("counters", slots, np.uint32)
        boxes = maps(A, (rows, depth), 4 * depth), maps(B, (depth, cols))
        launch = kernel[table.shape[1], tiling.threads, tiling.shared_bytes]
        launch(*boxes, C, M, N, table, sums, counters, 1.0)

    return product


class Plans:
    """Work assignments of blocks, cached per matrix shape."""

    def __init__(self, tiling: Tiling, least: int):
        self._tiling, self._least = tiling, least
        self._made: dict[tuple, tuple] = {}

    def __call__(self, M: int, N: int, K: int) -> tuple:
        """Return the pieces, where kernels run, and how many slots they need."""
        device = ck.device()
        key = device.name, M, N, K
        if key not in self._made:
            tiling = self._tiling
            plan = pieces.plan(
                (M, N, K),
                tiling.tile,
                device.sm_count,
                group=tiling.group,
                least=self._least,
            )
            self._made[key] = ck.to_device(plan.pieces), max(plan.slots, 1)
        return self._made[key]
