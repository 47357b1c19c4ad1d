"""What a product of cuBLAS is told: its matrices in memory, and what it computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coursekit.lessons.cublas import views
from coursekit.lessons.cublas.numeric_types import ComputeType


@dataclass(frozen=True)
class Factor:
    """A matrix of a call: memory, type, leading dimension, distance in a batch."""

    name: str
    array: np.ndarray
    element_type: str
    ld: int
    stride: int = 0

    def of_batch(self, rows: int, columns: int, entry: int) -> np.ndarray:
        """Return the view of one matrix of the batch, as it lies in memory."""
        start = entry * self.stride
        reach = start + ((columns - 1) * self.ld + rows if rows and columns else 0)
        how = f"matrix {entry} of the batch, which begins at element {start}"
        flat = views.need(self.array, self.name, reach, how) if start else self.array
        rest = views.memory(flat, self.name)[start:]
        return views.matrix(rest, self.name, rows, columns, self.ld)


@dataclass(frozen=True)
class Product:
    """What a call computes: alpha * op(A) op(B) + beta * C, ``batch`` times."""

    transa: str
    transb: str
    m: int
    n: int
    k: int
    alpha: float
    beta: float
    rule: ComputeType
    batch: int = 1

    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Return the shapes of A, B and C in memory."""
        for size, name in ((self.m, "m"), (self.n, "n"), (self.k, "k")):
            if size < 0:
                raise views.refuse(
                    f"{name} is {size}", "A size is 0 at least.", "Check the sizes."
                )
        return (
            views.stored_shape(self.transa, self.m, self.k),
            views.stored_shape(self.transb, self.k, self.n),
            (self.m, self.n),
        )
