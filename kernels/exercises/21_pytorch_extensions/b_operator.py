# The operator turn::polynomial, from the kernels of polynomial.cu.
import torch

import coursekit as ck


def operator(kernels) -> torch.library.CustomOpDef:
    """Return the operator; kernels are for float and double."""
    return ck.torch_op(
        "turn::polynomial",
        kernels,
        launch=lambda x, y: (1, 256, x.numel()),  # Your code here.
        outputs=lambda x: x,  # Your code here: room for y.
    )
