"""Exercise 21.1: an operator with three defects."""

import itertools
import re

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant

FILE = re.compile(r" \(with implementation in .*?>\)")  # a place on this machine
CONTEXT = re.compile(r"'GeneratedBackwardFor_\w+' object")  # what PyTorch calls ctx
BACKWARD = re.compile(r"[Ff]unction GeneratedBackwardFor_\w+")
_number = itertools.count()


def fresh(repaired):
    """Return the operator under a name that nothing has had before."""
    return repaired(f"turn::scale_{next(_number)}")


def numbers():
    """Return a tensor of three rows, which wants a gradient."""
    import torch

    values = torch.linspace(-1, 2, 15, dtype=torch.float64)
    return values.reshape(3, 5).requires_grad_()


def first_sentence(failure):
    """Return how an error of PyTorch begins, without a place on this machine."""
    line = FILE.sub("", str(failure).strip().splitlines()[0])
    return line.split(". ")[0].rstrip(".,!")


def part(name):
    """Return a check by one part of opcheck."""

    def check(repaired, show):
        import torch

        arguments = numbers().detach(), 3.0
        found = torch.library.opcheck(
            fresh(repaired), arguments, test_utils=name, raise_exception=False
        )[name]
        if found != "SUCCESS":
            raise CheckFailed.explained(
                f"{name} of opcheck finds: {first_sentence(found)}.", *ADVICE[name]
            )

    return check


ADVICE = {
    "test_schema": (
        "mutates_args=() promises that no input changes, and that the result shares "
        "no memory with one.",
        "Compute into a new tensor, and return that.",
    ),
    "test_faketensor": (
        "The fake kernel tells a compiler shape, type and strides of the result.",
        "Let the fake kernel return an empty tensor like the result.",
    ),
}


def differentiates(repaired, show):
    """Compare the gradient with finite differences."""
    import torch

    scale = fresh(repaired)
    try:
        torch.autograd.gradcheck(lambda x: scale(x, 3.0), (numbers(),))
    except tuple(RAISED) as failure:
        who, advice = "backward", RAISED[type(failure)]
        if "save_for_backward" in str(failure):
            who, advice = "keep", NO_TENSOR
        said = CONTEXT.sub("ctx", str(failure))
        raise CheckFailed.explained(
            f"{who} raised {type(failure).__name__}: {said}.", *advice
        ) from failure
    except RuntimeError as failure:
        first = BACKWARD.sub("backward", first_sentence(failure))
        advice = next(GRADIENTS[key] for key in GRADIENTS if key in first)
        if "number of gradients" in first:
            first = "backward returns not as many values as the operator has inputs"
        raise CheckFailed.explained(f"gradcheck finds: {first}.", *advice) from failure


NO_TENSOR = (
    "save_for_backward stores tensors, and s is a number.",
    "Store a number as an attribute, as keep does in the starter.",
)
RAISED = {
    AttributeError: (
        "backward gets from ctx only what was stored there in the forward pass.",
        "Register the function that stores it as well: setup_context=keep.",
    ),
    NameError: (
        "backward runs later, when x and s of the forward pass are gone: it has what "
        "ctx holds, and grad_y.",
        "keep stores s as ctx.s.",
    ),
    TypeError: (
        "PyTorch calls backward(ctx, grad_y): ctx comes first, then a gradient for "
        "each result.",
        "Give backward these two parameters.",
    ),
}
GRADIENTS = {
    "Jacobian mismatch": (
        "Where x moves a little, y moves by something else than backward says.",
        "Differentiate y = s * x by x, and apply the chain rule.",
    ),
    "number of gradients": (
        "The inputs are x and s, and PyTorch expects a value for each of them.",
        "Return two values. For an input that is no tensor it is None.",
    ),
    "different than None": (
        "s is a number, and PyTorch computes gradients of tensors alone.",
        "Return None for s, and the gradient for x before it.",
    ),
    "invalid gradient": (
        "A gradient has the shape of its input: a number for each element.",
        "Return a tensor of the shape of x.",
    ),
    "": (
        "PyTorch cannot look into an operator: its gradient has to be registered.",
        "scale.register_autograd(backward, setup_context=keep) does it.",
    ),
}


EXERCISES = (
    HostExercise(
        id="21.1",
        name="repair",
        title="Repair an operator",
        stars=2,
        function="repaired",
        checks=(
            ("changes no input: test_schema", part("test_schema")),
            ("its fake kernel is right: test_faketensor", part("test_faketensor")),
            ("its gradient is right: gradcheck", differentiates),
        ),
        hints=(
            "Go through the checks one by one: the message names the part of the "
            "contract. Where is x changed?",
            "x * s makes a new tensor. The result has the shape of x, so the fake "
            "kernel can say torch.empty_like(x).",
            "Write backward(ctx, grad_y), which returns a gradient for x and None for "
            "s. Hand it to scale.register_autograd, with setup_context=keep.",
        ),
        starter=(CheckFailed, "test_schema of opcheck finds"),
        mutants={
            "changes_x": Mutant(
                mistake="The result is new, but x changes as well.",
                edits=[("return x * s", "return x.mul_(s).clone()")],
                fails=(CheckFailed, "mutated"),
            ),
            "fake_type": Mutant(
                mistake="The fake kernel promises float32 for every x.",
                edits=[("torch.empty_like(x)", "torch.empty(x.shape)")],
                fails=(CheckFailed, "test_faketensor of opcheck finds"),
            ),
            "no_gradient": Mutant(
                mistake="No gradient is registered.",
                edits=[
                    (
                        "    scale.register_autograd(backward, setup_context=keep)\n",
                        "",
                    )
                ],
                fails=(CheckFailed, "gradcheck finds"),
            ),
            "nothing_kept": Mutant(
                mistake="Nothing stores s for the backward.",
                edits=[("backward, setup_context=keep", "backward")],
                fails=(CheckFailed, "only what was stored there"),
            ),
            "no_context": Mutant(
                mistake="The backward does not take ctx.",
                edits=[("def backward(ctx, grad_y)", "def backward(grad_y)")],
                fails=(CheckFailed, "ctx comes first"),
            ),
            "free_number": Mutant(
                mistake="The backward uses s, which it does not have.",
                edits=[("ctx.s, None", "s, None")],
                fails=(CheckFailed, "what ctx holds"),
            ),
            "one_gradient": Mutant(
                mistake="The backward returns a gradient for x alone.",
                edits=[("grad_y * ctx.s, None", "grad_y * ctx.s")],
                fails=(CheckFailed, "not as many values as the operator has inputs"),
            ),
            "gradient_of_a_number": Mutant(
                mistake="The backward returns a gradient for the number s as well.",
                edits=[("grad_y * ctx.s, None", "grad_y * ctx.s, ctx.s")],
                fails=(CheckFailed, "Return None for s"),
            ),
            "summed": Mutant(
                mistake="The gradient is summed to one number.",
                edits=[("grad_y * ctx.s, None", "(grad_y * ctx.s).sum(), None")],
                fails=(CheckFailed, "has the shape of its input"),
            ),
            "saved_as_tensor": Mutant(
                mistake="The number is saved as if it were a tensor.",
                edits=[("ctx.s = inputs[1]", "ctx.save_for_backward(inputs[1])")],
                fails=(CheckFailed, "save_for_backward stores tensors"),
            ),
            "no_factor": Mutant(
                mistake="The gradient passes through unscaled.",
                edits=[("grad_y * ctx.s", "grad_y")],
                fails=(CheckFailed, "gradcheck finds"),
            ),
        },
    ),
)
