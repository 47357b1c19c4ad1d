"""A graph of numbers step by step: values forwards, then gradients backwards."""

from __future__ import annotations

from html import escape
from typing import Any

import traitlets

from coursekit.errors import ArgumentError
from coursekit.lessons.autograd.picture import HEIGHT, WIDTH, bent, places
from coursekit.lessons.autograd.scalar import Value, ordered, plain_nodes
from coursekit.widgets import palette
from coursekit.widgets.base import CourseWidget
from coursekit.widgets.panel import panel

MOST = 30


def graph_stepper(result: Value) -> GraphStepper:
    """Watch the values of a graph arrive, then its gradients flow back.

    Parameters
    ----------
    result : ck.autograd.Value
        With at most 30 values in its graph.

    Returns
    -------
    GraphStepper
        A widget; stored, it is the picture after the last step.

    Examples
    --------
    ``ck.graph_stepper(x * x + x)``
    """
    if not isinstance(result, Value):
        raise ArgumentError.explained(
            f"graph_stepper got {type(result).__name__}, which has no graph.",
            "It shows the graph of a number.",
            "Pass a ck.autograd.Value.",
        )
    count = len(ordered(result))
    if count > MOST:
        raise ArgumentError.explained(
            f"graph_stepper got a graph of {count} values.",
            f"More than {MOST} do not fit into a picture.",
            "Show a smaller part of the computation.",
        )
    return GraphStepper(result)


class GraphStepper(CourseWidget, files="graph_stepper"):
    """A graph whose values and gradients the reader computes step by step.

    Attributes
    ----------
    step : int
        Steps done.
    graph : dict
        Nodes, edges, and for each step what is known then, as data for the view.
    """

    step = traitlets.Int(0, min=0).tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)

    def __init__(self, result: Value):
        super().__init__(graph=graph_of(result))

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.graph["steps"]) - 1

    def __repr__(self) -> str:
        return f"GraphStepper: {self.alt_text()}"

    def alt_text(self) -> str:
        shown = self.graph["steps"][-1]
        pairs = zip(
            self.graph["nodes"], shown["values"], shown["gradients"], strict=True
        )
        return "; ".join(
            f"{node['name']} {value}, gradient {gradient}"
            for node, value, gradient in pairs
        )

    def static_svg(self) -> str:
        nodes, shown = self.graph["nodes"], self.graph["steps"][-1]
        line, ground = palette.LINES["line"].light, palette.GROUNDS["block0"].light
        body = [
            f'<path d="{edge["path"]}" fill="none" stroke="{line}"/>'
            for edge in self.graph["edges"]
        ]
        for place, node in enumerate(nodes):
            x, y = node["x"], node["y"]
            texts = (
                f"{node['name']} = {shown['values'][place]}",
                f"gradient {shown['gradients'][place]}",
            )
            body.append(
                f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
                f'fill="{ground}" stroke="{line}"/>'
            )
            body += [
                f'<text x="{x + 7}" y="{y + 18 * row}">{escape(text)}</text>'
                for row, text in enumerate(texts, start=1)
            ]
        return panel(self.graph["width"], self.graph["height"], body)


def graph_of(result: Value) -> dict[str, Any]:
    """Return the nodes, edges and steps of a graph."""
    nodes = plain_nodes(result)
    at = places(nodes)
    edges = [
        {"path": bent(at[parent], place), "parent": parent, "child": child}
        for child, place in enumerate(at)
        for parent in nodes[child].parents
    ]
    boxes = [
        {"name": node.operation, "x": x, "y": y}
        for node, (x, y) in zip(nodes, at, strict=True)
    ]
    return {
        "nodes": boxes,
        "edges": edges,
        "steps": [*_forwards(nodes), *_backwards(result, nodes)],
        "width": max(x for x, _ in at) + WIDTH + 8,
        "height": max(y for _, y in at) + HEIGHT + 28,
    }


def _step(told: str, values: list, gradients: list, edge: int = -1) -> dict[str, Any]:
    return {
        "told": told, "values": list(values), "gradients": list(gradients), "edge": edge
    }  # fmt: skip


def _forwards(nodes) -> list[dict[str, Any]]:
    """Return a step for each operation, in the order of the values."""
    blank = [""] * len(nodes)
    values = ["" if node.parents else f"{node.value:.4g}" for node in nodes]
    steps = [_step("The inputs are known.", values, blank)]
    for place, node in enumerate(nodes):
        if node.parents:
            values[place] = f"{node.value:.4g}"
            given = " and ".join(f"{nodes[p].value:.4g}" for p in node.parents)
            told = f"Forwards: {node.operation} of {given} is {values[place]}."
            steps.append(_step(told, values, blank))
    return steps


def _backwards(result: Value, nodes) -> list[dict[str, Any]]:
    """Return a step for each edge, from the result back."""
    order = ordered(result)
    values = [f"{node.value:.4g}" for node in nodes]
    names = (node.operation for node in nodes)
    shown = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
    sums: list[float | None] = [None] * len(nodes)
    sums[-1] = 1.0
    edge = sum(len(node.parents) for node in nodes)
    steps = [_step("Backwards: the gradient of the result is 1.", values, _texts(sums))]
    for child in reversed(range(len(nodes))):
        edge -= len(nodes[child].parents)
        arrived = sums[child] or 0.0
        for number, (parent, (_, local)) in enumerate(
            zip(nodes[child].parents, order[child].edges, strict=True)
        ):
            slope = local().data
            sums[parent] = (sums[parent] or 0.0) + arrived * slope
            told = (
                f"Backwards: {shown[child]} passes {arrived:.4g} * {slope:.4g} on to "
                f"{shown[parent]}."
            )
            steps.append(_step(told, values, _texts(sums), edge + number))
    return steps


def _texts(sums: list[float | None]) -> list[str]:
    return ["" if one is None else f"{one:.4g}" for one in sums]
