"""The memory reads of a tiled matrix product, step by step and in all.

A step of a block loads a pair of tiles, or multiplies for one k. The reads of shared
memory are as wide as an access can be, which is what the compiler makes of the kernels
in kernels/matmul; the tests compare all of it with the simulator's counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from coursekit.lessons.tiling.shape import BUFFERS, LANES, LAYOUTS, Shape
from coursekit.simt import shared_wavefronts


class Tiling(Shape):
    """A tiled matrix product, with its steps and its costs."""

    # ------------------------------------------------------------ step by step

    @property
    def ahead(self) -> bool:
        """Whether the next tiles are loaded while the present ones are multiplied."""
        return self.buffers == BUFFERS[1]

    @property
    def steps(self) -> int:
        """Steps of a block: one to load a pair of tiles, one to multiply for each k."""
        return (
            1 + self.turns * self.depth if self.ahead else self.turns * (1 + self.depth)
        )

    def moment(self, step: int) -> tuple[int, int | None]:
        """Return the number of a step's pair of tiles, and its k; None for a load."""
        if self.ahead:
            return (0, None) if step == 0 else divmod(step - 1, self.depth)
        turn, k = divmod(step, 1 + self.depth)
        return turn, None if k == 0 else k - 1

    def brought(self, step: int) -> int:
        """Return the number of pairs of tiles requested by the end of a step."""
        turn, k = self.moment(step)
        ahead = self.ahead and k is not None and turn + 1 < self.turns
        return turn + 1 + ahead

    def multiplied(self, step: int) -> int:
        """Return the number of values of k multiplied by the end of a step."""
        turn, k = self.moment(step)
        return turn * self.depth + (0 if k is None else k + 1)

    def inside(self, block: int) -> tuple[int, int]:
        """Return how many rows and columns of a block's tile lie inside C."""
        down, across = divmod(block, self.grid[1])
        return (
            min(self.rows, self.M - down * self.rows),
            min(self.cols, self.N - across * self.cols),
        )

    # ------------------------------------------------------------ what it costs

    @property
    def global_values(self) -> int:
        """Values of A and B that all blocks read from global memory."""
        down, across = self.grid
        return self.M * self.K * across + self.K * self.N * down

    @property
    def fmas(self) -> int:
        """Multiply-adds of all threads, including those with zeros past an edge."""
        down, across = self.grid
        return down * self.rows * across * self.cols * self.turns * self.depth

    @property
    def intensity(self) -> float:
        """Operations of the product per byte read, or written at the end."""
        nbytes = 4 * (self.global_values + self.M * self.N)
        return 2 * self.M * self.N * self.K / nbytes

    @property
    def requests(self) -> tuple[float, float]:
        """Shared reads of A and of B that a warp needs for 32 multiply-adds."""
        patch = self.patch_rows * self.patch_cols
        return (
            self.patch_rows / self.a_width / patch,
            self.patch_cols / self.b_width / patch,
        )

    @cached_property
    def wavefronts(self) -> tuple[float, float]:
        """Wavefronts of these reads, from the banks that the lanes reach."""
        return self._banks[0][0], self._banks[1][0]

    @cached_property
    def conflicts(self) -> tuple[float, float]:
        """Wavefronts above the fewest possible: bank conflicts."""
        return self._banks[0][1], self._banks[1][1]

    @cached_property
    def _banks(self) -> list[tuple[float, float]]:
        """Wavefronts and conflicts of A and of B, for 32 multiply-adds of warp 0.

        The other warps' addresses lie a constant further, which turns the banks.
        """
        patch, per_fma = self.patch_rows * self.patch_cols, []
        for words, width, steps in (
            (self._a_words(), self.a_width, 4 if self.by_rows else 1),
            (self._b_words(), self.b_width, 1),
        ):
            wavefronts = [
                shared_wavefronts(range(LANES), lanes, 4 * width, load=True)
                for lanes in words
            ]
            used, above = map(sum, zip(*wavefronts, strict=True))
            per_fma.append((used / steps / patch, above / steps / patch))
        return per_fma

    def _a_words(self) -> Iterator[list[int]]:
        """Yield byte addresses of the lanes of warp 0, for each read of A at k = 0."""
        owned = [self.rows_of(lane) for lane in range(LANES)]
        for i in range(0, self.patch_rows, 1 if self.by_rows else self.a_width):
            yield [4 * self.a_word(rows[i], 0) for rows in owned]

    def a_word(self, row: int, k: int) -> int:
        """Return the index in shared memory of a value of A's tile."""
        if not self.by_rows:
            pad = 4 if self.a_tile == LAYOUTS[3] else 0
            return k * (self.rows + pad) + row
        quad, quads = k // 4, self.depth // 4
        if self.a_tile == LAYOUTS[1]:
            quad ^= row * quads // 8 % quads
        return row * self.depth + 4 * quad + k % 4

    def _b_words(self) -> Iterator[list[int]]:
        owned = [self.cols_of(lane) for lane in range(LANES)]
        for j in range(0, self.patch_cols, self.b_width):
            yield [4 * cols[j] for cols in owned]
