"""Graphs on a GPU: the same operations, told to cuDNN by nvidia-cudnn-frontend.

Arrays are copied to the device for an execution, and results are copied back.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.lessons.cudnn.tensors import Tensor
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import empty, to_device, to_host

SCALARS = ("epsilon", "momentum")  # tensors of one number, by value
PHASES = "norm_forward_phase"


def is_here() -> bool:
    """Say whether launches go to a GPU, and the package is installed."""
    on_gpu = backends.current().space == "gpu"
    return on_gpu and importlib.util.find_spec("cudnn") is not None


@functools.cache
def _handle() -> Any:
    import cudnn

    return cudnn.create_handle()


def built(graph: Any) -> Told | None:
    """Build a `Graph` with cuDNN; return None where it has no engine for it."""
    import cudnn

    told, modes = Told(graph), cudnn.heur_mode
    try:
        told.pygraph.build([modes.A, modes.FALLBACK])
    except cudnn.cudnnGraphNotSupportedError:
        return None
    return told


def version() -> str:
    """Return the version of the library, as in 9.28.1."""
    import cudnn

    number = cudnn.backend_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def execute(told: Told, graph: Any, pack: Mapping[Tensor, np.ndarray]) -> None:
    """Execute a graph that was built, by its heuristics' first plan."""
    import cudnn
    import cupy

    copies = {tensor: to_device(_flat(pack[tensor])) for tensor in told.real}
    slots = {told.of[tensor]: copy.address for tensor, copy in copies.items()}
    workspace = empty(max(told.pygraph.get_workspace_size(), 1), np.uint8)
    stream = cupy.cuda.get_current_stream()
    cudnn.set_stream(handle=_handle(), stream=stream.ptr)
    told.pygraph.execute({**slots, **told.scalars}, workspace.address, handle=_handle())
    stream.synchronize()
    for tensor in graph.outputs():
        _flat(pack[tensor])[...] = to_host(copies[tensor])


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, order="A")


class Scalar:
    """A number of the host, as the package takes it: by an address."""

    def __init__(self, value: float):
        self.held = np.array([value], np.float32)

    def data_ptr(self) -> int:
        """Return the address."""
        return self.held.ctypes.data


class Told:
    """A graph of ours, told to the package operation by operation."""

    def __init__(self, graph: Any):
        import cudnn

        self.cudnn = cudnn
        kinds = cudnn.data_type
        self.pygraph = cudnn.pygraph(
            io_data_type=getattr(kinds, graph.io_data_type),
            intermediate_data_type=getattr(kinds, graph.intermediate_data_type),
            compute_data_type=kinds.FLOAT,
            handle=_handle(),
        )
        self.real = graph._real()
        self.of: dict[Tensor, Any] = {}
        self.scalars: dict[Any, Scalar] = {}
        for tensor in graph.given:
            self.of[tensor] = self.pygraph.tensor(
                dim=list(tensor.dim),
                stride=list(tensor.stride),
                data_type=getattr(kinds, tensor.data_type),
                name=tensor.name,
            )
        for node in graph.nodes:
            self._tell(node)

    def _tell(self, node: Any) -> None:
        named = {slot: self.of[tensor] for slot, tensor in node.inputs.items()}
        for key, value in node.how.items():
            named[key] = self._attribute(key, value)
        found = getattr(self.pygraph, node.name)(**named)
        results = found if isinstance(found, (tuple, list)) else (found,)
        for tensor, held in zip(node.outputs.values(), results, strict=False):
            if held is None:
                continue
            self.of[tensor] = held
            held.set_dim(list(tensor.dim)).set_stride(list(tensor.stride))
            if not tensor.is_virtual:
                kind = getattr(self.cudnn.data_type, tensor.data_type)
                held.set_output(True).set_data_type(kind)

    def _attribute(self, key: str, value: Any) -> Any:
        if key in SCALARS:
            held = self.pygraph.tensor(
                dim=[1, 1, 1, 1],
                stride=[1, 1, 1, 1],
                data_type=self.cudnn.data_type.FLOAT,
                is_pass_by_value=True,
            )
            self.scalars[held] = Scalar(value)
            return held
        if key == PHASES:
            return getattr(self.cudnn.norm_forward_phase, value)
        return list(value) if isinstance(value, tuple) else value
