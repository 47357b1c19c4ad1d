"""Which graphs one kernel of the library computes, and by which kind of engine."""

from __future__ import annotations

from collections.abc import Sequence

from coursekit.errors import UnsupportedError
from coursekit.lessons.cudnn.operations import Node

SINGLE = "pre-compiled engine of a single operation"
GENERIC = "generic engine, fused at run time"
SPECIAL = "specialised engine, fused at run time"
PRECOMPILED = "specialised engine, pre-compiled"
PRODUCTS = ("conv_fprop", "conv_dgrad", "conv_wgrad", "matmul")


def engine_of(nodes: Sequence[Node]) -> str:
    """Return the kind of engine that computes a graph.

    Raises
    ------
    UnsupportedError
        No engine computes such a graph in one kernel.
    """
    heavy = [node for node in nodes if not node.operation.is_pointwise]
    if not heavy:
        return GENERIC
    if len(heavy) > 1:
        names = " and ".join(node.name for node in heavy)
        raise _refused(
            f"the graph has {names}",
            "An element of the second result needs many elements of the first, from "
            "blocks of other SMs. One kernel has at most one such operation.",
        )
    (node,) = heavy
    if node.name == "sdpa":
        _require_alone(nodes, node)
        return SPECIAL
    if node.name in PRODUCTS:
        return GENERIC if len(nodes) > 1 or node.name == "matmul" else SINGLE
    _require_first(nodes, node)
    return PRECOMPILED if len(nodes) > 1 else SINGLE


def _require_alone(nodes: Sequence[Node], node: Node) -> None:
    if len(nodes) > 1:
        others = ", ".join(one.name for one in nodes if one is not node)
        raise _refused(
            f"{node.name} stands in a graph with {others}",
            "The engine for attention is one pattern, with masks and dropout as "
            "attributes of the operation.",
        )


def _require_first(nodes: Sequence[Node], node: Node) -> None:
    if nodes[0] is not node:
        raise _refused(
            f"{nodes[0].name} stands before {node.name}",
            "A normalisation needs statistics first, so its input must be in memory.",
        )


def _refused(what: str, why: str) -> UnsupportedError:
    return UnsupportedError.explained(
        f"CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN: {what}.",
        why,
        "Make two graphs, with a tensor in memory between them.",
    )
