"""`fusion`: bytes and launches of a chain of operations, by how it is fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coursekit import hardware
from coursekit.lessons.fusion import chain as chains
from coursekit.lessons.fusion.model import grouped
from coursekit.lessons.fusion.result import Fusion


def fusion(
    chain: str | Sequence[str],
    shapes: Mapping[str, Any],
    *,
    fuse: Any = (),
    dtypes: Any = "float32",
    device: Any = None,
) -> Fusion:
    """Count the bytes and launches of a chain of operations on tensors.

    Parameters
    ----------
    chain : str or sequence of str
        A line for each operation, ``u = a + t``: arithmetic, functions of elements
        such as ``exp(x)``, and ``sum``, ``max``, ``min`` or ``mean`` of all elements,
        or of rows with ``axis=-1`` (which keeps the axis, with length 1).
    shapes : mapping of str to int or tuple of int
        Shapes of the inputs; they broadcast as in NumPy.
    fuse : "all", or sequence of groups
        Results that one kernel computes together: ``[("t", "u", "y")]``. What is in no
        group is a kernel of its own.
    dtypes : dtype, or mapping of str to dtype
        The dtype of all tensors, or those of some; the others are float32.
    device : str, optional
        Whose bandwidth bounds the time.

    Returns
    -------
    Fusion

    Raises
    ------
    ArgumentError
        A line cannot be read, shapes do not fit, or one kernel cannot hold a group.

    Examples
    --------
    >>> lines = ["t = b * c", "u = a + t", "y = sigmoid(u)"]
    >>> shapes = {"a": 1 << 20, "b": 1 << 20, "c": 1 << 20}
    >>> apart = fusion(lines, shapes)
    >>> together = fusion(lines, shapes, fuse="all")
    >>> apart.launches, apart.bytes_least // 2**20
    (3, 32)
    >>> together.launches, together.bytes_least // 2**20
    (1, 16)
    """
    operations = chains.operations(chain, shapes, dtypes)
    kernels = grouped(operations, fuse)
    return Fusion(operations, kernels, hardware.device(device))
