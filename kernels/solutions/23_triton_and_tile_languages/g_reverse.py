# Reverse each block of 128 elements, through shared memory.
from numba import cuda, float32


def reverse_blocks(x, out):
    tile = cuda.shared.array(128, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = x[i]
    cuda.syncthreads()
    out[i] = tile[127 - t]
