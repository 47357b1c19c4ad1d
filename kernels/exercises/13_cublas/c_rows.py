# Rows: C = A B for float32 arrays of NumPy, in one call of the library.
import coursekit as ck


def product(A, B, C):
    (m, k), n = A.shape, B.shape[1]
    # Your code here: which product does the library see in this memory?
    ck.cublas.gemm("N", "N", m, n, k, 1.0, A, m, B, k, 0.0, C, m)
