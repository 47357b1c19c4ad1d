"""The graph of a computation as a picture: values, and gradients below them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, GAP_X, GAP_Y, BEND = 108, 46, 34, 14, 84
MOST = 40  # nodes in a picture
Place = tuple[int, int]


class Node(NamedTuple):
    """A node of a graph; parents are places in the list of all nodes."""

    operation: str
    value: float
    gradient: float
    parents: tuple[int, ...]


def graph(nodes: Sequence[Node]) -> str:
    """Return an SVG of a graph, with words that say the same.

    Parameters
    ----------
    nodes : sequence of Node
        Each after its parents.
    """
    if len(nodes) > MOST:
        last = nodes[-1]
        return f"<code>{last.value:.6g}</code>, computed with {len(nodes)} values"
    at = places(nodes)
    width = max(x for x, _ in at) + WIDTH + 4
    height = max(y for _, y in at) + HEIGHT + BEND // 4
    arrows = "".join(
        _arrow(at[parent], place)
        for node, place in zip(nodes, at, strict=True)
        for parent in node.parents
    )
    boxes = "".join(map(_box, at, nodes))
    words = "; ".join(
        f"{n.operation} {n.value:.4g}, gradient {n.gradient:.4g}" for n in nodes
    )
    return (
        f'<svg role="img" aria-label="{escape(words)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" style="max-width:100%" font-family="sans-serif" '
        f'font-size="12" fill="currentColor">{arrows}{boxes}</svg>'
    )


def places(nodes: Sequence[Node]) -> list[Place]:
    """Place each node right of its parents."""
    depths: list[int] = []
    filled: dict[int, int] = {}
    found = []
    for node in nodes:
        depth = 1 + max((depths[parent] for parent in node.parents), default=-1)
        depths.append(depth)
        row = filled.get(depth, 0)
        filled[depth] = row + 1
        found.append((4 + depth * (WIDTH + GAP_X), 4 + row * (HEIGHT + GAP_Y)))
    return found


def bent(parent: Place, child: Place) -> str:
    """Return the path of an edge; it goes around boxes in between."""
    x, y = parent[0] + WIDTH, parent[1] + HEIGHT // 2
    to_x, to_y = child[0], child[1] + HEIGHT // 2
    if to_x - x > GAP_X:
        return f"M{x} {y}Q{(x + to_x) // 2} {max(y, to_y) + BEND} {to_x} {to_y}"
    return f"M{x} {y}L{to_x} {to_y}"


def _arrow(parent: Place, child: Place) -> str:
    return (
        f'<path d="{bent(parent, child)}" fill="none" stroke="currentColor" '
        f'opacity="0.6" /><circle cx="{child[0]}" cy="{child[1] + HEIGHT // 2}" '
        'r="3" />'
    )


def _box(place: Place, node: Node) -> str:
    x, y = place
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
        f'fill="none" stroke="currentColor" />'
        f'<text x="{x + 7}" y="{y + 18}">{escape(node.operation)} = '
        f"{node.value:.4g}</text>"
        f'<text x="{x + 7}" y="{y + 36}" opacity="0.75">gradient '
        f"{node.gradient:.4g}</text>"
    )
