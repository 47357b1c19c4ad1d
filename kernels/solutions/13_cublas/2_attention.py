# Attention: out[:, h] = softmax(S[h]) V[:, h] for every head h.
import numpy as np

import coursekit as ck


def attention(S, V, out):
    length, heads, width = V.shape
    powers = np.exp(S.astype(np.float32) - S.max(axis=2, keepdims=True))
    S[...] = powers / powers.sum(axis=2, keepdims=True)
    ck.cublas.gemm_strided_batched_ex(
        "N", "N", width, length, length, 1.0,
        V, "R_16F", heads * width, width,
        S, "R_16F", length, length * length, 0.0,
        out, "R_16F", heads * width, width, heads, "COMPUTE_32F",
    )  # fmt: skip
