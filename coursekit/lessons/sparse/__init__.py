"""Sparse matrices that a chapter multiplies with, and what kernels prepare of them."""

from coursekit.lessons.sparse.matrices import SparseMatrix, sparse_matrix
from coursekit.lessons.sparse.preparing import Bins, Sorted, bins, sorted_blocks, tiles

__all__ = [
    "Bins",
    "Sorted",
    "SparseMatrix",
    "bins",
    "sorted_blocks",
    "sparse_matrix",
    "tiles",
]
