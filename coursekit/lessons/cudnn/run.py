"""What a graph did: its operations, the bytes it moved, and who computed it."""

from __future__ import annotations

from dataclasses import dataclass

ORACLE = "NumPy, an oracle in cuDNN's place"
LIBRARY = "cuDNN"
REFUSED = "NumPy, for cuDNN {} has no engine for this graph"


@dataclass(frozen=True)
class Run:
    """A graph that has been executed.

    Attributes
    ----------
    names : tuple of str
        Its operations, in order.
    operations : int
        Additions and multiplications.
    bytes_moved : int
        Bytes of the tensors that have memory, each once: what one kernel moves.
    bytes_apart : int
        Bytes that a kernel per operation would move: each reads what it needs and
        writes its result.
    computed_by : str
        The library, or the oracle in its place.
    """

    names: tuple[str, ...]
    operations: int
    bytes_moved: int
    bytes_apart: int
    computed_by: str = ORACLE

    def __repr__(self) -> str:
        count = len(self.names)
        apart = f"a kernel per operation: {self.bytes_apart:,} bytes"
        return (
            f"{' + '.join(self.names)}: {self.operations:,} operations\n"
            f"  one kernel: {self.bytes_moved:,} bytes"
            + (f"; {apart}" if count > 1 else "")
            + f"\n  computed by {self.computed_by}"
        )
