"""Convolutions of cuDNN in half precision, each case by a chosen plan of its graph.

`cudnn_graphs` has graphs of float32, whose tensors stay where they are. Here tensors
are given at each launch, so that a stopwatch may bring fresh ones.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from coursekit.benchmarks.peers import peers
from coursekit.benchmarks.peers.cudnn_graphs import BORDER
from coursekit.benchmarks.peers.trying import best_ms, fastest
from coursekit.errors import LaunchError

# Notes that a plan carries, by the name of what a case leaves out.
LEFT_OUT = {
    "nondeterministic": "NONDETERMINISTIC",
    "tensor cores": "TENSOR_CORE",
}
MOST = 40  # plans that are tried
Build = Callable[..., "Graph"]


class Graph:
    """A graph of cuDNN: half precision in memory, float32 within.

    Attributes
    ----------
    pygraph : cudnn.pygraph
    slots : list
        The tensors of the graph, in the order of a launch's arguments.
    """

    def __init__(self):
        import cudnn

        self.cudnn = cudnn
        self.handle = cudnn.create_handle()
        self.pygraph = cudnn.pygraph(
            io_data_type=cudnn.data_type.HALF,
            intermediate_data_type=cudnn.data_type.FLOAT,
            compute_data_type=cudnn.data_type.FLOAT,
            handle=self.handle,
        )
        self.slots: list[Any] = []

    def given(self, tensor: Any) -> Any:
        """Declare a tensor that the graph reads."""
        held = self.pygraph.tensor(
            dim=list(tensor.shape),
            stride=list(tensor.stride()),
            data_type=self.cudnn.data_type.HALF,
        )
        self.slots.append(held)
        return held

    def result(self, held: Any, tensor: Any) -> None:
        """Declare where a result goes."""
        held.set_output(True).set_data_type(self.cudnn.data_type.HALF)
        held.set_dim(list(tensor.shape)).set_stride(list(tensor.stride()))
        self.slots.append(held)

    def plan(self, left_out: tuple[str, ...] = ()) -> None:
        """Let the heuristics propose plans, but for those with a note."""
        notes, modes = self.cudnn.numerical_note, self.cudnn.heur_mode
        self.pygraph.validate()
        self.pygraph.build_operation_graph()
        self.pygraph.create_execution_plans([modes.A, modes.FALLBACK])
        if left_out:
            names = [getattr(notes, LEFT_OUT[name]) for name in left_out]
            self.pygraph.deselect_numeric_notes(names)

    def built(self) -> Iterator[int]:
        """Build plans that this GPU can run, in the order of the heuristics."""
        for number in range(self.pygraph.get_execution_plan_count()):
            try:
                self.pygraph.build_plan_at_index(number)
            except (RuntimeError, self.cudnn.cudnnGraphNotSupportedError):
                continue
            yield number

    def workspace_bytes(self, number: int) -> int:
        """Return the scratch memory that a plan needs."""
        return max(self.pygraph.get_workspace_size_plan_at_index(number), 1)

    def launch(self, number: int, tensors: tuple, workspace: Any) -> None:
        """Launch a plan on PyTorch's current stream."""
        import torch

        stream = torch.cuda.current_stream().cuda_stream
        self.cudnn.set_stream(handle=self.handle, stream=stream)
        self.pygraph.execute_plan_at_index(
            dict(zip(self.slots, tensors, strict=True)),
            workspace,
            number,
            handle=self.handle,
        )


# ---------------------------------------------------------------- graphs


def convolution(x: Any, w: Any, y: Any) -> Graph:
    """Describe y = x * w, with a border of one zero."""
    made = Graph()
    held = made.pygraph.conv_fprop(image=made.given(x), weight=made.given(w), **BORDER)
    made.result(held, y)
    return made


def weight_gradient(x: Any, dy: Any, dw: Any) -> Graph:
    """Describe the gradient of a convolution's weights."""
    made = Graph()
    held = made.pygraph.conv_wgrad(image=made.given(x), loss=made.given(dy), **BORDER)
    made.result(held, dw)
    return made


