# Scaling, y = s * x, as an operator with three defects.
import torch


def repaired(name):
    """Define the operator under this name and return it."""

    @torch.library.custom_op(name, mutates_args=())
    def scale(x: torch.Tensor, s: float) -> torch.Tensor:
        x *= s
        return x

    @scale.register_fake
    def fake(x, s):
        return x.new_empty(x.shape[0])

    def keep(ctx, inputs, output):
        ctx.s = inputs[1]

    # Your code here: a backward. Correct two lines above as well.
    return scale
