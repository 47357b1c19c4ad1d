# Attention: out[:, h] = softmax(S[h]) V[:, h] for every head h.
import numpy as np

import coursekit as ck


def attention(S, V, out):
    length, heads, width = V.shape
    # Your code here: softmax runs along the rows of S.
    powers = np.ones(S.shape, np.float32)
    S[...] = powers / powers.sum(axis=2, keepdims=True)
    # Your code here: sizes, distances, and which factor is transposed.
    ck.cublas.gemm_strided_batched_ex(
        "T", "N", length, length, width, 1.0,
        V, "R_16F", width, width,
        S, "R_16F", length, length * length, 0.0,
        out, "R_16F", width, width, heads, "COMPUTE_32F",
    )  # fmt: skip
