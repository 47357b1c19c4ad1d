"""A matrix product cut into tiles: the owner of each part of C, and the memory reads.

C = A * B in float32, with A of M x K, B of K x N. A block computes a tile of C, a warp
a part of the tile, a thread a patch of that. For each step along k a slice of A's tile
and one of B's tile lie in shared memory. All counts follow from these shapes.
"""

from coursekit.lessons.tiling.costs import Tiling
from coursekit.lessons.tiling.ladder import LADDER
from coursekit.lessons.tiling.shape import BUFFERS, LAYOUTS, ORDERS, PIECES, Shape

__all__ = ["BUFFERS", "LADDER", "LAYOUTS", "ORDERS", "PIECES", "Shape", "Tiling"]
