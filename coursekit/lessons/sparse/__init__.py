"""Random sparse matrices, and what the kernels of kernels/sparse/ prepare of them."""

from coursekit.lessons.sparse.matrices import SparseMatrix, random_matrix
from coursekit.lessons.sparse.preparing import Bins, Sorted, bins, sorted_blocks, tiles

__all__ = [
    "Bins",
    "Sorted",
    "SparseMatrix",
    "bins",
    "sorted_blocks",
    "random_matrix",
    "tiles",
]
