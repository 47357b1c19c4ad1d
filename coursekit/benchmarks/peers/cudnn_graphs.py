"""Graphs of cuDNN on tensors of PyTorch, each launched by its fastest plan.

The package nvidia-cudnn-frontend, which nothing else needs, describes a graph. cuDNN's
heuristics rank plans for it, and the first ones are timed: as many as PyTorch tries by
default.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coursekit.benchmarks.peers.trying import best_ms, fastest
from coursekit.errors import LaunchError

PROPOSALS = 10
COMPILED = 2  # proposals that NVRTC has to compile first
BORDER = {"padding": [1, 1], "stride": [1, 1], "dilation": [1, 1]}


@functools.cache
def _handle():
    import cudnn

    return cudnn.create_handle()


class Graph:
    """Operations of cuDNN, and the tensors that they work on.

    Parameters
    ----------
    name : str
        For errors.
    precision : str
        "tf32" lets every plan take part, "fp32" none that rounds products to less.
    """

    def __init__(self, name: str, precision: str):
        import cudnn

        self.cudnn, self.name, self.precision = cudnn, name, precision
        self.kind = cudnn.data_type.FLOAT
        self.graph = cudnn.pygraph(
            io_data_type=self.kind, intermediate_data_type=self.kind,
            compute_data_type=self.kind, handle=_handle(),
        )  # fmt: skip
        self.tensors: dict = {}
        self.plan, self.workspace = 0, None

    def given(self, tensor):
        """Declare a tensor that the graph reads; one on the host goes by its value."""
        held = self.graph.tensor(
            dim=list(tensor.shape), stride=list(tensor.stride()), data_type=self.kind,
            is_pass_by_value=not tensor.is_cuda,
        )  # fmt: skip
        self.tensors[held] = tensor
        return held

    def result(self, held, tensor) -> None:
        """Say where a result of the graph goes."""
        held.set_output(True).set_data_type(self.kind)
        held.set_dim(list(tensor.shape)).set_stride(list(tensor.stride()))
        self.tensors[held] = tensor

    def __call__(self) -> None:
        """Launch on PyTorch's current stream."""
        self._execute(self.plan)

    def _execute(self, plan: int) -> None:
        import torch

        stream = torch.cuda.current_stream().cuda_stream
        self.cudnn.set_stream(handle=_handle(), stream=stream)
        self.graph.execute_plan_at_index(
            self.tensors, self.workspace, plan, handle=_handle()
        )

    # ------------------------------------------------------------ plans

    def ready(self, proposals: int = PROPOSALS) -> Graph:
        """Build plans and keep the fastest; results are written meanwhile.

        Raises
        ------
        LaunchError
            cuDNN has no plan for this graph.
        """
        plan = fastest(self._plans(proposals), self._best_ms)
        if plan is None:
            raise LaunchError.explained(
                f"cuDNN {self.cudnn.backend_version()} has no plan for {self.name} in "
                f"{self.precision}.",
                "It does not know the operations in this order, layout or precision.",
                "Take the newest cuDNN, or leave the case out.",
            )
        self.plan = plan
        self._reserve(plan)
        return self

    def _plans(self, proposals: int):
        """Build plans in the order of the heuristics."""
        modes, notes = self.cudnn.heur_mode, self.cudnn.numerical_note
        self.graph.validate()
        self.graph.build_operation_graph()
        self.graph.create_execution_plans([modes.A, modes.FALLBACK])
        if self.precision == "fp32":
            rounding = notes.TENSOR_CORE, notes.DOWN_CONVERT_INPUTS
            self.graph.deselect_numeric_notes(list(rounding))
        built = 0
        for plan in range(self.graph.get_execution_plan_count()):
            try:
                self.graph.build_plan_at_index(plan)
            except (RuntimeError, self.cudnn.cudnnGraphNotSupportedError):
                continue  # rounds too much, or is not for this GPU
            built += 1
            yield plan
            if built == proposals:
                return

    def _reserve(self, plan: int) -> None:
        import torch

        size = self.graph.get_workspace_size_plan_at_index(plan)
        self.workspace = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")

    def _best_ms(self, plan: int, best: float) -> float:
        """Time a plan; infinity where cuDNN refuses."""
        self._reserve(plan)
        try:
            return best_ms(functools.partial(self._execute, plan), best)
        except (RuntimeError, self.cudnn.cudnnGraphNotSupportedError):
            return math.inf


# ---------------------------------------------------------------- operations


def convolution(x, w, y, precision: str) -> Callable:
    """Make y = x * w, with a border of one zero."""
    made = Graph("a convolution", precision)
    result = made.graph.conv_fprop(image=made.given(x), weight=made.given(w), **BORDER)
    made.result(result, y)
    return made.ready()


def convolution_by_data(dy, w, dx, precision: str) -> Callable:
    """Make the gradient of a convolution's input."""
    made = Graph("a convolution's gradient by data", precision)
    result = made.graph.conv_dgrad(loss=made.given(dy), filter=made.given(w), **BORDER)
    made.result(result, dx)
    return made.ready()


def convolution_by_weights(x, dy, dw, precision: str) -> Callable:
    """Make the gradient of a convolution's weights."""
    made = Graph("a convolution's gradient by weights", precision)
    result = made.graph.conv_wgrad(image=made.given(x), loss=made.given(dy), **BORDER)
    made.result(result, dw)
    return made.ready()


@dataclass(frozen=True)
class Norm:
    """Tensors of a batch normalisation, each of shape (1, channels, 1, 1).

    Attributes
    ----------
    scale, shift : Tensor
        What is learnt.
    mean, variance : Tensor
        Running averages, updated in place.
    seen, unit : Tensor
        Of the latest batch: mean, and 1 / deviation.
    epsilon, momentum : Tensor
        On the host.
    """

    scale: Any
    shift: Any
    mean: Any
    variance: Any
    seen: Any
    unit: Any
    epsilon: Any
    momentum: Any


def normalisation(y, norm: Norm, z, precision: str) -> Callable:
    """Make z = relu(batch normalisation of y), by the statistics of the batch."""
    made = Graph("a batch normalisation", precision)
    normalised, *kept = made.graph.batchnorm(
        input=made.given(y), scale=made.given(norm.scale), bias=made.given(norm.shift),
        in_running_mean=made.given(norm.mean), epsilon=made.given(norm.epsilon),
        in_running_var=made.given(norm.variance), momentum=made.given(norm.momentum),
    )  # fmt: skip
    made.result(made.graph.relu(normalised), z)
    for held, tensor in zip(
        kept, (norm.seen, norm.unit, norm.mean, norm.variance), strict=True
    ):
        made.result(held, tensor)
    return made.ready(COMPILED)


def normalisation_backward(dz, y, norm: Norm, results, precision: str) -> Callable:
    """Go back through ReLU and batch normalisation: gradients of y, scale and shift.

    Where relu let values through follows from y again, as cuDNN's pattern wants it.
    """
    made = Graph("a batch normalisation's gradient", precision)
    seen = made.given(y)
    scale, mean, unit = (made.given(t) for t in (norm.scale, norm.seen, norm.unit))
    z = made.graph.batchnorm_inference(
        input=seen, mean=mean, inv_variance=unit, scale=scale,
        bias=made.given(norm.shift),
    )  # fmt: skip
    through = made.graph.relu_backward(loss=made.given(dz), input=z)
    gradients = made.graph.batchnorm_backward(
        grad=through, input=seen, scale=scale, mean=mean, inv_variance=unit
    )
    for held, tensor in zip(gradients, results, strict=True):
        made.result(held, tensor)
    return made.ready(COMPILED)
