"""The graph of a Value as a picture: values, and gradients below them."""

from __future__ import annotations

from html import escape

from coursekit.lessons.autograd.scalar import Value, gradients, ordered

WIDTH, HEIGHT, GAP_X, GAP_Y = 92, 46, 34, 14
MOST = 40  # values in a picture


def graph(result: Value) -> str:
    """Return an SVG of a value's graph, and words that say the same."""
    order = ordered(result)
    if len(order) > MOST:
        return f"<code>{escape(repr(result))}</code>, computed in {len(order)} steps"
    flow = dict(zip(map(id, order), gradients(result, order), strict=True))
    places = _places(order)
    width = max(x for x, _ in places.values()) + WIDTH + 4
    height = max(y for _, y in places.values()) + HEIGHT + 4
    arrows = "".join(
        _arrow(places[id(parent)], places[id(value)])
        for value in order
        for parent, _ in value.edges
    )
    boxes = "".join(_box(places[id(v)], v, flow[id(v)].data) for v in order)
    words = "; ".join(
        f"{v.operation} {v.data:.4g}, gradient {flow[id(v)].data:.4g}" for v in order
    )
    return (
        f'<svg role="img" aria-label="{escape(words)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" style="max-width:100%" font-family="sans-serif" '
        f'font-size="12" fill="currentColor">{arrows}{boxes}</svg>'
    )


def _places(order: list[Value]) -> dict[int, tuple[int, int]]:
    """Place each value right of its parents."""
    depth: dict[int, int] = {}
    filled: dict[int, int] = {}
    places = {}
    for value in order:
        level = 1 + max((depth[id(parent)] for parent, _ in value.edges), default=-1)
        depth[id(value)] = level
        row = filled.get(level, 0)
        filled[level] = row + 1
        places[id(value)] = 2 + level * (WIDTH + GAP_X), 2 + row * (HEIGHT + GAP_Y)
    return places


def _arrow(parent: tuple[int, int], child: tuple[int, int]) -> str:
    x, y = parent[0] + WIDTH, parent[1] + HEIGHT // 2
    to_x, to_y = child[0], child[1] + HEIGHT // 2
    return (
        f'<path d="M{x} {y}L{to_x} {to_y}" stroke="currentColor" opacity="0.6" />'
        f'<circle cx="{to_x}" cy="{to_y}" r="3" />'
    )


def _box(place: tuple[int, int], value: Value, gradient: float) -> str:
    x, y = place
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
        f'fill="none" stroke="currentColor" />'
        f'<text x="{x + 7}" y="{y + 18}">{escape(value.operation)} = '
        f"{value.data:.4g}</text>"
        f'<text x="{x + 7}" y="{y + 36}" opacity="0.75">gradient '
        f"{gradient:.4g}</text>"
    )
