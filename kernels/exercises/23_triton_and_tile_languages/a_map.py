# Map: out[i] = x[i] + 10; one program computes a block of 128 elements.
import triton
import triton.language as tl


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i)  # Your code here: where may it load?
    tl.store(out + i, values + 10)


def add_ten(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
