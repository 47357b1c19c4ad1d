"""Tensor: a matrix on the device that remembers what it was computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.exercises.tables import Table
from coursekit.lessons.autograd import operations as ops
from coursekit.lessons.autograd.view import Shape, View, from_host

Back = Callable[[View], View]


@dataclass(frozen=True)
class Edge:
    """A parent, and the function that makes its gradient of that of the result.

    Attributes
    ----------
    parent : Tensor
    back : callable
    needs : tuple of View
        The values that `back` reads besides the gradient of the result.
    """

    parent: Tensor
    back: Back
    needs: tuple[View, ...] = ()


class Tensor:
    """A matrix on the device that remembers what it was computed from.

    Every operation is a launch of a kernel in kernels/autograd, on a GPU and on the
    simulator alike. A row is a matrix with one row, a number one with one element.

    Parameters
    ----------
    values : array_like
        At most two axes; float32 on the device.
    requires_grad : bool
        Whether `backward` computes a gradient for it.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    grad : Tensor or None
        After `backward`, the gradient of the result with respect to it.
    operation : str
        What made it.

    Examples
    --------
    >>> w = Tensor([[1.0, 2.0]], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> w.grad
    Tensor([[2. 4.]])
    """

    def __init__(self, values: object, *, requires_grad: bool = False):
        self.view = values if isinstance(values, View) else from_host(values)
        self.requires_grad = requires_grad
        self.grad: Tensor | None = None
        self.operation = "given"
        self.edges: tuple[Edge, ...] = ()

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.view.shape

    @property
    def T(self) -> Tensor:  # noqa: N802
        """The transpose, a view of the same memory."""
        return _made("T", self.view.transposed, Edge(self, lambda dy: dy.transposed))

    def numpy(self) -> np.ndarray:
        """Return the values as a NumPy array."""
        return self.view.to_host()

    def __repr__(self) -> str:
        return f"Tensor({self.numpy()})"

    # ------------------------------------------------------------ operations

    def __add__(self, other: object) -> Tensor:
        a, b, shape = self._with(other, "+")
        y = ops.elementwise("add", a.view, b.view, shape)
        back_a, back_b = (lambda dy, x=x: ops.summed_to(dy, x.shape) for x in (a, b))
        return _made("+", y, Edge(a, back_a), Edge(b, back_b))

    def __mul__(self, other: object) -> Tensor:
        a, b, shape = self._with(other, "*")
        y = ops.elementwise("mul", a.view, b.view, shape)

        def toward(x: Tensor, factor: Tensor) -> Back:
            return lambda dy: ops.summed_to(
                ops.elementwise("mul", dy, factor.view, shape), x.shape
            )

        return _made(
            "*",
            y,
            Edge(a, toward(a, b), (b.view,)),
            Edge(b, toward(b, a), (a.view,)),
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Tensor:
        return self * -1.0

    def __sub__(self, other: object) -> Tensor:
        return self + -_tensor(other)

    def __rsub__(self, other: object) -> Tensor:
        return _tensor(other) - self

    def __matmul__(self, other: Tensor) -> Tensor:
        if self.shape[1] != other.shape[0]:
            raise ArgumentError.explained(
                f"The product of {_size(self)} and {_size(other)}.",
                "The left one's columns are multiplied by the right one's rows.",
                "Transpose one of them with .T, or look where a shape came from.",
            )
        a, b = self.view, other.view
        return _made(
            "@",
            ops.matmul(a, b),
            Edge(self, lambda dy: ops.matmul(dy, b.transposed), (b,)),
            Edge(other, lambda dy: ops.matmul(a.transposed, dy), (a,)),
        )

    def relu(self) -> Tensor:
        """Return the values, 0 where they are negative."""
        return self._map("relu")

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent of each value."""
        return self._map("tanh")

    def exp(self) -> Tensor:
        """Return e to the power of each value."""
        return self._map("exp")

    def log(self) -> Tensor:
        """Return the natural logarithm of each value."""
        return self._map("log")

    def sum(self, axis: int | None = None) -> Tensor:
        """Return the sum over all values, or along an axis whose length becomes 1."""
        shape = self.shape
        y = ops.summed_to(self.view, ops.without(shape, axis))
        return _made("sum", y, Edge(self, lambda dy: dy.repeated(shape)))

    def mean(self) -> Tensor:
        """Return the mean of all values."""
        return self.sum() * (1 / self.view.size)

    def max(self, axis: int) -> Tensor:
        """Return the maxima along an axis; the first one has the gradient."""
        y, where = ops.largest(self.view, axis)
        shape = self.shape
        return _made(
            "max", y, Edge(self, lambda dy: ops.largest_back(dy, where, shape, axis))
        )

    def reshape(self, rows: int, cols: int) -> Tensor:
        """Return the same values, row by row, in another shape."""
        if rows * cols != self.view.size:
            raise ArgumentError.explained(
                f"{_size(self)} cannot be reshaped to {rows} x {cols}.",
                f"It has {self.view.size} values.",
                "Choose lengths whose product is the number of values.",
            )
        shape = self.shape
        y = self.view.reshaped((rows, cols))
        return _made("reshape", y, Edge(self, lambda dy: dy.reshaped(shape)))

    def cross_entropy(self, labels: Sequence[int] | np.ndarray) -> Tensor:
        """Return the mean surprise of a softmax of each row at the row's label."""
        wanted = np.asarray(labels)
        rows, classes = self.shape
        fits = wanted.shape == (rows,) and wanted.min() >= 0 and wanted.max() < classes
        if not fits:
            raise ArgumentError.explained(
                f"Labels of shape {wanted.shape} for logits of {_size(self)}.",
                f"Each row needs one label, from 0 to {classes - 1}.",
                "Pass as many labels as rows.",
            )
        logits, on_device = self.view.packed(), ops.labels(wanted)
        losses = ops.cross_entropy(logits, on_device)
        return _made(
            "cross-entropy",
            ops.elementwise("mul", ops.total(losses), from_host(1 / rows), (1, 1)),
            Edge(
                self,
                lambda dy: ops.cross_entropy_back(dy, logits, on_device),
                (logits,),
            ),
        )

    # ------------------------------------------------------------ the way back

    def backward(self) -> None:
        """Compute the gradient of this number with respect to each tensor that asks.

        Each gradient is new: none is added to that of a call before.
        """
        if self.shape != (1, 1):
            raise ArgumentError.explained(
                f"backward of a tensor of {_size(self)}.",
                "A gradient tells how one number changes; this has several.",
                "Call backward on a loss, or on .sum() of the tensor.",
            )
        flow = {id(self): from_host(1.0)}
        for tensor in reversed(ordered(self)):
            dy = flow.pop(id(tensor), None)
            if dy is None:
                continue
            tensor.grad = Tensor(dy)
            for edge in tensor.edges:
                if edge.parent.requires_grad:
                    part, before = edge.back(dy), flow.get(id(edge.parent))
                    flow[id(edge.parent)] = (
                        part
                        if before is None
                        else ops.elementwise("add", before, part, part.shape)
                    )

    def memory(self) -> Memory:
        """Return what its graph holds in device memory, and what backward reads."""
        return Memory(tuple(ordered(self)))

    def _map(self, name: str) -> Tensor:
        y = ops.mapped(name, self.view)
        kept = self.view.packed() if name == "log" else y
        return _made(
            name, y, Edge(self, lambda dy: ops.mapped_back(name, kept, dy), (kept,))
        )

    def _with(self, other: object, sign: str) -> tuple[Tensor, Tensor, Shape]:
        """Return both operands as tensors, and the shape of the result."""
        b = _tensor(other)
        lengths = tuple(map(max, self.shape, b.shape))
        for x in (self, b):
            if any(n not in (1, m) for n, m in zip(x.shape, lengths, strict=True)):
                raise ArgumentError.explained(
                    f"{_size(self)} {sign} {_size(b)} has no shape.",
                    "Broadcasting repeats an axis of length 1, and no other.",
                    "Compare the shapes axis by axis.",
                )
        return self, b, (lengths[0], lengths[1])


@dataclass(frozen=True)
class Memory:
    """The tensors of a graph with their bytes; views share the memory of another."""

    tensors: tuple[Tensor, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all memory that the graph holds, each array once."""
        return sum(self._arrays.values())

    @property
    def needed_nbytes(self) -> int:
        """Bytes of the arrays that the way back reads."""
        return sum(self._arrays[address] for address in self._needed)

    @property
    def _arrays(self) -> dict[int, int]:
        return {t.view.memory.address: t.view.memory.nbytes for t in self.tensors}

    @property
    def _needed(self) -> set[int]:
        """Addresses of the arrays of the graph that the way back reads."""
        edges = (edge for tensor in self.tensors for edge in tensor.edges)
        read = (
            view for edge in edges if edge.parent.requires_grad for view in edge.needs
        )
        return {view.memory.address for view in read} & self._arrays.keys()

    @property
    def table(self) -> Table:
        """A row for each tensor."""
        rows, seen = [], set()
        for tensor in self.tensors:
            memory = tensor.view.memory
            shared = memory.address in seen
            seen.add(memory.address)
            size = "shared" if shared else f"{memory.nbytes:,}"
            needed = "yes" if memory.address in self._needed else "no"
            rows.append((tensor.operation, _size(tensor), size, needed))
        caption = (
            f"In memory before backward: {self.nbytes:,} bytes; backward reads "
            f"{self.needed_nbytes:,} of them"
        )
        head = "made by", "shape", "bytes", "backward reads it"
        return Table(caption, head, tuple(rows))

    def __repr__(self) -> str:
        return f"{self.table.caption}\n{self.table.text}"

    def _repr_html_(self) -> str:
        return self.table.html


def ordered(result: Tensor) -> list[Tensor]:
    """Return all that a tensor was computed from, each after its parents."""
    order: list[Tensor] = []
    seen: set[int] = set()
    waiting: list[tuple[Tensor, bool]] = [(result, False)]
    while waiting:
        tensor, parents_done = waiting.pop()
        if parents_done:
            order.append(tensor)
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            waiting.append((tensor, True))
            waiting += [(edge.parent, False) for edge in reversed(tensor.edges)]
    return order


def descend(parameters: Iterable[Tensor], rate: float) -> None:
    """Move each parameter against its gradient, in place, times a rate."""
    for parameter in parameters:
        if parameter.grad is None:
            raise ArgumentError.explained(
                f"A parameter of {_size(parameter)} has no gradient.",
                "The loss does not depend on it, it was made without "
                "requires_grad=True, or backward was not called.",
                "Call backward on the loss first.",
            )
        ops.descend(parameter.view, parameter.grad.view, rate)


def _tensor(value: object) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(value)


def _size(tensor: Tensor) -> str:
    return f"{tensor.shape[0]} x {tensor.shape[1]}"


def _made(operation: str, y: View, *edges: Edge) -> Tensor:
    """Return the result of an operation, with an edge to each parent."""
    asks = any(edge.parent.requires_grad for edge in edges)
    result = Tensor(y, requires_grad=asks)
    result.operation = operation
    result.edges = edges
    return result
