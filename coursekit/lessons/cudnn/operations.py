"""The operations of a graph: inputs, results, shapes, arithmetic and cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.errors import ArgumentError
from coursekit.lessons.cudnn import arithmetic
from coursekit.lessons.cudnn.tensors import Extents, Tensor

Shapes = Mapping[str, Extents]
BORDER = {"padding": (0, 0), "stride": (1, 1), "dilation": (1, 1)}


@dataclass(frozen=True)
class Operation:
    """What an operation of the library is.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the tensors.
    shapes : callable
        ``(shapes of inputs, how)`` to the shapes of the outputs; None where it cannot
        tell.
    compute : callable
        ``(inputs, shapes of outputs, how)`` to the outputs, in float32.
    cost : callable
        ``(shapes)`` of all tensors to additions and multiplications.
    how : dict
        Attributes and their defaults.
    is_pointwise : bool
        Whether an element of the result needs one element of each input.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shapes: Callable[[Shapes, dict], tuple]
    compute: Callable[[dict, Shapes, dict], Any]
    cost: Callable[[Shapes], int]
    how: Mapping[str, Any]
    is_pointwise: bool = False


@dataclass(frozen=True)
class Node:
    """An operation with its tensors."""

    name: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    how: Mapping[str, Any]

    @property
    def operation(self) -> Operation:
        """What it does."""
        return OPERATIONS[self.name]

    def infer(self) -> None:
        """Set the extents of the results that have none."""
        known = {name: tensor.dim for name, tensor in self.inputs.items()}
        found = self.operation.shapes(known, dict(self.how))
        for tensor, dim in zip(self.outputs.values(), found, strict=True):
            if not tensor.dim and dim is None:
                raise ArgumentError.explained(
                    f"The extents of {tensor.name} are not known.",
                    f"{self.name} does not tell them from its inputs: with a stride, "
                    "filters of several sizes fit.",
                    f"Call {tensor.name}.set_dim(...) with the extents.",
                )
            tensor.dim = tensor.dim or tuple(dim)

    def cost(self) -> int:
        """Return the additions and multiplications."""
        both = {**self.inputs, **self.outputs}
        return self.operation.cost({name: t.dim for name, t in both.items()})


# ---------------------------------------------------------------- shapes


