"""Value: a number that remembers what it was computed from."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Union

from coursekit.lessons.autograd.picture import Node, graph

Number = Union[float, int, "Value"]


class Value:
    """A number, and the numbers that it was computed from.

    Each edge to a parent has a local derivative: how much the result changes when
    that parent does. Local derivatives are Values too, so that a gradient can be
    differentiated again.

    Parameters
    ----------
    data : float
    name : str, optional
        What pictures of the graph show.

    Attributes
    ----------
    data : float
    operation : str
        What made it, or its name.
    edges : tuple of (Value, callable)
        Its parents, each with a function that returns the local derivative.

    Examples
    --------
    >>> x = Value(3.0, "x")
    >>> (y,) = gradients(x * x + x, [x])
    >>> y.data
    7.0
    """

    def __init__(self, data: float, name: str = "number"):
        self.data = float(data)
        self.operation = name
        self.edges: tuple[tuple[Value, Callable[[], Value]], ...] = ()

    def __repr__(self) -> str:
        return f"Value({self.data:.6g}, {self.operation})"

    def _repr_html_(self) -> str:
        return graph(plain_nodes(self))

    def __add__(self, other: Number) -> Value:
        other, one = as_value(other), Value(1)
        return made(self.data + other.data, "+", (self, other), lambda: (one, one))

    def __mul__(self, other: Number) -> Value:
        other = as_value(other)
        product = self.data * other.data
        return made(product, "*", (self, other), lambda: (other, self))

    def __neg__(self) -> Value:
        return self * -1

    def __sub__(self, other: Number) -> Value:
        return self + -as_value(other)

    def __rsub__(self, other: Number) -> Value:
        return as_value(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    def tanh(self) -> Value:
        """Return the hyperbolic tangent; its slope is 1 - y * y."""
        y = made(math.tanh(self.data), "tanh", (self,), lambda: (1 - y * y,))
        return y

    def exp(self) -> Value:
        """Return e to the power of the value; the slope is the result."""
        y = made(math.exp(self.data), "exp", (self,), lambda: (y,))
        return y

    def relu(self) -> Value:
        """Return the value, or 0 where it is negative."""
        on = float(self.data > 0)
        return made(self.data * on, "relu", (self,), lambda: (Value(on),))


def as_value(number: Number) -> Value:
    """Return a Value, made of a number where it is none."""
    return number if isinstance(number, Value) else Value(number)


def made(
    data: float,
    operation: str,
    parents: Sequence[Value],
    locals_: Callable[[], Sequence[Value]],
) -> Value:
    """Return the result of an operation, with an edge to each parent."""
    result = Value(data, operation)
    result.edges = tuple(
        (parent, functools.partial(_one_of, locals_, place))
        for place, parent in enumerate(parents)
    )
    return result


def _one_of(locals_: Callable[[], Sequence[Value]], place: int) -> Value:
    """Return the local derivative with respect to one parent."""
    return locals_()[place]


def ordered(result: Value) -> list[Value]:
    """Return all that a value was computed from, each after its parents."""
    order: list[Value] = []
    seen: set[int] = set()
    waiting: list[tuple[Value, bool]] = [(result, False)]
    while waiting:
        value, parents_done = waiting.pop()
        if parents_done:
            order.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            waiting.append((value, True))
            waiting += [(parent, False) for parent, _ in reversed(value.edges)]
    return order


def plain_nodes(result: Value) -> list[Node]:
    """Return the graph of a value as plain numbers, with the gradients of the value."""
    order = ordered(result)
    place = {id(value): number for number, value in enumerate(order)}
    slopes = zip(order, gradients(result, order), strict=True)
    return [
        Node(
            value.operation,
            value.data,
            slope.data,
            tuple(place[id(parent)] for parent, _ in value.edges),
        )
        for value, slope in slopes
    ]


def gradients(result: Value, inputs: Iterable[Value]) -> list[Value]:
    """Return the derivative of a result with respect to each input.

    Parameters
    ----------
    result : Value
    inputs : iterable of Value

    Returns
    -------
    list of Value
        They can be differentiated again.

    Examples
    --------
    >>> x, y = Value(2.0), Value(5.0)
    >>> dx, dy = gradients(x * x * y, [x, y])
    >>> dx.data, [second.data for second in gradients(dx, [x, y])]
    (20.0, [10.0, 4.0])
    """
    flow = {id(result): Value(1, "1")}
    for value in reversed(ordered(result)):
        if id(value) not in flow:
            continue
        for parent, local in value.edges:
            part = flow[id(value)] * local()
            before = flow.get(id(parent))
            flow[id(parent)] = part if before is None else before + part
    return [flow.get(id(value), Value(0)) for value in inputs]


def pushforward(
    results: Sequence[Value], inputs: Sequence[Value], direction: Sequence[float]
) -> list[float]:
    """Return the Jacobian-vector product: how results change along a direction.

    Parameters
    ----------
    results, inputs : sequence of Value
    direction : sequence of float
        How fast each input moves.

    Returns
    -------
    list of float
        How fast each result moves.

    Examples
    --------
    >>> x, y = Value(2.0), Value(5.0)
    >>> pushforward([x * y, x + y], [x, y], [1.0, 10.0])
    [25.0, 11.0]
    """
    speed = {id(x): float(v) for x, v in zip(inputs, direction, strict=True)}
    for result in results:
        for value in ordered(result):
            if id(value) not in speed:
                terms = (speed[id(p)] * local().data for p, local in value.edges)
                speed[id(value)] = sum(terms, 0.0)
    return [speed[id(result)] for result in results]