def fused(x: Any, w: Any, bias: Any, y: Any) -> Graph:
    """Describe y = relu(x * w + bias) in one graph."""
    made = Graph()
    held = made.pygraph.conv_fprop(image=made.given(x), weight=made.given(w), **BORDER)
    held = made.pygraph.bias(input=held, bias=made.given(bias))
    made.result(made.pygraph.relu(input=held), y)
    return made


def added(y: Any, bias: Any, out: Any) -> Graph:
    """Describe out = y + bias."""
    made = Graph()
    made.result(made.pygraph.bias(input=made.given(y), bias=made.given(bias)), out)
    return made


def clipped(y: Any, out: Any) -> Graph:
    """Describe out = relu(y)."""
    made = Graph()
    made.result(made.pygraph.relu(input=made.given(y)), out)
    return made


# ---------------------------------------------------------------- cases


def case(build: Build, *, left_out: tuple[str, ...] = ()) -> Callable | None:
    """Return a case by the fastest of all plans, None where a library lacks."""
    return _made(build, lambda graph, tensors: _fastest(graph, tensors), left_out)


def ranked(build: Build, rank: int) -> Callable | None:
    """Return a case by the plan that the heuristics put at a rank, from 0."""
    return _made(build, lambda graph, tensors: _at(graph, rank), ())


def _made(build: Build, choose: Callable, left_out: tuple[str, ...]) -> Callable | None:
    if not importlib.util.find_spec("cudnn"):
        return None
    return peers.torch(Chosen(build, choose, left_out))


class Chosen:
    """Tensors of PyTorch to a launch, by a plan that is chosen at the first one."""

    def __init__(self, build: Build, choose: Callable, left_out: tuple[str, ...] = ()):
        self.build, self.choose, self.left_out = build, choose, left_out
        self.ready: dict[tuple, Callable] = {}

    def __call__(self, torch: Any, *arguments: Any) -> None:
        """Launch; the last argument is the size, and no tensor."""
        tensors = tuple(channels_last(one) for one in arguments[:-1])
        shapes = tuple(tuple(one.shape) for one in tensors)
        if shapes not in self.ready:
            self.ready[shapes] = self._prepared(torch, tensors)
        self.ready[shapes](tensors)

    def _prepared(self, torch: Any, tensors: tuple) -> Callable:
        graph = self.build(*tensors)
        graph.plan(self.left_out)
        number = self.choose(graph, tensors)
        if number is None:
            raise LaunchError.explained(
                f"cuDNN {graph.cudnn.backend_version()} has no such plan for "
                f"{self.build.__name__}.",
                "It proposes fewer plans, or each one has a note that is left out.",
                "Leave the case out.",
            )
        workspace = room(torch, graph.workspace_bytes(number))
        return lambda given: graph.launch(number, given, workspace)


def channels_last(tensor: Any) -> Any:
    """View memory of (N, H, W, C) as cuDNN names it, N, C, H, W with its strides."""
    return tensor.permute(0, 3, 1, 2)


def room(torch: Any, count: int) -> Any:
    """Reserve scratch memory."""
    return torch.empty(count, dtype=torch.uint8, device="cuda")


def _at(graph: Graph, rank: int) -> int | None:
    return next(itertools.islice(graph.built(), rank, None), None)


def _fastest(graph: Graph, tensors: tuple) -> int | None:
    plans = itertools.islice(graph.built(), MOST)
    return fastest(plans, functools.partial(_time_ms, graph, tensors))


def _time_ms(graph: Graph, tensors: tuple, number: int, best: float) -> float:
    """Time a plan; infinity where cuDNN refuses."""
    import torch

    workspace = room(torch, graph.workspace_bytes(number))
    try:
        return best_ms(lambda: graph.launch(number, tensors, workspace), best)
    except (RuntimeError, graph.cudnn.cudnnGraphNotSupportedError):
        return math.inf