def _convolved(known: Shapes, how: dict) -> tuple:
    image, weight = known["image"], known["weight"]
    if image[1] != weight[1]:
        raise ArgumentError.explained(
            f"CUDNN_STATUS_BAD_PARAM: image has {image[1]} channels, and a filter of "
            f"weight has {weight[1]}.",
            "Extents stand in the order N, C, H, W, for filters K, C, R, S, whatever "
            "the layout is.",
            "Say the layout by strides, and leave the order of the extents.",
        )
    parts = zip(
        image[2:], weight[2:], how["padding"], how["stride"], how["dilation"],
        strict=True,
    )  # fmt: skip
    sizes = ((n + 2 * p - d * (r - 1) - 1) // s + 1 for n, r, p, s, d in parts)
    return ((image[0], weight[0], *sizes),)


def _of_data(known: Shapes, how: dict) -> tuple:
    loss, weight = known["loss"], known["filter"]
    parts = zip(
        loss[2:], weight[2:], how["padding"], how["stride"], how["dilation"],
        strict=True,
    )  # fmt: skip
    sizes = ((n - 1) * s + d * (r - 1) + 1 - 2 * p for n, r, p, s, d in parts)
    return ((loss[0], weight[1], *sizes),)


def _broadcast(known: Shapes, how: dict) -> tuple:
    try:
        return (np.broadcast_shapes(*known.values()),)
    except ValueError:
        shapes = ", ".join(f"{name} {dim}" for name, dim in known.items())
        raise ArgumentError.explained(
            f"CUDNN_STATUS_BAD_PARAM: the extents do not fit: {shapes}.",
            "An extent is the same in both tensors, or 1 in one of them.",
            "A bias per channel has the extents 1, C, 1, 1.",
        ) from None


def _statistics(dim: Extents, kept: tuple[int, ...]) -> Extents:
    return tuple(n if axis in kept else 1 for axis, n in enumerate(dim))


def _attended(known: Shapes, how: dict) -> tuple:
    q, v = known["q"], known["v"]
    return (*q[:3], v[3]), (*q[:3], 1)


# ---------------------------------------------------------------- the table


def _products(first: str, second: str) -> Callable[[Shapes], int]:
    """Cost of a convolution: each element of one meets a filter's channel."""
    return lambda s: 2 * math.prod(s[first]) * math.prod(s[second]) // s[second][0]


def _pointwise(function: Callable, *inputs: str) -> Operation:
    return Operation(
        inputs=inputs,
        outputs=("OUT",),
        shapes=_broadcast,
        compute=lambda given, out, how: function(*(given[name] for name in inputs)),
        cost=lambda s: math.prod(s["OUT"]),
        how={},
        is_pointwise=True,
    )


def _norm(axes: Callable[[int], tuple[int, ...]], kept: tuple[int, ...]) -> Operation:
    """A normalisation over some axes, with statistics per element of the others."""

    def compute(given: dict, out: Shapes, how: dict) -> tuple:
        x = given["input"]
        inner, mean, unit = arithmetic.normalised(x, axes(x.ndim), how["epsilon"])
        return inner * given["scale"] + given["bias"], mean, unit

    return Operation(
        inputs=("input", "scale", "bias"),
        outputs=("Y", "mean", "inv_var"),
        shapes=lambda k, how: (k["input"], *2 * [_statistics(k["input"], kept)]),
        compute=compute,
        cost=lambda s: 7 * math.prod(s["input"]),
        how={"epsilon": 1e-5, "norm_forward_phase": "TRAINING"},
    )


OPERATIONS = {
    "conv_fprop": Operation(
        inputs=("image", "weight"),
        outputs=("Y",),
        shapes=_convolved,
        compute=lambda g, out, how: arithmetic.forward(
            g["image"], g["weight"], out["Y"], how
        ),
        cost=_products("Y", "weight"),
        how=BORDER,
    ),
    "conv_dgrad": Operation(
        inputs=("loss", "filter"),
        outputs=("DX",),
        shapes=_of_data,
        compute=lambda g, out, how: arithmetic.by_data(
            g["loss"], g["filter"], out["DX"], how
        ),
        cost=_products("loss", "filter"),
        how=BORDER,
    ),
    "conv_wgrad": Operation(
        inputs=("image", "loss"),
        outputs=("DW",),
        shapes=lambda known, how: (None,),
        compute=lambda g, out, how: arithmetic.by_weights(
            g["image"], g["loss"], out["DW"], how
        ),
        cost=_products("loss", "DW"),
        how=BORDER,
    ),
    "matmul": Operation(
        inputs=("A", "B"),
        outputs=("C",),
        shapes=lambda k, how: ((*k["A"][:-1], k["B"][-1]),),
        compute=lambda g, out, how: g["A"] @ g["B"],
        cost=lambda s: 2 * math.prod(s["A"]) * s["B"][-1],
        how={},
    ),
    "bias": _pointwise(np.add, "input", "bias"),
    "add": _pointwise(np.add, "a", "b"),
    "mul": _pointwise(np.multiply, "a", "b"),
    "relu": _pointwise(lambda x: np.maximum(x, np.float32(0)), "input"),
    "sigmoid": _pointwise(lambda x: 1 / (1 + np.exp(-x)), "input"),
    "tanh": _pointwise(np.tanh, "input"),
    "batchnorm": Operation(
        inputs=("input", "scale", "bias", "in_running_mean", "in_running_var"),
        outputs=("Y", "mean", "inv_var", "next_running_mean", "next_running_var"),
        shapes=lambda k, how: (k["input"], *4 * [_statistics(k["input"], (1,))]),
        compute=lambda g, out, how: arithmetic.batch_norm(
            g["input"], g["scale"], g["bias"],
            (g["in_running_mean"], g["in_running_var"]), how,
        ),
        cost=lambda s: 7 * math.prod(s["input"]),
        how={"epsilon": 1e-5, "momentum": 0.1},
    ),
    "batchnorm_inference": Operation(
        inputs=("input", "mean", "inv_variance", "scale", "bias"),
        outputs=("Y",),
        shapes=lambda k, how: (k["input"],),
        compute=lambda g, out, how: (g["input"] - g["mean"])
        * g["inv_variance"]
        * g["scale"]
        + g["bias"],
        cost=lambda s: 4 * math.prod(s["input"]),
        how={},
    ),
    "layernorm": _norm(lambda n: tuple(range(1, n)), (0,)),
    "instancenorm": _norm(lambda n: tuple(range(2, n)), (0, 1)),
    "sdpa": Operation(
        inputs=("q", "k", "v"),
        outputs=("O", "Stats"),
        shapes=_attended,
        compute=lambda g, out, how: arithmetic.attention(g["q"], g["k"], g["v"], how),
        cost=lambda s: 4 * math.prod(s["q"]) * s["k"][2],
        how={"attn_scale": 1.0, "use_causal_mask": False, "is_inference": True},
    ),
}  # fmt: skip
