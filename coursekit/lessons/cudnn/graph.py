"""Graphs: described, validated, and executed by the library or by the oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cudnn import library
from coursekit.lessons.cudnn.fusing import engine_of
from coursekit.lessons.cudnn.operations import OPERATIONS, Node
from coursekit.lessons.cudnn.run import LIBRARY, ORACLE, REFUSED, Run
from coursekit.lessons.cudnn.tensors import TYPES, Tensor, known_type, packed

WITHOUT_STATISTICS = {"norm_forward_phase": "INFERENCE", "is_inference": True}


def pygraph(
    *,
    io_data_type: str = "HALF",
    intermediate_data_type: str = "FLOAT",
    compute_data_type: str = "FLOAT",
) -> Graph:
    """Begin a graph, as `cudnn.pygraph` does.

    Parameters
    ----------
    io_data_type : str
        Type of tensors with memory that do not say their own: "HALF" or "FLOAT".
    intermediate_data_type : str
        Type of virtual tensors.
    compute_data_type : str
        Type of products and sums; "FLOAT".

    Returns
    -------
    Graph

    Examples
    --------
    >>> graph = pygraph(io_data_type="FLOAT")
    >>> x = graph.tensor(name="x", dim=(1, 1, 1, 3), stride=(3, 3, 3, 1))
    >>> y = graph.relu(x).set_output(True)
    >>> result = np.zeros(3, np.float32)
    >>> _ = graph.execute({x: np.float32([-1, 2, -3]), y: result})
    >>> result
    array([0., 2., 0.], dtype=float32)
    """
    if compute_data_type != "FLOAT":
        raise ArgumentError.explained(
            f"compute_data_type is {compute_data_type!r}.",
            "These graphs add in float32; cuDNN can also add in float64 or in INT32.",
            'Take "FLOAT".',
        )
    return Graph(known_type(io_data_type), known_type(intermediate_data_type))


class Graph:
    """Operations, and the tensors between them; `pygraph` makes one.

    Each operation is a method of its own name, which takes tensors and attributes by
    name or in order and returns its results: conv_fprop, conv_dgrad, conv_wgrad,
    matmul, bias, add, mul, relu, sigmoid, tanh, batchnorm, batchnorm_inference,
    layernorm, instancenorm, sdpa. A result is virtual until `set_output(True)`.
    """

    def __init__(self, io_data_type: str, intermediate_data_type: str):
        self.io_data_type = io_data_type
        self.intermediate_data_type = intermediate_data_type
        self.nodes: list[Node] = []
        self.given: list[Tensor] = []

    def tensor(self, *, dim, stride, data_type: str = "", name: str = "") -> Tensor:
        """Declare a tensor that the graph reads.

        Parameters
        ----------
        dim : sequence of int
            Extents, in the order N, C, H, W.
        stride : sequence of int
            Distances between neighbours along each axis, in elements.
        data_type : str
            "HALF" or "FLOAT"; the graph's where it is left out.
        name : str
            For messages.

        Returns
        -------
        Tensor
        """
        if len(dim) != len(stride):
            raise ArgumentError.explained(
                f"{name or 'A tensor'} has {len(dim)} extents and {len(stride)} "
                "strides.",
                "Each axis has a stride: the distance to the next element along it.",
                "Give as many of one as of the other.",
            )
        name = name or f"tensor_{len(self.given)}"
        made = Tensor(name, dim, stride, data_type or self.io_data_type)
        self.given.append(made)
        return made

    def outputs(self) -> list[Tensor]:
        """Return the results that have memory."""
        made = [t for node in self.nodes for t in node.outputs.values()]
        return [tensor for tensor in made if not tensor.is_virtual]

    def validate(self) -> None:
        """Infer extents, strides and types that were left out.

        Raises
        ------
        ArgumentError
            Tensors do not fit together, or no result has memory.
        """
        for node in self.nodes:
            node.infer()
            like = next(iter(node.inputs.values()))
            for place, tensor in enumerate(node.outputs.values()):
                if place:  # statistics
                    tensor.data_type = tensor.data_type or "FLOAT"
                self._complete(tensor, like)
        if not self.outputs():
            raise ArgumentError.explained(
                "No tensor of the graph is an output.",
                "Results are virtual: they are passed on, and are not stored.",
                "Call set_output(True) of the tensor that you want.",
            )

    def _complete(self, tensor: Tensor, like: Tensor) -> None:
        order = like.order if len(like.dim) == len(tensor.dim) else None
        axes = range(len(tensor.dim))
        tensor.stride = tensor.stride or packed(tensor.dim, order or list(axes))
        kind = self.intermediate_data_type if tensor.is_virtual else self.io_data_type
        tensor.data_type = tensor.data_type or kind

    @property
    def engine(self) -> str:
        """The kind of engine that computes the graph in one kernel."""
        return engine_of(self.nodes)

    def build(self, heuristics: Any = ("A",)) -> None:
        """Validate, and find an engine.

        Raises
        ------
        ArgumentError
            Tensors do not fit together.
        UnsupportedError
            No engine computes such a graph in one kernel.
        """
        self.validate()
        engine_of(self.nodes)

    def execute(self, pack: Mapping[Tensor, np.ndarray]) -> Run:
        """Compute; results are written into the memory of the outputs.

        Parameters
        ----------
        pack : dict of Tensor to numpy.ndarray
            Memory for each tensor that is read or written.

        Returns
        -------
        Run

        Raises
        ------
        ArgumentError
            A tensor has no memory, or what it has does not fit.
        UnsupportedError
            No engine computes such a graph in one kernel.
        """
        self.build()
        views = {tensor: tensor.view(self._of(pack, tensor)) for tensor in self._real()}
        if not library.is_here():
            self._compute(views)
            return self._run(ORACLE)
        told = library.built(self)
        if told is None:
            self._compute(views)
            return self._run(REFUSED.format(library.version()))
        library.execute(told, self, pack)
        return self._run(LIBRARY)

    def _real(self) -> list[Tensor]:
        used = {t for node in self.nodes for t in node.inputs.values()}
        return [t for t in self.given if t in used] + self.outputs()

    def _of(self, pack: Mapping[Tensor, np.ndarray], tensor: Tensor) -> np.ndarray:
        if tensor not in pack:
            raise ArgumentError.explained(
                f"{tensor.name} has no memory.",
                "A graph describes; memory is given when it is executed.",
                f"Give an array of {TYPES[tensor.data_type]} for it.",
            )
        return pack[tensor]

    def _compute(self, views: Mapping[Tensor, np.ndarray]) -> None:
        values = {t: view.astype(np.float32) for t, view in views.items()}
        for node in self.nodes:
            given = {name: values[t] for name, t in node.inputs.items()}
            shapes = {name: t.dim for name, t in node.outputs.items()}
            found = node.operation.compute(given, shapes, dict(node.how))
            results = found if isinstance(found, tuple) else (found,)
            for tensor, result in zip(node.outputs.values(), results, strict=True):
                with np.errstate(over="ignore"):
                    stored = result.astype(TYPES[tensor.data_type])
                values[tensor] = stored.astype(np.float32)
                if tensor in views:
                    views[tensor][...] = stored

    def _run(self, computed_by: str) -> Run:
        apart = sum(
            tensor.nbytes if not tensor.is_virtual else self._stored_bytes(tensor)
            for node in self.nodes
            for tensor in (*node.inputs.values(), *self._kept(node))
        )
        return Run(
            tuple(node.name for node in self.nodes),
            sum(node.cost() for node in self.nodes),
            sum(tensor.nbytes for tensor in self._real()),
            apart,
            computed_by,
        )

    def _kept(self, node: Node) -> list[Tensor]:
        """Return results that someone needs."""
        used = {t for other in self.nodes for t in other.inputs.values()}
        return [t for t in node.outputs.values() if t in used or not t.is_virtual]

    def _stored_bytes(self, tensor: Tensor) -> int:
        """Return what a virtual tensor would take in memory, in the graph's type."""
        return int(np.prod(tensor.dim)) * TYPES[self.io_data_type].itemsize

    def _add(self, name: str, bound: inspect.BoundArguments) -> Any:
        operation = OPERATIONS[name]
        values = bound.arguments
        inputs = {slot: values[slot] for slot in operation.inputs}
        for slot, tensor in inputs.items():
            if not isinstance(tensor, Tensor):
                raise ArgumentError.explained(
                    f"{slot} of {name} is a {type(tensor).__name__}.",
                    "A graph is made of tensors that were declared; memory comes when "
                    "it is executed.",
                    "Declare it with graph.tensor(...).",
                )
        outputs = {
            slot: Tensor(f"{slot} of {name}").set_output(False)
            for slot in operation.outputs
        }
        how = {key: values[key] for key in operation.how}
        self.nodes.append(Node(name, inputs, outputs, how))
        first, *others = outputs.values()
        if any(how.get(key) == value for key, value in WITHOUT_STATISTICS.items()):
            return first, *(None for _ in others)
        return (first, *others) if others else first


def _method(name: str) -> Callable:
    """Return the method that adds an operation."""
    operation = OPERATIONS[name]
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(slot, either) for slot in operation.inputs]
    parameters += [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value)
        for key, value in operation.how.items()
    ]
    signature = inspect.Signature(parameters)

    def method(self, *tensors, **named):
        try:
            bound = signature.bind(*tensors, **named)
        except TypeError as error:
            raise ArgumentError.explained(
                f"graph.{name}: {error}.",
                f"It takes {name}{signature}.",
                "Give its tensors in this order, and attributes by name.",
            ) from None
        bound.apply_defaults()
        return self._add(name, bound)

    method.__name__ = name
    method.__qualname__ = f"Graph.{name}"
    method.__doc__ = f"Add {name}; return {', '.join(operation.outputs)}."
    return method


for _name in OPERATIONS:
    setattr(Graph, _name, _method(_name))
