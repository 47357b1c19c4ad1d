"""Two engines that compute gradients: of numbers, and of matrices on the device.

`Value` is a number that remembers its operands; `gradients` and `pushforward` walk its
graph backwards and forwards. `Tensor` is a matrix whose operations are the kernels of
kernels/autograd, and `descend` moves weights against their gradients.
"""

from coursekit.lessons.autograd.scalar import Value, gradients, pushforward
from coursekit.lessons.autograd.tensor import Tensor, descend

__all__ = ["Tensor", "Value", "descend", "gradients", "pushforward"]
