"""How the tests launch the ladder of kernels/batched_matmul/: one function a step."""

from __future__ import annotations

from kernel_launches import ROUNDING, Launch, launches, matrices

BATCHES = [{"batch": n} for n in (1, 3)]
SIZE = 64


def products(kernel: str, batch: int, block: int) -> Launch:
    """Launch a block for each product."""
    A, B, C, wanted = matrices(batch, SIZE, SIZE, SIZE)
    # 64 products of values that are not negative, each fused with its sum.
    return Launch(kernel, batch, block, (A, B, C), {2: wanted}, SIZE * ROUNDING)


@launches("batched_matmul/step_01_shared.cu", BATCHES)
def batched_shared(batch: int) -> Launch:
    return products("batched_shared", batch, 256)


@launches("batched_matmul/step_02_patch.cu", BATCHES)
def batched_patch(batch: int) -> Launch:
    return products("batched_patch", batch, 64)


@launches("batched_matmul/step_03_streamed.cu", BATCHES)
def batched_streamed(batch: int) -> Launch:
    return products("batched_streamed", batch, 64)
