# Scaling, y = s * x, as an operator without a defect.
import torch


def repaired(name):
    """Define the operator under this name and return it."""

    @torch.library.custom_op(name, mutates_args=())
    def scale(x: torch.Tensor, s: float) -> torch.Tensor:
        return x * s

    @scale.register_fake
    def fake(x, s):
        return torch.empty_like(x)

    def keep(ctx, inputs, output):
        ctx.s = inputs[1]

    def backward(ctx, grad_y):
        return grad_y * ctx.s, None

    scale.register_autograd(backward, setup_context=keep)
    return scale
