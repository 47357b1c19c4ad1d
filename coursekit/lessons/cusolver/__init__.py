"""cuSOLVER's dense calls under LAPACK's names, by the library or by NumPy as an oracle.

Matrices lie by columns and are overwritten, as the library's are. A call returns
`info`: 0, or what LAPACK says of the matrix.
"""

from coursekit.lessons.cusolver.decompositions import geqrf, gesvd, orgqr, syevd
from coursekit.lessons.cusolver.equations import getrf, getrs, potrf, potrs
from coursekit.lessons.cusolver.workspace import buffer_size

__all__ = [
    "buffer_size",
    "geqrf",
    "gesvd",
    "getrf",
    "getrs",
    "orgqr",
    "potrf",
    "potrs",
    "syevd",
]
