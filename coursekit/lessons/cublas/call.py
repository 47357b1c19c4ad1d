"""What a call did: its operations, the bytes it needs, and who computed it."""

from __future__ import annotations

from dataclasses import dataclass

ORACLE = "NumPy, an oracle in cuBLAS's place"
LIBRARY = "cuBLAS"


@dataclass(frozen=True)
class Call:
    """A call of cuBLAS that has returned.

    Attributes
    ----------
    name : str
        The function of the library.
    operations : int
        Additions and multiplications that the definition asks for.
    bytes_needed : int
        Bytes of the operands, each counted once, plus those of the result.
    computed_by : str
        The library, or the oracle in its place.
    """

    name: str
    operations: int
    bytes_needed: int
    computed_by: str = ORACLE

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.bytes_needed if self.bytes_needed else 0.0

    def __repr__(self) -> str:
        return (
            f"{self.name}: {self.operations:,} operations, "
            f"{self.bytes_needed:,} bytes, {self.intensity:.3g} operations per byte\n"
            f"  computed by {self.computed_by}"
        )
