"""The schema of an operator: its inputs and results, with names and types."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

from coursekit.errors import ArgumentError

SCALARS = {"int": int, "float": float, "bool": bool}


def written(name: str, launch: Callable[..., Any], outputs: Callable[..., Any]) -> str:
    """Return the schema that the parameters of the two functions say."""
    inputs = inspect.signature(outputs).parameters.values()
    count = len(inspect.signature(launch).parameters) - len(inputs)
    if not inputs or count < 1:
        raise ArgumentError.explained(
            f"{name}: outputs has {len(inputs)} parameters and launch has "
            f"{len(inputs) + count}.",
            "outputs takes the inputs; launch takes the inputs and then each result.",
            "Write for example outputs=lambda x: ..., launch=lambda x, y: ...",
        )
    returns = ", ".join(["Tensor"] * count)
    returns = f"({returns})" if count > 1 else returns
    return f"({', '.join(map(_declared, inputs))}) -> {returns}"


def _declared(parameter: inspect.Parameter) -> str:
    """Return one parameter as a schema writes it."""
    default = parameter.default
    given = default is not inspect.Parameter.empty
    kinds = (parameter.annotation, type(default))
    choices = itertools.product(kinds, SCALARS.items())
    kind = next((n for k, (n, own) in choices if k is own or k == n), "Tensor")
    value = f" = {default}" if given and kind != "Tensor" else ""
    return f"{kind} {parameter.name}{value}"


def parsed(name: str, schema: str) -> Any:
    """Return the schema as PyTorch reads it, if `torch_op` can serve it."""
    import torch

    try:
        found = torch._C.parse_schema(name + schema)
    except RuntimeError as problem:
        raise ArgumentError.explained(
            f"{name}: the schema {schema!r} cannot be read: "
            f"{str(problem).splitlines()[0]}",
            "A schema lists types and names, and behind the arrow the results.",
            'Write for example "(Tensor x, float epsilon) -> Tensor".',
        ) from None
    kinds = {str(each.type) for each in (*found.arguments, *found.returns)}
    strange = sorted(kinds - {"Tensor", *SCALARS})
    if strange or found.is_mutable:
        raise ArgumentError.explained(
            f"{name}: the schema {schema!r} has "
            f"{', '.join(strange) or 'an input that changes'}.",
            "The operator is functional: tensors and numbers go in, new tensors come "
            "out.",
            "Leave out marks such as (a!), and use Tensor, int, float and bool.",
        )
    return found


def parameters(function: Any) -> list[str]:
    """Return the names of the parameters of a function or of an operator."""
    overload = getattr(function, "_opoverload", None)
    if overload is not None:
        return [argument.name for argument in overload._schema.arguments]
    return list(inspect.signature(function).parameters)
