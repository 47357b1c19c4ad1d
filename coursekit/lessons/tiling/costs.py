"""What a matrix product in tiles reads, step by step and in all.

Steps of a block bring a pair of tiles, or multiply for one k. The reads of shared
memory are as wide as an access can be, which is what the compiler makes of the kernels
in kernels/matmul; the tests compare all of it with what the simulator counts there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from coursekit.lessons.tiling.shape import BUFFERS, LANES, LAYOUTS, Shape
from coursekit.simt import shared_wavefronts


class Tiling(Shape):
    """A matrix product in tiles, with its steps and its costs."""

    # ------------------------------------------------------------ step by step

    @property
    def ahead(self) -> bool:
        """Whether the next tiles are on their way while these are multiplied."""
        return self.buffers == BUFFERS[1]

    @property
    def steps(self) -> int:
        """Steps of a block: bringing tiles, and multiplying for one k each."""
        return (
            1 + self.turns * self.depth if self.ahead else self.turns * (1 + self.depth)
        )

    def moment(self, step: int) -> tuple[int, int | None]:
        """Pair of tiles of a step, and which k in there; None where it is brought."""
        if self.ahead:
            return (0, None) if step == 0 else divmod(step - 1, self.depth)
        turn, k = divmod(step, 1 + self.depth)
        return turn, None if k == 0 else k - 1

    def brought(self, step: int) -> int:
        """Pairs of tiles that have been asked for by the end of a step."""
        turn, k = self.moment(step)
        ahead = self.ahead and k is not None and turn + 1 < self.turns
        return turn + 1 + ahead

    def multiplied(self, step: int) -> int:
        """Steps of k that are done by the end of a step."""
        turn, k = self.moment(step)
        return turn * self.depth + (0 if k is None else k + 1)

    def inside(self, block: int) -> tuple[int, int]:
        """Rows and columns of a block's tile that lie in C."""
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
        """Multiply-adds of all threads, those with the zeros past an edge included."""
        down, across = self.grid
        return down * self.rows * across * self.cols * self.turns * self.depth

    @property
    def intensity(self) -> float:
        """Operations of the product for each byte read, and written once."""
        nbytes = 4 * (self.global_values + self.M * self.N)
        return 2 * self.M * self.N * self.K / nbytes

    @property
    def requests(self) -> tuple[float, float]:
        """Reads of A and of B in shared memory, of a warp for 32 multiply-adds."""
        patch = self.patch_rows * self.patch_cols
        return (
            self.patch_rows / self.a_width / patch,
            self.patch_cols / self.b_width / patch,
        )

    @cached_property
    def wavefronts(self) -> tuple[float, float]:
        """Wavefronts of these reads, by the banks that the lanes reach."""
        return self._banks[0][0], self._banks[1][0]

    @cached_property
    def conflicts(self) -> tuple[float, float]:
        """Wavefronts above the fewest that these reads can take."""
        return self._banks[0][1], self._banks[1][1]

    @cached_property
    def _banks(self) -> list[tuple[float, float]]:
        """Wavefronts and conflicts of A and of B, for 32 multiply-adds of warp 0.

        The other warps' addresses lie a constant further, which turns the banks.
        """
        patch, found = self.patch_rows * self.patch_cols, []
        for words, width, steps in (
            (self._a_words(), self.a_width, 4 if self.by_rows else 1),
            (self._b_words(), self.b_width, 1),
        ):
            each = [
                shared_wavefronts(range(LANES), lanes, 4 * width, load=True)
                for lanes in words
            ]
            used, above = map(sum, zip(*each, strict=True))
            found.append((used / steps / patch, above / steps / patch))
        return found

    def _a_words(self) -> Iterator[list[int]]:
        """Yield byte addresses of the lanes of warp 0, for each read of A at k = 0."""
        owned = [self.rows_of(lane) for lane in range(LANES)]
        for i in range(0, self.patch_rows, 1 if self.by_rows else self.a_width):
            yield [4 * self.a_word(rows[i], 0) for rows in owned]

    def a_word(self, row: int, k: int) -> int:
        """Place of a value of A's tile in shared memory."""
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
