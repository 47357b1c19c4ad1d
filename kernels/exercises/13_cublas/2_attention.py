# Attention: out[:, h] = softmax(Q[:, h] K[:, h]' / sqrt(width)) V[:, h].
import numpy as np

import coursekit as ck


def attention(Q, K, V, out):
    length, heads, width = Q.shape
    ld, stride, square = heads * width, width, length * length
    S = np.zeros((heads, length, length), np.float16)
    ck.cublas.gemm_strided_batched_ex(
        "T", "N", length, length, width, width**-0.5,
        K, "R_16F", ld, stride, Q, "R_16F", ld, stride, 0.0,
        S, "R_16F", length, square, heads, "COMPUTE_32F",
    )
    # Your code here: softmax of each row of S, in float32.
    # Your code here: the second call, whose result is out.
