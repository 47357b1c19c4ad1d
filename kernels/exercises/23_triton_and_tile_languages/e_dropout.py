# Dropout: each element becomes 0 with probability p; the others grow.
import triton
import triton.language as tl


@triton.jit
def kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n)  # Your code here: drop some.
    tl.store(out + i, values, mask=i < n)


def dropout(x, out, p, seed):
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)
