"""`torch_op` makes an operator of PyTorch out of kernels."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from coursekit.errors import ArgumentError
from coursekit.runtime import simulator, torch_schema
from coursekit.runtime.launching import Kernel
from coursekit.runtime.modules import Module


def torch_op(
    name: str,
    forward: Kernel | Module | Sequence[Kernel],
    backward: Callable[..., Any] | None = None,
    *,
    launch: Callable[..., tuple[Any, ...]],
    outputs: Callable[..., Any],
    schema: str | None = None,
) -> Any:
    """Make an operator of PyTorch out of kernels, with a fake kernel and autograd.

    The operator is functional: it changes no input and its results share no memory
    with one. Tensors on the CPU go to the simulator; on a GPU the kernel runs on
    PyTorch's current stream. Inputs that are not contiguous are packed; contiguous
    results come back.

    Parameters
    ----------
    name : str
        Namespace and name, "course::polynomial". A later definition replaces it.
    forward : Kernel, Module or sequence of Kernel
        Its parameters are the input tensors, the results, and what `launch` adds.
        Of several kernels, or those of a module, the one runs whose first array has
        the type of the first tensor.
    backward : callable, optional
        Names its parameters after the inputs (``x``), the results (``y``) and their
        gradients (``grad_y``) that it needs; only these are saved. It returns a
        gradient, or None, for each input tensor. An operator serves as well.
    launch : callable
        (inputs and results) -> (grid, block, further arguments of the kernel ...).
    outputs : callable
        (inputs) -> new tensors, as ``torch.empty_like(x)``. It also runs as the fake
        kernel, where a tensor has shape, type and device but no values.
    schema : str, optional
        "(Tensor x, float epsilon) -> Tensor". By default the parameters of `outputs`
        are tensors, or of the type of their annotation or default, and `launch` has
        so many parameters more as there are results.

    Returns
    -------
    torch.library.CustomOpDef

    Raises
    ------
    ArgumentError
        A name, a schema or parameters do not fit each other; when it is called, if
        types, devices or results are not what the kernel can take.
    """
    import torch

    kernels = _kernels(name, forward)
    schema = schema or torch_schema.written(name, launch, outputs)
    operator = _Operator(
        name, kernels, launch, outputs, torch_schema.parsed(name, schema)
    )
    operator.check_parameters()
    register = torch.library.custom_op(
        name, operator.run, mutates_args=(), schema=schema
    )
    register.register_fake(operator.allocate)
    if backward is not None:
        gradient = _Gradient(operator, backward)
        register.register_autograd(gradient.formula, setup_context=gradient.save)
    return register


@dataclass(frozen=True)
class _Operator:
    """Checks, allocates and launches.

    Attributes
    ----------
    name : str
    kernels : tuple of Kernel
    launch, make : callable
        As `launch` and `outputs` of `torch_op`.
    schema : torch.FunctionSchema
    """

    name: str
    kernels: tuple[Kernel, ...]
    launch: Callable[..., tuple[Any, ...]]
    make: Callable[..., Any]
    schema: Any

    @property
    def inputs(self) -> list[str]:
        return [each.name for each in self.schema.arguments]

    @property
    def results(self) -> list[str]:
        return list(inspect.signature(self.launch).parameters)[len(self.inputs) :]

    def check_parameters(self) -> None:
        """Refuse a kernel that may write an input, or has too few parameters."""
        tensors = [a.name for a in self.schema.arguments if str(a.type) == "Tensor"]
        for kernel in self.kernels:
            pointers = kernel.parameters[: len(tensors)]
            for tensor, pointer in zip(tensors, pointers, strict=False):
                target = pointer.type.pointee
                if target is None or not target.const:
                    raise ArgumentError.explained(
                        f"{self.name}: {kernel.name} takes the input {tensor} as "
                        f"{pointer}, which is no pointer to const.",
                        "The kernel takes inputs, then results, then the rest. Without "
                        "const it may write an input, which an operator leaves alone.",
                        "Declare the parameter const, or bring the inputs into the "
                        "order of the parameters.",
                    )

    def run(self, *inputs: Any) -> Any:
        """Launch the kernel; what PyTorch calls with tensors that have values."""
        packed, results = self._allocated(inputs)
        tensors = [value for value in packed if _is_tensor(value)]
        device = self._device(tensors)
        if all(result.numel() for result in results):
            grid, block, *rest = self.launch(*packed, *results)
            kernel = self._kernel(tensors[0])
            with _place(device):
                kernel.launch(
                    grid, block, *tensors, *results, *rest, stream=_stream(device)
                )
        return _as_returned(results)

    def allocate(self, *inputs: Any) -> Any:
        """Return results without values: the fake kernel."""
        return _as_returned(self._allocated(inputs)[1])

    def _allocated(self, inputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        left_out = self.schema.arguments[len(inputs) :]  # PyTorch passes no defaults
        given = [*inputs, *(argument.default_value for argument in left_out)]
        packed = [v.contiguous() if _is_tensor(v) else v for v in given]
        made = self.make(*packed)
        results = list(made) if isinstance(made, (tuple, list)) else [made]
        expected = len(self.schema.returns)
        if len(results) != expected or not all(map(_is_tensor, results)):
            kinds = ", ".join(type(result).__name__ for result in results)
            raise ArgumentError.explained(
                f"{self.name}: outputs returned {kinds}, but the operator has "
                f"{expected} result{'s' * (expected != 1)}.",
                "outputs makes a new tensor for each result.",
                "Return torch.empty_like(x), for example, or a tuple of tensors.",
            )
        for result in results:
            self._check_result(result, [*filter(_is_tensor, inputs), *packed])
        return packed, results

    def _check_result(self, result: Any, inputs: Sequence[Any]) -> None:
        memory = result.untyped_storage()._cdata
        for value in filter(_is_tensor, inputs):
            if value.untyped_storage()._cdata == memory:
                raise ArgumentError.explained(
                    f"{self.name}: outputs returned an input, or a view of one.",
                    "The kernel would overwrite the input, and autograd and compilers "
                    "count on inputs that stay.",
                    "Make a new tensor with the shape and the type of the result.",
                )
        if not result.is_contiguous():
            raise ArgumentError.explained(
                f"{self.name}: outputs returned a result of shape "
                f"{tuple(result.shape)} with the strides {result.stride()}.",
                "The kernel writes elements that lie side by side.",
                "Make the result contiguous, for example with x.new_empty(shape).",
            )

    def _device(self, tensors: Sequence[Any]) -> Any:
        devices = list(dict.fromkeys(tensor.device for tensor in tensors))
        if len(devices) == 1 and devices[0].type in ("cpu", "cuda"):
            return devices[0]
        raise ArgumentError.explained(
            f"{self.name}: its tensors are on {' and '.join(map(str, devices))}.",
            "A kernel reads memory of one device, the CPU's or that of a CUDA GPU.",
            "Move the tensors to one device, for example with x.to(y.device).",
        )

    def _kernel(self, first: Any) -> Kernel:
        kind = str(first.dtype).removeprefix("torch.")
        if len(self.kernels) == 1:  # its own check names the parameter
            return self.kernels[0]
        types = {_first_type(kernel): kernel for kernel in self.kernels}
        if kind not in types:
            raise ArgumentError.explained(
                f"{self.name}: the first tensor is of {kind}, but the kernels are for "
                f"{' and '.join(types)}.",
                "Nothing converts a tensor on its way into an operator.",
                f"Convert it, for example with x.to(torch.{next(iter(types))}), or "
                f"compile the kernel for {kind} as well.",
            )
        return types[kind]


class _Gradient:
    """The backward of an operator: what it saves, and what it computes."""

    def __init__(self, operator: _Operator, backward: Callable[..., Any]):
        self.operator = operator
        self.backward = backward
        self.needs = torch_schema.parameters(backward)
        self.gradients = [f"grad_{result}" for result in operator.results]
        known = [*operator.inputs, *operator.results, *self.gradients]
        strange = [name for name in self.needs if name not in known]
        if strange:
            raise ArgumentError.explained(
                f"{operator.name}: backward has a parameter {strange[0]}, which the "
                "operator does not have.",
                f"It may ask for {', '.join(known)}.",
                "Rename the parameter.",
            )

    def save(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        """Save what backward asks for, as PyTorch's `setup_context`."""
        results = output if isinstance(output, (tuple, list)) else (output,)
        names = [*self.operator.inputs, *self.operator.results]
        values = dict(zip(names, (*inputs, *results), strict=True))
        wanted = {name: values[name] for name in self.needs if name in values}
        tensors = {n: v for n, v in wanted.items() if _is_tensor(v)}
        ctx.save_for_backward(*tensors.values())
        ctx.saved_names = list(tensors)
        ctx.numbers = {n: v for n, v in wanted.items() if n not in tensors}

    def formula(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        """Return a gradient, or None, for each input."""
        values = dict(zip(ctx.saved_names, ctx.saved_tensors, strict=True))
        values |= ctx.numbers | dict(zip(self.gradients, gradients, strict=True))
        returned = self.backward(*(values[name] for name in self.needs))
        found = returned if isinstance(returned, (tuple, list)) else (returned,)
        arguments = self.operator.schema.arguments
        tensors = [each.name for each in arguments if str(each.type) == "Tensor"]
        if len(found) != len(tensors):
            raise ArgumentError.explained(
                f"{self.operator.name}: backward returned {len(found)} "
                f"gradient{'s' * (len(found) != 1)} for the tensors "
                f"{', '.join(tensors)}.",
                "Each input that is a tensor has a gradient of its shape.",
                "Return one for each of them in this order, None for no gradient.",
            )
        by_name = dict(zip(tensors, found, strict=True))
        return tuple(by_name.get(name) for name in self.operator.inputs)


def _kernels(name: str, forward: Any) -> tuple[Kernel, ...]:
    if isinstance(forward, Module):
        forward = [forward[kernel] for kernel in forward.kernels]
    listed = forward if isinstance(forward, (list, tuple)) else (forward,)
    if not listed or not all(isinstance(kernel, Kernel) for kernel in listed):
        kinds = ", ".join(type(kernel).__name__ for kernel in listed) or "nothing"
        raise ArgumentError.explained(
            f"{name}: forward is {kinds}.",
            "An operator launches a kernel; a module may have several of them.",
            'Pass a kernel, ck.compile("file.cu").kernel, or the module.',
        )
    return tuple(listed)


def _first_type(kernel: Kernel) -> str:
    """Return PyTorch's name for the type of a kernel's first array."""
    for parameter in kernel.parameters:
        target = parameter.type.pointee
        if target is not None:
            return "bfloat16" if target.kind == "bfloat16" else str(target.dtype)
    return "no array"


def _is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _as_returned(results: list[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _place(device: Any) -> contextlib.AbstractContextManager[Any]:
    """Let launches run where the tensors are: on their GPU, or simulated."""
    import torch

    if device.type == "cuda":
        guard: contextlib.AbstractContextManager[Any] = torch.cuda.device(device)
        return guard
    open_already = simulator.active() is not None
    return contextlib.nullcontext() if open_already else simulator.simulator()


def _stream(device: Any) -> Any:
    """Return the stream on which PyTorch works now; None for the CPU."""
    import torch

    return torch.cuda.current_stream(device) if device.type == "cuda" else None
